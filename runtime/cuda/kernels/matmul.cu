//===- matmul.cu - Dense products through cuBLASLt ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[b,M,N] = lhs[b,M,K] * rhs[b,K,N]      either operand may be stored transposed
//
// Generic: what the library takes as it is, it gets: operands of one type, and a result of that type or f32. Other
// operands become f32 in scratch memory first, and a result that is not f32 is rounded behind. Products and sums in
// f32, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Products.h"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/Element.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

__global__ void convertKernel(AnyInput from, AnyOutput to, int64_t count) {
  for (int64_t item = firstItem(); item < count; item += itemStep())
    to.store(item, from[item]);
}

cudaError_t convert(mhcrt_context &context, AnyInput from, AnyOutput to, int64_t count) {
  return launchKernel(convertKernel, gridFor(context, count), kThreads, 0, context.stream, from, to, count);
}

/// The largest power of two, at most what cuBLASLt asks after, that divides all addresses.
uint32_t alignmentOf(std::initializer_list<const void *> addresses) {
  uintptr_t bits = 256;
  for (const void *address : addresses)
    bits |= reinterpret_cast<uintptr_t>(address);
  return static_cast<uint32_t>(bits & -bits);
}

Product productOf(const BatchMatmulArgs &a, int32_t inType, int32_t outType, uint32_t alignment) {
  return {inType, outType, a.B, a.M, a.K, a.N, a.transpose_lhs != 0, a.transpose_rhs != 0, alignment};
}

/// Through f32 operands and an f32 result.
cudaError_t launchWide(mhcrt_context &context, const char *kernel, const BatchMatmulArgs &a) {
  const int64_t lhsCount = a.B * a.M * a.K, rhsCount = a.B * a.K * a.N, outCount = a.B * a.M * a.N;
  const bool keepsLhs = a.lhs_type == MHCRT_F32, keepsRhs = a.rhs_type == MHCRT_F32, keepsOut = a.out_type == MHCRT_F32;
  generic::ScratchPlan plan;
  const int64_t lhsAt = plan.addFloats(keepsLhs ? 0 : lhsCount, 1), rhsAt = plan.addFloats(keepsRhs ? 0 : rhsCount, 1);
  const int64_t outAt = plan.addFloats(keepsOut ? 0 : outCount, 1), workspaceAt = plan.add(kProductWorkspace);
  auto *scratch = static_cast<char *>(context.reserveScratch(kernel, plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  const void *lhs = keepsLhs ? a.lhs : scratch + lhsAt, *rhs = keepsRhs ? a.rhs : scratch + rhsAt;
  void *out = keepsOut ? a.out : scratch + outAt;
  cudaError_t error = cudaSuccess;
  if (!keepsLhs)
    error = convert(context, {a.lhs, a.lhs_type}, {scratch + lhsAt, MHCRT_F32}, lhsCount);
  if (error == cudaSuccess && !keepsRhs)
    error = convert(context, {a.rhs, a.rhs_type}, {scratch + rhsAt, MHCRT_F32}, rhsCount);
  if (error != cudaSuccess ||
      context.products->run(context, kernel, productOf(a, MHCRT_F32, MHCRT_F32, alignmentOf({lhs, rhs, out})), lhs, rhs,
                            out, scratch + workspaceAt) != MHCRT_OK)
    return error;
  return keepsOut ? error : convert(context, {out, MHCRT_F32}, {a.out, a.out_type}, outCount);
}

cudaError_t multiply(mhcrt_context &context, const char *kernel, const BatchMatmulArgs &a) {
  if (a.K == 0) // sums of nothing
    return cudaMemsetAsync(a.out, 0, a.B * a.M * a.N * mhcrt_dtype_bytes(a.out_type), context.stream);
  if (!context.products)
    context.products = std::make_shared<Products>();
  if (!context.products->open(context, kernel))
    return cudaSuccess;
  const bool isPlain = a.lhs_type == a.rhs_type && (a.out_type == a.lhs_type || a.out_type == MHCRT_F32);
  const Product product = productOf(a, a.lhs_type, a.out_type, alignmentOf({a.lhs, a.rhs, a.out}));
  if (!isPlain || !context.products->has(product))
    return launchWide(context, kernel, a);
  if (void *workspace = context.reserveScratch(kernel, kProductWorkspace))
    context.products->run(context, kernel, product, a.lhs, a.rhs, a.out, workspace);
  return cudaSuccess;
}

cudaError_t launchBatch(mhcrt_context &context, const BatchMatmulArgs &a) {
  return multiply(context, "mhcrt_batch_matmul", a);
}

cudaError_t launchOne(mhcrt_context &context, const MatmulArgs &a) {
  return multiply(
      context, "mhcrt_matmul",
      {a.lhs, a.lhs_type, a.rhs, a.rhs_type, a.out, a.out_type, 1, a.M, a.K, a.N, a.transpose_lhs, a.transpose_rhs});
}

} // namespace

static constexpr Variant<MatmulArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchOne}};
static constexpr Variant<BatchMatmulArgs> kBatchVariants[] = {{"generic", 0, kAnyArch, nullptr, launchBatch}};

mhcrt_status mhcrt::runMatmul(mhcrt_context &context, const MatmulArgs &args) {
  if (!checkMatmul(context, args))
    return context.status;
  return args.M && args.N ? launchVariant(context, "matmul", kVariants, args) : context.status;
}

mhcrt_status mhcrt::runBatchMatmul(mhcrt_context &context, const BatchMatmulArgs &args) {
  if (!checkBatchMatmul(context, args))
    return context.status;
  return args.B && args.M && args.N ? launchVariant(context, "batch_matmul", kBatchVariants, args) : context.status;
}
