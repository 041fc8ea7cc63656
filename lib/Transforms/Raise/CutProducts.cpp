//===- CutProducts.cpp - Parts of a product as products of parts ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hyper-connections may keep what the sublayer reads and what the residual streams become in one matrix, multiply the
// streams by all of it, and take the product apart.
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Index;
using algebra::Indices;

namespace {
/// The matrix of a product whose rows, beside the streams, are more than one mix has, and where those rows are.
struct MixMatrix {
  unsigned operand;        ///< of the product
  int64_t n;               ///< streams
  int64_t rows, resultRow; ///< its dimension of rows, and the result's
};
} // namespace

/// The matrix of a product over n streams that has more rows than n.
template <typename Product>
static std::optional<MixMatrix> findMatrix(Product product) {
  const int64_t first = isa<BatchMatmulOp>(product) ? 1 : 0;
  auto lhs = product.getLhs().getType(), rhs = product.getRhs().getType();
  const int64_t n = lhs.getDimSize(product.getTransposeLhs() ? first : first + 1);
  auto isCut = [&](int64_t rows) { return rows > n && rows <= n + kMaxStreams; };
  const int64_t lhsRows = product.getTransposeLhs() ? first + 1 : first;
  const int64_t rhsRows = product.getTransposeRhs() ? first : first + 1;
  if (n < kMinStreams || n > kMaxStreams)
    return std::nullopt;
  if (isCut(lhs.getDimSize(lhsRows)))
    return MixMatrix{0, n, lhsRows, first};
  return isCut(rhs.getDimSize(rhsRows)) ? std::optional(MixMatrix{1, n, rhsRows, first + 1}) : std::nullopt;
}

/// Whether a part is one row, such as what a sublayer reads where the streams are kept as they are.
static bool isRow(tensor::ExtractSliceOp part) {
  ArrayRef<int64_t> all = part.getSourceType().getShape(), sizes = part.getStaticSizes();
  auto dims = llvm::seq<size_t>(0, all.size());
  auto isCut = [&](size_t dim) { return all[dim] != sizes[dim]; };
  return llvm::count_if(dims, isCut) == 1 && sizes[*llvm::find_if(dims, isCut)] == 1;
}

/// The parts of a product that is read in parts alone, one of which has the rows of a mix, or which is one row; none
/// where it is not.
static SmallVector<tensor::ExtractSliceOp> partsOf(Value product, int64_t n) {
  SmallVector<Operation *> readers;
  usersThroughViews(product, readers);
  SmallVector<tensor::ExtractSliceOp> parts;
  for (Operation *reader : readers) {
    auto part = dyn_cast<tensor::ExtractSliceOp>(reader);
    if (!part && !isa<tensor::DimOp>(reader))
      return {};
    if (part)
      parts.push_back(part);
  }
  auto hasMix = [&](tensor::ExtractSliceOp part) { return llvm::is_contained(part.getStaticSizes(), n); };
  const bool isOneRow = parts.size() == 1 && isRow(parts[0]);
  return isOneRow || llvm::any_of(parts, hasMix) ? parts : SmallVector<tensor::ExtractSliceOp>();
}

/// The rows that a part has from an offset on; nothing where it is not all of the other dimensions.
static std::optional<int64_t> countRows(algebra::Reading &reading, Value product, int64_t row, ArrayRef<Index> at) {
  for (auto [dim, index, size] : llvm::enumerate(at, reading.sizes(product)))
    if (static_cast<int64_t>(dim) != row && (index.offset != 0 || !covers(reading.algebra().sizes, index, size)))
      return std::nullopt;
  if (at[row].pieces.empty())
    return 1;
  const algebra::Piece &piece = at[row].pieces[0];
  const bool isRun = at[row].pieces.size() == 1 && piece.multiplier == algebra::Size(1) && piece.extent.isNumber();
  return isRun ? std::optional(piece.extent.number()) : std::nullopt;
}

/// Rows of a matrix; of one that is repeated for all tokens, those of what is repeated.
static Value sliceRows(LeafBuilder &leaf, Value matrix, int64_t dim, int64_t offset, int64_t count) {
  auto repeat = matrix.getDefiningOp<BroadcastOp>();
  const auto *own = repeat ? llvm::find(repeat.getDims(), dim) : nullptr;
  if (!repeat || own == repeat.getDims().end())
    return leaf.slice(matrix, dim, offset, count);
  SmallVector<OpFoldResult> sizes = leaf.sizesOf(matrix);
  sizes[dim] = leaf.constant(count);
  Value rows = leaf.slice(repeat.getX(), own - repeat.getDims().begin(), offset, count);
  return leaf.broadcast(rows, sizes, repeat.getDims());
}

