//===- GatedDeltaTest.cpp - The front end of a gated delta net ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "GatedDeltaCase.h"

using namespace mhcrt::test;

namespace {

using Case = GatedDeltaCase;

const double kAlike = std::ldexp(1.0, -20); ///< of f32 arithmetic, relative

/// Relative error of SiLU. With AVX-512 that of bf16 has 3e-5 from its exponential and 6.1e-5 from its reciprocal,
/// together 1/43 of half a unit of the 8 bits that are stored. Its slope, s + u*e*s, has that of s and, of the second
/// term, which is 0.23 at most, 2.1e-4: less than twice this.
double siluError(int32_t type) { return type == MHCRT_BF16 ? 9.1e-5 + kAlike : kAlike; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A value of a tensor that `from` is rounded to.
double roundedTo(int32_t type, double value) { return Buffer(type, Doubles{value}).values()[0]; }

/// Values and how far a kernel may be from them.
struct Range {
  Doubles values, errors;
  explicit Range(int64_t size) : values(size), errors(size) {}
  void add(int64_t at, double value, double error) {
    values[at] += value;
    errors[at] += error;
  }
  /// Compares with a tensor, which rounds them to its type.
  void expect(const Buffer &got, const char *what) const {
    Doubles tolerance = errors;
    for (size_t i = 0; i < values.size(); ++i)
      tolerance[i] = 1.01 * errors[i] + 1.01 * roundoff(got.type()) * std::fabs(values[i]) + 1e-7;
    expectClose(got, values, tolerance, what);
  }
};

/// Both kernels once more, in f64 and one element at a time, but with a and u rounded where the kernels do. Where f32
/// and f64 round to two neighbours of 16 bits, what follows differs by that much: the errors say so.
class Reference {
public:
  explicit Reference(const Case &c)
      : c(c), N(c.M * c.b), x(c.x.values()), weight(c.weight.values()), left(c.left.values()), bias(c.bias.values()),
        ulp(c.type == MHCRT_F32 ? 0 : 2 * roundoff(c.type)), a(N * c.E), aError(N * c.E), u(N * c.E), uError(N * c.E) {
    if (c.cuts.type() == MHCRT_NONE) {
      for (int64_t n = 0; n < N; ++n)
        begins.push_back(n / c.M * c.M), ends.push_back(n / c.M * c.M + c.M);
    } else {
      const int32_t *cut = reinterpret_cast<const int32_t *>(const_cast<Case &>(c).cuts.floats());
      for (int64_t s = 0; s + 1 < c.cuts.size(); ++s)
        for (int32_t n = cut[s]; n < cut[s + 1]; ++n)
          begins.push_back(cut[s]), ends.push_back(cut[s + 1]);
    }
    for (int64_t n = 0; n < N; ++n)
      for (int64_t e = 0; e < c.E; ++e)
        activate(n, e);
  }

  void checkForward() const;
  void checkBackward() const;

private:
  int64_t row(int64_t n) const { return c.layout == MHCRT_SEQ_LAYOUT_MBD ? n % c.M * c.b + n / c.M : n; }
  int64_t leftRow(int64_t i, int64_t at) const {
    return c.layout == MHCRT_SEQ_LAYOUT_MBD ? at * c.b + i : i * (c.k - 1) + at;
  }
  /// Channel e of tap j of token n; false where there is none.
  bool tap(int64_t n, int64_t j, int64_t e, double &value) const {
    const int64_t from = n - (c.k - 1) + j;
    if (from >= begins[n])
      value = x[row(from) * c.D + e];
    else if (!left.empty())
      value = left[leftRow(n / c.M, from - begins[n] + c.k - 1) * c.E + e];
    else
      return false;
    return true;
  }
  void activate(int64_t n, int64_t e);
  double rounded(double value) const { return c.type == MHCRT_F32 ? value : roundedTo(c.type, value); }
  /// Whether f32 may round `value`, known within `error`, to a neighbour.
  double slack(double value, double error) const {
    return rounded(value - error) == rounded(value + error) ? 0 : ulp * std::fabs(value) + 2 * error;
  }
  void headBackward(int64_t n, int64_t head, const Doubles &grads, Range &du) const;

  const Case &c;
  int64_t N;
  Doubles x, weight, left, bias;
  double ulp;
  Doubles a, aError, u, uError;
  std::vector<int64_t> begins, ends;
};

void Reference::activate(int64_t n, int64_t e) {
  double sum = bias.empty() ? 0 : bias[e], magnitude = std::fabs(sum), value = 0;
  for (int64_t j = 0; j < c.k; ++j)
    if (tap(n, j, e, value)) {
      sum += weight[e * c.k + j] * value;
      magnitude += std::fabs(weight[e * c.k + j] * value);
    }
  const int64_t i = n * c.E + e;
  const double error = kAlike * magnitude;
  a[i] = rounded(sum);
  aError[i] = c.type == MHCRT_F32 ? error : slack(sum, error);
  u[i] = a[i] * sigmoid(a[i]);
  uError[i] = 1.1 * aError[i] + siluError(c.type) * std::fabs(u[i]);
  if (c.type != MHCRT_F32 && e < 2 * c.heads * c.dk) {
    uError[i] = std::max(1.1 * aError[i], slack(u[i], uError[i]));
    if (aError[i] > 0)
      uError[i] += ulp * std::fabs(u[i]);
    u[i] = rounded(u[i]);
  }
}

void Reference::checkForward() const {
  const int64_t qk = c.heads * c.dk, vc = c.hv * c.dv, repeat = c.hv / c.heads;
  Range query(N * c.hv * c.dk), key = query, value(N * vc), gate = value, beta(N * c.hv), g = beta, silu(N * 2 * qk);
  const Doubles decay = c.decay.values(), shift = c.shift.values();
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t head = 0; head < 2 * c.heads; ++head) {
      const int64_t first = n * c.E + head * c.dk;
      double sum = c.eps, error = 0;
      for (int64_t i = first; i < first + c.dk; ++i)
        sum += u[i] * u[i], error += std::fabs(u[i]) * uError[i];
      const double r = c.norm ? 1 / std::sqrt(sum) : 1, rError = c.norm ? error / sum + kAlike : 0;
      for (int64_t copy = 0; copy < repeat; ++copy)
        for (int64_t e = 0; e < c.dk; ++e)
          (head < c.heads ? query : key)
              .add(((n * c.hv + head % c.heads * repeat) + copy) * c.dk + e, r * u[first + e],
                   r * uError[first + e] + 2 * rError * std::fabs(r * u[first + e]));
    }
    for (int64_t e = 0; e < 2 * qk; ++e)
      silu.add(n * 2 * qk + e, u[n * c.E + e], uError[n * c.E + e]);
    for (int64_t e = 0; e < vc; ++e) {
      value.add(n * vc + e, u[n * c.E + 2 * qk + e], uError[n * c.E + 2 * qk + e]);
      gate.add(n * vc + e, x[row(n) * c.D + c.E + e], 0);
    }
    for (int64_t h = 0; h < c.hv; ++h) {
      const double *raw = &x[row(n) * c.D + c.E + vc + h], p = static_cast<float>(raw[c.hv] + shift[h]);
      beta.add(n * c.hv + h, sigmoid(raw[0]), kAlike);
      const double plus = p > c.threshold ? p : std::log1p(std::exp(p));
      g.add(n * c.hv + h, -std::exp(decay[h]) * plus, 2 * kAlike * std::exp(decay[h]) * plus);
    }
  }
  query.expect(c.query, "query"), key.expect(c.key, "key"), value.expect(c.value, "value");
  gate.expect(c.gate, "gate"), beta.expect(c.beta, "beta"), g.expect(c.g, "g"), silu.expect(c.silu, "silu");
}

