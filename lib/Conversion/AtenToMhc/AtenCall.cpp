//===- AtenCall.cpp - One call of an ATen op ----------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

unsigned SymbolicSizes::symbolOf(StringRef name) { return symbols.try_emplace(name, symbols.size()).first->second; }

static ArrayAttr dimTexts(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return cast<func::FuncOp>(argument.getOwner()->getParentOp())
        .getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDims);
  auto lists = value.getDefiningOp()->getAttrOfType<ArrayAttr>(kDims);
  unsigned number = cast<OpResult>(value).getResultNumber();
  return lists && number < lists.size() ? dyn_cast<ArrayAttr>(lists[number]) : ArrayAttr();
}

Dims SymbolicSizes::of(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  ArrayAttr texts = dimTexts(value);
  Dims dims;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(constantPolynomial(size));
      continue;
    }
    auto given = texts && i < texts.size() ? dyn_cast<StringAttr>(texts[i]) : StringAttr();
    StringRef text = given ? given.getValue() : "?";
    auto symbol = [&](StringRef name) { return symbolOf(name); };
    std::optional<Polynomial> known = text == "?" ? std::nullopt : parsePolynomial(text, symbol);
    dims.push_back(known ? *known : symbolPolynomial(symbolOf(("?" + Twine(symbols.size())).str())));
  }
  return dims;
}

void SymbolicSizes::keep(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return;
  for (auto [dim, size] : llvm::enumerate(of(value)))
    if (std::optional<unsigned> symbol = mhc::symbolOf(size))
      kept.try_emplace(*symbol, value, dim);
    else if (size.size() > 1)
      sums.push_back({size, value, static_cast<int64_t>(dim)});
}

/// Whether a size is the symbol, or less it, and a sum of others.
static bool isSumWith(const Polynomial &size, unsigned symbol) {
  auto isOther = [&](const auto &term) { return !llvm::is_contained(term.first, symbol); };
  auto own = size.find({symbol});
  return own != size.end() && std::abs(own->second) == 1 &&
         static_cast<size_t>(llvm::count_if(size, isOther)) + 1 == size.size();
}

Value SymbolicSizes::solve(OpBuilder &builder, Location loc, unsigned symbol) {
  auto isKnown = [&](unsigned other) { return other == symbol || values.lookup(other) || kept.contains(other); };
  auto fits = [&](const KnownSize &sum) {
    return isSumWith(sum.size, symbol) &&
           llvm::all_of(sum.size, [&](const auto &term) { return llvm::all_of(term.first, isKnown); });
  };
  auto sum = llvm::find_if(sums, fits);
  if (sum == sums.end())
    return {};
  const bool isAdded = sum->size.at({symbol}) == 1;
  Polynomial others = sum->size;
  others.erase({symbol});
  OpFoldResult rest = materialise(builder, loc, others);
  Value whole = tensor::DimOp::create(builder, loc, sum->tensor, sum->dim);
  Value known = getValueOrCreateConstantIndexOp(builder, loc, rest);
  return values[symbol] = arith::SubIOp::create(builder, loc, isAdded ? whole : known, isAdded ? known : whole);
}

Value SymbolicSizes::valueOf(OpBuilder &builder, Location loc, unsigned symbol) {
  if (Value known = values.lookup(symbol))
    return known;
  auto [value, dim] = kept.lookup(symbol);
  if (!value)
    return solve(builder, loc, symbol);
  OpBuilder behind(func.getContext());
  behind.setInsertionPointAfterValue(value);
  return values[symbol] = tensor::DimOp::create(behind, value.getLoc(), value, dim);
}

