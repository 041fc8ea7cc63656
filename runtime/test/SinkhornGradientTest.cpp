//===- SinkhornGradientTest.cpp - Errors of Sinkhorn's gradient -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random logits, whose gradients are compared with those of plain loops in f64 beside what the same loops in f32 are
// off: beside the identity, where sums are 1 but for a rounding, any other formula may add roundings of every step.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

struct Case {
  int64_t n;
  double diagonal; ///< added to it in the logits
  int32_t init, denom;
  double eps;

  /// Whether the start is the softmax, which is the first step.
  bool isSoftmax() const { return init == MHCRT_INIT_SOFTMAX_EPS; }
  std::string name() const { return "n=" + std::to_string(n) + " diagonal=" + std::to_string(diagonal); }
};

constexpr int64_t kTokens = 24, kIters = 20, kDraws = 40;

/// One matrix forwards and backwards, a value a name: as PyTorch differentiates it.
template <typename F>
struct Plain {
  const Case &c;
  std::vector<std::vector<F>> values, divisors;
  std::vector<F> start;

  int64_t at(size_t step, int64_t line, int64_t k) const {
    const bool rows = (step + (c.isSoftmax() ? 1 : 0)) % 2 == 0;
    return rows ? line * c.n + k : k * c.n + line;
  }

  Plain(const Case &c, const double *logits) : c(c), start(logits, logits + c.n * c.n) {
    const F eps = static_cast<F>(c.eps);
    for (int64_t r = 0; r < c.n; ++r) {
      F *row = start.data() + r * c.n, sum = 0;
      const F most = *std::max_element(row, row + c.n);
      for (int64_t k = 0; k < c.n; ++k)
        sum += row[k] = std::exp(row[k] - most);
      for (int64_t k = 0; k < c.n && c.isSoftmax(); ++k)
        row[k] /= sum;
    }
    std::vector<F> m = start;
    for (F &value : m)
      value += c.isSoftmax() ? eps : F(0);
    for (size_t step = 0; step < 2 * kIters - (c.isSoftmax() ? 1 : 0); ++step) {
      values.push_back(m);
      divisors.emplace_back();
      for (int64_t line = 0; line < c.n; ++line) {
        F sum = 0;
        for (int64_t k = 0; k < c.n; ++k)
          sum += m[at(step, line, k)];
        divisors.back().push_back(sum + (c.denom == MHCRT_DENOM_ADD ? eps : F(0)));
        for (int64_t k = 0; k < c.n; ++k)
          m[at(step, line, k)] /= divisors.back().back();
      }
    }
  }

  /// The gradient of the logits from that of the mix, in place.
  void reverse(std::vector<F> &grad) const {
    for (size_t step = values.size(); step-- > 0;)
      for (int64_t line = 0; line < c.n; ++line) {
        const F divisor = divisors[step][line];
        F ofDivisor = 0;
        for (int64_t k = 0; k < c.n; ++k)
          ofDivisor -= grad[at(step, line, k)] * (values[step][at(step, line, k)] / divisor / divisor);
        for (int64_t k = 0; k < c.n; ++k)
          grad[at(step, line, k)] = grad[at(step, line, k)] / divisor + ofDivisor;
      }
    for (int64_t r = 0; r < c.n; ++r) {
      const F *row = start.data() + r * c.n;
      F *to = grad.data() + r * c.n, sum = 0;
      for (int64_t k = 0; k < c.n; ++k)
        sum += to[k] *= row[k];
      const int64_t most = std::max_element(row, row + c.n) - row;
      for (int64_t k = 0; k < c.n; ++k)
        to[k] -= c.isSoftmax() ? row[k] * sum : k == most ? sum : F(0);
    }
  }
};

template <typename F>
Doubles plainGradient(const Case &c, const Doubles &logits, const Doubles &dMix) {
  Doubles all;
  for (size_t first = 0; first < logits.size(); first += c.n * c.n) {
    std::vector<F> grad(dMix.begin() + first, dMix.begin() + first + c.n * c.n);
    Plain<F>(c, logits.data() + first).reverse(grad);
    all.insert(all.end(), grad.begin(), grad.end());
  }
  return all;
}

double errorOf(const Doubles &got, const Doubles &wanted) {
  double off = 0, size = 0;
  for (size_t k = 0; k < wanted.size(); ++k)
    off += std::pow(got[k] - wanted[k], 2), size += wanted[k] * wanted[k];
  return std::sqrt(off / size);
}

TEST(SinkhornGradient, IsNoFurtherOffThanPlainLoopsInF32) {
  Context context;
  for (int64_t n : {2, 3, 4, 8})
    for (const Case &c : {Case{n, 0, MHCRT_INIT_SOFTMAX_EPS, MHCRT_DENOM_ADD, 1e-6},
                          Case{n, 0, MHCRT_INIT_EXP_ROWMAX, MHCRT_DENOM_NONE, 0},
                          Case{n, 10, MHCRT_INIT_EXP_ROWMAX, MHCRT_DENOM_NONE, 0}}) {
      Doubles plain, ours;
      for (int64_t draw = 0; draw < kDraws; ++draw) {
        Random random(draw);
        Doubles logits = random.buffer(MHCRT_F32, kTokens * n * n, 0.7).values();
        for (size_t k = 0; k < logits.size(); ++k)
          logits[k] += k % (n * n) % (n + 1) == 0 ? c.diagonal : 0;
        Buffer z(MHCRT_F32, logits), dMix = random.buffer(MHCRT_F32, kTokens * n * n), got = z;
        ASSERT_EQ(call(mhcrt_sinkhorn_bwd, context, dMix.data(), MHCRT_F32, z.data(), MHCRT_F32, got.data(), MHCRT_F32,
                       kTokens, n, c.init, MHCRT_ORDER_ROW_COL, c.denom, c.eps, kIters),
                  MHCRT_OK)
            << context.error();
        const Doubles wanted = plainGradient<double>(c, z.values(), dMix.values());
        plain.push_back(errorOf(plainGradient<float>(c, z.values(), dMix.values()), wanted));
        ours.push_back(errorOf(got.values(), wanted));
      }
      for (Doubles *errors : {&plain, &ours})
        std::sort(errors->begin(), errors->end());
      for (int64_t at : {kDraws / 2, kDraws * 9 / 10})
        EXPECT_LE(ours[at], 1.2 * plain[at]) << c.name() << ", error " << at << " of " << kDraws;
    }
}

} // namespace
