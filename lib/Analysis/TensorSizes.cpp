//===- TensorSizes.cpp - Sizes of tensors in tokens ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorSizes.h"
#include "mhc/IR/TensorBytes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mhc;

void mhc::note(std::string &unknown, StringRef reason) {
  if (!llvm::is_contained(llvm::split(unknown, ", "), reason))
    unknown += (unknown.empty() ? "" : ", ") + reason.str();
}

Amount TensorSizes::elements(Value tensor, std::string &unknown) const {
  SmallVector<std::pair<Value, int>> sizes;
  for (int dim = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); dim < rank; ++dim)
    sizes.push_back({tensor, dim});
  return product(sizes, unknown);
}

Amount TensorSizes::product(ArrayRef<std::pair<Value, int>> sizes, std::string &unknown) const {
  double constant = 1;
  SmallVector<std::string> symbols;
  for (auto [tensor, dim] : sizes) {
    auto [factor, symbol] = dims.factors(tensor, dim);
    constant *= factor;
    if (!symbol.empty())
      symbols.push_back(symbol);
  }
  if (symbols.empty())
    return {0, constant};
  if (ArrayRef<std::string>(symbols) == ArrayRef<std::string>("M"))
    return {constant, 0};
  note(unknown, llvm::join(symbols, "*"));
  return {};
}

Amount TensorSizes::bytes(Value tensor, std::string &unknown) const {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (std::optional<int64_t> each = bytesOf(element))
    return *each * elements(tensor, unknown);
  std::string name;
  llvm::raw_string_ostream(name) << element;
  note(unknown, name);
  return {};
}

/// Whether a slice is one piece of memory: after the first dimension that is cut, all are whole, and those before it
/// have one element.
static bool isContiguous(tensor::ExtractSliceOp slice, const DimAnalysis &dims) {
  if (!slice.hasUnitStride())
    return false;
  bool onlyOnes = true;
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes())) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    auto value = dyn_cast<Value>(size);
    bool whole = constant ? constant == dims.constantSize(slice.getSource(), dim)
                          : dims.sameSize(value, DimAnalysis::kIndexValue, slice.getSource(), dim);
    if (!whole && !onlyOnes)
      return false;
    onlyOnes &= constant == 1;
  }
  return true;
}

Value TensorSizes::viewSource(Operation *op) const {
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
    return op->getOperand(0);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice && isContiguous(slice, dims) ? slice.getSource() : Value();
}
