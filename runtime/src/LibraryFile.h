//===- LibraryFile.h - Checks that a library's file is whole --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_LIBRARYFILE_H
#define MHCRT_SRC_LIBRARYFILE_H

#include <string>

namespace mhcrt {

/// False with `error` set where a shared library ends before its last segment, as one does that was not copied to its
/// end: dlopen would map it, and end the process when it reads there. What else is wrong is left to dlopen.
bool isWholeLibrary(const std::string &path, std::string &error);

} // namespace mhcrt

#endif // MHCRT_SRC_LIBRARYFILE_H
