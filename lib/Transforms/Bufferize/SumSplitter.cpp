//===- SumSplitter.cpp - One op with long sums ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SumSplitter.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;
using mlir::utils::IteratorType;

SumSplitter::SumSplitter(linalg::GenericOp op, bool knowsSizes, bool onGpu)
    : op(op), knowsSizes(knowsSizes), onGpu(onGpu), builder(op), loc(op.getLoc()), kinds(op.getIteratorTypesArray()),
      lengths(op.getStaticLoopRanges()) {
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    (isSum(i) ? sums : stores).push_back(i);
}

/// Whether the body adds to the result in f32, and the result is the same element throughout the reduction loops.
bool SumSplitter::isSum(unsigned result) {
  SmallVector<Operation *> combiners;
  BlockArgument sum = op.getRegionOutputArgs()[result];
  if (!sum.getType().isF32() || !sum.hasOneUse() || !matchReduction(op.getRegionOutputArgs(), result, combiners) ||
      combiners.size() != 1 || !isa<arith::AddFOp>(combiners.front()) || !combiners.front()->hasOneUse())
    return false;
  AffineMap map = mapOf(result);
  return map.isProjectedPermutation() && llvm::all_of(llvm::enumerate(kinds), [&](auto loop) {
           return linalg::isParallelIterator(loop.value()) == map.isFunctionOfDim(loop.index());
         });
}

/// Whether the operands can be sliced along the loop, and the sums of blocks can be planned and need
/// little memory compared to the operands: one of these has an element for each iteration.
bool SumSplitter::canCut(unsigned loop) {
  if (ShapedType::isDynamic(lengths[loop]) && !knowsSizes)
    return false;
  bool hasTerms = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop))
        return false;
    hasTerms |= llvm::all_of(llvm::seq<unsigned>(0, op.getNumLoops()),
                             [&](unsigned dim) { return lengths[dim] == 1 || map.isFunctionOfDim(dim); });
  }
  return hasTerms && llvm::all_of(stores, [&](unsigned i) { return mapOf(i).isPermutation(); });
}

/// Blocks of at most `most` iterations, which leave no rest where the length has a divisor that is not much less.
static int64_t blockOf(int64_t length, int64_t most) {
  if (!ShapedType::isDynamic(length))
    for (int64_t block = most; block > most / 4; --block)
      if (length % block == 0)
        return block;
  return most;
}

std::optional<SumSplitter::Cut> SumSplitter::findCut() {
  int64_t terms = 1; // of a block, in the loops inside
  for (unsigned loop = op.getNumLoops(); loop-- > 0;) {
    if (linalg::isParallelIterator(kinds[loop]))
      continue;
    if (!ShapedType::isDynamic(lengths[loop]) && lengths[loop] <= kSumBlock / terms) {
      terms *= std::max<int64_t>(lengths[loop], 1);
      continue;
    }
    Cut cut{loop, blockOf(lengths[loop], kSumBlock / terms)};
    bool hasRest = cut.block > 1 && (ShapedType::isDynamic(lengths[loop]) || lengths[loop] % cut.block != 0);
    // Two loops, for blocks and for the rest, cannot store into one tensor.
    return sums.empty() || !canCut(loop) || (hasRest && !stores.empty()) ? std::nullopt : std::optional(cut);
  }
  return std::nullopt;
}

void SumSplitter::findSizes() {
  for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(builder, loc))
    sizes.push_back(range.size);
}

Value SumSplitter::fill(Type type, ArrayRef<OpFoldResult> shape) {
  Value start = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, 0.0));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
  return linalg::FillOp::create(builder, loc, start, empty).getResult(0);
}

SmallVector<OpFoldResult> SumSplitter::shapeOf(unsigned result) {
  return llvm::map_to_vector(mapOf(result).getResults(), [&](AffineExpr expr) { return sizes[loopOf(expr)]; });
}

SmallVector<Value> SumSplitter::build(ArrayRef<Value> inputs, ArrayRef<Value> inits, ArrayRef<AffineMap> maps,
                                      ArrayRef<IteratorType> kinds, Body body) {
  auto types = llvm::map_to_vector(inits, [](Value init) { return init.getType(); });
  auto made = linalg::GenericOp::create(
      builder, loc, types, inputs, inits, maps, kinds, [&](OpBuilder &inner, Location, ValueRange arguments) {
        auto results = body(inner, arguments.take_front(inputs.size()), arguments.drop_front(inputs.size()));
        linalg::YieldOp::create(inner, loc, results);
      });
  return SmallVector<Value>(made.getResults());
}

