//===- KernelBody.cpp - Work of one thread of a loop kernel --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of a reduction are values that its loops carry: upstream's loops would load and store them every time.
//
// The rows of softmax, norms and losses lie in memory one after the other. A thread per row would read a cache line for
// each element, so a warp takes a row: lane l adds elements l, l + 32, ... and the lanes' sums meet in a butterfly,
// whose order is fixed. The columns of a weight's gradient are few and long: a thread per column would leave most of
// the GPU without work, so a warp takes one of these, too. Its block has the neighbours, which read the rest of each
// sector.
//
// A long sum in f32 would lose accuracy with its length: a thread carries it in f64, and its result is rounded once.
//
// Loops without a reduction wait for memory: with one element each, the threads of a multiprocessor ask for less than
// is under way at full speed, bf16 above all. A thread takes up to eight neighbours, with accesses of up to 16 bytes
// where all buffers are aligned so, and one by one where an argument of the user is not.
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

SmallVector<OpFoldResult> mhc::loopSizes(OpBuilder &builder, linalg::LinalgOp op) {
  return llvm::map_to_vector(op.createLoopRanges(builder, op.getLoc()), [](Range range) { return range.size; });
}

static constexpr int64_t kWarp = 32;
/// Rows that are shorter leave most lanes without work.
static constexpr int64_t kShortestRow = 64;
/// Iterations that fill a large GPU with one thread each.
static constexpr uint64_t kManyIterations = 1 << 18;
/// Terms that a thread adds in f32.
static constexpr int64_t kShortSum = 256;
/// The bytes of the widest access of a thread.
static constexpr int64_t kAccessBytes = 16;
/// Neighbours that a thread takes: more would need registers that keep other threads out.
static constexpr int64_t kMostNeighbours = 8;

/// The op that adds to result `number` in the body, where that is one op with a neutral element, of a type that lanes
/// exchange, and nothing else sees the sum so far.
static Operation *combinerOf(linalg::LinalgOp op, unsigned number) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), number, combiners) || combiners.size() != 1 ||
      !op.getRegionOutputArgs()[number].hasOneUse() || !combiners.front()->hasOneUse())
    return nullptr;
  Type type = combiners.front()->getResult(0).getType();
  bool isExchanged = type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64);
  return isExchanged && arith::getNeutralElement(combiners.front()) ? combiners.front() : nullptr;
}

/// Whether the reduction loops leave one value in an element of `init`. Another output has an element for each of their
/// iterations: softmax stores its powers while it adds them.
static bool isSum(linalg::LinalgOp op, OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  return llvm::none_of(dims, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// Whether a thread for each iteration of the parallel loops makes work for the whole GPU. A dynamic size may be any.
static bool hasManyIterations(linalg::LinalgOp op) {
  uint64_t iterations = 1;
  for (auto [kind, size] : llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (linalg::isParallelIterator(kind))
      iterations = llvm::SaturatingMultiply<uint64_t>(iterations, ShapedType::isDynamic(size) ? UINT64_MAX : size);
  return iterations >= kManyIterations;
}

int64_t mhc::threadsPerIteration(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.empty())
    return 1;
  int64_t length = op.getStaticLoopRanges()[reductions.back()];
  if (!ShapedType::isDynamic(length) && length < kShortestRow)
    return 1;
  bool isRow = reductions.back() == op.getNumLoops() - 1;
  if (!isRow && hasManyIterations(op))
    return 1;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable()))
    if (isSum(op, init) && !combinerOf(op, i))
      return 1;
  return kWarp;
}

