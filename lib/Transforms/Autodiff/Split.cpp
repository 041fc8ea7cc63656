//===- Split.cpp - A joint function as two ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Split.h"
#include "Signature.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mhc;

constexpr StringLiteral kName = "mhc.name";

void mhc::eraseDeadOps(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Calls `visit` with each value that the op, or an op inside it, takes from outside.
static void forEachInput(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!op->isAncestor(value.getParentBlock()->getParentOp()))
        visit(value);
  });
}

/// Whether a backward function makes the value again. It has to where the value is no float tensor, because those are
/// all that functions exchange.
static bool isRebuilt(OpResult value) {
  Operation *op = value.getOwner();
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  return op->getNumOperands() == 0 || !type || !isa<FloatType>(type.getElementType()) ||
         (rule && rule.isCheapToRebuild());
}

/// Whether a value holds elements of an argument or a constant, and no others than padding. These are there in the
/// backward pass as well, so that nothing is saved; a part of what was computed may be far smaller than the whole.
static bool isPartOfArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return true;
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!isa<tensor::ExtractSliceOp, tensor::PadOp>(op) && !(rule && rule.isCheapToRebuild()))
      return false;
    if (op->getNumOperands() == 0)
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Whether the op reads the size of a dimension of a tensor.
static bool isSize(Operation *op) {
  auto size = dyn_cast<ShapedDimOpInterface>(op);
  if (!size)
    return false;
  std::optional<int64_t> dim = getConstantIntValue(size.getDimension());
  auto type = dyn_cast<RankedTensorType>(size.getShapedValue().getType());
  return dim && type && *dim >= 0 && *dim < type.getRank();
}

namespace {
/// `factor` times the size of a dimension of `tensor`.
struct SizeSource {
  Value tensor;
  int64_t dim, factor;
};

/// Finds what the backward function takes over from the forward function.
class Boundary {
public:
  explicit Boundary(const JointFunction &function) : joint(function), dims(joint.func) {
    auto returned = joint.func.getBody().front().getTerminator()->getOperands();
    results.insert(returned.begin(), returned.begin() + joint.numResults);
    for (BlockArgument cotangent : cotangents())
      known.insert(cotangent);
    for (Operation &op : joint.func.getBody().front())
      if (!isForward(&op))
        readFromBackward(&op);
    while (!sizes.empty())
      provide(sizes.pop_back_val());
    for (Value value : llvm::to_vector(taken))
      takeTransposed(value);
  }

  ArrayRef<BlockArgument> arguments() { return all().take_front(joint.numArguments); }
  ArrayRef<BlockArgument> cotangents() { return all().drop_front(joint.numArguments); }
  bool isForward(Operation *op) const { return joint.forward.contains(op); }
  bool isRebuilt(Operation *op) const { return rebuilt.contains(op); }
  bool isProvided(Operation *op) const { return isSize(op) && providers.contains(op->getResult(0)); }
  /// Results of the function that are saved values as well.
  bool isResult(Value value) const { return results.contains(value); }

  /// Values to save: arguments, results, and then values that only the backward function needs.
  SmallVector<Value> saved() {
    SmallVector<Value> inOrder;
    for (BlockArgument argument : arguments())
      if (taken.contains(argument))
        inOrder.push_back(argument);
    for (bool wantResults : {true, false})
      for (Operation &op : joint.func.getBody().front())
        for (Value result : op.getResults())
          if (taken.contains(result) && isResult(result) == wantResults)
            inOrder.push_back(result);
    return inOrder;
  }

  const DimAnalysis &sizesOfJoint() const { return dims; }

  /// For a size that is read in the backward pass, where it is found there.
  llvm::MapVector<Value, SizeSource> providers;

private:
  ArrayRef<BlockArgument> all() { return joint.func.getBody().front().getArguments(); }

  void readFromBackward(Operation *op) {
    if (isSize(op))
      return sizes.push_back(op->getResult(0));
    if (!op->hasTrait<OpTrait::IsTerminator>())
      return forEachInput(op, [&](Value value) { read(value); });
    for (Value gradient : op->getOperands().drop_front(joint.numResults))
      read(gradient);
  }

  bool hasUnnamedSize(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int dim = 0; type && dim < type.getRank(); ++dim)
      if (dims.symbol(value, dim) == "?")
        return true;
    return false;
  }

  /// Whether the value has a size that no argument has, such as M*n, so that functions cannot exchange it. A call is
  /// not repeated even so: it may be a whole sublayer, or more than its results.
  bool mustBeRebuilt(Value value) {
    Operation *op = value.getDefiningOp();
    return op && isForward(op) && isMemoryEffectFree(op) && hasUnnamedSize(value);
  }

