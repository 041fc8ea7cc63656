//===- PreGatedDeltaRule.cpp - The front end of a gated delta net layer, and its gradient ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Only the tokens, the sequences and their number may be open: the heads are part of the program.
template <typename Op>
static LogicalResult verifyStaticSizes(Op op) {
  const KernelInfo &info = op.getKernelInfo();
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    Value value = cast<KernelOpInterface>(*op).getTensor(i);
    if (!value)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [axis, dim] : llvm::enumerate(kernelTensorDims(op, info, i)))
      if (type.isDynamicDim(axis) && !llvm::is_contained({"M", "b", "s"}, info.dims[dim]))
        return op.emitOpError() << "dimension '" << info.dims[dim] << "' is dynamic in '" << tensor.name
                                << "'; needed a static size";
  }
  return success();
}

/// C1 and C2.
template <typename Op>
static LogicalResult verifyHeadsAndSequences(Op op) {
  if (failed(verifyKernelDims(op)) || failed(verifyStaticSizes(op)))
    return failure();
  int64_t heads = op.getALog().getType().getDimSize(0), keyHeads = op.getNumKeyHeads();
  if (heads % keyHeads != 0)
    return op.emitOpError() << "has " << heads << " value heads and 'num_key_heads' " << keyHeads
                            << "; needed a multiple of it";
  if (!op.getCuSeqlens())
    return success();
  if (op.getLeftBoundary())
    return op.emitOpError() << "has 'cu_seqlens' and 'left_boundary'; needed one of them";
  int64_t sequences = op.getQkvzba().getType().getDimSize(op.getSeqLayout() == SeqLayout::MbD ? 1 : 0);
  if (sequences != 1)
    return op.emitOpError() << "has 'cu_seqlens' and dimension 'b' is "
                            << (ShapedType::isDynamic(sequences) ? "dynamic" : std::to_string(sequences))
                            << "; needed 1";
  return success();
}

LogicalResult PreGatedDeltaRuleOp::verify() { return verifyHeadsAndSequences(*this); }

LogicalResult PreGatedDeltaRuleBwdOp::verify() {
  if (failed(verifyHeadsAndSequences(*this)))
    return failure();
  if (getDConvBias() && !getConvBias()) // C3
    return emitOpError() << "has 'd_conv_bias' but no 'conv_bias'";
  if (getDLeftBoundary() && !getLeftBoundary())
    return emitOpError() << "has 'd_left_boundary' but no 'left_boundary'";
  return success();
}

//===----------------------------------------------------------------------===//
// The chain of leaf ops
//===----------------------------------------------------------------------===//

namespace {
/// Builds the parts of the chain that the op and its gradient share. Tensors are f32, sequence first.
template <typename Op>
class FrontEnd {
public:
  FrontEnd(Op op, OpBuilder &builder)
      : op(op), builder(builder), leaf(builder, op.getLoc()), keyHeads(op.getNumKeyHeads()),
        heads(op.getALog().getType().getDimSize(0)), taps(op.getConvWeight().getType().getDimSize(1)),
        convolved(op.getConvWeight().getType().getDimSize(0)) {}

  Type element() { return op.getQkvzba().getType().getElementType(); }
  /// Rounded to the type of the activations.
  Value rounded(Value tensor) { return leaf.toF32(leaf.cast(tensor, element())); }
  Value sequenceFirst(Value tensor) {
    return op.getSeqLayout() == SeqLayout::MbD ? leaf.transpose(tensor, {1, 0, 2}) : tensor;
  }
  Value asStored(Value tensor) { return sequenceFirst(leaf.cast(tensor, element())); }

  /// Channels [first, first + count) of the input.
  Value channels(int64_t first, int64_t count) {
    if (!input)
      input = leaf.toF32(sequenceFirst(op.getQkvzba()));
    return leaf.slice(input, 2, first, count);
  }
  int64_t valueChannels() { return (op.getQkvzba().getType().getShape().back() - convolved - 2 * heads); }
  int64_t queryKeyChannels() { return convolved - valueChannels(); }

