//===- Needs.h - Needs of a variant --------------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A variant states its needs one after the other, joined by &&. Each is true when it is met; the first that is not
// stays here, so that a report can say in words what kept a fast variant from a call. Nothing is formatted before.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_NEEDS_H
#define MHCRT_CUDA_HOST_NEEDS_H

#include "mhcrt/mhcrt.h"

#include <initializer_list>
#include <string>

namespace mhcrt {

class Needs {
public:
  bool equal(const char *name, int64_t found, int64_t needed) {
    return found == needed || miss(Kind::equal, name, found, needed);
  }
  bool atMost(const char *name, int64_t found, int64_t most) {
    return found <= most || miss(Kind::atMost, name, found, most);
  }
  bool multiple(const char *name, int64_t found, int64_t of) {
    return found % of == 0 || miss(Kind::multiple, name, found, of);
  }
  bool type(const char *name, int32_t found, int32_t needed) {
    return found == needed || miss(Kind::type, name, found, needed);
  }
  bool given(const char *name, const void *tensor) { return tensor || miss(Kind::given, name, 0, 0); }
  bool absent(const char *name, const void *tensor) { return !tensor || miss(Kind::absent, name, 0, 0); }
  /// Addresses are multiples of 16; null is one.
  bool aligned(std::initializer_list<const void *> tensors) {
    for (const void *tensor : tensors)
      if (reinterpret_cast<uintptr_t>(tensor) % 16 != 0)
        return miss(Kind::aligned, "", 0, 0);
    return true;
  }
  /// Anything else; `needed` completes "needed ".
  bool that(bool isMet, const char *needed) { return isMet || miss(Kind::other, needed, 0, 0); }
  /// Precision of the products: `own` is that of the variant.
  bool precision(int32_t asked, int32_t own) { return own <= asked || miss(Kind::precision, "precision", asked, own); }
  /// Clusters of `blocks` blocks each: `found` of them fit on the GPU at once.
  bool clusters(int found, int blocks) { return found > 0 || miss(Kind::clusters, "", found, blocks); }
  /// Compute capability of the GPU, times ten.
  bool arch(int found, int least, int most) {
    return (found >= least && found <= most) || miss(Kind::arch, "", found, least);
  }

  /// Whether it is the GPU that lacks something, which others of its kind have.
  bool lackRoom() const { return kind == Kind::clusters; }

  /// The first need that is not met: "'C' is 100; needed a multiple of 32".
  std::string text() const;

private:
  enum class Kind { none, equal, atMost, multiple, type, given, absent, aligned, other, precision, clusters, arch };

  bool miss(Kind newKind, const char *newName, int64_t newFound, int64_t newNeeded) {
    kind = newKind, name = newName, found = newFound, needed = newNeeded;
    return false;
  }

  Kind kind = Kind::none;
  const char *name = "";
  int64_t found = 0, needed = 0;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_NEEDS_H
