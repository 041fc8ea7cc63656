//===- Torch.h - The same rows in PyTorch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_TORCH_H
#define MHC_TOOLS_BENCH_TORCH_H

#include "Bench.h"

namespace mhc::bench {

/// Runs scripts/torch_sublayer.py, which this program carries, with the python3 on PATH, at the shapes and types of
/// the options. Fails with what python printed.
llvm::Expected<std::vector<TorchRow>> timeTorch(const Options &options);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_TORCH_H
