//===- File.h - Whole reads and writes with their errors --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_IO_FILE_H
#define MHCRT_IO_FILE_H

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace mhcrt {

// The values in these files are little-endian and are copied as they are.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "big-endian machines would need byte swaps");

/// A file with its name, for errors such as "'x.npy': ends after 12 bytes; expected 80 bytes of header".
class File {
public:
  File(const std::string &path, const char *mode) : name(path), handle(std::fopen(path.c_str(), mode)) {}
  ~File() {
    if (handle)
      std::fclose(handle);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  bool opened(std::string &error) const {
    if (!handle)
      error = "'" + name + "': " + std::strerror(errno);
    return handle != nullptr;
  }

  bool fail(std::string &error, const std::string &reason) const {
    error = "'" + name + "': " + reason;
    return false;
  }

  /// `what` names the bytes: "header", "data of f32[3]".
  bool read(void *to, int64_t bytes, const std::string &what, std::string &error) {
    const int64_t got = static_cast<int64_t>(std::fread(to, 1, bytes, handle));
    offset += got;
    if (got != bytes)
      return fail(error, "ends after " + std::to_string(offset) + " bytes; expected " + std::to_string(bytes - got) +
                             " more of the " + what);
    return true;
  }

  bool write(const void *from, int64_t bytes, std::string &error) {
    if (static_cast<int64_t>(std::fwrite(from, 1, bytes, handle)) != bytes)
      return fail(error, std::string("cannot write: ") + std::strerror(errno));
    return true;
  }

  /// Errors of delayed writes show here.
  bool close(std::string &error) {
    const bool good = std::fclose(handle) == 0;
    handle = nullptr;
    return good || fail(error, std::string("cannot write: ") + std::strerror(errno));
  }

  bool atEnd() {
    const int next = std::fgetc(handle);
    return next == EOF;
  }

  /// Size of the whole file, or -1 for a pipe. The position is where it was.
  int64_t size() {
    const long here = std::ftell(handle);
    if (here < 0 || std::fseek(handle, 0, SEEK_END) != 0)
      return -1;
    const long end = std::ftell(handle);
    std::fseek(handle, here, SEEK_SET);
    return end;
  }

private:
  std::string name;
  std::FILE *handle;
  int64_t offset = 0;
};

} // namespace mhcrt

#endif // MHCRT_IO_FILE_H
