//===- GatedDelta.cpp - The front end of a gated delta net as unfused IR --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/GatedDelta.h"

namespace mhc::spelling {

/// The threshold of the spellings of softplus that have none: in f32 nothing is added there.
static constexpr double kUsualThreshold = 20;

namespace {
/// Values are f32 between the roundings to the type of the input. Their first dimensions are sequences and tokens, in
/// the order that the spelling says.
class GatedDeltaWriter {
public:
  GatedDeltaWriter(IrWriter &writer, const GatedDelta &sizes, const GatedDeltaInputs &inputs,
                   const GatedDeltaSpelling &how, bool keepDims)
      : w(writer), sizes(sizes), in(inputs), how(how), keepDims(keepDims), element(inputs.qkvzba.type.element),
        tokenAxis(how.tokensFirst ? 0 : 1), x(ordered(inputs.qkvzba)) {}

  GatedDeltaOutputs write();

private:
  Value swapped(Value tensor) {
    Dims order{1, 0};
    for (int64_t dim = 2; dim < tensor.rank(); ++dim)
      order.push_back(dim);
    return w.transpose(tensor, order);
  }
  Value ordered(Value input) { return sizes.tokenFirst == how.tokensFirst ? input : swapped(input); }
  Value batchFirst(Value result) { return how.tokensFirst ? swapped(result) : result; }
  Value rounded(Value tensor) { return w.convert(w.convert(tensor, element), Element::F32); }
  Value channels(int64_t first, int64_t count) { return w.sliceDim(x, 2, first, count); }
  Value heads(Value tensor, int64_t first, int64_t count, int64_t width) {
    Dims shape{tensor.dim(0), tensor.dim(1), count, width};
    return w.reshape(w.sliceDim(tensor, 2, first, count * width), shape);
  }
  Value perChannel(Value vector, Value like) {
    return w.broadcast(w.convert(vector, like.type.element), like.type.dims, {2});
  }

  Value before(Value tokens, int64_t by);
  Value tap(Value tokens, Value weight, int64_t number);
  Value sumOfWindows(Value tokens, Value weight);
  Value convolution(int64_t first, int64_t count);
  Value silu(Value a);
  Value activated(int64_t first, int64_t count, int64_t width);
  Value normalised(Value heads);
  Value repeated(Value heads);
  Value softplus(Value p);
  Value decay(Value alpha);
  void writeQueryAndKey(GatedDeltaOutputs &out);

