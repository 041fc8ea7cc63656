//===- LeafRules.cpp - Rules for the leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "TensorMath.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

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

/// The number of a row, checked.
static Expected<int64_t> rowOf(Operation *op, const HostTensor &ids, int64_t m, int64_t size) {
  int64_t row = static_cast<int64_t>(ids.data()[m]);
  if (row < 0 || row >= size)
    return errorAt(op,
                   "has row " + llvm::Twine(row) + " at " + llvm::Twine(m) + "; the table has " + llvm::Twine(size));
  return row;
}

static Expected<HostTensor> evaluateTake(Operation *op, ArrayRef<HostTensor> operands) {
  const HostTensor &table = operands[0], &ids = operands[1];
  int64_t width = table.shape()[1];
  std::vector<double> out;
  for (int64_t m = 0; m < ids.size(); ++m) {
    Expected<int64_t> row = rowOf(op, ids, m, table.shape()[0]);
    if (!row)
      return row.takeError();
    out.insert(out.end(), table.data() + *row * width, table.data() + (*row + 1) * width);
  }
  return HostTensor({ids.size(), width}, std::move(out));
}

static Expected<HostTensor> evaluateTakeBwd(Operation *op, ArrayRef<HostTensor> operands) {
  const HostTensor &rows = operands[0], &ids = operands[1], &start = operands[2];
  int64_t width = start.shape()[1];
  if (rows.shape() != llvm::ArrayRef<int64_t>({ids.size(), width}))
    return errorAt(op, "adds rows of shape " + toString(rows.shape()) + "; needed " + toString({ids.size(), width}));
  std::vector<double> out = start.values().vec();
  for (int64_t m = 0; m < ids.size(); ++m) {
    Expected<int64_t> row = rowOf(op, ids, m, start.shape()[0]);
    if (!row)
      return row.takeError();
    for (int64_t c = 0; c < width; ++c)
      out[*row * width + c] += rows.data()[m * width + c];
  }
  return HostTensor(Shape(start.shape()), std::move(out));
}

/// The last cut at or before each token.
static Expected<HostTensor> evaluateSequenceStarts(Operation *op, ArrayRef<HostTensor> operands) {
  const HostTensor &cuts = operands[0];
  const int64_t size =
      operands.size() > 1 ? operands[1].integer() : cast<SequenceStartsOp>(op).getStarts().getType().getDimSize(0);
  std::vector<double> starts(size, 0.0);
  for (int64_t m = 0; m < size; ++m)
    for (double cut : cuts.values())
      if (cut <= m)
        starts[m] = std::max(starts[m], cut);
  return HostTensor({size}, std::move(starts));
}

/// A token that has moved stays where the sequence of the later one of both places starts no later than the earlier.
static Expected<HostTensor> evaluateShift(Operation *op, ArrayRef<HostTensor> operands) {
  auto shift = cast<ShiftOp>(op);
  const HostTensor &x = operands[0];
  const int64_t dim = shift.getDim(), tokens = x.shape()[dim], by = shift.getBy();
  if (operands.size() > 1 && operands[1].size() != tokens)
    return errorAt(op, "has " + llvm::Twine(operands[1].size()) + " starts; needed " + llvm::Twine(tokens));
  const int64_t inner = numElements(x.shape().drop_front(dim + 1));
  std::vector<double> out(x.size(), 0.0);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t m = i / inner % tokens, from = m - by;
    const bool isToken = from >= 0 && from < tokens;
    if (isToken && (operands.size() == 1 || operands[1].data()[std::max(m, from)] <= std::min(m, from)))
      out[i] = x.data()[i - by * inner];
  }
  return HostTensor(Shape(x.shape()), std::move(out));
}

void mhc::reference::addLeafRules(llvm::StringMap<Rule> &rules) {
  rules["mhc.matmul"] = evaluateMatmul<MatmulOp>;
  rules["mhc.batch_matmul"] = evaluateMatmul<BatchMatmulOp>;
  rules["mhc.reduce"] = evaluateReduce;
  rules["mhc.broadcast"] = evaluateBroadcast;
  rules["mhc.take"] = evaluateTake;
  rules["mhc.take_bwd"] = evaluateTakeBwd;
  rules["mhc.rms_norm"] = evaluateRmsNorm;
  rules["mhc.sequence_starts"] = evaluateSequenceStarts;
  rules["mhc.shift"] = evaluateShift;
  rules["linalg.softmax"] = [](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    return softmax(operands[0], cast<linalg::SoftmaxOp>(op).getDimension());
  };
  rules["mhc.softmax"] = [](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    return softmax(operands[0], cast<SoftmaxOp>(op).getDim());
  };
  rules["mhc.transpose"] = [](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    return transpose(operands[0], cast<TransposeOp>(op).getPerm());
  };
}