OpFoldResult SymbolicSizes::materialise(OpBuilder &builder, Location loc, const Polynomial &size) {
  if (std::optional<int64_t> number = constantOf(size))
    return builder.getIndexAttr(*number);
  auto known = llvm::find_if(sums, [&](const KnownSize &sum) { return sum.size == size; });
  if (known != sums.end())
    return tensor::DimOp::create(builder, loc, known->tensor, known->dim).getResult();
  auto productOf = [&](const Monomial &symbols) {
    Value product;
    for (unsigned symbol : symbols) {
      Value factor = valueOf(builder, loc, symbol);
      if (!factor)
        return Value();
      product = product ? arith::MulIOp::create(builder, loc, product, factor).getResult() : factor;
    }
    return product;
  };
  return mhc::materialise(builder, loc, size, productOf);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

AtenCall::AtenCall(Operation *op, const llvm::DenseMap<Value, Value> &leaves, SymbolicSizes &sizes)
    : builder(op), leaf(builder, op->getLoc()), loc(op->getLoc()), op(op), leaves(leaves), sizes(sizes) {}

Value AtenCall::operandOf(Attribute argument) const {
  auto number = dyn_cast_if_present<IntegerAttr>(argument);
  bool isOperand = number && number.getType().isIndex() && number.getInt() >= 0 &&
                   number.getInt() < static_cast<int64_t>(op->getNumOperands());
  return isOperand ? op->getOperand(number.getInt()) : Value();
}

Value AtenCall::leafOf(Attribute argument) const {
  Value operand = operandOf(argument);
  return operand ? leaves.lookup(operand) : Value();
}

bool mhc::aten::isFloat(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  return tensor && isa<Float64Type, Float32Type, BFloat16Type, Float16Type>(tensor.getElementType());
}

static bool isFloatTensor(Value value) { return value && isFloat(value.getType()); }

Value AtenCall::tensor(StringRef name) const {
  Value value = leafOf(op->getAttr(name));
  return isFloatTensor(value) ? value : Value();
}

SmallVector<Value> AtenCall::tensors(StringRef name) const {
  SmallVector<Value> values;
  if (auto list = op->getAttrOfType<ArrayAttr>(name))
    for (Attribute element : list)
      values.push_back(leafOf(element));
  return llvm::all_of(values, isFloatTensor) ? values : SmallVector<Value>();
}

Value AtenCall::mask(StringRef name) const {
  Value value = leafOf(op->getAttr(name));
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && type.getElementType().isInteger(1) ? value : Value();
}

static std::optional<int64_t> literalInteger(Attribute attr) {
  auto number = dyn_cast_if_present<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) ? std::optional(number.getInt()) : std::nullopt;
}

std::optional<double> AtenCall::number(StringRef name) const {
  if (auto number = op->getAttrOfType<FloatAttr>(name))
    return number.getValueAsDouble();
  std::optional<int64_t> number = integer(name);
  return number ? std::optional<double>(*number) : std::nullopt;
}

std::optional<int64_t> AtenCall::integer(StringRef name) const { return literalInteger(op->getAttr(name)); }

bool AtenCall::flag(StringRef name) const {
  auto value = op->getAttrOfType<BoolAttr>(name);
  return value && value.getValue();
}

static std::optional<SmallVector<int64_t>> integersOf(ArrayAttr list) {
  SmallVector<int64_t> numbers;
  for (Attribute element : list ? list.getValue() : ArrayRef<Attribute>()) {
    std::optional<int64_t> number = literalInteger(element);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return list ? std::optional(numbers) : std::nullopt;
}

std::optional<SmallVector<int64_t>> AtenCall::integers(StringRef name) const {
  return integersOf(op->getAttrOfType<ArrayAttr>(name));
}

/// A constant, or a copy of one, or each place in one as often as the number there says.
static std::optional<SmallVector<int64_t>> numbersOf(Value tensor) {
  constexpr int64_t kMostElements = 256;
  Operation *maker = tensor ? tensor.getDefiningOp() : nullptr;
  if (!maker || maker->hasAttr("constant"))
    return maker ? integersOf(maker->getAttrOfType<ArrayAttr>("constant")) : std::nullopt;
  const StringRef name = maker->getName().getStringRef();
  const bool repeats = name == kRepeatInterleaveTensor;
  if (maker->getNumOperands() != 1 || (!repeats && name != kLiftFreshCopy && name != kClone && name != kToCopy))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> numbers = numbersOf(maker->getOperand(0));
  if (!numbers || !repeats)
    return numbers;
  SmallVector<int64_t> places;
  for (auto [place, count] : llvm::enumerate(*numbers)) {
    if (count < 0 || count > kMostElements)
      return std::nullopt;
    places.append(count, place);
  }
  return places;
}

std::optional<SmallVector<int64_t>> AtenCall::constant(StringRef name) const {
  Attribute argument = op->getAttr(name);
  auto list = dyn_cast_if_present<ArrayAttr>(argument);
  return numbersOf(operandOf(list && list.size() == 1 ? list[0] : argument));
}

std::optional<int64_t> AtenCall::dim(StringRef name, Value tensor) const {
  std::optional<int64_t> dim = tensor ? integer(name) : std::nullopt;
  int64_t rank = dim ? rankOf(tensor) : 0;
  if (!dim || *dim < -rank || *dim >= rank)
    return std::nullopt;
  return *dim < 0 ? *dim + rank : *dim;
}

std::optional<SmallVector<int64_t>> AtenCall::dims(StringRef name, Value tensor) const {
  if (!tensor)
    return std::nullopt;
  int64_t rank = rankOf(tensor);
  std::optional<int64_t> single = integer(name);
  std::optional<SmallVector<int64_t>> listed = single      ? SmallVector<int64_t>{*single}
                                               : has(name) ? integers(name)
                                                           : SmallVector<int64_t>();
  if (!listed)
    return std::nullopt;
  if (listed->empty())
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  llvm::SmallBitVector seen(rank);
  for (int64_t &dim : *listed) {
    if (dim < -rank || dim >= rank)
      return std::nullopt;
    dim += dim < 0 ? rank : 0;
    if (seen.test(dim))
      return std::nullopt;
    seen.set(dim);
  }
  return listed;
}

RankedTensorType AtenCall::resultType(unsigned result) const {
  return dyn_cast<RankedTensorType>(op->getResult(result).getType());
}

bool AtenCall::isOnlySummed() const {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return llvm::is_contained({kSumDimIntList, kMeanDim}, user->getName().getStringRef());
  });
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

