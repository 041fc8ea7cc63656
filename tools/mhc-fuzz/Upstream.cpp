//===- Upstream.cpp - Crashes of MLIR itself ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Upstream.h"
#include "llvm/Support/Regex.h"

/// Each crashes mlir-opt-22 (22.1.8) too, or makes it write what it does not read, on text that holds it.
static constexpr const char *kCrashes[] = {
    // The verifier of tensor.concat indexes a shape with the dimension before it checks that.
    "tensor\\.concat.*dim.*-",
    // The parser of tensor.from_elements makes an operand type for each element of the result's type.
    "from_elements.*[0-9]{6}",
    // Named linalg ops call a null function for an index that they would cast to a float.
    "ins\\(.*xindex>",
    "elementwise_kind.*xi1>",
    // The parser of linalg ops goes on where an attribute that it needs did not parse.
    "(permutation|dimensions) *= *[^ []",
    // A size of 0 is folded into types in which slices at offset 0 do not verify.
    "(empty|splat)\\(.*%c0[_,)]|(\\] |output_shape )\\[([^]]*, )?%c0[],_]",
    // Bytecode: its reader trusts what it reads.
    "^ML\xefR",
};

bool mhc::fuzz::crashesUpstream(llvm::StringRef text) {
  for (const char *pattern : kCrashes)
    if (llvm::Regex(pattern, llvm::Regex::Newline).match(text))
      return true;
  return false;
}
