//===- Entries.cpp - The kernels' entries, which find their variants ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Context.h"

#define MHCRT_KERNEL_ENTRIES
#include "src/KernelArgs.h"
