//===- Evaluator.cpp - The meaning of a function, in float64 ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Reference/Evaluator.h"
#include "LinalgRules.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace mhc;
using namespace mhc::reference;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

using Tensors = std::vector<HostTensor>;

std::string mhc::reference::toString(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), ", ") + "]";
}

Error mhc::reference::errorAt(Operation *op, const Twine &message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getLoc() << ": '" << op->getName() << "' " << message;
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

Error mhc::reference::checkAssert(Operation *op, const HostTensor &condition) {
  if (llvm::is_contained(condition.values(), 0.0))
    return errorAt(op, "fails: " + cast<cf::AssertOp>(op).getMsg());
  return Error::success();
}

const llvm::StringMap<Rule> &mhc::reference::rules() {
  static const llvm::StringMap<Rule> all = [] {
    llvm::StringMap<Rule> rules;
    addArithmeticRules(rules);
    addTensorRules(rules);
    addLeafRules(rules);
    addRandomRules(rules);
    return rules;
  }();
  return all;
}

/// Whether a tensor can be a value of this type; scalars have rank 0.
static bool fits(const HostTensor &tensor, Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return tensor.rank() == 0 && type.isIntOrIndexOrFloat();
  return succeeded(verifyCompatibleShape(tensor.shape(), ranked.getShape()));
}

namespace {
class Rounder {
public:
  Rounder(Rounding rounding, uint64_t seed) : rounding(rounding), random(seed) {}

  /// The value of `result`, as the rounding wants it.
  HostTensor operator()(HostTensor tensor, OpResult result) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(result));
    bool isNarrowNumber = element && element.getWidth() < 32 && isNumber(result);
    if (!element || (!rounds(element) && !isNarrowNumber))
      return tensor;
    std::vector<double> elements = tensor.values().vec();
    if (rounding == Rounding::AtRandom)
      move(elements, element);
    else
      for (double &number : elements)
        number = rounding == Rounding::ToF32 ? static_cast<float>(number) : nearest(number, element);
    return {Shape(tensor.shape()), std::move(elements)};
  }

private:
  /// Whether a value is a number that the code rounds, and not one that it computes: then it is another number.
  static bool isNumber(OpResult value) {
    auto trunc = dyn_cast<arith::TruncFOp>(value.getOwner());
    Operation *maker = trunc ? trunc.getIn().getDefiningOp() : nullptr;
    if (auto splat = dyn_cast_or_null<tensor::SplatOp>(maker))
      maker = splat.getInput().getDefiningOp();
    return maker && maker->hasTrait<OpTrait::ConstantLike>();
  }

  bool rounds(FloatType type) const {
    return rounding != Rounding::None && (rounding != Rounding::Narrow || type.getWidth() < 32);
  }

  static double nearest(double number, FloatType type) {
    APFloat rounded(number);
    bool losesInfo;
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded.convertToDouble();
  }

  void move(std::vector<double> &elements, FloatType type) {
    const double roundoff = std::ldexp(1, -static_cast<int>(type.getFPMantissaWidth()));
    const double largest = APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    const double smallest = APFloat::getSmallest(type.getFloatSemantics()).convertToDouble();
    for (double &number : elements) {
      const uint64_t drawn = random();
      if (!std::isfinite(number))
        continue;
      // Not by one step: two of them would undo each other too often.
      const double part = 0.5 + std::ldexp(static_cast<double>(drawn >> 12), -53);
      const double size = std::fabs(number);
      const double step = part * std::max(size * roundoff, std::min(size, smallest));
      number = size <= smallest / 2 ? 0 : number + (drawn % 2 ? step : -step);
      if (std::fabs(number) > largest)
        number = std::copysign(INFINITY, number);
    }
  }

  const Rounding rounding;
  std::mt19937_64 random;
};

/// Evaluates one function body; calls make another one.
class Frame {
public:
  Frame(unsigned depth, Rounder &rounder) : depth(depth), rounder(rounder) {}

  /// Operands of the terminator.
  Expected<Tensors> runBlock(Block &block, ArrayRef<HostTensor> arguments) {
    for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
      values[argument] = tensor;
    llvm::DenseMap<Operation *, SmallVector<Value>> lastUses = findLastUses(block);
    for (Operation &op : block.without_terminator()) {
      if (Error error = run(&op))
        return error;
      for (Value value : lastUses[&op])
        values.erase(value);
    }
    return operandsOf(block.getTerminator());
  }

private:
  static constexpr unsigned kMaxDepth = 100;

