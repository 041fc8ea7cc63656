//===- Check.h - Checks that another machine prepared -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of checks has a text file, checks.txt, model libraries and .safetensors files. The text has one fact per
// line; `library` and `data` hold until the next of their kind:
//
//   mhc-checks 1
//   library te.so
//   data te/layer_f32.safetensors
//   check te/layer_f32 gradients
//   entry c4_grad
//   arg in.0
//   want 2 grad.0 1e-6 2e-5
//
// `arg` names the tensors of the arguments in order; `want` a result by its number, the tensor that it should be, and
// the absolute and relative tolerance.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_RUN_CHECK_H
#define MHCRT_RUN_CHECK_H

#include "mhcrt/io.h"

#include <string>
#include <vector>

namespace mhcrt {

struct Check {
  struct Want {
    int32_t result;
    std::string tensor;
    Tolerance tolerance;
  };
  std::string name, library, data, entry;
  std::vector<std::string> arguments;
  std::vector<Want> wants;
};

/// False with `error` set, which names the line, when the text cannot be understood.
bool parseChecks(const std::string &text, std::vector<Check> &checks, std::string &error);

/// Runs all checks in a folder, prints those that fail and their number; returns the exit status. `asGraph`: the
/// results of each must also be those of a CUDA graph's replay, bit by bit.
int runChecks(const std::string &folder, bool asGraph);

} // namespace mhcrt

#endif // MHCRT_RUN_CHECK_H