std::optional<LeafBuilder::Sizes> AtenCall::resultSizes(unsigned result) {
  LeafBuilder::Sizes all;
  for (const Polynomial &size : resultDims(result)) {
    all.push_back(sizes.materialise(builder, loc, size));
    if (!all.back())
      return std::nullopt;
  }
  return all;
}

/// The dimensions of two shapes that hold the same elements, in groups of equal size that are as small as can be.
static std::optional<std::pair<SmallVector<ReassociationIndices>, SmallVector<ReassociationIndices>>>
groupsOf(ArrayRef<Polynomial> from, ArrayRef<Polynomial> to) {
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices left = {static_cast<int64_t>(i)}, right = {static_cast<int64_t>(j)};
    Polynomial a = from[i++], b = to[j++];
    while (a != b) {
      bool growsLeft = i < from.size() && (divide(b, a) || j == to.size());
      std::optional<Polynomial> product = growsLeft       ? multiply(a, from[i])
                                          : j < to.size() ? multiply(b, to[j])
                                                          : std::nullopt;
      if (!product)
        return std::nullopt;
      (growsLeft ? a : b) = *product;
      (growsLeft ? left : right).push_back(growsLeft ? i++ : j++);
    }
    fromGroups.push_back(left);
    toGroups.push_back(right);
  }
  auto addUnits = [](SmallVector<ReassociationIndices> &groups, ArrayRef<Polynomial> dims, size_t next) {
    for (; next < dims.size() && !groups.empty(); ++next) {
      if (dims[next] != constantPolynomial(1))
        return false;
      groups.back().push_back(next);
    }
    return true;
  };
  if (!addUnits(fromGroups, from, i) || !addUnits(toGroups, to, j))
    return std::nullopt;
  return std::pair(fromGroups, toGroups);
}

Value AtenCall::reshaped() {
  Value self = tensor("self");
  if (!self)
    return {};
  Dims from = sizes.of(operandOf(op->getAttr("self"))), to = resultDims();
  auto groups = groupsOf(from, to);
  if (!groups)
    return {};
  auto &[fromGroups, toGroups] = *groups;
  auto joins = [](ArrayRef<ReassociationIndices> groups, const Dims &dims) { return groups.size() != dims.size(); };
  std::optional<LeafBuilder::Sizes> result = LeafBuilder::Sizes();
  if (joins(toGroups, to))
    result = resultSizes();
  if (!result)
    return {};
  // Sizes that are symbols of the same value may be numbers on one side only.
  const auto castTo = [&](RankedTensorType type) {
    if (self.getType() != type)
      self = tensor::CastOp::create(builder, loc, type, self);
  };
  if (joins(fromGroups, from))
    self = tensor::CollapseShapeOp::create(builder, loc, self, fromGroups);
  castTo(tensor::CollapseShapeOp::inferCollapsedType(resultType(), toGroups));
  if (joins(toGroups, to))
    self = tensor::ExpandShapeOp::create(builder, loc, resultType(), self, toGroups, *result);
  return self;
}

