//===- Output.cpp - Output of programs ------------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Support/Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

llvm::Error mhc::writeFile(StringRef path, StringRef bytes, bool isExecutable) {
  if (path == "-") {
    llvm::outs() << bytes; // its errors show in finishOutput
    return llvm::Error::success();
  }
  std::string error;
  if (mhcrt::writeFile(path.str(), bytes.data(), bytes.size(), error, isExecutable))
    return llvm::Error::success();
  return llvm::createStringError(error);
}

llvm::Expected<std::string> mhc::writeTemporaryFile(StringRef prefix, StringRef suffix, StringRef bytes) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(prefix, suffix, descriptor, path))
    return llvm::createStringError(error, "no temporary file can be made: " + error.message());
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << bytes;
  file.close();
  if (!file.has_error())
    return path.str().str();
  std::error_code error = file.error();
  file.clear_error();
  llvm::sys::fs::remove(path);
  return llvm::createStringError(error, "'" + path.str().str() + "' cannot be written: " + error.message());
}

llvm::Error mhc::checkOutputs(llvm::ArrayRef<mhcrt::FileRole> outputs, llvm::ArrayRef<mhcrt::FileRole> inputs) {
  std::string error;
  for (const mhcrt::FileRole &output : outputs)
    if (!output.path.empty() && output.path != "-" && !mhcrt::canWriteFile(output.path, error))
      return llvm::createStringError(error);
  if (!mhcrt::checkDistinct(outputs, inputs, error))
    return llvm::createStringError(error);
  const mhcrt::FileRole *printed = nullptr; // by the one that goes to the standard output
  for (const mhcrt::FileRole &output : outputs) {
    if (output.path != "-")
      continue;
    if (printed)
      return llvm::createStringError(output.role + " is '-', as " + printed->role + " is; needed another");
    printed = &output;
  }
  return llvm::Error::success();
}

int mhc::finishOutput(StringRef tool, int status) {
  std::string error;
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    error = "the standard output cannot be written: " + llvm::outs().error().message();
    llvm::outs().clear_error();
  } else if (mhcrt::flushStandardOutput(error)) {
    return status;
  }
  llvm::errs() << tool << ": error: " << error << "\n";
  return 2;
}
