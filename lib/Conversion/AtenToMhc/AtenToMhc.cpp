//===- AtenToMhc.cpp - A captured PyTorch graph as leaf ops -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace mhc {
#define GEN_PASS_DEF_READATENPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

StringAttr mhc::nodeOf(func::FuncOp func, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNodeName);
  auto result = cast<OpResult>(value);
  auto loc = dyn_cast<NameLoc>(result.getLoc());
  if (!loc || result.getOwner()->getNumResults() == 1)
    return loc ? loc.getName() : StringAttr();
  return StringAttr::get(func.getContext(), loc.getName().getValue() + "#" + Twine(result.getResultNumber()));
}

//===----------------------------------------------------------------------===//
// Detached maxima
//===----------------------------------------------------------------------===//

/// Whether an op is a call of one of these names, of an operand and with a result.
static bool isCall(Operation *op, ArrayRef<StringRef> names) {
  return op && op->getNumOperands() > 0 && op->getNumResults() > 0 &&
         llvm::is_contained(names, op->getName().getStringRef());
}

/// The dimensions that a reduction keeps as ones, counted from the front; none for another call.
static SmallVector<int64_t> dimsKept(Operation *op, ArrayRef<StringRef> names) {
  SmallVector<int64_t> dims;
  auto keeps = isCall(op, names) ? op->getAttrOfType<BoolAttr>("keepdim") : BoolAttr();
  auto type = keeps ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  if (!type || !keeps.getValue())
    return dims;
  const int64_t rank = type.getRank();
  auto add = [&](Attribute dim) {
    if (auto number = dyn_cast<IntegerAttr>(dim))
      dims.push_back(number.getInt() < 0 ? number.getInt() + rank : number.getInt());
  };
  if (auto list = op->getAttrOfType<ArrayAttr>("dim"))
    llvm::for_each(list, add);
  else if (Attribute one = op->getAttr("dim"))
    add(one);
  llvm::sort(dims);
  return dims;
}

/// Whether a call adds a small eps to its operand, or keeps it from being less.
static bool addsEps(Operation *op) {
  constexpr double kLargestEps = 1e-5;
  auto eps = op ? op->getAttrOfType<FloatAttr>(isCall(op, {kAddTensor}) ? "other" : "min") : FloatAttr();
  return isCall(op, {kAddTensor, kClamp, kClampMin}) && eps && eps.getValueAsDouble() <= kLargestEps;
}

/// Whether an exponential is read by its sums over some of these dimensions, and by divisions by them, and these by
/// nothing else: the quotient, and its derivative, is the same whatever is subtracted from all logits of a sum. A small
/// eps changes that little where the largest logit of each sum is subtracted, whose exponential is 1.
static bool isNormalised(Operation *exp, ArrayRef<int64_t> dims) {
  auto isSum = [&](Operation *op, bool isOfAll) {
    const SmallVector<int64_t> summed = dimsKept(op, {kSumDimIntList});
    return !summed.empty() && op->getOperand(0) == exp->getResult(0) &&
           (isOfAll ? ArrayRef(summed) == dims : std::includes(dims.begin(), dims.end(), summed.begin(), summed.end()));
  };
  auto isQuotient = [&](Operation *op) {
    if (!isCall(op, {kDivTensor}) || op->getNumOperands() != 2 || op->getOperand(0) != exp->getResult(0))
      return false;
    Operation *divisor = op->getOperand(1).getDefiningOp();
    return addsEps(divisor) ? isSum(divisor->getOperand(0).getDefiningOp(), /*isOfAll=*/true)
                            : isSum(divisor, /*isOfAll=*/false);
  };
  auto isDivisor = [&](Operation *op) {
    return isQuotient(op) || (addsEps(op) && llvm::all_of(op->getUsers(), isQuotient));
  };
  return isCall(exp, {kExp}) && llvm::all_of(exp->getUsers(), [&](Operation *user) {
           return isQuotient(user) || (isSum(user, /*isOfAll=*/false) && llvm::all_of(user->getUsers(), isDivisor));
         });
}

