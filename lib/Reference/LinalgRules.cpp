//===- LinalgRules.cpp - Evaluation of linalg ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knows nothing of how Raise reads these ops: loops are run as they are written. Parallel loops are one tensor, in
// which the body is computed for all their iterations; reductions run one iteration after the other.
//
//===----------------------------------------------------------------------===//

#include "LinalgRules.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mhc::reference;
using llvm::Error;
using llvm::Expected;

namespace {
class LinalgRun {
public:
  LinalgRun(linalg::LinalgOp op, ArrayRef<HostTensor> operands, OuterValues outer)
      : op(op), kinds(op.getIteratorTypesArray()), operands(operands.begin(), operands.end()), outer(outer),
        sizes(op.getNumLoops(), -1) {}

  Expected<std::vector<HostTensor>> run();

private:
  Error readSizes();
  /// The positions that the parallel loops visit in an operand, at `iteration` of the reductions.
  std::vector<int64_t> visited(OpOperand &operand);
  HostTensor read(OpOperand &operand);
  void write(OpOperand &init, const HostTensor &tensor);
  Error runTurn();
  /// Ops of the body, for the iterations of the parallel loops that are `active`. The others read element 0, which
  /// nobody reads on: what they compute may lie outside.
  Error runBlock(Block &block, const HostTensor &active);
  Error runOp(Operation *scalarOp, const HostTensor &active);
  Error runBranch(scf::IfOp branch, const HostTensor &active);
  HostTensor valueOf(Value scalar);
  /// One element for each iteration of the parallel loops, made after `iteration` is set to it.
  template <typename Element>
  std::vector<Element> forParallel(llvm::function_ref<Element()> make);
  HostTensor tensorOf(llvm::function_ref<double()> make);
  /// Moves the loops of `kind` to their next iteration; false after the last one.
  bool advance(utils::IteratorType kind);

  linalg::LinalgOp op;
  SmallVector<utils::IteratorType> kinds;
  std::vector<HostTensor> operands;
  OuterValues outer;
  Shape sizes, iteration;
  llvm::DenseMap<Value, HostTensor> values;
};
} // namespace

/// Whether an expression grows with each of its loops, so that its largest value is that of the last iteration.
static bool isRising(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return isa<AffineDimExpr>(expr) ||
         (binary && llvm::is_contained({AffineExprKind::Add, AffineExprKind::Mul}, expr.getKind()) &&
          isRising(binary.getLHS()) && isRising(binary.getRHS()));
}

static int64_t valueAt(AffineExpr expr, ArrayRef<int64_t> iteration) {
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return iteration[loop.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = valueAt(binary.getLHS(), iteration), rhs = valueAt(binary.getRHS(), iteration);
  return expr.getKind() == AffineExprKind::Add ? lhs + rhs : lhs * rhs;
}

Error LinalgRun::readSizes() {
  SmallVector<std::pair<AffineExpr, int64_t>> sums;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [size, expr] : llvm::zip(operands[operand.getOperandNumber()].shape(), map.getResults())) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        sizes[loop.getPosition()] = size;
      else if (isRising(expr))
        sums.emplace_back(expr, size);
      else
        return errorAt(op,
                       "has an indexing map that the reference evaluator cannot follow: a dimension that is neither "
                       "a sum of loops nor a number");
    }
  }
  if (llvm::is_contained(sizes, -1))
    return errorAt(op, "has a loop whose size no operand has as a dimension");
  auto last = llvm::map_to_vector(sizes, [](int64_t size) { return size - 1; });
  for (auto [expr, size] : sums)
    if (!llvm::is_contained(sizes, 0) && valueAt(expr, last) >= size)
      return errorAt(op, "reads element " + llvm::Twine(valueAt(expr, last)) + " of a dimension that has " +
                             llvm::Twine(size));
  return Error::success();
}

bool LinalgRun::advance(utils::IteratorType kind) {
  for (int64_t loop = sizes.size() - 1; loop >= 0; --loop) {
    if (kinds[loop] != kind)
      continue;
    if (++iteration[loop] < sizes[loop])
      return true;
    iteration[loop] = 0;
  }
  return false;
}

template <typename Element>
std::vector<Element> LinalgRun::forParallel(llvm::function_ref<Element()> make) {
  std::vector<Element> elements;
  do
    elements.push_back(make());
  while (advance(utils::IteratorType::parallel));
  return elements;
}

HostTensor LinalgRun::tensorOf(llvm::function_ref<double()> make) {
  std::vector<double> elements = forParallel<double>(make);
  int64_t count = elements.size();
  return HostTensor({count}, std::move(elements));
}

std::vector<int64_t> LinalgRun::visited(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  ArrayRef<int64_t> shape = operands[operand.getOperandNumber()].shape();
  return forParallel<int64_t>([&] {
    int64_t position = 0;
    for (auto [size, expr] : llvm::zip(shape, map.getResults()))
      position = position * size + valueAt(expr, iteration);
    return position;
  });
}

