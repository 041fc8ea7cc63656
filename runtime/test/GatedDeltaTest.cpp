//===- GatedDeltaTest.cpp - The front end of a gated delta net ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

const double kAlike = std::ldexp(1.0, -20); ///< of f32 arithmetic, relative

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A call of mhcrt_pre_gated_delta_rule and one of its gradient, with their tensors.
struct Case {
  int64_t M, b, heads, hv, dk, dv, k, E, D;
  int32_t type, layout;
  bool norm;
  double eps = 1e-6, threshold = 20;
  Buffer x, weight, bias, decay, shift, cuts, left;
  Buffer query, key, value, gate, beta, g, silu;
  Buffer dQuery, dKey, dValue, dGate, dBeta, dG;
  Buffer dx, dWeight, dBias, dDecay, dShift, dLeft;

  Case(int64_t M, int64_t b, int64_t heads, int64_t repeat, int64_t dk, int64_t dv, int64_t k, int32_t type,
       int32_t layout, bool norm)
      : M(M), b(b), heads(heads), hv(heads * repeat), dk(dk), dv(dv), k(k), E(2 * heads * dk + hv * dv),
        D(E + hv * dv + 2 * hv), type(type), layout(layout), norm(norm) {}

  /// Random tensors. `cutPoints` empty: every row of the batch is a sequence.
  void fill(Random &random, const std::vector<int32_t> &cutPoints, bool hasBias, bool hasLeft, int32_t weightType) {
    const int64_t N = M * b;
    x = random.buffer(type, N * D, 1.5);
    weight = random.buffer(weightType, E * k, 0.7);
    if (hasBias)
      bias = random.buffer(weightType, E);
    decay = random.buffer(weightType, hv), shift = random.buffer(weightType, hv);
    if (!cutPoints.empty())
      cuts = Buffer(cutPoints);
    if (hasLeft)
      left = random.buffer(type, (k - 1) * b * E, 1.5);
    dQuery = random.buffer(type, N * hv * dk), dKey = random.buffer(type, N * hv * dk);
    dValue = random.buffer(type, N * hv * dv), dGate = random.buffer(type, N * hv * dv);
    dBeta = random.buffer(type, N * hv), dG = random.buffer(MHCRT_F32, N * hv);
    makeResults();
  }

  void makeResults() {
    const int64_t N = M * b;
    query = key = Buffer(type, N * hv * dk), value = gate = Buffer(type, N * hv * dv);
    beta = Buffer(type, N * hv), g = Buffer(MHCRT_F32, N * hv), silu = Buffer(type, N * 2 * heads * dk);
    dx = Buffer(type, N * D), dWeight = Buffer(MHCRT_F32, E * k), dDecay = dShift = Buffer(MHCRT_F32, hv);
    if (bias.size())
      dBias = Buffer(MHCRT_F32, E);
    if (left.type() != MHCRT_NONE)
      dLeft = Buffer(type, left.size());
  }

  std::string describe(uint64_t seed) const {
    std::string text = "seed " + std::to_string(seed) + ":";
    for (int64_t size : {M, b, heads, hv, dk, dv, k, E, D, static_cast<int64_t>(type), static_cast<int64_t>(layout),
                         static_cast<int64_t>(norm), cuts.size(), bias.size(), left.size()})
      text += " " + std::to_string(size);
    return text;
  }

  mhcrt_status forward(mhcrt_context *context) {
    return call(mhcrt_pre_gated_delta_rule, context, x.data(), x.type(), weight.data(), weight.type(), bias.data(),
                bias.type(), decay.data(), decay.type(), shift.data(), shift.type(), cuts.data(), cuts.type(),
                left.data(), left.type(), query.data(), query.type(), key.data(), key.type(), value.data(),
                value.type(), gate.data(), gate.type(), beta.data(), beta.type(), g.data(), g.type(), silu.data(),
                silu.type(), M, b, D, E, k, hv, cuts.size(), left.type() == MHCRT_NONE ? 0 : k - 1, dk, dv,
                silu.type() == MHCRT_NONE ? 0 : 2 * heads * dk, heads, norm, eps, threshold, layout,
                MHCRT_GDN_IMPL_FUSED);
  }

  mhcrt_status backward(mhcrt_context *context) {
    return call(mhcrt_pre_gated_delta_rule_bwd, context, dQuery.data(), dQuery.type(), dKey.data(), dKey.type(),
                dValue.data(), dValue.type(), dGate.data(), dGate.type(), dBeta.data(), dBeta.type(), dG.data(),
                dG.type(), x.data(), x.type(), weight.data(), weight.type(), bias.data(), bias.type(), decay.data(),
                decay.type(), shift.data(), shift.type(), cuts.data(), cuts.type(), left.data(), left.type(), dx.data(),
                dx.type(), dWeight.data(), dWeight.type(), dBias.data(), dBias.type(), dDecay.data(), dDecay.type(),
                dShift.data(), dShift.type(), dLeft.data(), dLeft.type(), b, M, hv, dk, dv, D, E, k, cuts.size(),
                left.type() == MHCRT_NONE ? 0 : k - 1, heads, norm, eps, threshold, layout, MHCRT_GDN_IMPL_FUSED);
  }

  std::vector<const Buffer *> results() const {
    return {&query, &key, &value, &gate, &beta, &g, &silu, &dx, &dWeight, &dBias, &dDecay, &dShift, &dLeft};
  }
};

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
  /// What a tensor of `type` holds of it.
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
    return rounded(value - error) == rounded(value + error) ? 0 : ulp * std::fabs(value);
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
  uError[i] = 1.1 * aError[i] + kAlike * std::fabs(u[i]);
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
      da.errors[i] = da.errors[i] * 1.1 + std::fabs(da.values[i]) * (0.5 * aError[i] + 2 * kAlike);
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

/// A small call of any shape, with cuts, a left boundary or neither.
Case randomCase(uint64_t seed) {
  Random random(seed);
  const int32_t type = random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16});
  const int64_t kind = random.integer(0, 2), M = random.pick<int64_t>({0, 1, 2, 5, 9, 30, 70, 131});
  Case c(M, kind == 0 ? 1 : random.integer(1, 3), random.integer(1, 3), random.integer(1, 3),
         random.pick<int64_t>({1, 3, 16, 33, 64, 100}), random.pick<int64_t>({1, 5, 16, 32, 50, 128}),
         random.integer(1, 8), type, random.pick({MHCRT_SEQ_LAYOUT_MBD, MHCRT_SEQ_LAYOUT_BMD}),
         random.integer(0, 3) > 0);
  std::vector<int32_t> cuts;
  if (kind == 0) {
    const bool isLong = random.integer(0, 1);
    for (cuts = {0}; cuts.back() < M;)
      cuts.push_back(static_cast<int32_t>(std::min<int64_t>(M, cuts.back() + random.integer(0, isLong ? 40 : 5))));
    if (random.integer(0, 1))
      cuts.push_back(static_cast<int32_t>(M));
  }
  c.fill(random, cuts, random.integer(0, 1), kind == 1, random.pick({type, static_cast<int32_t>(MHCRT_F32)}));
  return c;
}

TEST(GatedDelta, MatchesTheReference) {
  Context context;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Case c = randomCase(seed);
    SCOPED_TRACE(c.describe(seed));
    ASSERT_EQ(c.forward(context), MHCRT_OK) << context.error();
    ASSERT_EQ(c.backward(context), MHCRT_OK) << context.error();
    const Reference reference(c);
    reference.checkForward();
    reference.checkBackward();
    if (testing::Test::HasFailure())
      break;
  }
}

} // namespace
