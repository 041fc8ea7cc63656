//===- LibraryFile.h - A library's file and its symbols --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_LIBRARYFILE_H
#define MHCRT_SRC_LIBRARYFILE_H

#include <dlfcn.h>
#include <string>

namespace mhcrt {

/// False with `error` set where a shared library ends before its last segment, as one does that was not copied to its
/// end: dlopen would map it, and end the process when it reads there. What else is wrong is left to dlopen.
bool isWholeLibrary(const std::string &path, std::string &error);

/// Keeps the name of the first symbol that the library has not.
template <typename Function>
bool resolve(void *library, const char *symbol, Function &function, std::string &missing) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (!function && missing.empty())
    missing = symbol;
  return function != nullptr;
}

} // namespace mhcrt

#endif // MHCRT_SRC_LIBRARYFILE_H
