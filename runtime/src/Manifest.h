//===- Manifest.h - The parsed manifest of a compiled model -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_MANIFEST_H
#define MHCRT_SRC_MANIFEST_H

#include "mhcrt/model.h"

#include <deque>
#include <string>
#include <vector>

namespace mhcrt {

/// One argument or result; `info` points into the strings.
struct TensorSpec {
  std::string name, type;
  std::vector<std::string> dims; ///< as written
  mhcrt_tensor_info info = {};
};

struct EntrySpec {
  std::string name;
  std::deque<TensorSpec> arguments, results; ///< deques: `info` needs strings that do not move
};

struct Manifest {
  std::string target = "cpu";
  std::deque<EntrySpec> entries;
};

/// False with `error` set when a line cannot be understood; it names the line. May throw std::bad_alloc.
bool parseManifest(const char *text, Manifest &manifest, std::string &error);

/// "bf16[7,4,64]"
std::string describe(const mhcrt_tensor &tensor);

/// Checks that `tensors` are what `specs` say. `sizes` holds the symbols bound so far and who bound them.
struct BoundSize {
  std::string symbol;
  int64_t size;
  std::string tensor;
};
bool bindTensors(const EntrySpec &entry, const std::deque<TensorSpec> &specs, const char *what,
                 const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes, std::string &error);

/// The size bound to `symbol`, or null.
const BoundSize *findSize(const std::vector<BoundSize> &sizes, const char *symbol);

} // namespace mhcrt

#endif // MHCRT_SRC_MANIFEST_H