/// du of one head of q or k.
void Reference::headBackward(int64_t n, int64_t head, const Doubles &grads, Range &du) const {
  const int64_t first = n * c.E + head * c.dk, repeat = c.hv / c.heads;
  Doubles dy(c.dk), magnitude(c.dk);
  double squares = c.eps, product = 0, error = 0, size = 0;
  for (int64_t e = 0; e < c.dk; ++e) {
    for (int64_t copy = 0; copy < repeat; ++copy) {
      const double grad = grads[(n * c.hv + head % c.heads * repeat + copy) * c.dk + e];
      dy[e] += grad, magnitude[e] += std::fabs(grad);
    }
    squares += u[first + e] * u[first + e], product += dy[e] * u[first + e];
    size += std::fabs(dy[e] * u[first + e]);
    error += std::fabs(u[first + e]) * uError[first + e];
  }
  if (!c.norm) {
    for (int64_t e = 0; e < c.dk; ++e)
      du.add(first + e, dy[e], kAlike * magnitude[e]);
    return;
  }
  const double r = 1 / std::sqrt(squares), rError = error / squares + kAlike; // relative
  double productError = kAlike * size;
  for (int64_t e = 0; e < c.dk; ++e)
    productError += std::fabs(dy[e]) * uError[first + e];
  for (int64_t e = 0; e < c.dk; ++e) {
    const double part = r * r * r * u[first + e] * product;
    du.add(first + e, r * dy[e] - part,
           r * magnitude[e] * 2 * rError + 4 * rError * std::fabs(part) +
               r * r * r * (uError[first + e] * std::fabs(product) + std::fabs(u[first + e]) * productError));
  }
}