  void read(Value value) {
    Operation *op = value.getDefiningOp();
    if ((op && !isForward(op)) || !known.insert(value).second)
      return;
    auto result = dyn_cast<OpResult>(value);
    bool isMade = result && (::isRebuilt(result) || mustBeRebuilt(value) || isPartOfArgument(value));
    if (!isMade || isResult(value)) {
      taken.insert(value);
      return;
    }
    if (isSize(op))
      return sizes.push_back(value);
    rebuilt.insert(op);
    forEachInput(op, [&](Value input) { read(input); });
  }

  /// Finds a tensor in the backward function that has this size, so that none is saved for its size alone.
  void provide(Value size) {
    auto op = size.getDefiningOp<ShapedDimOpInterface>();
    Value source = op.getShapedValue();
    int dim = *getConstantIntValue(op.getDimension());
    SmallVector<Value> candidates(cotangents().begin(), cotangents().end());
    candidates.append(taken.begin(), taken.end());
    auto [factor, symbol] = dims.factors(source, dim);
    for (Value candidate : candidates) {
      auto type = dyn_cast<RankedTensorType>(candidate.getType());
      for (int other = 0; type && other < type.getRank(); ++other) {
        bool same = dims.sameSize(source, dim, candidate, other);
        if (same ||
            (!symbol.empty() && symbol != "?" && dims.factors(candidate, other) == std::pair(int64_t(1), symbol))) {
          providers[size] = {candidate, other, same ? 1 : factor};
          return;
        }
      }
    }
    Operation *made = source.getDefiningOp();
    if (mustBeRebuilt(source))
      rebuilt.insert(op);
    if (mustBeRebuilt(source) || (made && !isForward(made))) // its size is there with it
      return forEachInput(op, [&](Value input) { read(input); });
    taken.insert(source);
    providers[size] = {source, dim, 1};
  }

  /// The only op of the backward function that reads the value, if it is made again there, of this value alone.
  Operation *onlyReader(Value value) {
    Operation *only = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *reader = joint.func.getBody().front().findAncestorOpInBlock(*user);
      if (isForward(reader) && !rebuilt.contains(reader))
        continue;
      if (!rebuilt.contains(reader) || (only && only != reader) || reader->getNumOperands() != 1)
        return nullptr;
      only = reader;
    }
    return only;
  }

  /// Takes a transposed tensor in place of one that would only be transposed again.
  void takeTransposed(Value value) {
    auto isRead = [&](const auto &provider) { return provider.second.tensor == value; };
    if (isa<BlockArgument>(value) || isResult(value) || llvm::any_of(providers, isRead))
      return;
    SmallVector<Operation *> made;
    size_t upTo = 0;
    for (Operation *reader = onlyReader(value); reader; reader = onlyReader(reader->getResult(0))) {
      if (!isa<TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader))
        break;
      made.push_back(reader);
      if (isa<TransposeOp>(reader) && !hasUnnamedSize(reader->getResult(0)))
        upTo = made.size();
    }
    if (upTo == 0)
      return;
    taken.remove(value);
    taken.insert(made[upTo - 1]->getResult(0));
    for (Operation *op : ArrayRef(made).take_front(upTo))
      rebuilt.erase(op);
  }

  JointFunction joint;
  DimAnalysis dims;
  llvm::DenseSet<Value> results, known;
  llvm::SetVector<Value> taken;
  llvm::SmallPtrSet<Operation *, 32> rebuilt;
  SmallVector<Value> sizes;
};

bool hasStatedSizes(func::FuncOp func) {
  auto isStated = [&](unsigned i) { return func.getArgAttr(i, kDims) != nullptr; };
  return llvm::any_of(llvm::seq(0u, func.getNumArguments()), isStated);
}

/// Builds one of the two functions from parts of the joint one.
class FunctionBuilder {
public:
  FunctionBuilder(func::FuncOp joint, Operation *behind, StringRef name, const DimAnalysis &dims)
      : builder(joint.getContext()), dims(dims), isStated(hasStatedSizes(joint)), func(create(joint, behind, name)),
        signature(func) {
    if (ArrayAttr conditions = dims.conditions(joint.getContext()); !conditions.empty())
      func->setAttr(kConditions, conditions);
  }

  void addArgument(Value value, StringRef name) {
    mapping.map(value, signature.addArgument(value.getType(), withSizes(named(unique(name)), value), value.getLoc()));
  }
  void addResult(Value value, StringRef name) { addResult(value, named(name)); }
  void addResult(Value value, DictionaryAttr attrs) {
    signature.addResult(mapping.lookup(value), withSizes(attrs, value));
  }
  void clone(Operation &op) { builder.clone(op, mapping); }
  void addSize(Value size, SizeSource source) {
    Location loc = size.getLoc();
    Value &known = sizes[{source.tensor, source.dim}];
    if (!known)
      known = tensor::DimOp::create(builder, loc, mapping.lookup(source.tensor), source.dim);
    if (source.factor == 1)
      return mapping.map(size, known);
    Value factor = arith::ConstantIndexOp::create(builder, loc, source.factor);
    mapping.map(size, arith::MulIOp::create(builder, loc, known, factor).getResult());
  }