/// Whether a thread adds so many terms in f32 that they need a wider sum. A dynamic size may be any.
static bool isLongSum(linalg::LinalgOp op) {
  uint64_t terms = 1;
  for (auto [kind, size] : llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (linalg::isReductionIterator(kind))
      terms = llvm::SaturatingMultiply<uint64_t>(terms, ShapedType::isDynamic(size) ? UINT64_MAX : size);
  return terms / mhc::threadsPerIteration(op) > kShortSum;
}

/// The loop whose neighbours lie side by side: the last parallel one that is longer than one.
static std::optional<unsigned> innermostLoop(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  for (unsigned dim : llvm::reverse(parallel))
    if (op.getStaticLoopRanges()[dim] != 1)
      return dim;
  return std::nullopt;
}

namespace {
/// Elements of an operand that neighbours need.
enum class Access {
  same,     ///< one for all
  together, ///< in memory side by side, from a multiple of their number on
  apart,    ///< side by side, but a vector of them is not in memory as they are: bits
};
} // namespace

/// None where the elements of `width` neighbours along `dim` are far from each other.
static std::optional<Access> accessOf(linalg::LinalgOp op, OpOperand &operand, unsigned dim, int64_t width) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(dim))
    return op.isDpsInit(&operand) ? std::nullopt : std::optional(Access::same);
  ArrayRef<AffineExpr> place = map.getResults();
  auto moves = [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); };
  if (place.back() != getAffineDimExpr(dim, op.getContext()) || llvm::any_of(place.drop_back(), moves))
    return std::nullopt;
  auto type = cast<MemRefType>(operand.get().getType());
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  auto isWhole = [&](int64_t size) { return !ShapedType::isDynamic(size) && size % width == 0; };
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  bool isRowMajor = type.getLayout().isIdentity() && (type.getRank() == 1 || isWhole(type.getShape().back()));
  if (!isRowMajor && !llvm::all_of(ArrayRef(strides).drop_back(), isWhole))
    return std::nullopt;
  return type.getElementTypeBitWidth() < 8 ? Access::apart : Access::together;
}

int64_t mhc::neighboursPerThread(linalg::LinalgOp op) {
  std::optional<unsigned> dim = innermostLoop(op);
  if (!dim || op.getNumReductionLoops() || !hasManyIterations(op) ||
      !llvm::all_of(*op.getBlock(), [](Operation &inner) { return isMemoryEffectFree(&inner); }))
    return 1;
  int64_t size = op.getStaticLoopRanges()[*dim], width = 1;
  for (OpOperand &operand : op->getOpOperands())
    if (Type element = getElementTypeOrSelf(operand.get()); element.isIntOrFloat())
      width = std::max<int64_t>(width, kAccessBytes * 8 / element.getIntOrFloatBitWidth());
  auto isReached = [&](OpOperand &operand) { return accessOf(op, operand, *dim, width).has_value(); };
  for (width = std::min(width, kMostNeighbours); width > 1; width /= 2)
    if (!ShapedType::isDynamic(size) && size % width == 0 && llvm::all_of(op->getOpOperands(), isReached))
      return width;
  return 1;
}

namespace {
class ThreadEmitter {
public:
  ThreadEmitter(OpBuilder &builder, linalg::LinalgOp op)
      : builder(builder), loc(op.getLoc()), op(op), sizes(mhc::loopSizes(builder, op)), indices(sizes.size()),
        width(mhc::neighboursPerThread(op)) {
    for (OpOperand &init : op.getDpsInitsMutable())
      (isSum(op, init) ? summed : streamed).push_back(&init);
    for (OpOperand *init : summed) {
      Operation *combiner = combinerOf(op, init->getOperandNumber() - op.getNumDpsInputs());
      combiners.push_back(combiner);
      isWide.push_back(isa_and_nonnull<arith::AddFOp>(combiner) && combiner->getResult(0).getType().isF32() &&
                       isLongSum(op));
    }
  }