void Reference::checkBackward() const {
  const int64_t qk = c.heads * c.dk, vc = c.hv * c.dv;
  const Doubles dQuery = c.dQuery.values(), dKey = c.dKey.values(), dValue = c.dValue.values(),
                dGate = c.dGate.values(), dBeta = c.dBeta.values(), dG = c.dG.values(), decay = c.decay.values(),
                shift = c.shift.values();
  Range da(N * c.E), dx(N * c.D), dWeight(c.E * c.k), dBias(c.E), dDecay(c.hv), dShift(c.hv);
  Range dLeft(c.dLeft.size());
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t head = 0; head < 2 * c.heads; ++head)
      headBackward(n, head, head < c.heads ? dQuery : dKey, da);
    for (int64_t e = 0; e < vc; ++e)
      da.add(n * c.E + 2 * qk + e, dValue[n * vc + e], 0);
    for (int64_t i = n * c.E; i < (n + 1) * c.E; ++i) {
      const double s = sigmoid(a[i]), slope = s * (1 + a[i] * (1 - s));
      da.errors[i] = da.errors[i] * 1.1 + std::fabs(da.values[i]) * (0.5 * aError[i] + 2 * siluError(c.type));
      da.values[i] *= slope;
    }
    for (int64_t h = 0; h < c.hv; ++h) {
      const int64_t at = row(n) * c.D + c.E + vc + h, i = n * c.hv + h;
      const double p = static_cast<float>(x[at + c.hv] + shift[h]), s = sigmoid(x[at]), rate = -std::exp(decay[h]);
      const double slope = p > c.threshold ? 1 : sigmoid(p), plus = p > c.threshold ? p : std::log1p(std::exp(p));
      dx.add(at, dBeta[i] * s * (1 - s), 2 * kAlike * std::fabs(dBeta[i]));
      dx.add(at + c.hv, dG[i] * rate * slope, std::fabs(2 * kAlike * dG[i] * rate));
      dDecay.add(h, dG[i] * rate * plus, std::fabs(2 * kAlike * dG[i] * rate * plus));
      dShift.add(h, dG[i] * rate * slope, std::fabs(2 * kAlike * dG[i] * rate * slope));
    }
    for (int64_t e = 0; e < vc; ++e)
      dx.add(row(n) * c.D + c.E + e, dGate[n * vc + e], 0);
  }
  double value = 0;
  for (int64_t n = 0; n < N; ++n)
    for (int64_t e = 0; e < c.E; ++e) {
      const double grad = da.values[n * c.E + e], error = da.errors[n * c.E + e] + kAlike * std::fabs(grad);
      dBias.add(e, grad, error);
      for (int64_t j = 0; j < c.k; ++j) {
        if (!tap(n, j, e, value))
          continue;
        dWeight.add(e * c.k + j, grad * value, error * std::fabs(value));
        const int64_t from = n - (c.k - 1) + j;
        const double w = weight[e * c.k + j];
        if (from >= begins[n])
          dx.add(row(from) * c.D + e, w * grad, std::fabs(w) * error);
        else
          dLeft.add(leftRow(n / c.M, from - begins[n] + c.k - 1) * c.E + e, w * grad, std::fabs(w) * error);
      }
    }
  const auto expect = [](const Range &range, const Buffer &got, const char *what) {
    if (got.type() != MHCRT_NONE)
      range.expect(got, what);
  };
  expect(dx, c.dx, "d_qkvzba"), expect(dWeight, c.dWeight, "d_conv_weight"), expect(dBias, c.dBias, "d_conv_bias");
  expect(dDecay, c.dDecay, "d_A_log"), expect(dShift, c.dShift, "d_dt_bias");
  expect(dLeft, c.dLeft, "d_left_boundary");
}

