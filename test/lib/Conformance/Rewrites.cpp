//===- Rewrites.cpp - Other words for the same IR -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
#include "mhc/IR/MhcOps.h"

using namespace mlir;

namespace mhc::conformance {

llvm::ArrayRef<Rewrite> rewrites() {
  static constexpr Rewrite table[] = {
      {"operands commuted", commute},
      {"operands re-associated", reassociate},
      {"subtraction as addition of the negative", subtractByAdding},
      {"negative as difference or product", negateByArithmetic},
      {"quotient as product with the reciprocal", divideByReciprocal},
      {"factor as divisor", scaleByConstant},
      {"square as power", squareByPower},
      {"root as power", rootByPower},
      {"rsqrt as division by the root", rsqrtByDivision},
      {"mean as scaled sum", meanBySum},
      {"sigmoid of exp(-z)", sigmoidByExp},
      {"sigmoid of exp(z)", sigmoidByExpOfZ},
      {"sigmoid as one minus its mirror image", sigmoidFromOne},
      {"sigmoid as tanh", sigmoidByTanh},
      {"2 sigmoid as 1 + tanh", doubledGateByTanh},
      {"softmax with its maximum", softmaxWithMax},
      {"softmax without its maximum", softmaxWithoutMax},
      {"softmax as exp of log_softmax", softmaxByLog},
      {"rms_norm spelled out", rmsNormSpelledOut},
      {"zero added", addZero},
      {"multiplied by one", multiplyByOne},
      {"casts there and back", castThere},
      {"computed in f64", computeWide},
      {"common subexpression repeated", repeat},
      {"dead branch", deadBranch},
      {"flattened and split again", flattenThere},
      {"split and flattened again", splitThere},
      {"unit dimension there and back", unitThere},
      {"transposed twice", transposeThere},
      {"sliced and joined again", sliceAndJoin},
      {"computed transposed", computeTransposed},
      {"computed flat", computeFlat},
      {"computed with a unit dimension", computeWithUnit},
      {"sliced before it is computed", sliceFirst},
      {"computed before it is broadcast", broadcastLast},
      {"broadcast before it is computed", broadcastFirst},
      {"broadcast from unit dimensions", broadcastFromUnits},
      {"operand of a product transposed", transposeOperand},
      {"transpose of the transposed product", transposeProduct},
      {"product with a matrix less the identity", productBesideIdentity},
      {"product as a batch of one", productAsBatch},
      {"product as multiply and reduce", productAsSum},
      {"columns of a product apart", columnsApart},
      {"reduction of the transpose", reduceTransposed},
      {"reduction over two dimensions for one", reduceSplit},
      {"reduction in two steps", reduceBySteps},
      {"sum as product with ones", sumAsProduct},
  };
  return table;
}

Place::Place(Operation *op, Random &random)
    : op(op), builder(op->getContext()), leaf(builder, op->getLoc()), random(random) {
  for (OpOperand &use : op->getUses())
    uses.push_back(&use);
  builder.setInsertionPointAfter(op);
}

Value Place::again(ValueRange operands, Type type) {
  OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
  return builder.create(state)->getResult(0);
}

static bool rewriteOp(const Rewrite &rewrite, Operation *op, Random &random) {
  Place place(op, random);
  Value value = rewrite.apply(place);
  if (!value)
    return false;
  for (OpOperand *use : place.uses)
    use->set(value);
  if (op->use_empty())
    op->erase();
  return true;
}

bool applyRewrite(const Rewrite &rewrite, func::FuncOp func, Random &random) {
  std::vector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && op->getNumRegions() == 0 && isa<RankedTensorType>(op->getResult(0).getType()) &&
        !op->use_empty())
      ops.push_back(op);
  });
  if (ops.empty())
    return false;
  // One place, one in eight or all of them, from any op on.
  int64_t most = random.pick<int64_t>({1, 1 + static_cast<int64_t>(ops.size()) / 8, static_cast<int64_t>(ops.size())});
  int64_t begin = random.between(0, static_cast<int64_t>(ops.size()) - 1), done = 0;
  for (size_t i = 0; i < ops.size() && done < most; ++i)
    done += rewriteOp(rewrite, ops[(begin + i) % ops.size()], random);
  return done > 0;
}

} // namespace mhc::conformance
