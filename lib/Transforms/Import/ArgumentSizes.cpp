//===- ArgumentSizes.cpp - One value for each size ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/ArgumentSizes.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>

using namespace mlir;
using namespace mhc;

namespace {
/// Sizes of arguments, and of the first reshape that makes a product of them, such as the number of all tokens.
class SizesOfArguments {
public:
  SizesOfArguments(func::FuncOp func, DimAnalysis *dims) : func(func), builder(func.getBody()), dims(dims) {}

  /// The size that `op` reads, from an argument or a reshape of one; null where none has it, or none before `op`.
  Value replacementOf(tensor::DimOp op) {
    std::optional<int64_t> dim = op.getConstantIndex();
    auto [value, place] =
        dim && isa<RankedTensorType>(op.getSource().getType()) ? sourceOf(op, *dim) : std::pair<Value, int64_t>();
    if (!value)
      return {};
    Value &size = sizes[{value, place}];
    if (!size) {
      OpBuilder behind(func.getContext());
      if (Operation *reshape = value.getDefiningOp())
        behind.setInsertionPointAfter(reshape);
      size = tensor::DimOp::create(value.getDefiningOp() ? behind : builder, op.getLoc(), value, place);
    }
    return size;
  }

  /// `op` is about to be erased.
  void forget(Operation *op) {
    if (dims)
      dims->forget(op);
  }

private:
  std::pair<Value, int64_t> sourceOf(tensor::DimOp op, int64_t dim) {
    // The size of a slice of an argument says more than the equality of two arguments' sizes.
    auto own = dyn_cast<BlockArgument>(op.getSource());
    if (own && own.getOwner() == &func.getBody().front())
      return {own, dim};
    if (!isAnalysed)
      analyse();
    dims->learn(op.getSource());
    if (auto argument = dims->argumentDim(op.getSource(), dim))
      return {func.getArgument(argument->first), argument->second};
    auto product = products.find(dims->factors(op.getSource(), dim));
    if (product == products.end() || StringRef(product->first.second).contains('?'))
      return {};
    Operation *here = func.getBody().front().findAncestorOpInBlock(*op);
    bool before = product->second.first.getDefiningOp()->isBeforeInBlock(here);
    return before ? product->second : std::pair<Value, int64_t>();
  }

  /// Not needed where all sizes are read from arguments already.
  void analyse() {
    isAnalysed = true;
    if (!dims)
      dims = &own.emplace(func);
    for (Operation &op : func.getBody().front())
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) && isa<BlockArgument>(op.getOperand(0))) {
        dims->learn(op.getResult(0));
        for (int64_t dim = 0; dim < cast<RankedTensorType>(op.getResult(0).getType()).getRank(); ++dim)
          products.try_emplace(dims->factors(op.getResult(0), dim), op.getResult(0), dim);
      }
  }

  func::FuncOp func;
  OpBuilder builder;
  DimAnalysis *dims;
  std::optional<DimAnalysis> own; ///< where none was given
  bool isAnalysed = false;
  std::map<std::pair<int64_t, std::string>, std::pair<Value, int64_t>> products;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> sizes;
};
} // namespace

void mhc::readSizesFromArguments(func::FuncOp func, DimAnalysis *dims) {
  SmallVector<tensor::DimOp> ops;
  func.walk([&](tensor::DimOp op) { ops.push_back(op); });
  SizesOfArguments arguments(func, dims);
  for (tensor::DimOp op : ops)
    if (Value size = arguments.replacementOf(op)) {
      op.replaceAllUsesWith(size);
      arguments.forget(op);
      op.erase();
    }
}
