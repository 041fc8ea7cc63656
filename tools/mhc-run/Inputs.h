//===- Inputs.h - Which file belongs to which tensor ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_RUN_INPUTS_H
#define MHC_RUN_INPUTS_H

#include "Options.h"
#include "mhcrt/io.h"
#include "mhcrt/model.h"

namespace mhc {

/// The arguments (results) of an entry.
struct Signature {
  const mhcrt_model *model;
  int32_t entry;
  bool results;

  int32_t size() const;
  const mhcrt_tensor_info &operator[](int32_t index) const;
  /// "argument" or "result"
  const char *noun() const { return results ? "result" : "argument"; }
  /// -1 when there is none.
  int32_t find(const std::string &name) const;
};

/// One path per tensor of the signature, "" where none was given: "NAME=FILE" by name, "FILE" in order.
bool assignFiles(const Signature &signature, const std::vector<std::string> &words, const char *option,
                 std::vector<std::string> &files, std::string &error);

/// All arguments of the entry, from --arg and --args. `notes` says what --convert rounded.
bool readArguments(const Signature &signature, const RunOptions &options, std::vector<mhcrt::HostTensor> &tensors,
                   std::string &notes, std::string &error);

} // namespace mhc

#endif // MHC_RUN_INPUTS_H
