//===- ReadTensor.cpp - Views and other tensor ops as expressions -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "OpReader.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

/// The position in row-major order of the element at `indices`.
static std::optional<Index> linear(Sizes &sizes, ArrayRef<Index> indices, ArrayRef<Size> extents) {
  Index sum;
  Size stride = 1;
  for (auto [index, extent] : llvm::reverse(llvm::zip(indices, extents))) {
    std::optional<Size> next = sizes.multiply(stride, extent);
    if (!next || !addScaled(sizes, sum, index, stride))
      return std::nullopt;
    stride = *next;
  }
  normalise(sizes, sum);
  return sum;
}

/// The indices at which the element at a position in row-major order is.
static std::optional<Indices> delinear(Sizes &sizes, const Index &position, ArrayRef<Size> extents) {
  Indices indices(extents.size());
  Size stride = 1;
  for (size_t dim = extents.size(); dim-- > 0;) {
    std::optional<Index> digit = extract(sizes, position, stride, extents[dim]);
    std::optional<Size> next = sizes.multiply(stride, extents[dim]);
    if (!digit || !next)
      return std::nullopt;
    indices[dim] = *digit;
    stride = *next;
  }
  return indices;
}

std::optional<Expr> OpReader::view(Value operand, Value result, ArrayRef<Index> indices) {
  std::optional<Expr> seen = at(operand, indices);
  return seen ? seen : algebra.view(result, reading.sizes(result), reading.whole(result), reading.of(operand), indices);
}

/// A number at each place, which needs no sizes to be told apart.
static std::optional<Expr> readNumber(Reading &reading, Value operand) {
  const Expr &element = reading.of(operand);
  return numberOf(element) ? std::optional(element) : std::nullopt;
}

std::optional<Expr> OpReader::reshape(Value operand, Value result) {
  if (std::optional<Expr> number = readNumber(reading, operand))
    return number;
  Sizes &sizes = algebra.sizes;
  std::optional<Index> position = linear(sizes, reading.whole(result), reading.sizes(result));
  std::optional<Indices> indices = position ? delinear(sizes, *position, reading.sizes(operand)) : std::nullopt;
  return indices ? view(operand, result, *indices) : std::nullopt;
}

std::optional<Expr> OpReader::reshape(Value operand, Value result, ArrayRef<ReassociationIndices> groups,
                                      bool collapses) {
  if (std::optional<Expr> number = readNumber(reading, operand))
    return number;
  Sizes &sizes = algebra.sizes;
  Indices own = reading.whole(result), indices;
  SmallVector<Size, 4> extents = reading.sizes(collapses ? operand : result);
  for (auto [number, group] : llvm::enumerate(groups)) {
    ArrayRef<Size> inside = ArrayRef(extents).slice(group.front(), group.size());
    if (collapses) {
      std::optional<Indices> parts = delinear(sizes, own[number], inside);
      if (!parts)
        return std::nullopt;
      indices.append(*parts);
    } else {
      std::optional<Index> whole = linear(sizes, ArrayRef(own).slice(group.front(), group.size()), inside);
      if (!whole)
        return std::nullopt;
      indices.push_back(*whole);
    }
  }
  indices.resize(cast<RankedTensorType>(operand.getType()).getRank()); // a result of rank 0 has no groups
  return view(operand, result, indices);
}

static std::optional<Indices> sliceIndices(Sizes &sizes, tensor::ExtractSliceOp slice, ArrayRef<Index> own) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Indices indices;
  size_t next = 0;
  for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim) {
    int64_t offset = slice.getStaticOffset(dim), stride = slice.getStaticStride(dim);
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride) || offset < 0 || stride < 0)
      return std::nullopt;
    Index &index = indices.emplace_back();
    index.offset = offset;
    if (!dropped[dim] && !addScaled(sizes, index, own[next++], stride))
      return std::nullopt;
  }
  return indices;
}

std::optional<Expr> OpReader::moved(Value operand, Value result, ArrayRef<int64_t> by) {
  Indices indices = reading.whole(result);
  std::optional<Expr> product = Algebra::number(1);
  SmallVector<std::pair<Var, Size>> over;
  for (auto [dim, steps] : llvm::enumerate(by)) {
    Size extent = reading.size(operand, dim);
    if (steps == 0 && extent == reading.size(result, dim))
      continue;
    std::optional<Expr> to = algebra.position(indices[dim]);
    indices[dim] = {};
    if (extent != Size(1)) {
      over.push_back({algebra.freshVar(), extent});
      indices[dim] = wholeVar(over.back().first, extent);
    }
    std::optional<Expr> from = algebra.position(indices[dim]);
    to = to ? algebra.add(*to, Algebra::number(static_cast<double>(-steps))) : std::nullopt;
    std::optional<Expr> isThere = from && to ? algebra.equal(*from, *to) : std::nullopt;
    product = isThere ? algebra.multiply(*product, *isThere) : std::nullopt;
    if (!product)
      return std::nullopt;
  }
  std::optional<Expr> element = at(operand, indices);
  product = element ? algebra.multiply(*product, *element) : std::nullopt;
  return product && !over.empty() ? algebra.reduce("sum", *product, over) : product;
}

std::optional<Expr> OpReader::readPad(tensor::PadOp pad) {
  Value fill = pad.getConstantPaddingValue();
  if (!fill || numberOf(reading.of(fill)) != 0.0 || ShapedType::isDynamicShape(pad.getStaticLow()) ||
      llvm::any_of(pad.getStaticLow(), [](int64_t low) { return low < 0; }))
    return std::nullopt;
  return moved(pad.getSource(), pad.getResult(), pad.getStaticLow());
}

