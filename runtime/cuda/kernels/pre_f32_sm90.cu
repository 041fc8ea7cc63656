//===- pre_f32_sm90.cu - pre of f32 in one launch -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula and plan. x in two bf16 terms, by both of phi: 2^-17 of each number's value; u is of x as
// it is. x is read once: 20C bytes a token, 8C where its streams are equal.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

const PreForm mhcrt::kPreF32 = kRingPre<RingForm::f32>;
const PreForm mhcrt::kPreF32Last = kRingPre<RingForm::f32Last>;
