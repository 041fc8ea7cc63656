//===- file.h - Files that are whole or not there -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How every tool writes a file. It is written beside its target, under a name that no other process has, is forced to
// the disk and takes the target's place: the target is at all times the old file or the new one, also where two
// processes write it at once, the disk is full, or the writer is killed. C++17; no exception leaves these functions:
// each returns false and fills `error` with the file and the system's reason.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_FILE_H
#define MHCRT_FILE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mhcrt {

/// A new file. Without commit() it leaves nothing behind. A link stays, and the file that it names is replaced; the
/// new file has the permissions of the old one. A device, a pipe and an open file below /proc are written as they are.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() { discard(); }

  bool open(std::string &error, bool isExecutable = false);
  bool write(const void *data, int64_t bytes, std::string &error);
  /// Puts the file in its place.
  bool commit(std::string &error);

private:
  bool openBeside(bool isExecutable);
  bool fail(std::string &error);
  void discard();

  std::string path;
  std::string target;    ///< behind all links
  std::string temporary; ///< empty where the target itself is written
  int descriptor = -1;
};

/// All of a file at once.
bool writeFile(const std::string &path, const void *data, int64_t bytes, std::string &error, bool isExecutable = false);

/// Whether a file can be made there, found out before the work whose result it is for.
bool canWriteFile(const std::string &path, std::string &error);

/// A file of a command line, such as "'--load'", "x.safetensors"; the path is empty where it was not given.
struct FileRole {
  std::string role, path;
};

/// False where an output is one file with another output or an input, also by another name or a link. Only regular
/// files count: the standard output and /dev/null may be given twice.
bool checkDistinct(const std::vector<FileRole> &outputs, const std::vector<FileRole> &inputs, std::string &error);

/// At the start of a program: to write beyond a limit on the size of files is an error of the write, as on a full disk,
/// and does not end the program by a signal.
void makeFileLimitAnError();

/// Writes what printf has kept. At the end of a program: a full disk is an error there, too.
bool flushStandardOutput(std::string &error);

} // namespace mhcrt

#endif // MHCRT_FILE_H
