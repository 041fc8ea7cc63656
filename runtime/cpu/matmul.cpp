//===- matmul.cpp - Dense products through OpenBLAS -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[b,M,N] = lhs[b,M,K] * rhs[b,K,N]      either operand may be stored transposed
//
// Plan    Blocks of kRows x kColumns of the output, each one sgemm on one thread of our pool; the blocks depend on the
//         shape only, so results do not depend on the number of threads. 16-bit operands become f32 panels in scratch
//         memory; a thread keeps the panel of rhs for the next block of rows.
// Bytes   each operand once per block row or column.
// Needs   sizes below 2^31.
// Round   products and sums in f32, one rounding at the store. Sums of more than kDepth products are compensated sums
//         of such: a million terms of one sign are off by less than 2e-5.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/matmul.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// rows x columns elements of a matrix with `stride` elements per row, to a dense f32 panel.
void widenPanel(const void *from, int32_t type, int64_t offset, int64_t stride, int64_t rows, int64_t columns,
                float *to) {
  for (int64_t row = 0; row < rows; ++row)
    widenAny(from, type, offset + row * stride, columns, to + row * columns);
}

void narrowPanel(const float *from, int64_t rows, int64_t columns, void *to, int32_t type, int64_t offset,
                 int64_t stride) {
  for (int64_t row = 0; row < rows; ++row)
    narrowAny(from + row * columns, columns, to, type, offset + row * stride);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "src/Checks.h"

#include <cblas.h>
#include <cstring>
#include <mutex>

// OpenMP, by which OpenBLAS chooses its threads; clang finds no omp.h of GCC.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int threads);
// OpenBLAS's own initialiser, which would run when it is loaded; Sgemm.cmake removes that.
extern "C" void gotoblas_init(void);

namespace mhcrt {
HWY_EXPORT(widenPanel);
HWY_EXPORT(narrowPanel);

namespace {

constexpr int64_t kRows = 256;
constexpr int64_t kColumns = 512;
/// Products that one call of sgemm adds. It adds a few hundred at a time, and those sums one after the other.
constexpr int64_t kDepth = 16384;

/// Keeps OpenBLAS to the calling thread. The setting belongs to that thread, which may be the user's: it is put back.
class OneBlasThread {
public:
  OneBlasThread() : threads(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneBlasThread() { omp_set_num_threads(threads); }
  OneBlasThread(const OneBlasThread &) = delete;
  OneBlasThread &operator=(const OneBlasThread &) = delete;

private:
  int threads;
};

/// Makes work buffers for one thread; others get theirs when they call.
void initialiseBlas() {
  static std::once_flag once;
  std::call_once(once, [] {
    const OneBlasThread oneThread;
    openblas_set_num_threads(1);
    gotoblas_init();
  });
}

struct Matrix {
  const void *data;
  int32_t type;
  bool transposed;
};

class Product {
public:
  Product(Matrix lhs, Matrix rhs, void *out, int32_t outType, int64_t B, int64_t M, int64_t K, int64_t N)
      : lhs(lhs), rhs(rhs), out(out), outType(outType), B(B), M(M), K(K), N(N), rowBlocks(divideUp(M, kRows)),
        columnBlocks(divideUp(N, kColumns)) {}

  int64_t tiles() const { return B * rowBlocks * columnBlocks; }

  /// Room for the panels that must be converted, and the number of the rhs panel that is there.
  int64_t scratchBytes() const {
    int64_t elements = 0;
    if (lhs.type != MHCRT_F32)
      elements = saturatingAdd(elements, saturatingMul(std::min(M, kRows), K));
    if (rhs.type != MHCRT_F32)
      elements = saturatingAdd(elements, saturatingMul(std::min(N, kColumns), K));
    elements += outputPanels() * kRows * kColumns;
    return saturatingAdd(saturatingMul(elements, 4), kAlignment);
  }

  void run(int64_t tile, char *scratch) const {
    // Neighbouring tiles share a panel of rhs.
    const int64_t row = tile % rowBlocks * kRows, panel = tile / rowBlocks;
    const int64_t column = panel % columnBlocks * kColumns, batch = panel / columnBlocks;
    const int64_t rows = std::min(kRows, M - row), columns = std::min(kColumns, N - column);
    int64_t &cachedPanel = *reinterpret_cast<int64_t *>(scratch);
    float *room = reinterpret_cast<float *>(scratch + kAlignment);

    // Operands: stored [rows, K], or [K, rows] when transposed; rhs the other way round.
    int64_t lhsStride = lhs.transposed ? M : K, rhsStride = rhs.transposed ? K : N;
    const int64_t lhsOffset = batch * M * K + (lhs.transposed ? row : row * K);
    const int64_t rhsOffset = batch * K * N + (rhs.transposed ? column * K : column);
    const float *a = static_cast<const float *>(lhs.data) + lhsOffset;
    const float *b = static_cast<const float *>(rhs.data) + rhsOffset;
    if (rhs.type != MHCRT_F32) {
      const int64_t count = rhs.transposed ? K : columns;
      if (cachedPanel != panel)
        HWY_DYNAMIC_DISPATCH(widenPanel)
      (rhs.data, rhs.type, rhsOffset, rhsStride, rhs.transposed ? columns : K, count, room);
      cachedPanel = panel;
      b = room;
      rhsStride = count;
      room += std::min(N, kColumns) * K;
    }
    if (lhs.type != MHCRT_F32) {
      const int64_t count = lhs.transposed ? rows : K;
      HWY_DYNAMIC_DISPATCH(widenPanel)
      (lhs.data, lhs.type, lhsOffset, lhsStride, lhs.transposed ? K : rows, count, room);
      a = room;
      lhsStride = count;
      room += std::min(M, kRows) * K;
    }

    const int64_t outOffset = (batch * M + row) * N + column;
    if (outputPanels() == 0) {
      multiply(a, lhsStride, b, rhsStride, rows, columns, K, static_cast<float *>(out) + outOffset, N);
      return;
    }
    if (isDeep())
      multiplyDeep(a, lhsStride, b, rhsStride, rows, columns, room);
    else
      multiply(a, lhsStride, b, rhsStride, rows, columns, K, room, columns);
    HWY_DYNAMIC_DISPATCH(narrowPanel)(room, rows, columns, out, outType, outOffset, N);
  }

private:
  bool isDeep() const { return K > kDepth; }
  /// Panels of the output in scratch memory: a product, and with several of them their sum and its rest.
  int64_t outputPanels() const { return isDeep() ? 3 : outType != MHCRT_F32 ? 1 : 0; }

  void multiply(const float *a, int64_t lhsStride, const float *b, int64_t rhsStride, int64_t rows, int64_t columns,
                int64_t depth, float *c, int64_t stride) const {
    const OneBlasThread oneThread;
    cblas_sgemm(CblasRowMajor, lhs.transposed ? CblasTrans : CblasNoTrans, rhs.transposed ? CblasTrans : CblasNoTrans,
                static_cast<blasint>(rows), static_cast<blasint>(columns), static_cast<blasint>(depth), 1.0f, a,
                static_cast<blasint>(lhsStride), b, static_cast<blasint>(rhsStride), 0.0f, c,
                static_cast<blasint>(stride));
  }

  /// The first of three panels becomes the product.
  void multiplyDeep(const float *a, int64_t lhsStride, const float *b, int64_t rhsStride, int64_t rows, int64_t columns,
                    float *panels) const {
    const int64_t size = rows * columns;
    const CompensatedSums sums = {panels + size, panels + 2 * size};
    sums.clear(size);
    for (int64_t k = 0; k < K; k += kDepth) {
      multiply(a + (lhs.transposed ? k * lhsStride : k), lhsStride, b + (rhs.transposed ? k : k * rhsStride), rhsStride,
               rows, columns, std::min(kDepth, K - k), panels, columns);
      sums.add(panels, size);
    }
    sums.store(panels, size);
  }

  Matrix lhs, rhs;
  void *out;
  int32_t outType;
  int64_t B, M, K, N, rowBlocks, columnBlocks;
};

mhcrt_status multiply(mhcrt_context &context, const char *name, const BatchMatmulArgs &a) {
  if (std::min(a.B, std::min(a.M, a.N)) == 0)
    return MHCRT_OK;
  if (a.K == 0) { // sums of nothing
    std::memset(a.out, 0, a.B * a.M * a.N * mhcrt_dtype_bytes(a.out_type));
    return MHCRT_OK;
  }
  initialiseBlas();
  const Product product({a.lhs, a.lhs_type, a.transpose_lhs != 0}, {a.rhs, a.rhs_type, a.transpose_rhs != 0}, a.out,
                        a.out_type, a.B, a.M, a.K, a.N);
  if (!context.reserveScratch(name, 0, product.scratchBytes()))
    return context.status;
  for (int thread = 0; thread < context.pool.threads(); ++thread)
    *reinterpret_cast<int64_t *>(context.threadScratch(thread)) = -1; // no panel is cached
  context.parallelFor(product.tiles(),
                      [&](int64_t tile, int thread) { product.run(tile, context.threadScratch(thread)); });
  return MHCRT_OK;
}

} // namespace
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runMatmul(mhcrt_context &context, const MatmulArgs &a) {
  if (!checkMatmul(context, a))
    return context.status;
  return multiply(context, "mhcrt_matmul",
                  {a.lhs, a.lhs_type, a.rhs, a.rhs_type, a.out, a.out_type, /*B=*/1, a.M, a.K, a.N, a.transpose_lhs,
                   a.transpose_rhs});
}

mhcrt_status mhcrt::runBatchMatmul(mhcrt_context &context, const BatchMatmulArgs &a) {
  if (!checkBatchMatmul(context, a))
    return context.status;
  return multiply(context, "mhcrt_batch_matmul", a);
}

MHCRT_ENTRY(matmul, Matmul)
MHCRT_ENTRY(batch_matmul, BatchMatmul)
#endif // HWY_ONCE