  /// Input of the convolution: the tokens, behind those of the boundary.
  Value convolutionInput() {
    Value x = channels(0, convolved);
    if (!op.getLeftBoundary())
      return x;
    Value left = leaf.toF32(sequenceFirst(op.getLeftBoundary()));
    return leaf.concat({left, x}, 1);
  }

  /// Tensors of the tokens alone, and of the boundary.
  Value withoutBoundary(Value tensor) { return op.getLeftBoundary() ? tokens(tensor, taps - 1, tokenCount()) : tensor; }
  Value boundary(Value tensor) { return tokens(tensor, 0, leaf.constant(taps - 1)); }

  Value shifted(Value tensor, int64_t by) {
    if (by == 0)
      return tensor;
    return ShiftOp::create(builder, op.getLoc(), tensor.getType(), tensor, starts(), /*dim=*/1, by);
  }

  /// Column `tap` of the weight, for each token.
  Value weight(int64_t tap, Value like) {
    Value column = leaf.join(leaf.slice(leaf.toF32(op.getConvWeight()), 1, tap, 1), 0, 2);
    return leaf.broadcast(column, leaf.sizesOf(like), {2});
  }
  Value perHead(Value parameter, Value like) { return leaf.broadcast(leaf.toF32(parameter), leaf.sizesOf(like), {2}); }

  /// The convolution, rounded.
  Value convolution(Value x) {
    Value sum;
    if (op.getConvBias())
      sum = leaf.broadcast(leaf.toF32(op.getConvBias()), leaf.sizesOf(x), {2});
    for (int64_t tap = 0; tap < taps; ++tap) {
      Value moved = shifted(x, taps - 1 - tap);
      Value term = leaf.mul(moved, weight(tap, x));
      sum = sum ? leaf.add(sum, term) : term;
    }
    return rounded(sum);
  }

  Value silu(Value a) { return rounded(SiluOp::create(builder, op.getLoc(), a.getType(), a)); }

  /// q and k of u, [b, M, 2 * keyHeads, dk].
  Value queryKeyHeads(Value u) {
    int64_t both = 2 * keyHeads;
    return leaf.split(leaf.slice(u, 2, 0, queryKeyChannels()), 2, {both, queryKeyChannels() / both});
  }
  Value valueHeads(Value u) { return headsOf(leaf.slice(u, 2, queryKeyChannels(), valueChannels())); }
  /// Channels like those of v by head.
  Value headsOf(Value tensor) { return leaf.split(tensor, 2, {heads, valueChannels() / heads}); }

  /// 1 / sqrt(sum u^2 + eps) of each head, for each of its channels.
  Value inverseNorm(Value u) {
    Value sum = leaf.reduceLike(ReduceKind::sum, leaf.mul(u, u), 3);
    Value root = leaf.sqrt(leaf.add(sum, leaf.splat(op.getL2Eps().convertToDouble(), sum)));
    return leaf.div(leaf.splat(1.0, root), root);
  }

  /// The raw beta, and alpha + dt_bias.
  Value rawBeta() { return channels(convolved + valueChannels(), heads); }
  Value gateLogit() {
    Value alpha = channels(convolved + valueChannels() + heads, heads);
    return leaf.add(alpha, perHead(op.getDtBias(), alpha));
  }
  Value isAboveThreshold(Value p) {
    return leaf.isGreater(p, leaf.splat(op.getSoftplusThreshold().convertToDouble(), p));
  }
  /// -exp(A_log)
  Value decay(Value like) { return leaf.negate(leaf.exp(perHead(op.getALog(), like))); }
  /// g
  Value gate(Value p) {
    Value softplus = SoftplusOp::create(builder, op.getLoc(), p.getType(), p);
    Value bounded = leaf.select(isAboveThreshold(p), p, softplus);
    return leaf.mul(decay(p), bounded);
  }

  Op op;
  OpBuilder &builder;
  LeafBuilder leaf;
  int64_t keyHeads, heads, taps, convolved;

private:
  OpFoldResult tokenCount() { return leaf.size(op.getQkvzba(), op.getSeqLayout() == SeqLayout::MbD ? 0 : 1); }

