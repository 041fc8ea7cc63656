//===- MhcOps.td - All ops of the dialect ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCOPS
#define MHC_IR_MHCOPS

include "mhc/IR/Ops/Aggregate.td"
include "mhc/IR/Ops/Expand.td"
include "mhc/IR/Ops/PreGatedDeltaRule.td"
include "mhc/IR/Ops/Launch.td"
include "mhc/IR/Ops/Matmul.td"
include "mhc/IR/Ops/Post.td"
include "mhc/IR/Ops/PostPre.td"
include "mhc/IR/Ops/Pre.td"
include "mhc/IR/Ops/Projection.td"
include "mhc/IR/Ops/Random.td"
include "mhc/IR/Ops/Rebuild.td"
include "mhc/IR/Ops/Sinkhorn.td"
include "mhc/IR/Ops/Take.td"
include "mhc/IR/Ops/Tensor.td"

#endif // MHC_IR_MHCOPS