  func::FuncOp finish() {
    signature.finish();
    eraseDeadOps(func.getBody().front());
    return func;
  }

private:
  func::FuncOp create(func::FuncOp joint, Operation *behind, StringRef name) {
    builder.setInsertionPointAfter(behind);
    auto created = func::FuncOp::create(builder, joint.getLoc(), name, builder.getFunctionType({}, {}));
    created.setVisibility(joint.getVisibility());
    builder.setInsertionPointToStart(created.addEntryBlock());
    builder.setInsertionPoint(func::ReturnOp::create(builder, joint.getLoc()));
    return created;
  }

  DictionaryAttr named(StringRef name) {
    return builder.getDictionaryAttr(builder.getNamedAttr(kName, builder.getStringAttr(name)));
  }
  /// A tensor keeps the sizes that it has in the joint function, where mhc-state-sizes wrote them down.
  DictionaryAttr withSizes(DictionaryAttr given, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!isStated || !type || type.hasStaticShape())
      return given;
    NamedAttrList attrs(given);
    attrs.set(kDims, dims.symbols(value));
    return attrs.getDictionary(builder.getContext());
  }
  /// An argument and a result of the forward function may share a name; both may be arguments of the backward function.
  std::string unique(StringRef name) {
    std::string result = name.str();
    for (int &suffix = suffixes[name]; !names.insert(result).second;)
      result = (name + "_" + Twine(++suffix)).str();
    return result;
  }

  OpBuilder builder;
  const DimAnalysis &dims; ///< of the joint function
  bool isStated;
  func::FuncOp func;
  Signature signature;
  IRMapping mapping;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> sizes;
  llvm::StringSet<> names;
  llvm::StringMap<int> suffixes; ///< the last one that a name got
};

class Splitter {
public:
  explicit Splitter(const JointFunction &function)
      : joint(function), boundary(joint), saved(boundary.saved()), body(joint.func.getBody().front()) {
    Operation::operand_range returned = body.getTerminator()->getOperands();
    results = returned.take_front(joint.numResults);
    gradients = returned.drop_front(joint.numResults);
  }

  func::FuncOp buildForward(StringRef name) {
    FunctionBuilder function(joint.func, joint.func, name, boundary.sizesOfJoint());
    for (BlockArgument argument : boundary.arguments())
      function.addArgument(argument, nameOf(argument));
    for (Operation &op : body)
      if (boundary.isForward(&op))
        function.clone(op);
    for (auto [i, result] : llvm::enumerate(results))
      function.addResult(result, resultName(i));
    int number = 0;
    for (Value value : saved)
      if (!isa<BlockArgument>(value) && !boundary.isResult(value))
        function.addResult(value, savedName(number++));
    return function.finish();
  }

  void buildBackward(StringRef name, func::FuncOp behind) {
    FunctionBuilder function(joint.func, behind, name, boundary.sizesOfJoint());
    int number = 0;
    for (Value value : saved) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        function.addArgument(value, nameOf(argument));
      else if (boundary.isResult(value))
        function.addArgument(value, resultName(llvm::find(results, value) - results.begin()));
      else
        function.addArgument(value, savedName(number++));
    }
    for (BlockArgument cotangent : boundary.cotangents())
      function.addArgument(cotangent, nameOf(cotangent));
    for (auto [size, source] : boundary.providers)
      function.addSize(size, source);
    for (Operation &op : body.without_terminator())
      if (boundary.isRebuilt(&op) || (!boundary.isForward(&op) && !boundary.isProvided(&op)))
        function.clone(op);
    for (auto [i, gradient] : llvm::enumerate(gradients))
      function.addResult(gradient, joint.func.getResultAttrDict(joint.numResults + i));
    function.finish();
  }

private:
  StringRef nameOf(BlockArgument argument) {
    return joint.func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kName);
  }
  StringRef resultName(unsigned number) { return joint.func.getResultAttrOfType<StringAttr>(number, kName); }
  static std::string savedName(int number) { return "saved" + std::to_string(number); }

  JointFunction joint;
  Boundary boundary;
  SmallVector<Value> saved;
  Block &body;
  ValueRange results, gradients;
};
} // namespace

void mhc::splitJoint(const JointFunction &joint, StringRef forwardName, StringRef backwardName) {
  Splitter splitter(joint);
  func::FuncOp forward = splitter.buildForward(forwardName);
  splitter.buildBackward(backwardName, forward);
}
