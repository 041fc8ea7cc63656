//===- Needs.cpp - Text of the needs of a variant -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Needs.h"
#include "mhcrt/kernels.h"

using namespace mhcrt;

/// Names of mhcrt_precision, the best first.
static constexpr const char *kPrecisions[] = {"ieee", "tf32x3", "bf16x3", "tf32"};
static_assert(sizeof(kPrecisions) / sizeof(*kPrecisions) == MHCRT_PRECISION_TF32 + 1);

std::string Needs::text() const {
  const std::string subject = "'" + std::string(name) + "'", is = subject + " is ", bound = std::to_string(needed);
  switch (kind) {
  case Kind::none:
    break;
  case Kind::equal:
    return is + std::to_string(found) + "; needed " + bound;
  case Kind::atMost:
    return is + std::to_string(found) + "; needed at most " + bound;
  case Kind::multiple:
    return is + std::to_string(found) + "; needed a multiple of " + bound;
  case Kind::type:
    return subject + " has dtype " + mhcrt_dtype_name(static_cast<int32_t>(found)) + "; needed " +
           mhcrt_dtype_name(static_cast<int32_t>(needed));
  case Kind::given:
    return subject + " is absent; needed it";
  case Kind::absent:
    return subject + " is given; needed none";
  case Kind::aligned:
    return "a tensor's address is no multiple of 16";
  case Kind::other:
    return "needed " + std::string(name);
  case Kind::precision:
    return is + kPrecisions[found] + "; needed at most " + kPrecisions[needed];
  case Kind::clusters:
    return "the GPU has room for " + std::to_string(found) + " clusters of " + bound + " blocks; needed 1";
  case Kind::arch:
    return "the GPU is sm_" + std::to_string(found) + "; needed sm_" + bound;
  }
  return "";
}
