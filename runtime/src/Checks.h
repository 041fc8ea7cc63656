//===- Checks.h - Argument checks of each kernel -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same for every backend. False with the state's error set when a need is not met; else the call is counted.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CHECKS_H
#define MHCRT_SRC_CHECKS_H

#include "CallState.h"
#include "KernelArgs.h"

namespace mhcrt {

/// Whether row numbers and cuts may be read by the check. Where they are in the memory of a GPU, the kernel finds bad
/// ones.
enum class Ids { OnHost, OnDevice };

// Streams: ChecksStreams.cpp
bool checkExpand(CallState &state, const ExpandArgs &a);
bool checkContract(CallState &state, const ContractArgs &a);
bool checkAggregate(CallState &state, const AggregateArgs &a);
bool checkAggregateBwd(CallState &state, const AggregateBwdArgs &a);
bool checkPost(CallState &state, const PostArgs &a);
bool checkPostBwd(CallState &state, const PostBwdArgs &a);
bool checkRebuild(CallState &state, const RebuildArgs &a);

// Coefficients: ChecksCoefficients.cpp
bool checkGates(CallState &state, const GatesArgs &a);
bool checkGatesBwd(CallState &state, const GatesBwdArgs &a);
bool checkSinkhorn(CallState &state, const SinkhornArgs &a);
bool checkSinkhornBwd(CallState &state, const SinkhornBwdArgs &a);
bool checkPermutationMix(CallState &state, const PermutationMixArgs &a);
bool checkPermutationMixBwd(CallState &state, const PermutationMixBwdArgs &a);

// Projection and what is fused with it: ChecksProjection.cpp
bool checkProjection(CallState &state, const ProjectionArgs &a);
bool checkProjectionBwd(CallState &state, const ProjectionBwdArgs &a);
bool checkPre(CallState &state, const PreArgs &a);
bool checkPreBwd(CallState &state, const PreBwdArgs &a);
bool checkPostPre(CallState &state, const PostPreArgs &a);
bool checkPostPreBwd(CallState &state, const PostPreBwdArgs &a);
bool checkHead(CallState &state, const HeadArgs &a);
bool checkPostHead(CallState &state, const PostHeadArgs &a);
bool checkHeadBwd(CallState &state, const HeadBwdArgs &a);

// The front end of a gated delta net: ChecksGatedDelta.cpp
bool checkPreGatedDeltaRule(CallState &state, const PreGatedDeltaRuleArgs &a, Ids ids);
bool checkPreGatedDeltaRuleBwd(CallState &state, const PreGatedDeltaRuleBwdArgs &a, Ids ids);

// The rest of a model: ChecksModel.cpp
bool checkMatmul(CallState &state, const MatmulArgs &a);
bool checkBatchMatmul(CallState &state, const BatchMatmulArgs &a);
bool checkTake(CallState &state, const TakeArgs &a, Ids ids);
bool checkTakeBwd(CallState &state, const TakeBwdArgs &a, Ids ids);
bool checkRandom(CallState &state, const RandomArgs &a);
bool checkDropout(CallState &state, const DropoutArgs &a);

} // namespace mhcrt

#endif // MHCRT_SRC_CHECKS_H