  /// All of one iteration.
  void emitAlone(Value iteration) {
    splitIteration(iteration);
    emitIteration();
  }
  void emitLane(Value thread);
  void emitNeighbours(Value group);

private:
  /// That of the indices.
  void emitIteration() {
    SmallVector<Value> sums;
    for (auto [init, wide] : llvm::zip(summed, isWide))
      // An element that is overwritten without a look is not loaded.
      sums.push_back(op.getNumReductionLoops() || op.payloadUsesValueFromOperand(init) ? widen(start(init), wide)
                                                                                       : Value());
    for (auto [init, sum, wide] : llvm::zip(summed, emitReductions(reductions(), sums), isWide))
      store(narrow(sum, wide), init);
  }
  void forNeighbours(llvm::function_ref<void(int64_t number)> emit);
  SmallVector<Value> loadNeighbours(OpOperand *operand);
  void storeNeighbours(ArrayRef<Value> values, OpOperand *init);
  void emitTogether();
  Value areAligned();
  void splitIteration(Value iteration);
  SmallVector<unsigned> reductions() {
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    return dims;
  }
  Value combine(Operation *combiner, Value a, Value b);
  Value widen(Value sum, bool wide) {
    return wide ? arith::ExtFOp::create(builder, loc, builder.getF64Type(), sum).getResult() : sum;
  }
  Value narrow(Value sum, bool wide) {
    return wide ? arith::TruncFOp::create(builder, loc, builder.getF32Type(), sum).getResult() : sum;
  }
  SmallVector<Value> emitReductions(ArrayRef<unsigned> dims, ArrayRef<Value> sums);
  SmallVector<Value> emitBody(ArrayRef<Value> sums);
  void cloneBody(IRMapping &mapping);

  Value index(int64_t number) { return arith::ConstantIndexOp::create(builder, loc, number); }
  Value index(OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); }
  SmallVector<Value> place(OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    return *affine::expandAffineMap(builder, loc, map, indices);
  }
  /// The element of an operand at the indices; a scalar is the same everywhere.
  Value load(OpOperand *operand) {
    if (!isa<MemRefType>(operand->get().getType()))
      return operand->get();
    return memref::LoadOp::create(builder, loc, operand->get(), place(operand));
  }
  /// The constant that mhc-fold-fills has found to be in all of an output; null where there is none.
  TypedAttr knownStart(OpOperand *init) {
    auto starts = op->getAttrOfType<ArrayAttr>(mhc::kStartsAttr);
    return starts ? dyn_cast<TypedAttr>(starts[init->getOperandNumber() - op.getNumDpsInputs()]) : TypedAttr();
  }
  /// Initial value of a sum: that constant, or the element.
  Value start(OpOperand *init) {
    TypedAttr known = knownStart(init);
    return known ? arith::ConstantOp::create(builder, loc, known).getResult() : load(init);
  }
  void store(Value value, OpOperand *init) { memref::StoreOp::create(builder, loc, value, init->get(), place(init)); }

  OpBuilder &builder;
  Location loc;
  linalg::LinalgOp op;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> indices; ///< per loop
  SmallVector<OpOperand *> summed, streamed;
  SmallVector<Operation *> combiners; ///< of what is summed
  SmallVector<bool> isWide;           ///< whether that is held in f64
  Value lane;                         ///< null for a thread that works alone
  int64_t width;                      ///< iterations of the innermost loop that a thread does
};
} // namespace

/// The last parallel loop runs fastest, so that the threads of a warp work on neighbours. Sizes and indices are not
/// negative, and unsigned division is the cheaper one.
void ThreadEmitter::splitIteration(Value iteration) {
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  llvm::erase_if(parallel, [&](unsigned dim) {
    if (getConstantIntValue(sizes[dim]) != 1)
      return false;
    indices[dim] = index(0);
    return true;
  });
  for (unsigned dim : llvm::reverse(parallel)) {
    bool isLast = dim == parallel.front(); // nothing is left above it
    bool isGroup = width > 1 && dim == parallel.back();
    Value size = isGroup ? index(*getConstantIntValue(sizes[dim]) / width) : index(sizes[dim]);
    indices[dim] = isLast ? iteration : arith::RemUIOp::create(builder, loc, iteration, size).getResult();
    if (!isLast)
      iteration = arith::DivUIOp::create(builder, loc, iteration, size);
    if (isGroup)
      indices[dim] = arith::MulIOp::create(builder, loc, indices[dim], index(width));
  }
}