TEST(GatedDelta, MatchesTheReference) {
  forEachInstructionSet([](const std::string &set) {
    Context context;
    for (uint64_t seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
      Case c = randomGatedDeltaCase(seed);
      SCOPED_TRACE(set + ", " + c.describe(seed));
      ASSERT_EQ(c.both(context), MHCRT_OK) << context.error();
      const Reference reference(c);
      reference.checkForward();
      reference.checkBackward();
    }
  });
}

/// Results by token: those of the tokens [first, last) of a batch of one row.
void expectSameTokens(const Case &a, const Case &b, int64_t first, int64_t last) {
  const std::vector<const Buffer *> ours = a.results(), theirs = b.results();
  for (size_t i = 0; i < 8; ++i) {
    const int64_t size = ours[i]->size() / a.M;
    EXPECT_TRUE(ours[i]->slice(first * size, (last - first) * size) ==
                theirs[i]->slice(first * size, (last - first) * size))
        << "result " << i << ", tokens " << first << " to " << last;
  }
}

/// A sequence of huge numbers, infinities and NaN changes no bit of its neighbours.
TEST(GatedDelta, CutsAreWalls) {
  Context context;
  const std::vector<int32_t> cuts = {0, 5, 6, 6, 20, 22, 45};
  for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16})
    for (int64_t k : {2, 4, 7})
      for (size_t s = 0; s + 1 < cuts.size(); ++s) {
        SCOPED_TRACE(testing::Message() << "type " << type << ", k " << k << ", sequence " << s);
        Random random(s);
        Case good(45, 1, 1, 2, 40, 32, k, type, MHCRT_SEQ_LAYOUT_MBD, true);
        good.fill(random, cuts, true, false, type);
        Case bad = good;
        const auto poison = [&](Buffer &buffer) {
          Doubles values = buffer.values();
          const int64_t size = buffer.size() / good.M;
          for (int64_t i = cuts[s] * size; i < cuts[s + 1] * size; ++i)
            values[i] = i % 3 == 0 ? 1e30 : i % 3 == 1 ? INFINITY : NAN;
          buffer = Buffer(buffer.type(), values);
        };
        for (Buffer *buffer : {&bad.x, &bad.dQuery, &bad.dKey, &bad.dValue, &bad.dGate, &bad.dBeta, &bad.dG})
          poison(*buffer);
        for (Case *c : {&good, &bad})
          ASSERT_EQ(c->both(context), MHCRT_OK) << context.error();
        expectSameTokens(good, bad, 0, cuts[s]);
        expectSameTokens(good, bad, cuts[s + 1], good.M);
      }
}