/// Adds terms to sums in f64.
static SmallVector<Value> addWide(OpBuilder &body, ValueRange terms, ValueRange sums) {
  SmallVector<Value> results;
  for (auto [term, sum] : llvm::zip(terms, sums)) {
    Value wide = term.getType() == sum.getType()
                     ? term
                     : arith::ExtFOp::create(body, sum.getLoc(), sum.getType(), term).getResult();
    results.push_back(arith::AddFOp::create(body, sum.getLoc(), sum, wide, arith::FastMathFlags::reassoc));
  }
  return results;
}

/// The ops of the body. To a sum that is held in f64 a term is added as such. Where loops have changed, `loopIndex`
/// gives the indices of the old ones.
SmallVector<Value> SumSplitter::cloneBody(OpBuilder &body, ValueRange inputs, ValueRange accumulators,
                                          llvm::function_ref<Value(unsigned loop)> loopIndex) {
  IRMapping mapping;
  mapping.map(op.getRegionInputArgs(), inputs);
  auto isWide = [](Value old, Value now) { return old.getType() != now.getType(); };
  for (auto [old, now] : llvm::zip(op.getRegionOutputArgs(), accumulators))
    if (isWide(old, now)) // the term alone: -0 + x is x
      mapping.map(old, arith::ConstantOp::create(body, loc, body.getF32FloatAttr(-0.0f)).getResult());
    else
      mapping.map(old, now);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(inner); position && loopIndex)
      mapping.map(position.getResult(), loopIndex(position.getDim()));
    else
      body.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (auto [old, now, yielded] :
       llvm::zip(op.getRegionOutputArgs(), accumulators, op.getBody()->getTerminator()->getOperands())) {
    Value result = mapping.lookupOrDefault(yielded);
    if (isWide(old, now)) {
      Value term = arith::ExtFOp::create(body, loc, now.getType(), result);
      result = arith::AddFOp::create(body, loc, now, term, arith::FastMathFlags::reassoc);
    }
    results.push_back(result);
  }
  return results;
}

/// The sums of whole blocks, in f32, and the other results that the op stores.
SmallVector<Value> SumSplitter::sumBlocks(Cut cut, OpFoldResult blocks) {
  bool isOne = cut.block == 1; // then an iteration is a block, and no loop runs inside
  unsigned numLoops = op.getNumLoops() + (isOne ? 0 : 1);
  auto loopAt = [&](unsigned loop) { return loop <= cut.loop || isOne ? loop : loop + 1; };
  SmallVector<AffineExpr> places, kept;
  SmallVector<OpFoldResult> shape;
  SmallVector<IteratorType> newKinds;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    AffineExpr place = builder.getAffineDimExpr(loopAt(loop));
    bool isCut = loop == cut.loop && !isOne;
    places.push_back(isCut ? place * cut.block + builder.getAffineDimExpr(loop + 1) : place);
    newKinds.push_back(isKept(loop, cut) ? IteratorType::parallel : IteratorType::reduction);
    if (isCut)
      newKinds.push_back(IteratorType::reduction);
    if (isKept(loop, cut)) {
      kept.push_back(place);
      shape.push_back(loop == cut.loop ? blocks : sizes[loop]);
    }
  }
  SmallVector<Value> inputs(op.getInputs()), inits;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(op.getMatchingIndexingMap(input).replaceDimsAndSymbols(places, {}, numLoops, 0));
  if (!isOne) { // tells how long the loop in a block is
    inputs.push_back(tensor::EmptyOp::create(builder, loc, {cut.block}, builder.getI8Type()));
    maps.push_back(AffineMap::get(numLoops, 0, builder.getAffineDimExpr(cut.loop + 1)));
  }
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    bool isStored = llvm::is_contained(stores, i);
    inits.push_back(isStored ? op.getDpsInits()[i] : fill(builder.getF32Type(), shape));
    maps.push_back(isStored ? mapOf(i).replaceDimsAndSymbols(places, {}, numLoops, 0)
                            : AffineMap::get(numLoops, 0, kept, builder.getContext()));
  }
  return build(inputs, inits, maps, newKinds, [&](OpBuilder &body, ValueRange values, ValueRange accumulators) {
    return cloneBody(body, values.take_front(op.getNumDpsInputs()), accumulators, [&](unsigned loop) -> Value {
      Value index = linalg::IndexOp::create(body, loc, loopAt(loop));
      if (loop != cut.loop || isOne)
        return index;
      index = arith::MulIOp::create(body, loc, index, arith::ConstantIndexOp::create(body, loc, cut.block));
      return arith::AddIOp::create(body, loc, index, linalg::IndexOp::create(body, loc, loop + 1));
    });
  });
}