SmallVector<Value> ThreadEmitter::emitReductions(ArrayRef<unsigned> dims, ArrayRef<Value> sums) {
  if (dims.empty())
    return emitBody(sums);
  bool isShared = lane && dims.size() == 1;
  Value first = isShared ? lane : index(0), step = index(isShared ? kWarp : 1);
  auto loop = scf::ForOp::create(builder, loc, first, index(sizes[dims.front()]), step, sums);
  OpBuilder::InsertionGuard guard(builder);
  loop.getBody()->clear(); // a loop that carries nothing comes with its end
  builder.setInsertionPointToStart(loop.getBody());
  indices[dims.front()] = loop.getInductionVar();
  SmallVector<Value> carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  scf::YieldOp::create(builder, loc, emitReductions(dims.drop_front(), carried));
  return loop.getResults();
}

/// One iteration; returns the new sums.
SmallVector<Value> ThreadEmitter::emitBody(ArrayRef<Value> sums) {
  IRMapping mapping;
  auto mapLoaded = [&](OpOperand *operand) {
    if (op.payloadUsesValueFromOperand(operand))
      mapping.map(op.getMatchingBlockArgument(operand), load(operand));
  };
  llvm::for_each(op.getDpsInputOperands(), mapLoaded);
  llvm::for_each(streamed, mapLoaded);
  for (auto [init, carried, wide] : llvm::zip(summed, sums, isWide)) {
    Value sum = carried;
    if (wide) // the term alone: -0 + x is x
      sum = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(-0.0f));
    if (sum)
      mapping.map(op.getMatchingBlockArgument(init), sum);
  }
  cloneBody(mapping);
  auto yielded = [&](OpOperand *init) { return mapping.lookupOrDefault(op.getMatchingYieldValue(init)->get()); };
  for (OpOperand *init : streamed)
    store(yielded(init), init);
  SmallVector<Value> results = llvm::map_to_vector(summed, yielded);
  for (auto [result, sum, combiner, wide] : llvm::zip(results, sums, combiners, isWide))
    if (wide)
      result = combine(combiner, sum, widen(result, wide));
  return results;
}

/// The ops of one iteration, that of the indices.
void ThreadEmitter::cloneBody(IRMapping &mapping) {
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(position.getResult(), indices[position.getDim()]);
    else
      builder.clone(inner, mapping);
  }
}

/// In f64, where the operands are.
Value ThreadEmitter::combine(Operation *combiner, Value a, Value b) {
  if (a.getType() != combiner->getResult(0).getType())
    return arith::AddFOp::create(builder, loc, a, b);
  Operation *op = builder.clone(*combiner);
  op->setOperands({a, b});
  return op->getResult(0);
}

/// Whole warps get here: their number of threads is a multiple of a warp.
void ThreadEmitter::emitLane(Value thread) {
  lane = arith::RemUIOp::create(builder, loc, thread, index(kWarp));
  splitIteration(arith::DivUIOp::create(builder, loc, thread, index(kWarp)));
  SmallVector<Value> sums;
  for (auto [combiner, wide] : llvm::zip(combiners, isWide))
    sums.push_back(widen(arith::ConstantOp::create(builder, loc, *arith::getNeutralElement(combiner)), wide));
  sums = emitReductions(reductions(), sums);
  for (auto [combiner, sum] : llvm::zip(combiners, sums))
    for (int64_t distance = kWarp / 2; distance > 0; distance /= 2) {
      auto other = gpu::ShuffleOp::create(builder, loc, sum, distance, kWarp, gpu::ShuffleMode::XOR);
      sum = combine(combiner, sum, other.getShuffleResult());
    }
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, index(0));
  auto branch = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  for (auto [init, combiner, sum, wide] : llvm::zip(summed, combiners, sums, isWide))
    store(narrow(combine(combiner, widen(start(init), wide), sum), wide), init);
}

static VectorType vectorOf(OpOperand &operand, int64_t width) {
  return VectorType::get(width, getElementTypeOrSelf(operand.get()));
}

static llvm::MaybeAlign alignmentOf(VectorType type) {
  return llvm::Align(std::min(kAccessBytes, type.getNumElements() * type.getElementTypeBitWidth() / 8));
}

