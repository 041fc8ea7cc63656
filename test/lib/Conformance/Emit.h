//===- Emit.h - Golden cases for another machine ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_EMIT_H
#define MHC_LIB_CONFORMANCE_EMIT_H

#include "Conformance/Runner.h"

#include <sstream>

namespace mhc::conformance {

/// Compiles cases into the folder `options.emit`, in the form of runtime/run/Check.h. The cases of a variant share one
/// library, in which equal programs are one entry; those are numbered.
class CheckWriter {
public:
  explicit CheckWriter(const Options &options) : options(options) {}

  /// Text of what went wrong; empty when the case is written.
  std::string add(const Case &golden, const Spelling &spelling);
  /// The same for what is left to write.
  std::string finish();

private:
  std::string startLibrary(const std::string &variant);
  std::string finishLibrary();
  std::string writeData(const Case &golden, bool gradients, std::string &data);
  std::string addCheck(const Case &golden, const std::string &ir, bool gradients);
  llvm::Expected<std::string> entryFor(const std::string &ir, bool gradients);

  const Options &options;
  std::string variant;
  std::unique_ptr<Compiler> compiler;         ///< of the library in the making
  Compiler::Module module;                    ///< its entries, fused
  std::map<std::string, std::string> entries; ///< by the text of their program
  std::ostringstream checks;
};

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_EMIT_H
