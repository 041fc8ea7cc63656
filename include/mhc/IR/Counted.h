//===- Counted.h - A number and what it counts ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_COUNTED_H
#define MHC_IR_COUNTED_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mhc {

/// "1 op", "2 ops"
inline std::string counted(int64_t count, llvm::StringRef noun) {
  return std::to_string(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

} // namespace mhc

#endif // MHC_IR_COUNTED_H