/// The sums of what is behind the last whole block, in f32: it is less than one.
SmallVector<Value> SumSplitter::sumRest(Cut cut, OpFoldResult first) {
  SmallVector<Value> inputs, inits;
  OpFoldResult one = builder.getIndexAttr(1), length = compute<arith::SubIOp>(sizes[cut.loop], first);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    inputs.push_back(input->get());
    if (!map.isFunctionOfDim(cut.loop))
      continue;
    SmallVector<OpFoldResult> offsets(map.getNumResults(), builder.getIndexAttr(0)), strides(map.getNumResults(), one);
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(builder, loc, input->get());
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(cut.loop)) {
        offsets[dim] = first;
        shape[dim] = length;
      }
    inputs.back() = tensor::ExtractSliceOp::create(builder, loc, input->get(), offsets, shape, strides);
  }
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    inits.push_back(fill(builder.getF32Type(), shapeOf(i)));
  Value start = index(builder, first);
  return build(inputs, inits, op.getIndexingMapsArray(), kinds,
               [&](OpBuilder &body, ValueRange values, ValueRange accumulators) {
                 return cloneBody(body, values, accumulators, [&](unsigned loop) -> Value {
                   Value index = linalg::IndexOp::create(body, loc, loop);
                   return loop == cut.loop ? arith::AddIOp::create(body, loc, index, start).getResult() : index;
                 });
               });
}

/// The sums of the blocks' sums, in f64; on a GPU one op for each of their loops, the innermost first: a lone thread
/// that ran through two of them would take longer than all blocks.
SmallVector<Value> SumSplitter::addBlocks(Cut cut, OpFoldResult count, ArrayRef<Value> blocks) {
  SmallVector<unsigned> kept, added;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (isKept(loop, cut)) {
      kept.push_back(loop);
      if (linalg::isReductionIterator(kinds[loop]))
        added.push_back(loop);
    }
  SmallVector<Value> terms(blocks);
  while (onGpu && added.size() > 1)
    terms = addAlong(added.pop_back_val(), kept, cut, count, terms);
  return addAll(kept, terms);
}

/// Sums along one of the loops that are left, in f64.
SmallVector<Value> SumSplitter::addAlong(unsigned loop, SmallVector<unsigned> &left, Cut cut, OpFoldResult count,
                                         ArrayRef<Value> terms) {
  SmallVector<AffineExpr> places;
  SmallVector<OpFoldResult> shape;
  SmallVector<IteratorType> newKinds;
  for (auto [i, other] : llvm::enumerate(left)) {
    newKinds.push_back(other == loop ? IteratorType::reduction : IteratorType::parallel);
    if (other == loop)
      continue;
    places.push_back(builder.getAffineDimExpr(i));
    shape.push_back(other == cut.loop ? count : sizes[other]);
  }
  SmallVector<AffineMap> maps(terms.size(), builder.getMultiDimIdentityMap(left.size()));
  maps.append(terms.size(), AffineMap::get(left.size(), 0, places, builder.getContext()));
  SmallVector<Value> inits(terms.size());
  llvm::for_each(inits, [&](Value &init) { init = fill(builder.getF64Type(), shape); });
  llvm::erase(left, loop);
  return build(terms, inits, maps, newKinds, addWide);
}

/// Sums along all reduction loops that are left, in f64, in the order of the results' dimensions.
SmallVector<Value> SumSplitter::addAll(ArrayRef<unsigned> left, ArrayRef<Value> terms) {
  SmallVector<AffineExpr> places(op.getNumLoops(), builder.getAffineConstantExpr(0));
  SmallVector<IteratorType> newKinds;
  for (unsigned loop : left) {
    places[loop] = builder.getAffineDimExpr(newKinds.size());
    newKinds.push_back(kinds[loop]);
  }
  SmallVector<AffineMap> maps(terms.size(), builder.getMultiDimIdentityMap(left.size()));
  SmallVector<Value> inits;
  for (unsigned i : sums) {
    inits.push_back(wideStart(i));
    maps.push_back(mapOf(i).replaceDimsAndSymbols(places, {}, left.size(), 0));
  }
  return build(terms, inits, maps, newKinds, addWide);
}

/// The result as it was, rounded: the sum with the rest, where there is one, and with what it starts from.
Value SumSplitter::narrow(unsigned result, Value sum, Value rest) {
  SmallVector<Value> inputs = {sum};
  if (rest)
    inputs.push_back(rest);
  Value start = op.getDpsInits()[result];
  auto filled = start.getDefiningOp<linalg::FillOp>();
  if (!filled || !matchPattern(filled.getInputs()[0], m_AnyZeroFloat()))
    inputs.push_back(start);
  int64_t rank = cast<RankedTensorType>(sum.getType()).getRank();
  Value init = tensor::EmptyOp::create(builder, loc, shapeOf(result), builder.getF32Type());
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  SmallVector<IteratorType> parallel(rank, IteratorType::parallel);
  return build(inputs, init, maps, parallel, [&](OpBuilder &body, ValueRange values, ValueRange) {
    Value total = values[0];
    for (Value other : values.drop_front())
      total = arith::AddFOp::create(body, loc, total, arith::ExtFOp::create(body, loc, total.getType(), other));
    return SmallVector<Value>{arith::TruncFOp::create(body, loc, body.getF32Type(), total)};
  })[0];
}

