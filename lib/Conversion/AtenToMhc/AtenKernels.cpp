//===- AtenKernels.cpp - Calls of kernels in a PyTorch graph ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of what mhc-write-aten does, by the records of the ops: it knows none by name.
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/IR/KernelInfo.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

/// The attribute of the op that a literal of the call is; null where it is absent or no value of it.
static Attribute attributeOf(Builder &builder, const KernelAttr &attr, AtenCall &call) {
  switch (attr.kind) {
  case KernelAttr::Enum: {
    auto word = dyn_cast_if_present<StringAttr>(call.literal(attr.name));
    std::optional<int64_t> value = word ? attr.symbolize(word.getValue()) : std::nullopt;
    return value ? attr.make(builder.getContext(), *value) : Attribute();
  }
  case KernelAttr::Int: {
    std::optional<int64_t> value = call.integer(attr.name);
    return value ? builder.getI64IntegerAttr(*value) : Attribute();
  }
  case KernelAttr::Float: {
    std::optional<double> value = call.number(attr.name);
    return value ? builder.getF64FloatAttr(*value) : Attribute();
  }
  case KernelAttr::Bool:
    return dyn_cast_if_present<BoolAttr>(call.literal(attr.name));
  case KernelAttr::Unit:
    return call.flag(attr.name) ? builder.getUnitAttr() : Attribute();
  }
  llvm_unreachable("all kinds are above");
}

/// All dims, of which the first ones are one group.
static SmallVector<ReassociationIndices> groupsOf(int64_t rank, int64_t count) {
  SmallVector<ReassociationIndices> groups = {llvm::to_vector<2>(llvm::seq<int64_t>(0, count))};
  for (int64_t dim : llvm::seq(count, rank))
    groups.push_back({dim});
  return groups;
}

/// How many dims a tensor of the graph has in place of the first one of the record: tokens are any number of them. Less
/// than one where it is no such tensor.
static int64_t numFirstDims(Type type, ArrayRef<unsigned> dims) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  return tensor ? tensor.getRank() - static_cast<int64_t>(dims.size()) + 1 : 0;
}

/// The type of a tensor whose first dims are one.
static RankedTensorType withOneFirstDim(RankedTensorType type, int64_t count) {
  if (count == 1)
    return type;
  return tensor::CollapseShapeOp::inferCollapsedType(type, groupsOf(type.getRank(), count));
}

/// A result in the shape that the graph has it in.
static Value inShapeOfCall(AtenCall &call, unsigned number, Value value) {
  RankedTensorType type = call.resultType(number);
  if (value.getType() == type)
    return value;
  const int64_t count = type.getRank() - cast<RankedTensorType>(value.getType()).getRank() + 1;
  std::optional<LeafBuilder::Sizes> sizes = call.resultSizes(number);
  if (!sizes)
    return {};
  return tensor::ExpandShapeOp::create(call.builder, call.loc, type, value, groupsOf(type.getRank(), count), *sizes);
}

namespace {
/// The parts of an op, in the order of its record.
class KernelReader {
public:
  KernelReader(const KernelInfo &info, AtenCall &call) : info(info), call(call), state(call.loc, info.opName) {}

  SmallVector<Value> read() {
    if (!readAttributes() || !readTensors() || places.size() != call.results().size())
      return {};
    Operation *op = call.builder.create(state);
    SmallVector<Value> values;
    for (auto [number, place] : llvm::enumerate(places)) {
      values.push_back(place ? inShapeOfCall(call, number, op->getResult(*place)) : Value());
      if (place && !values.back())
        return {}; // its sizes follow from nothing that is there
    }
    return values;
  }

private:
  bool readAttributes() {
    for (const KernelAttr &attr : info.attrs) {
      if (Attribute made = attributeOf(call.builder, attr, call))
        state.addAttribute(attr.name, made);
      else if (call.has(attr.name) && attr.kind != KernelAttr::Unit)
        return false;
    }
    return true;
  }

  bool readTensors() {
    const DictionaryAttr attrs = state.attributes.getDictionary(call.builder.getContext());
    SmallVector<int32_t> operandCounts, resultCounts;
    for (const KernelTensor &tensor : info.tensors) {
      const ArrayRef<unsigned> dims = kernelTensorDims(attrs, tensor);
      std::optional<bool> isThere = tensor.isResult ? readResult(tensor, dims) : readOperand(tensor, dims);
      if (!isThere)
        return false;
      (tensor.isResult ? resultCounts : operandCounts).push_back(*isThere);
    }
    addSegments("operandSegmentSizes", operandCounts, /*areResults=*/false);
    addSegments("resultSegmentSizes", resultCounts, /*areResults=*/true);
    return true;
  }

  /// Whether an operand is there; nothing where the op cannot take what the call has.
  std::optional<bool> readOperand(const KernelTensor &tensor, ArrayRef<unsigned> dims) {
    Value value = call.value(tensor.name);
    if (!value)
      return tensor.isOptional && !call.has(tensor.name) ? std::optional(false) : std::nullopt;
    const int64_t count = numFirstDims(value.getType(), dims);
    if (count < 1)
      return std::nullopt;
    state.addOperands(count == 1 ? value : call.leaf.join(value, 0, count));
    return true;
  }

  /// Whether nothing reads a result, nor the other one that gates have with it or not at all.
  bool isUnused(unsigned number) const {
    auto isRead = [](Value result) { return !result.use_empty(); };
    const bool isPaired = info.opName == GatesOp::getOperationName() && number > 0;
    return isPaired ? llvm::none_of(call.results().drop_front(), isRead) : !isRead(call.results()[number]);
  }

  /// The same of the next result, which is not there where nothing reads it and it need not be.
  std::optional<bool> readResult(const KernelTensor &tensor, ArrayRef<unsigned> dims) {
    const unsigned number = places.size();
    places.emplace_back();
    if (number >= call.results().size())
      return std::nullopt;
    if (tensor.isOptional && isUnused(number))
      return false;
    const int64_t count = numFirstDims(call.results()[number].getType(), dims);
    if (count < 1)
      return std::nullopt;
    places.back() = state.types.size();
    state.addTypes(withOneFirstDim(call.resultType(number), count));
    return true;
  }

  /// Ops have them where the number of more than one tensor is not fixed.
  void addSegments(StringRef name, ArrayRef<int32_t> counts, bool areResults) {
    auto isOpen = [&](const KernelTensor &tensor) { return tensor.isResult == areResults && tensor.isOptional; };
    if (llvm::count_if(info.tensors, isOpen) >= 2)
      state.addAttribute(name, call.builder.getDenseI32ArrayAttr(counts));
  }

  const KernelInfo &info;
  AtenCall &call;
  OperationState state;
  SmallVector<std::optional<unsigned>> places; ///< of the call's results among those of the op
};
} // namespace

SmallVector<Value> mhc::aten::readKernel(StringRef name, AtenCall &call) {
  const bool isCall = name.consume_front("torch.") && name.consume_back(".default");
  const KernelInfo *info = isCall ? lookupKernelInfo(name) : nullptr;
  return info ? KernelReader(*info, call).read() : SmallVector<Value>();
}
