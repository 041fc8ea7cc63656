//===- Mutation.cpp - Random changes of a program -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/Mutation.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mhc::conformance {

/// Ops of one row take the same operands.
static const std::vector<std::vector<StringRef>> kKinds = {
    {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf"},
    {"arith.negf", "math.absf", "math.exp", "math.sqrt", "math.tanh", "mhc.sigmoid", "mhc.silu", "mhc.softplus"}};

namespace {

class Mutator {
public:
  Mutator(func::FuncOp func, Random &random) : func(func), random(random) {}

  bool run() {
    std::vector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (op != func && op->getNumResults() > 0)
        ops.push_back(op);
    });
    if (ops.empty())
      return false;
    Operation *op = pick(ops);
    switch (random.between(0, 3)) {
    case 0:
      return replaceOperand(op);
    case 1:
      return swapOperands(op);
    case 2:
      return changeAttribute(op);
    default:
      return changeKind(op);
    }
  }

private:
  template <typename T>
  T pick(const std::vector<T> &choices) {
    return choices[random.between(0, static_cast<int64_t>(choices.size()) - 1)];
  }

  bool replaceOperand(Operation *op) {
    if (op->getNumOperands() == 0)
      return false;
    OpOperand &operand = op->getOpOperand(random.between(0, op->getNumOperands() - 1));
    DominanceInfo dominance(func);
    std::vector<Value> others;
    auto consider = [&](Value value) {
      if (value != operand.get() && value.getType() == operand.get().getType() &&
          dominance.properlyDominates(value, op))
        others.push_back(value);
    };
    llvm::for_each(func.getArguments(), consider);
    func.walk([&](Operation *other) { llvm::for_each(other->getResults(), consider); });
    if (!others.empty())
      operand.set(pick(others));
    return !others.empty();
  }

  bool swapOperands(Operation *op) {
    if (op->getNumOperands() < 2)
      return false;
    OpOperand &a = op->getOpOperand(random.between(0, op->getNumOperands() - 1));
    OpOperand &b = op->getOpOperand(random.between(0, op->getNumOperands() - 1));
    Value old = a.get();
    if (old == b.get() || old.getType() != b.get().getType())
      return false;
    a.set(b.get());
    b.set(old);
    return true;
  }

  bool changeAttribute(Operation *op) {
    auto flip = [&](auto matmul) {
      if (random.flip())
        matmul.setTransposeLhs(!matmul.getTransposeLhs());
      else
        matmul.setTransposeRhs(!matmul.getTransposeRhs());
      return true;
    };
    if (isa<MatmulOp, BatchMatmulOp>(op))
      return TypeSwitch<Operation *, bool>(op).Case<MatmulOp, BatchMatmulOp>(flip);
    DictionaryAttr attributes = op->getAttrDictionary();
    if (attributes.empty())
      return false;
    NamedAttribute old = pick(attributes.getValue().vec());
    Attribute changed = change(old.getValue());
    auto number = dyn_cast_if_present<IntegerAttr>(changed);
    if (isa<tensor::ConcatOp>(op) && number && number.getValue().isNegative())
      return false; // its verifier crashes
    if (changed)
      op->setAttr(old.getName(), changed);
    return changed && changed != old.getValue();
  }

  /// Null for an attribute that stays as it is.
  Attribute change(Attribute old) {
    if (auto splat = dyn_cast<SplatElementsAttr>(old)) {
      Attribute element = change(splat.getSplatValue<Attribute>());
      return element ? SplatElementsAttr::get(splat.getType(), element) : Attribute();
    }
    return TypeSwitch<Attribute, Attribute>(old)
        .Case([&](FloatAttr number) {
          return FloatAttr::get(number.getType(), number.getValueAsDouble() * random.pick({0.0, 0.5, 2.0, -1.0}));
        })
        .Case([&](IntegerAttr number) {
          return IntegerAttr::get(number.getType(), number.getValue() + random.pick<int64_t>({-1, 1}));
        })
        .Case([&](ReduceKindAttr kind) {
          return ReduceKindAttr::get(kind.getContext(),
                                     random.pick({ReduceKind::sum, ReduceKind::max, ReduceKind::mean}));
        })
        .Case([&](DenseI64ArrayAttr numbers) { return change(numbers); })
        .Default([](Attribute) { return Attribute(); });
  }

  Attribute change(DenseI64ArrayAttr old) {
    std::vector<int64_t> numbers = old.asArrayRef().vec();
    if (numbers.empty())
      return {};
    int64_t last = static_cast<int64_t>(numbers.size()) - 1;
    int64_t &number = numbers[random.between(0, last)];
    if (random.flip())
      std::swap(number, numbers[random.between(0, last)]);
    else
      (void)llvm::AddOverflow<int64_t>(number, random.pick({-1, 1}), number); // a number at its limit wraps around
    return DenseI64ArrayAttr::get(old.getContext(), numbers);
  }

  bool changeKind(Operation *op) {
    for (const std::vector<StringRef> &row : kKinds) {
      if (!llvm::is_contained(row, op->getName().getStringRef()))
        continue;
      OpBuilder builder(op);
      OperationState state(op->getLoc(), pick(row), op->getOperands(), op->getResultTypes());
      op->replaceAllUsesWith(builder.create(state));
      op->erase();
      return true;
    }
    return false;
  }

  func::FuncOp func;
  Random &random;
};

} // namespace

bool mutate(func::FuncOp func, Random &random) { return Mutator(func, random).run(); }

} // namespace mhc::conformance