/// Nor do the tokens of another row of the batch count, or an infinite weight's taps that a sequence does not have.
TEST(GatedDelta, MissingTapsAreNotMultiplied) {
  Context context;
  Random random(3);
  Case c(3, 2, 1, 1, 8, 8, 4, MHCRT_F32, MHCRT_SEQ_LAYOUT_MBD, false);
  c.fill(random, {}, false, false, MHCRT_F32);
  Doubles weight = c.weight.values();
  for (int64_t e = 0; e < c.E; ++e)
    weight[e * c.k] = INFINITY;
  c.weight = Buffer(MHCRT_F32, weight);
  ASSERT_EQ(c.both(context), MHCRT_OK) << context.error();
  for (const Buffer *result : c.results())
    for (double value : result->type() == MHCRT_NONE ? Doubles() : result->values())
      EXPECT_TRUE(std::isfinite(value));
}

/// Also one whose rounding would carry into the sign.
TEST(GatedDelta, NaNStaysNaN) {
  Context context;
  for (int32_t type : {MHCRT_BF16, MHCRT_F16}) {
    Random random(4);
    Case c(9, 1, 1, 1, 64, 40, 4, type, MHCRT_SEQ_LAYOUT_MBD, true);
    c.fill(random, {}, false, false, MHCRT_F32);
    std::fill_n(reinterpret_cast<uint32_t *>(c.weight.floats()), c.weight.size(), 0x7FFFFFFFu);
    ASSERT_EQ(c.both(context), MHCRT_OK) << context.error();
    for (const Buffer *result : {&c.query, &c.key, &c.value, &c.silu, &c.dWeight})
      for (double value : result->values())
        EXPECT_TRUE(std::isnan(value));
    const Doubles dx = c.dx.values();
    for (int64_t i = 0; i < c.M * c.D; ++i)
      EXPECT_EQ(std::isnan(dx[i]), i % c.D < c.E);
  }
}

TEST(GatedDelta, DoesNotDependOnThreads) {
  Context one(1), two(2), five(5);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Case a = randomGatedDeltaCase(seed), b = a, c = a;
    for (auto [run, context] : {std::pair(&a, &one), std::pair(&b, &two), std::pair(&c, &five)}) {
      ASSERT_EQ(run->forward(*context), MHCRT_OK) << context->error();
      ASSERT_EQ(run->backward(*context), MHCRT_OK) << context->error();
    }
    for (size_t i = 0; i < a.results().size(); ++i)
      EXPECT_TRUE(*a.results()[i] == *b.results()[i] && *a.results()[i] == *c.results()[i]) << seed << " " << i;
  }
}

/// Large enough for streaming stores, which need results on a cache line: the first tokens have the bits of a small
/// call, for which a GPU has a kernel of its own where there is no bias.
TEST(GatedDelta, DoesNotDependOnTheTokensBehind) {
  Context context;
  for (auto [type, hasBias] : {std::pair(MHCRT_F32, true), std::pair(MHCRT_BF16, true), std::pair(MHCRT_BF16, false)}) {
    Random random(type);
    const int64_t M = type == MHCRT_F32 ? 1100 : 2200, few = 67;
    Case large(M, 1, 8, 2, 128, 128, 4, type, MHCRT_SEQ_LAYOUT_BMD, true);
    large.lead = 48;
    large.fill(random, {}, hasBias, false, type);
    Case small = large;
    small.M = few;
    small.lead = 0;
    for (Buffer *buffer : {&small.x, &small.dQuery, &small.dKey, &small.dValue, &small.dGate, &small.dBeta, &small.dG})
      *buffer = buffer->slice(0, buffer->size() / M * few);
    small.makeResults();
    for (Case *c : {&large, &small})
      ASSERT_EQ(c->both(context), MHCRT_OK) << context.error();
    for (size_t i = 0; i < 8; ++i) {
      // The last inputs have readers in the large call that they lack in the small one.
      const int64_t tokens = i == 7 ? few - 3 : few;
      EXPECT_TRUE(large.part(*large.results()[i], tokens) == small.part(*small.results()[i], tokens)) << i;
      EXPECT_TRUE(large.results()[i]->guardIntact());
    }
  }
}