void SumSplitter::split(Cut cut) {
  findSizes();
  OpFoldResult block = builder.getIndexAttr(cut.block), whole = sizes[cut.loop];
  // Signed: a size that the program computes may be negative, which is an error that mhc-check-sizes finds.
  OpFoldResult blocks = cut.block == 1 ? whole : compute<arith::DivSIOp>(whole, block);
  OpFoldResult first = cut.block == 1 ? whole : compute<arith::MulIOp>(blocks, block);
  SmallVector<Value> results = sumBlocks(cut, blocks);
  SmallVector<Value> wide = addBlocks(cut, blocks, llvm::map_to_vector(sums, [&](unsigned i) { return results[i]; }));
  SmallVector<Value> rest(sums.size());
  if (!isEqualConstantIntOrValue(first, whole))
    rest = sumRest(cut, first);
  for (auto [i, sum, behind] : llvm::zip(sums, wide, rest))
    results[i] = narrow(i, sum, behind);
  op->replaceAllUsesWith(results);
}

/// The result that stores the terms of a sum.
std::optional<unsigned> SumSplitter::termsOf(unsigned sum) {
  Operation *combiner = *op.getRegionOutputArgs()[sum].user_begin();
  for (auto [i, yielded] : llvm::enumerate(op.getBody()->getTerminator()->getOperands()))
    if (llvm::is_contained(combiner->getOperands(), yielded))
      return i;
  return std::nullopt;
}

/// The results that the op stores, without the sums.
SmallVector<Value> SumSplitter::storeAlone() {
  SmallVector<Value> inits;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.truncate(op.getNumDpsInputs());
  for (unsigned i : stores) {
    inits.push_back(op.getDpsInits()[i]);
    maps.push_back(mapOf(i));
  }
  SmallVector<IteratorType> parallel(kinds.size(), IteratorType::parallel);
  auto store = [&](OpBuilder &body, ValueRange values, ValueRange old) {
    // A sum that starts from nothing, and that nobody reads.
    Value none = arith::ConstantOp::create(body, loc, body.getF32FloatAttr(0.0f));
    SmallVector<Value> accumulators(op.getNumResults(), none);
    for (auto [i, value] : llvm::zip(stores, old))
      accumulators[i] = value;
    SmallVector<Value> all = cloneBody(body, values, accumulators);
    return llvm::map_to_vector(stores, [&](unsigned i) { return all[i]; });
  };
  return build(SmallVector<Value>(op.getInputs()), inits, maps, parallel, store);
}

SmallVector<linalg::GenericOp> SumSplitter::separate() {
  if (sums.empty() || stores.empty() || !llvm::all_of(stores, [&](unsigned i) { return mapOf(i).isPermutation(); }) ||
      !llvm::all_of(sums, [&](unsigned i) { return termsOf(i).has_value(); }))
    return {};
  SmallVector<Value> results(op.getNumResults());
  SmallVector<Value> stored = storeAlone();
  for (auto [i, value] : llvm::zip(stores, stored))
    results[i] = value;
  SmallVector<linalg::GenericOp> made;
  for (unsigned i : sums) {
    unsigned terms = *termsOf(i);
    auto add = [&](OpBuilder &body, ValueRange term, ValueRange sum) {
      Value next = arith::AddFOp::create(body, loc, sum[0], term[0], arith::FastMathFlags::reassoc);
      return SmallVector<Value>{next};
    };
    results[i] = build(results[terms], op.getDpsInits()[i], {mapOf(terms), mapOf(i)}, kinds, add)[0];
    made.push_back(results[i].getDefiningOp<linalg::GenericOp>());
  }
  op->replaceAllUsesWith(results);
  return made;
}

bool SumSplitter::widen() {
  SmallVector<Value> inits(op.getDpsInits());
  if (sums.empty())
    return false;
  findSizes();
  for (unsigned i : sums)
    inits[i] = wideStart(i);
  SmallVector<Value> results =
      build(SmallVector<Value>(op.getInputs()), inits, op.getIndexingMapsArray(), kinds,
            [&](OpBuilder &body, ValueRange values, ValueRange old) { return cloneBody(body, values, old); });
  for (unsigned i : sums)
    results[i] = narrow(i, results[i]);
  op->replaceAllUsesWith(results);
  return true;
}