/// With the indices of each of the neighbours that begin at the indices.
void ThreadEmitter::forNeighbours(llvm::function_ref<void(int64_t number)> emit) {
  unsigned dim = *innermostLoop(op);
  Value first = indices[dim];
  for (int64_t i = 0; i < width; ++i) {
    indices[dim] = arith::AddIOp::create(builder, loc, first, index(i));
    emit(i);
  }
  indices[dim] = first;
}

/// One value of the operand for each of the neighbours that begin at the indices.
SmallVector<Value> ThreadEmitter::loadNeighbours(OpOperand *operand) {
  if (op.isDpsInit(operand) && knownStart(operand))
    return SmallVector<Value>(width, start(operand));
  Access access = *accessOf(op, *operand, *innermostLoop(op), width);
  if (access == Access::same)
    return SmallVector<Value>(width, load(operand));
  SmallVector<Value> values;
  if (access == Access::together) {
    VectorType type = vectorOf(*operand, width);
    Value all = vector::LoadOp::create(builder, loc, type, operand->get(), place(operand), /*nontemporal=*/false,
                                       alignmentOf(type));
    for (int64_t i = 0; i < width; ++i)
      values.push_back(vector::ExtractOp::create(builder, loc, all, i));
    return values;
  }
  forNeighbours([&](int64_t) { values.push_back(load(operand)); });
  return values;
}

void ThreadEmitter::storeNeighbours(ArrayRef<Value> values, OpOperand *init) {
  if (accessOf(op, *init, *innermostLoop(op), width) == Access::together) {
    VectorType type = vectorOf(*init, width);
    Value all = vector::FromElementsOp::create(builder, loc, type, values);
    vector::StoreOp::create(builder, loc, all, init->get(), place(init), /*nontemporal=*/false, alignmentOf(type));
    return;
  }
  forNeighbours([&](int64_t i) { store(values[i], init); });
}

/// All neighbours, everything loaded first: what they read no other iteration writes.
void ThreadEmitter::emitTogether() {
  SmallVector<IRMapping> mappings(width);
  for (OpOperand &operand : op->getOpOperands())
    if (op.payloadUsesValueFromOperand(&operand))
      for (auto [mapping, value] : llvm::zip(mappings, loadNeighbours(&operand)))
        mapping.map(op.getMatchingBlockArgument(&operand), value);
  forNeighbours([&](int64_t i) { cloneBody(mappings[i]); });
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value yielded = op.getMatchingYieldValue(&init)->get();
    storeNeighbours(llvm::map_to_vector(mappings, [&](IRMapping &mapping) { return mapping.lookupOrDefault(yielded); }),
                    &init);
  }
}

/// Whether all buffers that are accessed by vectors begin at a multiple of the widest access.
Value ThreadEmitter::areAligned() {
  Value bits = index(0);
  for (OpOperand &operand : op->getOpOperands())
    if (accessOf(op, operand, *innermostLoop(op), width) == Access::together) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, operand.get());
      bits = arith::OrIOp::create(builder, loc, bits, address);
    }
  bits = arith::AndIOp::create(builder, loc, bits, index(kAccessBytes - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits, index(0));
}

void ThreadEmitter::emitNeighbours(Value group) {
  splitIteration(group);
  auto branch = scf::IfOp::create(builder, loc, areAligned(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitTogether();
  builder.setInsertionPointToStart(branch.elseBlock());
  auto loop = scf::ForOp::create(builder, loc, index(0), index(width), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  unsigned dim = *innermostLoop(op);
  indices[dim] = arith::AddIOp::create(builder, loc, indices[dim], loop.getInductionVar());
  emitIteration();
}

void mhc::emitThread(OpBuilder &builder, linalg::LinalgOp op, Value thread) {
  ThreadEmitter emitter(builder, op);
  if (threadsPerIteration(op) > 1)
    emitter.emitLane(thread);
  else if (neighboursPerThread(op) > 1)
    emitter.emitNeighbours(thread);
  else
    emitter.emitAlone(thread);
}