/// A row of sequences has the bits of each of them in a call of its own.
TEST(GatedDelta, SequencesAreAsAlone) {
  Context context;
  const std::vector<int32_t> cuts = {0, 1, 1, 3, 70, 74, 111};
  for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16})
    for (int64_t k : {1, 4, 6}) {
      Random random(k);
      Case row(cuts.back(), 1, 2, 2, 64, 40, k, type, MHCRT_SEQ_LAYOUT_MBD, true);
      row.fill(random, cuts, true, false, type);
      ASSERT_EQ(row.both(context), MHCRT_OK) << context.error();
      for (size_t s = 0; s + 1 < cuts.size(); ++s) {
        SCOPED_TRACE(testing::Message() << "type " << type << ", k " << k << ", sequence " << s);
        Case alone = row;
        alone.M = cuts[s + 1] - cuts[s];
        alone.cuts = Buffer();
        for (Buffer *buffer :
             {&alone.x, &alone.dQuery, &alone.dKey, &alone.dValue, &alone.dGate, &alone.dBeta, &alone.dG}) {
          const int64_t size = buffer->size() / row.M;
          *buffer = buffer->slice(cuts[s] * size, alone.M * size);
        }
        alone.makeResults();
        ASSERT_EQ(alone.both(context), MHCRT_OK) << context.error();
        for (size_t i = 0; i < 8; ++i) {
          const int64_t size = row.results()[i]->size() / row.M;
          EXPECT_TRUE(*alone.results()[i] == row.results()[i]->slice(cuts[s] * size, alone.M * size)) << i;
        }
      }
    }
}

TEST(GatedDelta, EveryRunHasTheSameBits) {
  Context context;
  for (int32_t type : {MHCRT_F32, MHCRT_BF16}) {
    Random random(type);
    Case first(300, 1, 2, 2, 128, 128, 4, type, MHCRT_SEQ_LAYOUT_MBD, true);
    first.fill(random, {0, 2, 2, 130, 300}, true, false, MHCRT_F32);
    Case again = first;
    ASSERT_EQ(first.both(context), MHCRT_OK) << context.error();
    for (int run = 1; run < kRuns; ++run) {
      again.makeResults();
      ASSERT_EQ(again.both(context), MHCRT_OK) << context.error();
      for (size_t i = 0; i < first.results().size(); ++i)
        ASSERT_TRUE(*first.results()[i] == *again.results()[i]) << "run " << run << ", result " << i;
    }
  }
}

/// One kernel, or one for each branch: the same bits.
TEST(GatedDelta, StreamedHasTheBitsOfFused) {
  Context context;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Case fused = randomGatedDeltaCase(seed), streamed = fused;
    streamed.impl = MHCRT_GDN_IMPL_STREAMED;
    for (Case *c : {&fused, &streamed})
      ASSERT_EQ(c->both(context), MHCRT_OK) << context.error();
    for (size_t i = 0; i < fused.results().size(); ++i)
      EXPECT_TRUE(*fused.results()[i] == *streamed.results()[i]) << fused.describe(seed) << ", result " << i;
  }
}

