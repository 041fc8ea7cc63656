//===- File.h - Whole reads with their errors -------------------*- C++ -*-===//
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
#include <sys/stat.h>

namespace mhcrt {

// The values in these files are little-endian and are copied as they are.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "big-endian machines would need byte swaps");

/// A file that is read, or a log that grows, with its name for errors such as "'x.npy': ends after 12 bytes; expected
/// 80 more of the header". A file that must be whole is an OutputFile (mhcrt/file.h).
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
      return fail(error, std::strerror(errno));
    struct stat status; // fopen takes a folder, too
    const bool isFolder = fstat(fileno(handle), &status) == 0 && S_ISDIR(status.st_mode);
    return !isFolder || fail(error, std::strerror(EISDIR));
  }

  bool fail(std::string &error, const std::string &reason) const {
    error = "'" + name + "': " + reason;
    return false;
  }

  /// `what` names the bytes: "header", "data of f32[3]".
  bool read(void *to, int64_t bytes, const std::string &what, std::string &error) {
    const int64_t got = static_cast<int64_t>(std::fread(to, 1, bytes, handle));
    offset += got;
    if (std::ferror(handle))
      return fail(error, std::string("cannot be read: ") + std::strerror(errno));
    return got == bytes || failShort(bytes - got, what, error);
  }

  /// Whether so many bytes can be there: known of a file, before memory is taken for them.
  bool has(int64_t bytes, const std::string &what, std::string &error) {
    const int64_t end = size();
    if (end < 0 || end - offset >= bytes)
      return true;
    const int64_t missing = bytes - (end - offset);
    offset = end;
    return failShort(missing, what, error);
  }

  bool write(const void *from, int64_t bytes, std::string &error) {
    if (static_cast<int64_t>(std::fwrite(from, 1, bytes, handle)) != bytes)
      return fail(error, std::string("cannot be written: ") + std::strerror(errno));
    return true;
  }

  /// Errors of delayed writes show here.
  bool close(std::string &error) {
    const bool good = std::fclose(handle) == 0;
    handle = nullptr;
    return good || fail(error, std::string("cannot be written: ") + std::strerror(errno));
  }

  bool atEnd() { return std::fgetc(handle) == EOF; }

  /// Bytes of the whole file, or -1 for a pipe or a device.
  int64_t size() const {
    struct stat status;
    return fstat(fileno(handle), &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
  }

private:
  bool failShort(int64_t missing, const std::string &what, std::string &error) const {
    return fail(error, "ends after " + std::to_string(offset) + " bytes; expected " + std::to_string(missing) +
                           " more of the " + what);
  }

  std::string name;
  std::FILE *handle;
  int64_t offset = 0;
};

} // namespace mhcrt

#endif // MHCRT_IO_FILE_H
