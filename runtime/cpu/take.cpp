//===- take.cpp - Rows of a table by number -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = table[ids[m],c]
//
// Plan    Rows are copied as bits, after all numbers were checked.
// Bytes   per token 2*C elements and 4.
// Needs   numbers of rows that the table has.
// Round   nothing is rounded.
//
//===------------------------------------------------------------------------===//
#include "cpu/Tokens.h"
#include "mhcrt/kernels.h"
#include "src/Context.h"
#include "src/KernelCall.h"

#include <cstring>

using namespace mhcrt;

mhcrt_status mhcrt_take(mhcrt_context *ctx, const void *table, int32_t table_type, const void *ids, int32_t ids_type,
                        void *out, int32_t out_type, int64_t V, int64_t C, int64_t M) {
  KernelCall call(ctx, "mhcrt_take");
  call.dim("V", V, 0).dim("C", C, 1).dim("M", M, 0);
  call.tensor("table", table, table_type, kFloats, V).indices("ids", ids, ids_type, M, V);
  call.tensor("out", out, out_type, {table_type}, M);
  if (!call.begin())
    return call.status();

  const int64_t rowBytes = C * mhcrt_dtype_bytes(table_type);
  const char *from = static_cast<const char *>(table);
  const int32_t *row = static_cast<const int32_t *>(ids);
  char *to = static_cast<char *>(out);
  forTokens(ctx, M, 2 * rowBytes, [&](int64_t first, int64_t last) {
    for (int64_t m = first; m < last; ++m)
      std::memcpy(to + m * rowBytes, from + row[m] * rowBytes, rowBytes);
  });
  return MHCRT_OK;
}
