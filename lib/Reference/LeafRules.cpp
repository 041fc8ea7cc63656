//===- LeafRules.cpp - Rules for the leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "TensorMath.h"
#include "mhc/IR/MhcOps.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::reference;
using llvm::Expected;

template <typename Op>
static Expected<HostTensor> evaluateMatmul(Operation *op, ArrayRef<HostTensor> operands) {
  auto matmul = cast<Op>(op);
  const HostTensor &lhs = operands[0], &rhs = operands[1];
  int64_t left = lhs.shape().take_back(2)[!matmul.getTransposeLhs()];
  int64_t right = rhs.shape().take_back(2)[matmul.getTransposeRhs()];
  if (left != right || (lhs.rank() == 3 && lhs.shape()[0] != rhs.shape()[0]))
    return errorAt(op, "has operands of shape " + toString(lhs.shape()) + " and " + toString(rhs.shape()) +
                           ", which do not multiply");
  return reference::matmul(lhs, rhs, matmul.getTransposeLhs(), matmul.getTransposeRhs());
}

static Expected<HostTensor> evaluateReduce(Operation *op, ArrayRef<HostTensor> operands) {
  auto reduce = cast<ReduceOp>(op);
  if (reduce.getKind() == ReduceKind::max)
    return reduceMax(operands[0], reduce.getDims());
  HostTensor sum = reduceSum(operands[0], reduce.getDims());
  if (reduce.getKind() == ReduceKind::sum)
    return sum;
  double count = 1;
  for (int64_t dim : reduce.getDims())
    count *= operands[0].shape()[dim];
  std::vector<double> out = sum.values().vec();
  for (double &value : out)
    value /= count;
  return HostTensor(Shape(sum.shape()), std::move(out));
}

static Expected<HostTensor> evaluateBroadcast(Operation *op, ArrayRef<HostTensor> operands) {
  auto broadcast = cast<BroadcastOp>(op);
  const HostTensor &x = operands[0];
  Shape shape(broadcast.getOut().getType().getShape());
  for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
    if (ShapedType::isDynamic(shape[dim]) && broadcast.getX().getType().isDynamicDim(i))
      shape[dim] = x.shape()[i];
  const HostTensor *size = operands.begin() + 1;
  for (int64_t &missing : shape)
    if (ShapedType::isDynamic(missing))
      missing = (size++)->integer();
  for (auto [dim, size] : llvm::zip(broadcast.getDims(), x.shape()))
    if (size != 1 && size != shape[dim])
      return errorAt(op, "cannot spread shape " + toString(x.shape()) + " over " + toString(shape));
  return reference::broadcast(x, broadcast.getDims(), shape);
}

static Expected<HostTensor> evaluateRmsNorm(Operation *op, ArrayRef<HostTensor> operands) {
  auto norm = cast<RmsNormOp>(op);
  const HostTensor *weight = norm.getWeight() ? &operands[1] : nullptr;
  if (weight && weight->size() != operands[0].shape().back())
    return errorAt(op, "has an operand of shape " + toString(operands[0].shape()) + " and a weight of shape " +
                           toString(weight->shape()));
  return rmsNorm(operands[0], weight, norm.getEps().convertToDouble());
}

void mhc::reference::addLeafRules(llvm::StringMap<Rule> &rules) {
  rules["mhc.matmul"] = evaluateMatmul<MatmulOp>;
  rules["mhc.batch_matmul"] = evaluateMatmul<BatchMatmulOp>;
  rules["mhc.reduce"] = evaluateReduce;
  rules["mhc.broadcast"] = evaluateBroadcast;
  rules["mhc.rms_norm"] = evaluateRmsNorm;
  rules["mhc.softmax"] = [](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    return softmax(operands[0], cast<SoftmaxOp>(op).getDim());
  };
  rules["mhc.transpose"] = [](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    return transpose(operands[0], cast<TransposeOp>(op).getPerm());
  };
}