namespace {
/// A tensor that is inserted into another, all of it but along one dimension.
struct Insertion {
  unsigned dim;
  int64_t begin;
  Size extent;
  SmallVector<int> dims; ///< of the whole, for each of the tensor's own
};
} // namespace

static std::optional<Insertion> readInsertion(Reading &reading, tensor::InsertSliceOp insert) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  std::optional<Insertion> made;
  SmallVector<int> dims;
  for (int dim = 0, rank = insert.getDestType().getRank(); dim < rank; ++dim) {
    Size extent = dropped[dim] ? Size(1) : reading.size(insert.getSource(), dims.size());
    if (!dropped[dim])
      dims.push_back(dim);
    const int64_t begin = insert.getStaticOffset(dim);
    if (insert.getStaticStride(dim) != 1 || begin < 0) // open ones are less
      return std::nullopt;
    if (begin == 0 && extent == reading.size(insert.getDest(), dim))
      continue;
    if (made)
      return std::nullopt;
    made = Insertion{static_cast<unsigned>(dim), begin, extent, {}};
  }
  if (made)
    made->dims = dims;
  return made;
}

/// The tensors that are inserted one after the other into one that nothing else is left of, or that is left between.
std::optional<Expr> OpReader::readInsert(tensor::InsertSliceOp last) {
  Value result = last.getResult(), into = result;
  std::map<int64_t, std::pair<Size, Expr>> parts; // by where they begin
  std::optional<unsigned> dim;
  while (auto insert = into.getDefiningOp<tensor::InsertSliceOp>()) {
    std::optional<Insertion> made = readInsertion(reading, insert);
    if (!made || made->dim != dim.value_or(made->dim))
      return std::nullopt;
    dim = made->dim;
    Indices own;
    for (int whole : made->dims)
      own.push_back(wholeVar(whole, whole == static_cast<int>(*dim) ? made->extent : reading.size(result, whole)));
    std::optional<Expr> part = at(insert.getSource(), own);
    if (!part || !parts.try_emplace(made->begin, made->extent, *part).second)
      return std::nullopt;
    into = insert.getDest();
  }
  std::vector<Expr> joined;
  SmallVector<Size> extents;
  std::optional<Size> begin = 0, rest = reading.size(result, *dim);
  auto add = [&](const std::optional<Expr> &part, Size extent) {
    if (!part || !rest || extent == Size(0))
      return;
    joined.push_back(*part);
    extents.push_back(extent);
    begin = begin && begin->isNumber() && extent.isNumber() ? std::optional(Size(begin->number() + extent.number()))
                                                            : std::nullopt;
    rest = algebra.sizes.subtract(*rest, extent);
  };
  auto addBetween = [&](Size extent) {
    Indices own = reading.whole(result);
    own[*dim] = wholeVar(*dim, extent);
    own[*dim].offset = begin->number();
    add(at(into, own), extent);
  };
  for (auto &[first, part] : parts) {
    if (!begin || first < begin->number())
      return std::nullopt;
    addBetween(first - begin->number());
    add(part.second, part.first);
  }
  if (begin && rest && rest->isNumber())
    addBetween(*rest);
  bool isWhole = rest == Size(0);
  return isWhole
             ? std::optional(algebra.join(result, reading.sizes(result), reading.whole(result), *dim, joined, extents))
             : std::nullopt;
}

std::optional<Expr> OpReader::readTensor(Operation *op) {
  using Result = std::optional<Expr>;
  Value result = op->getResult(0);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tensor::CastOp cast) -> Result {
        return isa<RankedTensorType>(cast.getSource().getType()) ? Result(reading.of(cast.getSource())) : std::nullopt;
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return reshape(collapse.getSrc(), result, collapse.getReassociationIndices(), /*collapses=*/true);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        return reshape(expand.getSrc(), result, expand.getReassociationIndices(), /*collapses=*/false);
      })
      .Case([&](tensor::ReshapeOp reshaped) -> Result {
        bool isRanked =
            isa<RankedTensorType>(reshaped.getSource().getType()) && isa<RankedTensorType>(result.getType());
        return isRanked ? reshape(reshaped.getSource(), result) : std::nullopt;
      })
      .Case([&](tensor::SplatOp splat) -> Result { return reading.of(splat.getInput()); })
      .Case([&](tensor::ExtractSliceOp slice) -> Result {
        std::optional<Indices> indices = sliceIndices(algebra.sizes, slice, reading.whole(result));
        return indices ? at(slice.getSource(), *indices) : std::nullopt;
      })
      .Case([&](tensor::InsertSliceOp insert) { return readInsert(insert); })
      .Case([&](tensor::ConcatOp concat) -> Result {
        std::vector<Expr> parts;
        SmallVector<Size> extents;
        for (Value part : concat.getInputs()) {
          parts.push_back(reading.of(part));
          extents.push_back(reading.size(part, concat.getDim()));
        }
        return algebra.join(result, reading.sizes(result), reading.whole(result), concat.getDim(), parts, extents);
      })
      .Case([&](tensor::ExtractOp extract) {
        SmallVector<Expr> indices;
        for (Value index : extract.getIndices())
          indices.push_back(reading.of(index));
        return elementAt(extract.getTensor(), indices);
      })
      .Default([](Operation *) { return std::nullopt; });
}
