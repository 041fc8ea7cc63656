//===- RandomCase.h - A kernel at a random shape ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case follows from the record of a kernel and a seed. New kernels need no line here.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_RANDOMCASE_H
#define MHC_TOOLS_BENCH_RANDOMCASE_H

#include "Case.h"
#include <random>

namespace mhc::bench {

/// Sizes, types, attributes and presence of the tensors at random, as far as the record goes: what the op's verifier
/// asks beyond it may not hold. Half of the cases are of the kind that fast kernels are written for.
/// `streams` is their number, or 0 for a random one.
Case randomCase(const KernelInfo &info, std::mt19937_64 &random, int64_t streams);

/// Elements of operand `index`. Now and then a token is all zeros, or tiny, or large, or has an element that is not
/// finite.
std::vector<double> randomElements(const Case &c, unsigned index, std::mt19937_64 &random);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_RANDOMCASE_H
