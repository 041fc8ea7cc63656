//===- OutlineLoops.cpp - One function per different loop nest ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace mhc {
#define GEN_PASS_DEF_OUTLINELOOPSPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
/// A linalg op of an entry, with what its function will need.
struct Loop {
  linalg::LinalgOp op;
  SmallVector<Value> inputs; ///< buffers and scalars; constants are not among them
  SmallVector<bool> noAlias; ///< per input
};

struct LoopFunction {
  func::FuncOp func;
  Operation *op; ///< the loop nest in it
  SmallVector<bool> noAlias;
};

class LoopOutliner {
public:
  explicit LoopOutliner(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult run(func::FuncOp entry) {
    SmallVector<Operation *> ops;
    entry.walk([&](Operation *op) {
      if (isa<memref::CopyOp, linalg::LinalgOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto loop = dyn_cast<linalg::LinalgOp>(op); loop && !loop.hasPureBufferSemantics())
        return op->emitError() << "'" << op->getName() << "' has tensors; needed buffers, which mhc-bufferize makes";
    for (Operation *op : ops) {
      auto copy = dyn_cast<memref::CopyOp>(op);
      outline(copy ? asLinalg(copy) : cast<linalg::LinalgOp>(op));
    }
    return success();
  }

private:
  static linalg::LinalgOp asLinalg(memref::CopyOp copy);
  void outline(linalg::LinalgOp op);
  LoopFunction &functionFor(Loop &loop);
  LoopFunction create(Loop &loop);

  ModuleOp module;
  SymbolTable symbols;
  DenseMap<llvm::hash_code, SmallVector<LoopFunction, 1>> functions;
  unsigned numLoops = 0;
};
} // namespace

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// The buffer that `value` is a part of. Views of the arena are buffers of their own: the plan keeps them apart.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewLikeOpInterface, memref::CollapseShapeOp, memref::ExpandShapeOp>(op) || isa<memref::ViewOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

linalg::LinalgOp LoopOutliner::asLinalg(memref::CopyOp copy) {
  OpBuilder builder(copy);
  SmallVector<Value> sides = {copy.getSource(), copy.getTarget()};
  // One long row where the layout allows it.
  auto isPlain = [](Value side) { return cast<MemRefType>(side.getType()).getLayout().isIdentity(); };
  int64_t rank = cast<MemRefType>(sides[0].getType()).getRank();
  if (rank > 1 && llvm::all_of(sides, isPlain)) {
    ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    for (Value &side : sides)
      side = memref::CollapseShapeOp::create(builder, copy.getLoc(), side, ArrayRef<ReassociationIndices>(all));
  }
  linalg::LinalgOp loop = linalg::makeMemRefCopyOp(builder, copy.getLoc(), sides[0], sides[1]);
  copy.erase();
  return loop;
}

/// Makes the offset dynamic, so that parts of a buffer at different places share one function.
static Value withoutOffset(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (!layout || ShapedType::isDynamic(layout.getOffset()))
    return buffer;
  auto anywhere = StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, layout.getStrides());
  auto wanted = MemRefType::get(type.getShape(), type.getElementType(), anywhere);
  return memref::CastOp::create(builder, loc, wanted, buffer);
}

/// A buffer may be marked when no other one is a part of the same, or when none of them is written.
static SmallVector<bool> findNoAlias(Loop &loop) {
  SmallVector<Value> roots;
  SmallVector<bool> written, result;
  for (Value input : loop.inputs) {
    roots.push_back(rootOf(input));
    written.push_back(llvm::is_contained(loop.op.getDpsInits(), input));
  }
  for (size_t i = 0; i < roots.size(); ++i) {
    bool free = isa<MemRefType>(loop.inputs[i].getType());
    for (size_t j = 0; j < roots.size(); ++j)
      free &= i == j || roots[i] != roots[j] || (!written[i] && !written[j]);
    result.push_back(free);
  }
  return result;
}

/// Operands and the values that the body captures.
static llvm::SetVector<Value> inputsOf(linalg::LinalgOp op) {
  llvm::SetVector<Value> inputs(op->getOperands().begin(), op->getOperands().end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs;
}

void LoopOutliner::outline(linalg::LinalgOp op) {
  OpBuilder builder(op);
  for (Value input : inputsOf(op))
    if (isa<MemRefType>(input.getType())) {
      // A buffer may be read all over the entry: its uses are looked for in the loop.
      if (Value buffer = withoutOffset(builder, op.getLoc(), input); buffer != input)
        op->walk([&](Operation *inner) { inner->replaceUsesOfWith(input, buffer); });
    }
  llvm::SetVector<Value> inputs = inputsOf(op);
  Loop loop{op, {}, {}};
  llvm::copy_if(inputs, std::back_inserter(loop.inputs), [](Value value) { return !isConstant(value); });
  loop.noAlias = findNoAlias(loop);
  func::CallOp::create(builder, op.getLoc(), functionFor(loop).func, loop.inputs);
  op->erase();
}

static llvm::hash_code hashOf(Loop &loop) {
  llvm::hash_code hash =
      OperationEquivalence::computeHash(loop.op, OperationEquivalence::ignoreHashValue,
                                        OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
  for (Value input : loop.inputs)
    hash = llvm::hash_combine(hash, input.getType());
  loop.op->getRegion(0).walk([&](Operation *inner) { hash = llvm::hash_combine(hash, inner->getName()); });
  return hash;
}

/// Whether the loop may end in an error, which has the place of the check in the source.
static bool hasChecks(linalg::LinalgOp op) {
  return op
      ->walk([](Operation *inner) {
        return isa<func::CallOp, cf::AssertOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `loop` does in the entry what `function` does on its arguments.
static bool isSame(Loop &loop, LoopFunction &function) {
  if (loop.noAlias != function.noAlias || loop.inputs.size() != function.func.getNumArguments())
    return false;
  DenseMap<Value, Value> inside; // values of the region: of the loop to the function's
  auto check = [&](Value mine, Value theirs) -> LogicalResult {
    auto known = inside.find(mine);
    if (known != inside.end())
      return success(known->second == theirs);
    auto argument = dyn_cast<BlockArgument>(theirs);
    if (argument && argument.getOwner() == &function.func.getBody().front())
      return success(loop.inputs[argument.getArgNumber()] == mine);
    Attribute a, b;
    return success(matchPattern(mine, m_Constant(&a)) && matchPattern(theirs, m_Constant(&b)) && a == b);
  };
  auto mark = [&](Value mine, Value theirs) { inside[mine] = theirs; };
  OperationEquivalence::Flags flags =
      hasChecks(loop.op) ? OperationEquivalence::None : OperationEquivalence::IgnoreLocations;
  return OperationEquivalence::isEquivalentTo(loop.op, function.op, check, mark, flags);
}

LoopFunction &LoopOutliner::functionFor(Loop &loop) {
  SmallVector<LoopFunction, 1> &candidates = functions[hashOf(loop)];
  for (LoopFunction &candidate : candidates)
    if (isSame(loop, candidate))
      return candidate;
  ++numLoops;
  return candidates.emplace_back(create(loop));
}

/// Fewer iterations than this are not worth another thread.
static constexpr uint64_t kParallelIterations = 1 << 14;

/// The outermost loop of more than one iteration, when its iterations are independent: its depth, the argument and the
/// dimension that tell its number of iterations, and how many iterations of the nest there are for an element of it.
/// The argument is the one of highest rank, because its size stands for the work of the whole nest.
static std::optional<std::array<int64_t, 4>> findParallelLoop(Loop &loop) {
  SmallVector<int64_t> sizes = loop.op.getStaticLoopRanges();
  const auto *outer = llvm::find_if(sizes, [](int64_t size) { return size != 1; });
  if (outer == sizes.end())
    return std::nullopt;
  int64_t depth = outer - sizes.begin();
  uint64_t iterations = 1; // a dynamic size may be any
  for (int64_t size : sizes)
    iterations = llvm::SaturatingMultiply<uint64_t>(iterations, ShapedType::isDynamic(size) ? UINT64_MAX : size);
  if (!linalg::isParallelIterator(loop.op.getIteratorTypesArray()[depth]) || iterations < kParallelIterations)
    return std::nullopt;
  std::optional<std::array<int64_t, 4>> found;
  int64_t rank = 0;
  for (OpOperand &operand : loop.op->getOpOperands()) {
    AffineMap map = loop.op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> dim = map.getResultPosition(getAffineDimExpr(depth, map.getContext()));
    if (!dim || map.getNumResults() <= rank)
      continue;
    rank = map.getNumResults();
    int64_t iterations = 1;
    for (auto [other, size] : llvm::enumerate(sizes))
      if (!map.isFunctionOfDim(other) && !ShapedType::isDynamic(size))
        iterations = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(iterations, size), kParallelIterations);
    found = {depth, std::distance(loop.inputs.begin(), llvm::find(loop.inputs, operand.get())), *dim, iterations};
  }
  return found;
}

LoopFunction LoopOutliner::create(Loop &loop) {
  OpBuilder builder(module.getContext());
  Location loc = loop.op.getLoc();
  auto type = builder.getFunctionType(llvm::map_to_vector(loop.inputs, [](Value v) { return v.getType(); }), {});
  auto func = func::FuncOp::create(loc, "mhc_loop_" + std::to_string(numLoops), type);
  func.setPrivate();
  if (auto parallel = findParallelLoop(loop))
    func->setAttr(kParallelAttr, builder.getDenseI64ArrayAttr(*parallel));
  for (auto [i, free] : llvm::enumerate(loop.noAlias))
    if (free)
      func.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  symbols.insert(func);
  Block *body = func.addEntryBlock();
  builder.setInsertionPointToStart(body);

  IRMapping mapping;
  mapping.map(loop.inputs, body->getArguments());
  auto sink = [&](Value value) {
    if (isConstant(value) && !mapping.contains(value))
      builder.clone(*value.getDefiningOp(), mapping);
  };
  llvm::for_each(inputsOf(loop.op), sink);
  Operation *clone = builder.clone(*loop.op, mapping);
  func::ReturnOp::create(builder, loc);
  return {func, clone, loop.noAlias};
}

namespace {
struct OutlineLoops : mhc::impl::OutlineLoopsPassBase<OutlineLoops> {
  void runOnOperation() override {
    LoopOutliner outliner(getOperation());
    for (func::FuncOp func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func.isPublic() && !func.isDeclaration() && failed(outliner.run(func)))
        return signalPassFailure();
  }
};
} // namespace