/// Whether a value that a maximum of logits makes is read by exponentials of the logits less it alone, each normalised.
static bool isShiftOfExp(Operation *max, Value shift, Value logits) {
  const SmallVector<int64_t> dims = dimsKept(max, {kAmax, kMaxDim});
  return !dims.empty() && llvm::all_of(shift.getUsers(), [&](Operation *sub) {
    return isCall(sub, {kSubTensor}) && sub->getNumOperands() == 2 && sub->getOperand(0) == logits &&
           sub->getOperand(1) == shift &&
           llvm::all_of(sub->getUsers(), [&](Operation *exp) { return isNormalised(exp, dims); });
  });
}

/// Whether a call detaches the maximum that is subtracted from the logits of such exponentials, or the logits for it.
static bool detachesMaximum(Operation *detach) {
  if (!isCall(detach, {kDetach}))
    return false;
  Value detached = detach->getResult(0), source = detach->getOperand(0);
  if (Operation *max = source.getDefiningOp(); isCall(max, {kAmax, kMaxDim}))
    return isShiftOfExp(max, detached, max->getOperand(0));
  return llvm::all_of(detached.getUsers(),
                      [&](Operation *max) { return isShiftOfExp(max, max->getResult(0), source); });
}

namespace {
/// Reads the calls of one graph in their order.
class GraphReader {
public:
  explicit GraphReader(func::FuncOp func) : func(func), sizes(func) {}

  void run() {
    keep(func.getArguments());
    Block &block = func.getBody().front();
    auto calls = llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
    for (Operation *op : calls)
      if ((op->hasAttr(kOutside) && !isAtenView(op->getName().getStringRef())) || !read(op))
        leaveOutside(op);
    leaveOutside(block.getTerminator());
    returnLeaves(block.getTerminator());
    for (Operation *op : llvm::reverse(calls))
      op->erase();
    llvm::BitVector unused(func.getNumArguments());
    for (BlockArgument argument : func.getArguments())
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
    (void)func.eraseArguments(unused);
  }

  /// Reads what can be read, and leaves the other calls between the leaf ops.
  void runInPlace() {
    readsKernels = true;
    keep(func.getArguments());
    Block &block = func.getBody().front();
    SmallVector<Operation *> gone, left;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (!op.hasAttr(kOutside) && read(&op))
        gone.push_back(&op);
      else
        leaveInside(&op), left.push_back(&op);
    leaveInside(block.getTerminator());
    for (Operation *op : left)
      for (OpOperand &operand : op->getOpOperands())
        operand.set(leaves.lookup(operand.get()));
    returnLeaves(block.getTerminator());
    for (Operation *op : llvm::reverse(gone))
      op->erase();
  }

  /// Reads all calls, and leaves arguments and results as they are.
  LogicalResult runOnAll() {
    keep(func.getArguments());
    Block &block = func.getBody().front();
    auto calls = llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
    auto fail = [](Operation *op) { return op->emitError("'") << op->getName() << "' has no form in leaf ops"; };
    for (Operation *op : calls) // those without tensors as results are about sizes
      if (!read(op) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
        return fail(op);
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      Value leaf = leaves.lookup(operand.get());
      if (!leaf)
        return fail(operand.get().getDefiningOp());
      operand.set(leaf);
    }
    for (Operation *op : llvm::reverse(calls))
      op->erase();
    return success();
  }

private:
  bool read(Operation *op) {
    if (isa<arith::ConstantOp>(op)) { // an argument whose numbers are known
      leaves[op->getResult(0)] = OpBuilder(op).clone(*op)->getResult(0);
      return true;
    }
    if (Value leaf = detachesMaximum(op) ? leaves.lookup(op->getOperand(0)) : Value()) {
      leaves[op->getResult(0)] = leaf;
      return true;
    }
    AtenCall call(op, leaves, sizes);
    const StringRef name = op->getName().getStringRef();
    SmallVector<Value> values = readsKernels ? readKernel(name, call) : SmallVector<Value>();
    if (values.empty())
      values = readCall(name, call);
    for (auto [result, value] : llvm::zip(op->getResults(), values))
      leaves[result] = value;
    return !values.empty();
  }