  /// For each op, the values of this block that no later op reads: their memory can go.
  static llvm::DenseMap<Operation *, SmallVector<Value>> findLastUses(Block &block) {
    llvm::DenseMap<Operation *, SmallVector<Value>> lastUses;
    llvm::DenseSet<Value> seen;
    for (Operation &op : llvm::reverse(block))
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (operand.getParentBlock() == &block && seen.insert(operand).second)
            lastUses[&op].push_back(operand);
      });
    return lastUses;
  }

  Tensors operandsOf(Operation *op) {
    Tensors tensors;
    for (Value value : op->getOperands())
      tensors.push_back(values.at(value));
    auto pad = dyn_cast<tensor::PadOp>(op);
    if (Value padding = pad ? pad.getConstantPaddingValue() : Value(); padding && values.contains(padding))
      tensors.push_back(values.at(padding)); // computed before the op, and read in its body
    return tensors;
  }

  Error run(Operation *op) {
    Expected<Tensors> results = compute(op);
    if (!results)
      return results.takeError();
    for (auto [result, tensor] : llvm::zip(op->getResults(), *results)) {
      if (!fits(tensor, result.getType())) {
        std::string type;
        llvm::raw_string_ostream(type) << result.getType();
        return errorAt(op, "has a result of shape " + toString(tensor.shape()) + "; its type is " + type);
      }
      values[result] = rounder(std::move(tensor), result);
    }
    return Error::success();
  }

  Expected<Tensors> compute(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return runCall(call);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runLoop(loop);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return runWhile(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runBranch(branch);
    if (isa<cf::AssertOp>(op))
      return runAssert(op, operandsOf(op)[0]);
    if (auto loops = dyn_cast<linalg::LinalgOp>(op))
      return runLinalg(loops, operandsOf(op), [&](Value value) { return values.at(value); });
    auto rule = rules().find(op->getName().getStringRef());
    if (rule == rules().end())
      return errorAt(op, isa<DecomposableOpInterface>(op)
                             ? "is not a leaf op; run mhc-decompose before the reference evaluator"
                             : "is unknown to the reference evaluator");
    Expected<HostTensor> result = rule->second(op, operandsOf(op));
    if (!result)
      return result.takeError();
    return Tensors{std::move(*result)};
  }

  Expected<Tensors> runCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return errorAt(call, "calls '" + call.getCallee() + "', which has no body here");
    if (depth == kMaxDepth)
      return errorAt(call, "is nested " + Twine(kMaxDepth) + " calls deep");
    return Frame(depth + 1, rounder).runBlock(callee.front(), operandsOf(call));
  }

  Expected<Tensors> runLoop(scf::ForOp loop) {
    int64_t lower = values.at(loop.getLowerBound()).integer(), upper = values.at(loop.getUpperBound()).integer();
    int64_t step = values.at(loop.getStep()).integer();
    if (step <= 0)
      return errorAt(loop, "has step " + Twine(step) + "; needed at least 1");
    Tensors carried = operandsOf(loop.getOperation());
    carried.erase(carried.begin(), carried.begin() + loop.getNumControlOperands());
    for (int64_t i = lower; i < upper; i += step) {
      carried.insert(carried.begin(), HostTensor(static_cast<double>(i)));
      Expected<Tensors> yielded = runBlock(*loop.getBody(), carried);
      if (!yielded)
        return yielded;
      carried = std::move(*yielded);
    }
    return carried;
  }

  Expected<Tensors> runWhile(scf::WhileOp loop) {
    Expected<Tensors> carried = operandsOf(loop.getOperation());
    while (carried) {
      carried = runBlock(*loop.getBeforeBody(), *carried);
      if (!carried)
        break;
      const bool goesOn = carried->front().scalar() != 0;
      carried->erase(carried->begin());
      if (!goesOn)
        break;
      carried = runBlock(*loop.getAfterBody(), *carried);
    }
    return carried;
  }

  static Expected<Tensors> runAssert(Operation *op, const HostTensor &condition) {
    if (Error error = checkAssert(op, condition))
      return error;
    return Tensors();
  }

  Expected<Tensors> runBranch(scf::IfOp branch) {
    bool condition = values.at(branch.getCondition()).scalar() != 0;
    Block *block = condition ? branch.thenBlock() : branch.elseBlock();
    return block ? runBlock(*block, {}) : Expected<Tensors>(Tensors());
  }

  unsigned depth;
  Rounder &rounder;
  llvm::DenseMap<Value, HostTensor> values;
};
} // namespace

static Error checkArguments(func::FuncOp func, ArrayRef<HostTensor> arguments) {
  if (func.isExternal())
    return errorAt(func, "'" + func.getName() + "' has no body");
  if (func.getNumArguments() != arguments.size())
    return errorAt(func, "'" + func.getName() + "' has " + Twine(func.getNumArguments()) + " arguments; " +
                             Twine(arguments.size()) + " were given");
  for (auto [i, type, tensor] : llvm::enumerate(func.getArgumentTypes(), arguments)) {
    if (fits(tensor, type) && numElements(tensor.shape()) == tensor.size())
      continue;
    std::string needed;
    llvm::raw_string_ostream(needed) << type;
    return errorAt(func, "'" + func.getName() + "': argument " + Twine(i) + " has shape " + toString(tensor.shape()) +
                             " and " + Twine(tensor.size()) + " elements; needed " + needed);
  }
  return Error::success();
}

Expected<Tensors> mhc::reference::evaluate(func::FuncOp func, ArrayRef<HostTensor> arguments, Rounding rounding,
                                           uint64_t seed) {
  if (Error error = checkArguments(func, arguments))
    return error;
  if (!llvm::hasSingleElement(func.getBody()))
    return errorAt(func, "'" + func.getName() + "' has more than one block");
  Rounder rounder(rounding, seed);
  return Frame(/*depth=*/0, rounder).runBlock(func.front(), arguments);
}