HostTensor LinalgRun::read(OpOperand &operand) {
  const HostTensor &tensor = operands[operand.getOperandNumber()];
  std::vector<double> elements;
  for (int64_t position : visited(operand))
    elements.push_back(tensor.data()[position]);
  int64_t count = elements.size();
  return HostTensor({count}, std::move(elements));
}

void LinalgRun::write(OpOperand &init, const HostTensor &tensor) {
  HostTensor &out = operands[init.getOperandNumber()];
  std::vector<double> elements = out.values().vec();
  for (auto [position, value] : llvm::zip(visited(init), tensor.values()))
    elements[position] = value;
  out = HostTensor(Shape(out.shape()), std::move(elements));
}

/// A scalar of the body, or one from outside, for all iterations of the parallel loops.
HostTensor LinalgRun::valueOf(Value scalar) {
  auto known = values.find(scalar);
  HostTensor value = known == values.end() ? outer(scalar) : known->second;
  return value.rank() == 0 ? tensorOf([&] { return value.scalar(); }) : value;
}

Error LinalgRun::runTurn() {
  for (OpOperand &operand : op->getOpOperands())
    values[op.getMatchingBlockArgument(&operand)] = read(operand);
  if (Error error = runBlock(*op.getBlock(), tensorOf([] { return 1.0; })))
    return error;
  for (auto [init, yielded] : llvm::zip(op.getDpsInitsMutable(), op.getBlock()->getTerminator()->getOperands()))
    write(init, valueOf(yielded));
  return Error::success();
}

Error LinalgRun::runBlock(Block &block, const HostTensor &active) {
  for (Operation &scalarOp : block.without_terminator())
    if (Error error = runOp(&scalarOp, active))
      return error;
  return Error::success();
}

/// `values` where `active` is set, and `other` elsewhere.
static HostTensor where(const HostTensor &active, const HostTensor &values, const HostTensor &other) {
  std::vector<double> elements = values.values().vec();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = active.data()[i] != 0 ? elements[i] : other.data()[i];
  return HostTensor(Shape(values.shape()), std::move(elements));
}

Error LinalgRun::runOp(Operation *scalarOp, const HostTensor &active) {
  if (auto index = dyn_cast<linalg::IndexOp>(scalarOp)) {
    values[index.getResult()] = tensorOf([&] { return static_cast<double>(iteration[index.getDim()]); });
    return Error::success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(scalarOp))
    return runBranch(branch, active);
  if (isa<cf::AssertOp>(scalarOp))
    return checkAssert(scalarOp, where(active, valueOf(scalarOp->getOperand(0)), tensorOf([] { return 1.0; })));
  auto rule = rules().find(scalarOp->getName().getStringRef());
  if (rule == rules().end())
    return errorAt(scalarOp, "is unknown to the reference evaluator");
  std::vector<HostTensor> inputs;
  for (Value operand : scalarOp->getOperands())
    inputs.push_back(isa<IndexType>(operand.getType()) ? where(active, valueOf(operand), tensorOf([] { return 0.0; }))
                                                       : valueOf(operand));
  Expected<HostTensor> result = rule->second(scalarOp, inputs);
  if (!result)
    return result.takeError();
  values[scalarOp->getResult(0)] = std::move(*result);
  return Error::success();
}

Error LinalgRun::runBranch(scf::IfOp branch, const HostTensor &active) {
  const HostTensor zero = tensorOf([] { return 0.0; }), condition = valueOf(branch.getCondition());
  const HostTensor taken = where(active, condition, zero), other = where(condition, zero, active);
  auto run = [&](Block *block, const HostTensor &lanes) {
    return block && llvm::is_contained(lanes.values(), 1.0) ? runBlock(*block, lanes) : Error::success();
  };
  if (Error error = run(branch.thenBlock(), taken))
    return error;
  if (Error error = run(branch.elseBlock(), other))
    return error;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    auto chosen = [&](Block *block, const HostTensor &lanes) {
      return llvm::is_contained(lanes.values(), 1.0) ? valueOf(block->getTerminator()->getOperand(i)) : zero;
    };
    values[result] = where(condition, chosen(branch.thenBlock(), taken), chosen(branch.elseBlock(), other));
  }
  return Error::success();
}

Expected<std::vector<HostTensor>> LinalgRun::run() {
  if (Error error = readSizes())
    return error;
  iteration.assign(sizes.size(), 0);
  if (!llvm::is_contained(sizes, 0))
    do
      if (Error error = runTurn())
        return error;
    while (advance(utils::IteratorType::reduction));
  return std::vector<HostTensor>(operands.begin() + op.getNumDpsInputs(), operands.end());
}

Expected<std::vector<HostTensor>> mhc::reference::runLinalg(linalg::LinalgOp op, ArrayRef<HostTensor> operands,
                                                            OuterValues outer) {
  return LinalgRun(op, operands, outer).run();
}
