//===- Reference.h - The ops in f64, as loops -------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four streams, layout nC. Results are f64 buffers; what an op of the record leaves out is computed all the same.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_REFERENCE_H
#define MHCRT_TEST_CUDA_REFERENCE_H

#include "Support.h"
#include "src/KernelArgs.h"

namespace mhcrt::test {

struct PreResults {
  Buffer u, hPre, hPost, hRes, proj, applied, meanSquare, multiplier;
};
PreResults reference(const PreArgs &args);

/// u of mhc.aggregate.
Buffer reference(const AggregateArgs &args);
Buffer reference(const PostArgs &args);

struct PostBwdResults {
  Buffer df, dhPost, dhRes, dx;
};
PostBwdResults reference(const PostBwdArgs &args);

struct AggregateBwdResults {
  Buffer dx, dhPre;
};
AggregateBwdResults reference(const AggregateBwdArgs &args);

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_REFERENCE_H
