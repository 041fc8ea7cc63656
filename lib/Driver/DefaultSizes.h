//===- DefaultSizes.h - Sizes that an entry takes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_DEFAULTSIZES_H
#define MHC_LIB_DRIVER_DEFAULTSIZES_H

#include "mhcrt/model.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace mhc {

inline constexpr int64_t kDefaultTokens = 13;

/// A size for each symbol of an entry: that in `given` or, in this order of preference, 13 tokens, 8 of anything else,
/// or the smallest with which all dimensions are sizes and all that the manifest demands is so.
llvm::Expected<std::map<std::string, int64_t>> chooseSizes(const mhcrt_model *model, int32_t entry,
                                                           const std::map<std::string, int64_t> &given);

} // namespace mhc

#endif // MHC_LIB_DRIVER_DEFAULTSIZES_H