  IrWriter &w;
  const GatedDelta &sizes;
  const GatedDeltaInputs &in;
  const GatedDeltaSpelling &how;
  const bool keepDims;
  Element element;
  const int64_t tokenAxis;
  Value x, whole, starts;
};
} // namespace

/// Each token's predecessor of that distance.
Value GatedDeltaWriter::before(Value tokens, int64_t by) {
  using Before = GatedDeltaSpelling::Before;
  if (by == 0)
    return tokens;
  if (how.before == Before::Shift || starts)
    return w.convert(w.shift(w.convert(tokens, Element::F32), starts, tokenAxis, by), tokens.type.element);
  const int64_t most = sizes.width - 1;
  Value padded = w.pad(tokens, tokenAxis, most, how.before == Before::PadBothSides ? most : 0);
  return w.sliceDim(padded, tokenAxis, most - by, tokens.dim(tokenAxis));
}

/// The tap `width - 1` meets the token itself.
Value GatedDeltaWriter::tap(Value tokens, Value weight, int64_t number) {
  Value moved = before(tokens, sizes.width - 1 - number);
  Value column = w.reshape(w.sliceDim(weight, 1, number, 1), {weight.dim(0)});
  return w.mul(moved, perChannel(column, moved));
}

Value GatedDeltaWriter::sumOfWindows(Value tokens, Value weight) {
  Dims shape = tokens.type.dims;
  shape.push_back(1);
  Values all;
  for (int64_t number = 0; number < sizes.width; ++number)
    all.push_back(w.reshape(before(tokens, sizes.width - 1 - number), shape));
  Value windows = w.concat(all, 3);
  return w.reduce("sum", w.mul(windows, w.broadcast(weight, windows.type.dims, {2, 3})), {3});
}

/// Convolves some channels. The boundary lies in front of the tokens, and is cut off again.
Value GatedDeltaWriter::convolution(int64_t first, int64_t count) {
  const bool isNarrow = how.narrowTaps && in.convWeight.type.element == element;
  auto own = [&](Value tensor) {
    return w.convert(w.sliceDim(tensor, 2, first, count), isNarrow ? element : Element::F32);
  };
  Value tokens = own(x), sum;
  if (in.leftBoundary)
    tokens = w.concat({own(ordered(in.leftBoundary)), tokens}, tokenAxis);
  Value weight = w.convert(w.sliceDim(in.convWeight, 0, first, count), tokens.type.element);
  Value bias = in.convBias ? perChannel(w.sliceDim(in.convBias, 0, first, count), tokens) : Value();
  if (how.biasFirst)
    sum = bias;
  auto add = [&](Value term) { sum = sum ? w.add(sum, term) : term; };
  if (how.windows)
    add(sumOfWindows(tokens, weight));
  for (int64_t i = 0; i < sizes.width && !how.windows; ++i)
    add(tap(tokens, weight, how.lastTapFirst ? sizes.width - 1 - i : i));
  if (bias && !how.biasFirst)
    sum = w.add(sum, bias);
  if (in.leftBoundary)
    sum = w.sliceDim(sum, tokenAxis, sizes.width - 1, x.dim(tokenAxis));
  return rounded(sum);
}

Value GatedDeltaWriter::silu(Value a) {
  using Silu = GatedDeltaSpelling::Silu;
  if (how.silu == Silu::Op)
    return w.unary("mhc.silu", a);
  if (how.silu == Silu::Sigmoid)
    return w.mul(a, w.unary("mhc.sigmoid", a));
  return w.div(a, w.add(w.unary("math.exp", w.unary("arith.negf", a)), 1));
}

/// Heads of SiLU of the convolution, from a channel on.
Value GatedDeltaWriter::activated(int64_t first, int64_t count, int64_t width) {
  if (how.convolveApart)
    return heads(rounded(silu(convolution(first, count * width))), 0, count, width);
  if (!whole)
    whole = rounded(silu(convolution(0, sizes.convolved())));
  return heads(whole, first, count, width);
}

Value GatedDeltaWriter::normalised(Value heads) {
  if (!sizes.qkL2norm)
    return heads;
  Value square = w.reduce("sum", w.mul(heads, heads), {3});
  Dims dims{0, 1, 2};
  if (keepDims) {
    square = w.reshape(square, {square.dim(0), square.dim(1), square.dim(2), 1});
    dims.push_back(3);
  }
  square = w.add(square, sizes.l2Eps);
  Value scale = w.unary(how.divideByRoot ? "math.sqrt" : "math.rsqrt", square);
  scale = w.broadcast(scale, heads.type.dims, dims);
  return how.divideByRoot ? w.div(heads, scale) : w.mul(heads, scale);
}

/// Each head next to its copies.
Value GatedDeltaWriter::repeated(Value heads) {
  using Repeat = GatedDeltaSpelling::Repeat;
  const int64_t copies = sizes.valueHeads / sizes.keyHeads;
  heads = w.convert(heads, element);
  if (how.repeat == Repeat::HeadByHead) {
    Values all;
    for (int64_t head = 0; head < sizes.valueHeads; ++head)
      all.push_back(w.sliceDim(heads, 2, head / copies, 1));
    return w.concat(all, 2);
  }
  Dims shape = heads.type.dims, each = shape;
  each.insert(each.begin() + 3, 1);
  shape[2] = sizes.valueHeads;
  if (how.repeat == Repeat::Copies)
    return w.reshape(w.concat(Values(copies, w.reshape(heads, each)), 3), shape);
  each[3] = copies;
  return w.reshape(w.broadcast(heads, each, {0, 1, 2, 4}), shape);
}

Value GatedDeltaWriter::softplus(Value p) {
  using Softplus = GatedDeltaSpelling::Softplus;
  const bool hasUsual = sizes.softplusThreshold == kUsualThreshold;
  if (how.softplus == Softplus::Bare && hasUsual)
    return w.unary("mhc.softplus", p);
  if (how.softplus == Softplus::Stable && hasUsual) {
    Value size = w.unary("arith.negf", w.unary("math.absf", p));
    return w.add(w.max(p, 0), w.unary("math.log1p", w.unary("math.exp", size)));
  }
  Value isLarge = w.compareFloat("ogt", p, w.splat(sizes.softplusThreshold, p.type)), soft;
  if (how.softplus == Softplus::Op)
    soft = w.unary("mhc.softplus", p);
  else if (how.softplus == Softplus::Log)
    soft = w.unary("math.log", w.add(w.unary("math.exp", p), 1));
  else
    soft = w.unary("math.log1p", w.unary("math.exp", p));
  return w.select(isLarge, p, soft);
}

/// -exp(A_log) * softplus(alpha + dt_bias)
Value GatedDeltaWriter::decay(Value alpha) {
  Value p = w.convert(alpha, Element::F32);
  p = softplus(w.add(p, perChannel(in.dtBias, p)));
  Value rate = w.unary("math.exp", w.convert(in.aLog, Element::F32));
  if (!how.negateLast)
    rate = w.unary("arith.negf", rate);
  Value g = w.mul(w.broadcast(rate, p.type.dims, {2}), p);
  return how.negateLast ? w.unary("arith.negf", g) : g;
}

void GatedDeltaWriter::writeQueryAndKey(GatedDeltaOutputs &out) {
  const int64_t count = sizes.keyHeads, width = sizes.keyDim;
  if (!how.normTogether) {
    out.query = repeated(normalised(activated(0, count, width)));
    out.key = repeated(normalised(activated(sizes.keyChannels(), count, width)));
    return;
  }
  Value both = normalised(activated(0, 2 * count, width));
  out.query = repeated(w.sliceDim(both, 2, 0, count));
  out.key = repeated(w.sliceDim(both, 2, count, count));
}

GatedDeltaOutputs GatedDeltaWriter::write() {
  const int64_t value = sizes.valueChannels(), convolved = sizes.convolved();
  if (in.cuSeqlens)
    starts = w.as("starts").sequenceStarts(in.cuSeqlens, x.dim(tokenAxis));
  GatedDeltaOutputs out;
  writeQueryAndKey(out);
  out.value = w.convert(activated(2 * sizes.keyChannels(), sizes.valueHeads, sizes.valueDim), element);
  out.gate = heads(x, convolved, sizes.valueHeads, sizes.valueDim);
  Value beta = w.convert(channels(convolved + value, sizes.valueHeads), Element::F32);
  out.beta = w.convert(w.unary("mhc.sigmoid", beta), element);
  out.g = decay(channels(convolved + value + sizes.valueHeads, sizes.valueHeads));
  for (Value *result : {&out.query, &out.key, &out.value, &out.gate, &out.beta, &out.g})
    *result = batchFirst(*result);
  return out;
}

static GatedDeltaOutputs writeOp(IrWriter &w, const GatedDelta &sizes, const GatedDeltaInputs &in) {
  const Dims &dims = in.qkvzba.type.dims;
  const int64_t batch = dims[sizes.tokenFirst ? 1 : 0], tokens = dims[sizes.tokenFirst ? 0 : 1];
  const Element element = in.qkvzba.type.element;
  const Type key{{batch, tokens, sizes.valueHeads, sizes.keyDim}, element};
  const Type value{{batch, tokens, sizes.valueHeads, sizes.valueDim}, element};
  const Dims each{batch, tokens, sizes.valueHeads};
  const std::string attributes =
      "num_key_heads = " + std::to_string(sizes.keyHeads) + ", qk_l2norm = " + (sizes.qkL2norm ? "true" : "false") +
      ", l2_eps = " + formatFloat(sizes.l2Eps) + ", softplus_threshold = " + formatFloat(sizes.softplusThreshold) +
      ", seq_layout = " + (sizes.tokenFirst ? "MbD" : "bMD");
  Values made = w.named("pre_gated_delta_rule",
                        {{"qkvzba", in.qkvzba},
                         {"conv_weight", in.convWeight},
                         {"conv_bias", in.convBias},
                         {"A_log", in.aLog},
                         {"dt_bias", in.dtBias},
                         {"cu_seqlens", in.cuSeqlens},
                         {"left_boundary", in.leftBoundary}},
                        attributes,
                        {{"query", key},
                         {"key", key},
                         {"value", value},
                         {"gate", value},
                         {"beta", {each, element}},
                         {"g", {each, Element::F32}}});
  return {made[0], made[1], made[2], made[3], made[4], made[5]};
}

GatedDeltaOutputs writeGatedDelta(IrWriter &w, const GatedDelta &sizes, const GatedDeltaInputs &in,
                                  const Spelling &how) {
  if (how.gatedDelta.asOp)
    return writeOp(w, sizes, in);
  return GatedDeltaWriter(w, sizes, in, how.gatedDelta, how.keepDims).write();
}

} // namespace mhc::spelling
