//===- GatedDelta.cpp - The front end of a gated delta net as unfused IR --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/GatedDelta.h"

namespace mhc::spelling {

namespace {
/// Values are sequence first, and f32 between the roundings to the type of the input.
class GatedDeltaWriter {
public:
  GatedDeltaWriter(IrWriter &writer, const GatedDelta &sizes, const GatedDeltaInputs &inputs)
      : w(writer), sizes(sizes), in(inputs), element(inputs.qkvzba.type.element), x(sequenceFirst(inputs.qkvzba)) {}

  GatedDeltaOutputs write();

private:
  Value sequenceFirst(Value tensor) { return sizes.tokenFirst ? w.transpose(tensor, {1, 0, 2}) : tensor; }
  Value rounded(Value tensor) { return w.convert(w.convert(tensor, element), Element::F32); }
  Value channels(int64_t first, int64_t count) { return w.sliceDim(x, 2, first, count); }
  Value heads(Value tensor, int64_t first, int64_t count, int64_t width) {
    Dims shape{tensor.dim(0), tensor.dim(1), count, width};
    return w.reshape(w.sliceDim(tensor, 2, first, count * width), shape);
  }
  Value perChannel(Value vector, Value like) {
    return w.broadcast(w.convert(vector, Element::F32), like.type.dims, {2});
  }

  Value convolution();
  Value normalised(Value heads);
  Value repeated(Value heads);
  Value decay(Value alpha);

  IrWriter &w;
  const GatedDelta &sizes;
  const GatedDeltaInputs &in;
  Element element;
  Value x;
};
} // namespace

/// The tap `width - 1` meets the token itself. The boundary lies in front of the tokens, and is cut off again.
Value GatedDeltaWriter::convolution() {
  Value convolved = w.convert(channels(0, sizes.convolved()), Element::F32), starts;
  if (in.cuSeqlens)
    starts = w.as("starts").sequenceStarts(in.cuSeqlens, convolved.dim(1));
  if (in.leftBoundary)
    convolved = w.concat({w.convert(sequenceFirst(in.leftBoundary), Element::F32), convolved}, 1);
  Value weight = w.convert(in.convWeight, Element::F32), sum;
  for (int64_t tap = 0; tap < sizes.width; ++tap) {
    const int64_t by = sizes.width - 1 - tap;
    Value moved = by == 0 ? convolved : w.shift(convolved, starts, 1, by);
    Value column = w.reshape(w.sliceDim(weight, 1, tap, 1), {sizes.convolved()});
    Value term = w.mul(moved, perChannel(column, moved));
    sum = sum ? w.add(sum, term) : term;
  }
  if (in.leftBoundary)
    sum = w.sliceDim(sum, 1, sizes.width - 1, x.dim(1));
  if (in.convBias)
    sum = w.add(sum, perChannel(in.convBias, sum));
  return rounded(sum);
}

Value GatedDeltaWriter::normalised(Value heads) {
  if (!sizes.qkL2norm)
    return heads;
  Value square = w.reduce("sum", w.mul(heads, heads), {3});
  Value scale = w.unary("math.rsqrt", w.add(square, sizes.l2Eps));
  return w.mul(heads, w.broadcast(scale, heads.type.dims, {0, 1, 2}));
}

/// Each head next to its copies.
Value GatedDeltaWriter::repeated(Value heads) {
  Dims shape = heads.type.dims, each = shape;
  each.insert(each.begin() + 3, sizes.valueHeads / sizes.keyHeads);
  shape[2] = sizes.valueHeads;
  return w.reshape(w.broadcast(w.convert(heads, element), each, {0, 1, 2, 4}), shape);
}

/// -exp(A_log) * softplus(alpha + dt_bias)
Value GatedDeltaWriter::decay(Value alpha) {
  Value p = w.convert(alpha, Element::F32);
  p = w.add(p, perChannel(in.dtBias, p));
  Value isLarge = w.compareFloat("ogt", p, w.splat(sizes.softplusThreshold, p.type));
  Value softplus = w.select(isLarge, p, w.unary("mhc.softplus", p));
  Value rate = w.unary("arith.negf", w.unary("math.exp", w.convert(in.aLog, Element::F32)));
  return w.mul(w.broadcast(rate, p.type.dims, {2}), softplus);
}

GatedDeltaOutputs GatedDeltaWriter::write() {
  const int64_t key = sizes.keyChannels(), value = sizes.valueChannels(), convolved = sizes.convolved();
  Value u = rounded(w.unary("mhc.silu", convolution()));
  GatedDeltaOutputs out;
  out.query = repeated(normalised(heads(u, 0, sizes.keyHeads, sizes.keyDim)));
  out.key = repeated(normalised(heads(u, key, sizes.keyHeads, sizes.keyDim)));
  out.value = w.convert(heads(u, 2 * key, sizes.valueHeads, sizes.valueDim), element);
  out.gate = heads(x, convolved, sizes.valueHeads, sizes.valueDim);
  Value beta = w.convert(channels(convolved + value, sizes.valueHeads), Element::F32);
  out.beta = w.convert(w.unary("mhc.sigmoid", beta), element);
  out.g = decay(channels(convolved + value + sizes.valueHeads, sizes.valueHeads));
  return out;
}

GatedDeltaOutputs writeGatedDelta(IrWriter &w, const GatedDelta &sizes, const GatedDeltaInputs &in) {
  return GatedDeltaWriter(w, sizes, in).write();
}

} // namespace mhc::spelling