TEST(GatedDelta, GradientsDoNotDependOnWhichAreWanted) {
  Context context;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Case all = randomGatedDeltaCase(seed);
    ASSERT_EQ(all.both(context), MHCRT_OK) << context.error();
    for (size_t wanted = 7; wanted < 13; ++wanted) {
      Case one = randomGatedDeltaCase(seed);
      one.silu = Buffer();
      for (size_t i = 7; i < 13; ++i)
        if (i != wanted)
          *const_cast<Buffer *>(one.results()[i]) = Buffer();
      ASSERT_EQ(one.both(context), MHCRT_OK) << context.error();
      EXPECT_TRUE(*one.results()[wanted] == *all.results()[wanted]) << seed << " " << wanted;
      EXPECT_TRUE(one.query == all.query && one.value == all.value);
    }
  }
}

TEST(GatedDelta, ErrorsNameValueAndNeed) {
  Context context;
  Random random(1);
  Case good(6, 1, 2, 2, 4, 4, 3, MHCRT_F32, MHCRT_SEQ_LAYOUT_MBD, true);
  good.fill(random, {}, true, false, MHCRT_F32);
  const auto expect = [&](const std::function<void(Case &)> &change, const std::string &message, bool both = true) {
    Case bad = good;
    change(bad);
    if (both) {
      bad.forward(context);
      EXPECT_EQ(mhcrt_synchronize(context),
                MHCRT_INVALID_ARGUMENT); // a GPU meets bad starts of sequences by its kernels
      EXPECT_EQ(context.error(), "mhcrt_pre_gated_delta_rule: " + message);
      mhcrt_clear_error(context);
    }
    bad.backward(context);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(context.error(), "mhcrt_pre_gated_delta_rule_bwd: " + message);
    mhcrt_clear_error(context);
  };
  const auto cutAt = [](const std::vector<int32_t> &cuts) { return [cuts](Case &c) { c.cuts = Buffer(cuts); }; };
  expect([](Case &c) { c.D = 55; }, "'D' is 55; needed E + hv*dv + 2*hv = 56");
  expect([](Case &c) { c.E = 31; }, "'E' is 31; needed 2*num_key_heads*dk + hv*dv = 32");
  expect([](Case &c) { c.heads = 3; }, "'hv' is 4; needed a multiple of num_key_heads = 3");
  expect([](Case &c) { c.heads = 5; }, "'num_key_heads' is 5; needed 1 to 4");
  expect([](Case &c) { c.k = 9; }, "'k' is 9; needed 1 to 8");
  expect([](Case &c) { c.eps = -1; }, "'l2_eps' is -1; needed a finite number of at least 0");
  expect([](Case &c) { c.threshold = NAN; }, "'softplus_threshold' is nan; needed a finite number");
  expect([](Case &c) { c.layout = 2; }, "'seq_layout' is 2; needed 0 to 1");
  expect(cutAt({1, 6}), "'cu_seqlens' has 1 at 0; needed 0");
  expect(cutAt({0, 4, 3, 6}), "'cu_seqlens' has 3 at 2; needed at least 4");
  expect(cutAt({0, 4}), "'cu_seqlens' has 4 at 1; needed 6");
  expect(
      [](Case &c) {
        c.b = 2, c.M = 3;
        c.cuts = Buffer(std::vector<int32_t>{0, 3});
      },
      "'b' is 2; needed 1 to 1");
  expect([](Case &c) { c.left = Buffer(MHCRT_F32, 96), c.leftRows = 3; }, "'p' is 3; needed k - 1 = 2");
  expect(
      [](Case &c) {
        c.left = Buffer(MHCRT_F32, 64);
        c.cuts = Buffer(std::vector<int32_t>{0, 6});
      },
      "'left_boundary' has dtype f32; needed none with cu_seqlens");
  expect([](Case &c) { c.bias = Buffer(); }, "'d_conv_bias' has dtype f32; needed none with no conv_bias", false);
  expect([](Case &c) { c.dLeft = Buffer(MHCRT_F32, 64); },
         "'d_left_boundary' has dtype f32; needed none with no left_boundary", false);
}

} // namespace