Value AtenCall::spread(Value tensor) {
  if (!tensor)
    return {};
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == resultType().getShape())
    return tensor;
  const int64_t more = resultType().getRank() - type.getRank();
  auto isSpread = [&](auto size) {
    auto [from, to] = size;
    return from == to || from == 1 || ShapedType::isDynamic(from) || ShapedType::isDynamic(to);
  };
  if (more < 0 || !llvm::all_of(llvm::zip(type.getShape(), resultType().getShape().drop_front(more)), isSpread))
    return {};
  std::optional<LeafBuilder::Sizes> result = resultSizes();
  if (!result)
    return {};
  return leaf.broadcast(tensor, *result, llvm::to_vector(llvm::seq<int64_t>(more, resultType().getRank())));
}

Value AtenCall::splat(double value, Type element) {
  RankedTensorType type = resultType().clone(element);
  FloatAttr number = builder.getFloatAttr(element, value);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
  std::optional<LeafBuilder::Sizes> result = resultSizes();
  if (!result)
    return {};
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  SmallVector<Value> dynamic;
  for (auto [dim, size] : llvm::enumerate(*result))
    if (type.isDynamicDim(dim))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::SplatOp::create(builder, loc, type, scalar, dynamic);
}

Value AtenCall::slice(Value tensor, int64_t dim, int64_t start, int64_t size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.isDynamicDim(dim))
    return {};
  for (auto [other, extent] : llvm::enumerate(type.getShape())) // MLIR has no slices of what is empty
    if (extent == 0 && static_cast<int64_t>(other) != dim)
      return {};
  const int64_t whole = type.getDimSize(dim);
  start = std::clamp<int64_t>(start < 0 ? start + whole : start, 0, whole);
  if (size < 0 || start + size > whole)
    return {};
  if (size == 0) // of nothing, which MLIR lets begin inside the tensor alone
    start = 0;
  return size == whole ? tensor : leaf.slice(tensor, dim, start, size);
}

Value AtenCall::slice(Value tensor, int64_t dim, const Polynomial &start, const Polynomial &size) {
  OpFoldResult first = sizes.materialise(builder, loc, start), count = sizes.materialise(builder, loc, size);
  if (!first || !count)
    return {};
  LeafBuilder::Sizes own = leaf.sizesOf(tensor);
  SmallVector<OpFoldResult> starts(own.size(), leaf.constant(0)), strides(own.size(), leaf.constant(1));
  starts[dim] = first;
  own[dim] = count;
  return tensor::ExtractSliceOp::create(builder, loc, tensor, starts, own, strides);
}

Value AtenCall::part(Value tensor, ArrayRef<int64_t> offsets) {
  std::optional<LeafBuilder::Sizes> result = resultSizes();
  if (!result || result->size() != offsets.size())
    return {};
  SmallVector<OpFoldResult> starts, strides(offsets.size(), leaf.constant(1));
  for (int64_t offset : offsets)
    starts.push_back(leaf.constant(offset));
  return tensor::ExtractSliceOp::create(builder, loc, tensor, starts, *result, strides);
}

Value AtenCall::reduce(ReduceKind kind) {
  Value self = tensor("self");
  return self ? reduce(kind, leaf.cast(self, resultElement())) : Value();
}

Value AtenCall::reduce(ReduceKind kind, Value self) {
  std::optional<SmallVector<int64_t>> over = dims("dim", self);
  if (!over || rankOf(self) == 0)
    return {};
  Value reduced = leaf.reduce(kind, self, *over);
  llvm::SmallBitVector units(rankOf(self));
  for (int64_t dim : *over)
    units.set(dim);
  return flag("keepdim") ? leaf.insertUnits(reduced, units) : reduced;
}

Value AtenCall::operand(StringRef name, Type element) {
  if (std::optional<double> known = number(name))
    return splat(*known, element);
  Value value = tensor(name);
  if (!value)
    value = fromIntegers(name);
  return value ? spread(leaf.cast(value, element)) : Value();
}

Value AtenCall::fromIntegers(StringRef name) {
  Value value = leafOf(op->getAttr(name));
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type || !type.getElementType().isSignlessInteger() || type.getElementType().isInteger(1))
    return {};
  return arith::SIToFPOp::create(builder, loc, type.clone(resultElement()), value);
}

Type AtenCall::meetingType(ArrayRef<StringRef> names) const {
  Type element = resultElement();
  for (StringRef name : names) {
    Value value = tensor(name);
    Type own = value ? getElementTypeOrSelf(value) : element;
    if (own != element)
      element = own.isF64() || element.isF64() ? Type(Float64Type::get(op->getContext()))
                                               : Type(Float32Type::get(op->getContext()));
  }
  return element;
}
