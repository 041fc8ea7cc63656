//===- Ops.cpp - Registers the ops torch.ops.mhc.* ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "BoxedOp.h"

using namespace mhcrt;

#include "MhcTorchOps.inc"
