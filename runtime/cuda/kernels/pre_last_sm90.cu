//===- pre_last_sm90.cu - pre of streams last in one launch ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RingKernel.cuh has formula, plan and rounding. To a product a token in the layout Cn is one in nC, four quarters in
// place of the streams: its rows of phi lie as its elements do. Warps that aggregate have all streams of a channel in
// one quarter. x is read once: 10C bytes a token.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/Pre.h"
#include "cuda/ring/RingLaunch.cuh"

using namespace mhcrt;

const PreForm mhcrt::kPreLast = kRingPre<RingForm::last>;
