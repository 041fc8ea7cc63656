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
#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

#include <cstring>

using namespace mhcrt;

mhcrt_status mhcrt::runTake(mhcrt_context &context, const TakeArgs &a) {
  if (!checkTake(context, a, Ids::OnHost))
    return context.status;

  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.table_type);
  const char *from = static_cast<const char *>(a.table);
  const int32_t *row = static_cast<const int32_t *>(a.ids);
  char *to = static_cast<char *>(a.out);
  forTokens(context, a.M, 2 * rowBytes, [&](int64_t first, int64_t last) {
    for (int64_t m = first; m < last; ++m)
      std::memcpy(to + m * rowBytes, from + row[m] * rowBytes, rowBytes);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(take, Take)
