//===- take.cu - out[m,c] = table[ids[m],c] -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: one thread per element; elements are copied as bits. The row of a number that the table does not have is
// zero, and mhcrt_synchronize reports the number. Bytes a token: 2*C elements and 4.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/tile/Ids.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

template <typename Bits>
__global__ void takeKernel(const Bits *table, const int32_t *ids, Bits *out, int64_t V, int64_t C, int64_t M,
                           IdFault *fault) {
  for (int64_t item = firstItem(); item < M * C; item += itemStep()) {
    const int64_t m = item / C, c = item % C;
    const int32_t id = ids[m];
    const bool isRow = id >= 0 && id < V;
    out[item] = isRow ? table[id * C + c] : Bits(0);
    if (!isRow && c == 0)
      reportId(fault, id, m, V);
  }
}

template <typename Bits>
cudaError_t launchBits(mhcrt_context &context, const TakeArgs &a, IdFault *fault) {
  return launchKernel(takeKernel<Bits>, gridFor(context, a.M * a.C), kThreads, 0, context.stream,
                      static_cast<const Bits *>(a.table), static_cast<const int32_t *>(a.ids),
                      static_cast<Bits *>(a.out), a.V, a.C, a.M, fault);
}

cudaError_t launchGeneric(mhcrt_context &context, const TakeArgs &a) {
  IdFault *fault = context.idFault("mhcrt_take");
  return a.table_type == MHCRT_F32 ? launchBits<uint32_t>(context, a, fault) : launchBits<uint16_t>(context, a, fault);
}

} // namespace

static constexpr Variant<TakeArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runTake(mhcrt_context &context, const TakeArgs &args) {
  if (!checkTake(context, args, Ids::OnDevice))
    return context.status;
  return args.M ? launchVariant(context, "take", kVariants, args) : context.status;
}