  Value tokens(Value tensor, int64_t first, OpFoldResult count) {
    LeafBuilder::Sizes sizes = leaf.sizesOf(tensor), offsets(3, leaf.constant(0)), strides(3, leaf.constant(1));
    offsets[1] = leaf.constant(first);
    sizes[1] = count;
    return tensor::ExtractSliceOp::create(builder, op.getLoc(), tensor, offsets, sizes, strides);
  }

  /// The start of each token's sequence; null where each row of the input is one.
  Value starts() {
    if (!op.getCuSeqlens() || starting)
      return starting;
    OpFoldResult count = tokenCount();
    auto type = LeafBuilder::typeOf(count, builder.getI32Type());
    starting = SequenceStartsOp::create(builder, op.getLoc(), type, op.getCuSeqlens(), dyn_cast<Value>(count));
    return starting;
  }

  Value input, starting;
};
} // namespace

/// Each head of `keyHeads` repeated next to itself.
static Value repeatHeads(LeafBuilder &leaf, Value tensor, int64_t times) {
  LeafBuilder::Sizes sizes = leaf.sizesOf(tensor);
  sizes.insert(sizes.begin() + 3, leaf.constant(times));
  return leaf.join(leaf.broadcast(tensor, sizes, {0, 1, 2, 4}), 2, 2);
}

SmallVector<Value> PreGatedDeltaRuleOp::decompose(OpBuilder &builder) {
  FrontEnd<PreGatedDeltaRuleOp> chain(*this, builder);
  LeafBuilder &leaf = chain.leaf;
  Value u = chain.withoutBoundary(chain.silu(chain.convolution(chain.convolutionInput())));
  Value heads = chain.queryKeyHeads(u);
  if (getQkL2norm())
    heads = leaf.mul(heads, chain.inverseNorm(heads));
  heads = leaf.cast(heads, chain.element());
  SmallVector<Value> results;
  for (int64_t first : {int64_t(0), chain.keyHeads})
    results.push_back(repeatHeads(leaf, leaf.slice(heads, 2, first, chain.keyHeads), chain.heads / chain.keyHeads));
  results.push_back(leaf.cast(chain.valueHeads(u), chain.element()));
  if (getGate()) {
    Value z = chain.headsOf(chain.channels(chain.convolved, chain.valueChannels()));
    results.push_back(leaf.cast(z, chain.element()));
  }
  results.push_back(leaf.cast(leaf.sigmoid(chain.rawBeta()), chain.element()));
  results.push_back(chain.gate(chain.gateLogit()));
  if (getSilu())
    results.push_back(leaf.cast(leaf.slice(u, 2, 0, chain.queryKeyChannels()), chain.element()));
  return results;
}

/// The gradient of u, without the boundary's.
static Value branchGradient(FrontEnd<PreGatedDeltaRuleBwdOp> &chain, Value u) {
  LeafBuilder &leaf = chain.leaf;
  PreGatedDeltaRuleBwdOp op = chain.op;
  SmallVector<Value> folded;
  for (Value gradient : {Value(op.getDQuery()), Value(op.getDKey())}) {
    Value groups = leaf.split(leaf.toF32(gradient), 2, {chain.keyHeads, chain.heads / chain.keyHeads});
    folded.push_back(leaf.reduce(ReduceKind::sum, groups, 3));
  }
  Value dHeads = leaf.concat(folded, 2);
  if (op.getQkL2norm()) {
    Value heads = chain.queryKeyHeads(u), r = chain.inverseNorm(heads);
    Value dot = leaf.reduceLike(ReduceKind::sum, leaf.mul(dHeads, heads), 3);
    Value along = leaf.mul(leaf.mul(leaf.mul(r, r), heads), dot);
    dHeads = leaf.mul(r, leaf.sub(dHeads, along));
  }
  Value dValue = leaf.join(leaf.toF32(op.getDValue()), 2, 2);
  return leaf.concat({leaf.join(dHeads, 2, 2), dValue}, 2);
}

