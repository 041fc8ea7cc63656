//===- Case.h - One golden case ------------------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_CASE_H
#define MHC_CONFORMANCE_CASE_H

#include "mhc/Spelling/GatedDelta.h"
#include "mhc/Spelling/IrWriter.h"
#include "mhc/Spelling/Spelling.h"

#include <optional>
#include <string>
#include <vector>

namespace mhc::conformance {
using namespace spelling;

/// A tensor as its manifest describes it.
struct TensorInfo {
  std::string name, file;
  Dims shape;
  Element source = Element::F32; ///< the element type that the library computed with
};

struct Tolerance {
  double atol = 0, rtol = 0;
};

struct Case {
  std::string directory, variant, name, op, mode;
  Attributes attributes;
  GatedDelta gatedDelta; ///< of op pre_gdn
  std::vector<TensorInfo> inputs, outputs;
  /// Gradients of the sum of outputs times cotangents; named like outputs and inputs. Either may lack some.
  std::vector<TensorInfo> cotangents, gradients;
  Tolerance float32, reference;

  /// variant/name, as reports call it.
  std::string label() const { return variant + "/" + name; }
};

/// Reads `directory`/manifest.json; sets `error` and returns nothing when it is not a usable manifest.
std::optional<Case> readCase(const std::string &directory, std::string &error);

/// Folders below `root` (or `root` itself) that hold a manifest, sorted.
std::vector<std::string> findCases(const std::string &root);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_CASE_H