  /// Operands that leaf ops make are results of the function, and the results of the call arguments.
  void leaveOutside(Operation *op) {
    for (Value operand : op->getOperands())
      if (Value leaf = leaves.lookup(operand);
          leaf && leaf.getDefiningOp() && !operand.getDefiningOp<arith::ConstantOp>())
        handedOut.insert(operand);
    const SmallVector<int64_t> read = resultsReadBy(op);
    for (OpResult result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || result.use_empty())
        continue;
      unsigned number = func.getNumArguments();
      (void)func.insertArgument(number, type, attributesOf(result), result.getLoc());
      func.setArgAttr(number, kMadeOf, DenseI64ArrayAttr::get(func.getContext(), read));
      leaves[result] = func.getArgument(number);
      sizes.keep(func.getArgument(number));
    }
  }

  /// The results of the function that a call outside reads itself, as far as they are known.
  SmallVector<int64_t> resultsReadBy(Operation *op) {
    SmallVector<int64_t> read;
    for (auto [number, value] : llvm::enumerate(handedOut))
      if (llvm::is_contained(op->getOperands(), value))
        read.push_back(static_cast<int64_t>(number));
    return read;
  }

  /// Operands that leaf ops make are results of the function.
  void leaveInside(Operation *op) {
    for (Value operand : op->getOperands())
      if (Value leaf = leaves.lookup(operand); leaf != operand)
        handedOut.insert(operand);
    keep(op->getResults());
  }

  /// A value that stays is its own leaf.
  void keep(ValueRange values) {
    for (Value value : values) {
      leaves[value] = value;
      sizes.keep(value);
    }
  }

  DictionaryAttr attributesOf(OpResult result) {
    Builder builder(func.getContext());
    NamedAttrList attrs;
    if (StringAttr name = nodeOf(func, result))
      attrs.set(kNodeName, name);
    if (auto lists = result.getOwner()->getAttrOfType<ArrayAttr>(kDims))
      attrs.set(kDims, lists[result.getResultNumber()]);
    return attrs.getDictionary(func.getContext());
  }

  void returnLeaves(Operation *end) {
    SmallVector<Value> values;
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attrs;
    for (Value node : handedOut) {
      values.push_back(leaves.lookup(node));
      types.push_back(node.getType());
      NamedAttribute name(kNodeName, nodeOf(func, node));
      attrs.push_back(DictionaryAttr::get(func.getContext(), name));
    }
    end->setOperands(values);
    func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
    func.setAllResultAttrs(attrs);
  }

  func::FuncOp func;
  SymbolicSizes sizes;
  llvm::DenseMap<Value, Value> leaves;
  llvm::SetVector<Value> handedOut; ///< values of the graph
  bool readsKernels = false;
};

struct ReadAtenPass : mhc::impl::ReadAtenPassBase<ReadAtenPass> {
  using ReadAtenPassBase::ReadAtenPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    if (!func.getBody().hasOneBlock() || failed(check(func)))
      return signalPassFailure();
    if (inPlace)
      GraphReader(func).runInPlace();
    else if (!all)
      GraphReader(func).run();
    else if (failed(GraphReader(func).runOnAll()))
      signalPassFailure();
  }

  /// All that a node's reader may ask for.
  static LogicalResult check(func::FuncOp func) {
    auto fail = [](Operation *op, const Twine &needed) { return op->emitError("a graph of ATen ops needs " + needed); };
    for (BlockArgument argument : func.getArguments())
      if (!nodeOf(func, argument))
        return fail(func, "'" + kNodeName.str() + "' of each argument");
    for (Operation &op : func.getBody().front().without_terminator()) {
      if (op.getNumRegions() != 0)
        return fail(&op, "ops without regions");
      if (!isa<NameLoc>(op.getLoc()))
        return fail(&op, "the name of a node as the location of each op");
      if (auto dims = op.getAttrOfType<ArrayAttr>(kDims); dims && dims.size() != op.getNumResults())
        return fail(&op, "'" + kDims.str() + "' of each result");
    }
    return success();
  }
};
} // namespace