SmallVector<Value> PreGatedDeltaRuleBwdOp::decompose(OpBuilder &builder) {
  FrontEnd<PreGatedDeltaRuleBwdOp> chain(*this, builder);
  LeafBuilder &leaf = chain.leaf;
  Value x = chain.convolutionInput(), a = chain.convolution(x);
  Value u = chain.withoutBoundary(chain.silu(a)), du = branchGradient(chain, u);
  if (getLeftBoundary())
    du = leaf.concat({leaf.splat(0.0, chain.boundary(x)), du}, 1);
  Value da = leaf.mul(du, leaf.siluSlope(a));

  Value dx;
  SmallVector<Value> dWeight;
  for (int64_t tap = 0; tap < chain.taps; ++tap) {
    int64_t by = chain.taps - 1 - tap;
    Value term = leaf.mul(chain.shifted(da, -by), chain.weight(tap, da));
    dx = dx ? leaf.add(dx, term) : term;
    Value column = leaf.reduce(ReduceKind::sum, leaf.mul(da, chain.shifted(x, by)), {0, 1});
    dWeight.push_back(leaf.split(column, 0, {chain.convolved, 1}));
  }
  Value p = chain.gateLogit(), beta = leaf.sigmoid(chain.rawBeta()), dG = getDG();
  Value slope = leaf.select(chain.isAboveThreshold(p), leaf.splat(1.0, p), leaf.sigmoid(p));
  Value dLogit = leaf.mul(leaf.mul(dG, chain.decay(p)), slope);

  SmallVector<Value> results;
  if (getDQkvzba()) {
    Value dBeta = leaf.mul(leaf.toF32(getDBeta()), leaf.sigmoidSlope(beta));
    Value dGate = leaf.join(leaf.toF32(getDGate() ? getDGate() : getDValue()), 2, 2);
    if (!getDGate())
      dGate = leaf.splat(0.0, dGate);
    Value parts = leaf.concat({chain.withoutBoundary(dx), dGate, dBeta, dLogit}, 2);
    results.push_back(chain.asStored(parts));
  }
  if (getDConvWeight())
    results.push_back(leaf.concat(dWeight, 1));
  if (getDConvBias())
    results.push_back(leaf.reduce(ReduceKind::sum, da, {0, 1}));
  if (getD_ALog()) {
    results.push_back(leaf.reduce(ReduceKind::sum, leaf.mul(dG, chain.gate(p)), {0, 1}));
  }
  if (getDDtBias())
    results.push_back(leaf.reduce(ReduceKind::sum, dLogit, {0, 1}));
  if (getDLeftBoundary())
    results.push_back(chain.asStored(chain.boundary(dx)));
  return results;
}

//===----------------------------------------------------------------------===//
// The gradient
//===----------------------------------------------------------------------===//

LogicalResult PreGatedDeltaRuleOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  PreGatedDeltaRuleBwdOp::Fields fields(*this);
  fields.d_query = vjp.cotangentOrZero(getQuery());
  fields.d_key = vjp.cotangentOrZero(getKey());
  fields.d_value = vjp.cotangentOrZero(getValue());
  fields.d_gate = vjp.cotangent(getGate());
  fields.d_beta = vjp.cotangentOrZero(getBeta());
  fields.d_g = vjp.cotangentOrZero(getG());
  fields.d_qkvzba = vjp.stored(getQkvzba());
  fields.d_conv_weight = vjp.summed(getConvWeight());
  fields.d_conv_bias = vjp.summed(getConvBias());
  fields.d_A_log = vjp.summed(getALog());
  fields.d_dt_bias = vjp.summed(getDtBias());
  fields.d_left_boundary = vjp.stored(getLeftBoundary());
  vjp.addResults(fields.create(builder, getLoc()));
  return success();
}

/// The gradient knows no cotangent of `silu`: where something reads it, the chain takes the place of the op.
FailureOr<bool> PreGatedDeltaRuleOp::flatten(RewriterBase &rewriter) {
  if (!getSilu() || getSilu().use_empty())
    return false;
  rewriter.replaceOp(*this, decompose(rewriter));
  return true;
}