/// `made` in the float types that lead from `from` to the value that shows it: each may round.
static Value castAlong(LeafBuilder &leaf, Value made, Value from, Value to) {
  if (to == from)
    return made;
  made = castAlong(leaf, made, from, to.getDefiningOp()->getOperand(0));
  return leaf.cast(made, getElementTypeOrSelf(to));
}

/// Rows of a matrix that shows a concatenation, taken of the tensor that has them all: what is joined may be rounded,
/// and is known only where it is not joined.
static Value takeJoined(algebra::Reading &reading, LeafBuilder &leaf, OpBuilder &builder, Value matrix, int64_t dim,
                        int64_t offset, int64_t count) {
  const algebra::Factor *read = algebra::singleFactor(reading.of(matrix));
  Value whole = read && read->halves == 2 && reading.of(matrix)[0].coefficient == 1 ? read->node()->value : Value();
  auto concat = whole ? whole.getDefiningOp<tensor::ConcatOp>() : tensor::ConcatOp();
  const int64_t joined = concat ? static_cast<int64_t>(concat.getDim()) : 0;
  Indices at = concat ? Indices(read->at().begin(), read->at().end()) : Indices();
  if (!concat || at[joined] != algebra::wholeVar(dim, reading.size(matrix, dim)))
    return {};
  int64_t start = 0;
  for (Value input : concat.getInputs()) {
    const int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(joined);
    if (ShapedType::isDynamic(size))
      return {};
    if (start <= offset && offset + count <= start + size) {
      SmallVector<IndexVars> dims = ownDims(reading, matrix);
      dims[dim] = count == 1 ? IndexVars() : IndexVars{{static_cast<algebra::Var>(dim), algebra::Size(count)}};
      at[joined] = algebra::wholeVar(dim, algebra::Size(count));
      Value rows = count == size ? input : leaf.slice(input, joined, offset - start, count);
      Value shaped = arrange(reading, builder, matrix.getLoc(), rows, at, dims);
      return shaped ? castAlong(leaf, shaped, whole, matrix) : shaped;
    }
    start += size;
  }
  return {};
}

/// Replaces a part of a product by the product of a part of the matrix.
static void cut(algebra::Reading &reading, Operation *product, MixMatrix matrix, tensor::ExtractSliceOp slice) {
  const algebra::Factor *read = algebra::singleFactor(reading.of(slice));
  if (!read || read->node()->value != product->getResult(0) || reading.of(slice)[0].coefficient != 1)
    return;
  Indices at(read->at().begin(), read->at().end());
  std::optional<int64_t> rows = countRows(reading, product->getResult(0), matrix.resultRow, at);
  if (!rows)
    return;
  OpBuilder builder(product);
  LeafBuilder leaf(builder, product->getLoc());
  Operation *made = builder.clone(*product);
  builder.setInsertionPoint(made);
  Value all = product->getOperand(matrix.operand);
  const int64_t offset = at[matrix.resultRow].offset;
  Value part = takeJoined(reading, leaf, builder, all, matrix.rows, offset, *rows);
  made->setOperand(matrix.operand, part ? part : sliceRows(leaf, all, matrix.rows, offset, *rows));
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  auto shape = llvm::to_vector(type.getShape());
  shape[matrix.resultRow] = *rows;
  made->getResult(0).setType(type.clone(shape));
  at[matrix.resultRow].offset = 0;
  builder.setInsertionPoint(slice);
  Value shaped = arrange(reading, builder, slice.getLoc(), made->getResult(0), at, ownDims(reading, slice));
  shaped = shaped ? castAlong(leaf, shaped, product->getResult(0), slice.getSource()) : shaped;
  if (shaped && shaped.getType() == slice.getType())
    slice.replaceAllUsesWith(shaped);
}

void mhc::cutProducts(func::FuncOp func) {
  struct Cut {
    Operation *product;
    MixMatrix matrix;
    SmallVector<tensor::ExtractSliceOp> parts;
  };
  std::vector<Cut> cuts;
  llvm::DenseSet<Value> atoms; ///< products, and what is joined
  func.walk([&](Operation *op) {
    if (isa<tensor::ConcatOp>(op))
      atoms.insert(op->getResult(0));
    auto product = dyn_cast<BatchMatmulOp>(op);
    auto flat = dyn_cast<MatmulOp>(op); // one matrix for all tokens
    std::optional<MixMatrix> matrix = product ? findMatrix(product) : flat ? findMatrix(flat) : std::nullopt;
    if (!matrix)
      return;
    SmallVector<tensor::ExtractSliceOp> parts = partsOf(op->getResult(0), matrix->n);
    if (parts.empty())
      return;
    cuts.push_back({op, *matrix, parts});
    atoms.insert(op->getResult(0));
  });
  if (cuts.empty())
    return;
  algebra::Reading reading(func, algebra::Rounding::ignored, atoms);
  for (const Cut &found : cuts)
    for (tensor::ExtractSliceOp part : found.parts)
      cut(reading, found.product, found.matrix, part);
}
