//===- DeltaRule.cpp - The gated delta rule as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks of tokens, inside which the recurrence is a few products (Yang et al., Parallelizing Linear Transformers with
// the Delta Rule over Sequence Length, arXiv 2406.06484, and Gated Delta Networks, arXiv 2412.06464). With the decay
// G[i,j] = exp(g_{j+1} + ... + g_i) from token j to i of a chunk, and below the diagonal A[i,j] = -beta_i (k_i . k_j)
// G[i,j]:
//
//   T = 1/(1 - A)      W = T (beta v)      Y = T (beta k G[.,start])
//   V = W - Y S      o = (q G[.,start]) S + (q k^T G) V      S' = G[end,start] S + (k G[end,.])^T V
//
//===----------------------------------------------------------------------===//

#include "DeltaRule.h"
#include <cmath>

using namespace mhc;
using namespace mhc::model;
using namespace mhc::spelling;

namespace {
/// The longest chunk. A context that has no chunks of this length has shorter ones, of a length that divides it.
constexpr int64_t kMostTokens = 32;

class DeltaRuleWriter {
public:
  DeltaRuleWriter(IrWriter &writer, const GatedDeltaOutputs &inputs)
      : w(writer), in(inputs), b(inputs.query.dim(0)), tokens(inputs.query.dim(1)), heads(inputs.query.dim(2)),
        length(chunkLength(tokens)), chunks(tokens / length), places(w.iota(length)) {}

  Value write();

private:
  static int64_t chunkLength(int64_t tokens) {
    int64_t length = std::min(tokens, kMostTokens);
    while (tokens % length != 0)
      --length;
    return length;
  }

  /// [b, M, heads, width] as [b*heads*chunks, length, width] in f32; a width of one where there is none.
  Value byChunk(Value tensor) {
    const int64_t width = tensor.rank() == 4 ? tensor.dim(3) : 1;
    Value rows = w.reshape(w.convert(tensor, Element::F32), {b, tokens, heads, width});
    return w.reshape(w.transpose(rows, {0, 2, 1, 3}), {b * heads * chunks, length, width});
  }
  /// Chunk `index` of all sequences and heads.
  Value chunk(Value tensor, int64_t index) {
    const int64_t rows = tensor.dim(1), width = tensor.dim(2);
    Value all = w.reshape(tensor, {b * heads, chunks, rows, width});
    return w.reshape(w.sliceDim(all, 1, index, 1), {b * heads, rows, width});
  }
  /// A number for each row, along it.
  Value wide(Value column, int64_t width) {
    Value numbers = w.reshape(column, {column.dim(0), column.dim(1)});
    return w.broadcast(numbers, {column.dim(0), column.dim(1), width}, {0, 1});
  }
  Value scaled(Value rows, Value column) { return w.mul(rows, wide(column, rows.dim(2))); }
  /// The matrices' elements whose column compares to the row like that, and zeros.
  Value masked(const char *predicate, Value matrices) {
    Value column = w.broadcast(places, matrices.type.dims, {2}), row = w.broadcast(places, matrices.type.dims, {1});
    return w.select(w.compare(predicate, column, row), matrices, w.splat(0, matrices.type));
  }
  Value sumsSoFar(Value column);
  Value decays(Value sums);
  Value inverse(Value matrices);

  IrWriter &w;
  const GatedDeltaOutputs &in;
  const int64_t b, tokens, heads, length, chunks;
  Value places;
};
} // namespace

/// g of a chunk's tokens up to each.
Value DeltaRuleWriter::sumsSoFar(Value column) {
  Value ones = w.splat(1, {{column.dim(0), length, length}, Element::F32});
  return w.batchMatmul(masked("sle", ones), column);
}

/// G[i,j], and 0 above the diagonal. A difference above it would overflow: it is masked before and behind the
/// exponential.
Value DeltaRuleWriter::decays(Value sums) {
  Value rows = wide(sums, length), columns = w.transpose(rows, {0, 2, 1});
  return masked("sle", w.unary("math.exp", masked("sle", w.sub(rows, columns))));
}

/// 1/(1 - A) = (1 + A)(1 + A^2)(1 + A^4)... of matrices below the diagonal, whose power `length` is zero.
Value DeltaRuleWriter::inverse(Value matrices) {
  Value power = matrices, product = w.add(matrices, masked("eq", w.splat(1, matrices.type)));
  for (int64_t reached = 2; reached < length; reached *= 2) {
    power = w.batchMatmul(power, power);
    product = w.add(product, w.batchMatmul(product, power));
  }
  return product;
}

Value DeltaRuleWriter::write() {
  const int64_t keyDim = in.query.dim(3), valueDim = in.value.dim(3);
  Value q = w.mul(byChunk(in.query), 1 / std::sqrt(static_cast<double>(keyDim)));
  Value k = byChunk(in.key), v = byChunk(in.value), beta = byChunk(in.beta), sums = sumsSoFar(byChunk(in.g));
  Value decay = decays(sums), fromStart = w.unary("math.exp", sums);
  Value last = w.broadcast(w.reshape(w.sliceDim(sums, 1, length - 1, 1), {sums.dim(0)}), sums.type.dims, {0});
  Value toEnd = w.unary("math.exp", w.sub(last, sums)), throughout = w.unary("math.exp", last);

  Value kBeta = scaled(k, beta);
  Value products = w.mul(w.batchMatmul(kBeta, k, false, /*transposeRhs=*/true), decay);
  Value solved = inverse(masked("slt", w.mul(products, -1)));
  Value W = w.batchMatmul(solved, scaled(v, beta)), Y = w.batchMatmul(solved, scaled(kBeta, fromStart));
  Value shares = w.mul(w.batchMatmul(q, k, false, /*transposeRhs=*/true), decay);
  Value qDecayed = scaled(q, fromStart), kDecayed = scaled(k, toEnd);

  Value state = w.splat(0, {{b * heads, keyDim, valueDim}, Element::F32});
  Values out;
  for (int64_t i = 0; i < chunks; ++i) {
    Value fresh = w.sub(chunk(W, i), w.batchMatmul(chunk(Y, i), state));
    Value old = w.batchMatmul(chunk(qDecayed, i), state);
    out.push_back(w.add(old, w.batchMatmul(chunk(shares, i), fresh)));
    if (i + 1 == chunks)
      break;
    Value kept = w.sliceDim(chunk(throughout, i), 1, 0, 1);
    Value factor = w.broadcast(w.reshape(kept, {b * heads}), state.type.dims, {0});
    state = w.add(w.mul(state, factor), w.batchMatmul(chunk(kDecayed, i), fresh, /*transposeLhs=*/true));
  }
  Value all = w.reshape(w.concat(out, 1), {b, heads, tokens, valueDim});
  return w.transpose(all, {0, 2, 1, 3});
}

Value mhc::model::writeDeltaRule(IrWriter &w, const GatedDeltaOutputs &in) { return DeltaRuleWriter(w, in).write(); }
