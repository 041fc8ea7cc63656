//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format: the magic, a version, the length of a header, and the header: a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, then the values.
//
//===------------------------------------------------------------------------===//
#include "io/File.h"
#include "mhcrt/io.h"

#include <cctype>
#include <cstdlib>
#include <new>

using namespace mhcrt;

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr int kMagicBytes = 6;
// Longer than the header of any tensor of rank 8; a bigger number is a broken file.
static constexpr int64_t kMostHeaderBytes = 1 << 16;

namespace {
struct TypeCode {
  const char *descr; ///< without the byte order
  int32_t dtype;
};
} // namespace

// The first code of a dtype is the one that is written.
static constexpr TypeCode kTypes[] = {{"f4", MHCRT_F32}, {"V2", MHCRT_BF16}, {"u2", MHCRT_BF16}, {"f2", MHCRT_F16},
                                      {"f8", MHCRT_F64}, {"i4", MHCRT_I32},  {"i8", MHCRT_I64}};

/// The text after 'key': in the dictionary, or "" when there is no such key.
static std::string valueOf(const std::string &header, const std::string &key) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return "";
  size_t begin = header.find(':', at);
  if (begin == std::string::npos)
    return "";
  ++begin;
  while (begin < header.size() && header[begin] == ' ')
    ++begin;
  return header.substr(begin);
}

static bool parseType(const File &file, const std::string &header, int32_t &dtype, std::string &error) {
  const std::string value = valueOf(header, "descr");
  const size_t end = value.size() > 1 && value[0] == '\'' ? value.find('\'', 1) : std::string::npos;
  if (end == std::string::npos || end < 3)
    return file.fail(error, "no element type in the header " + header);
  const std::string descr = value.substr(1, end - 1);
  if (descr[0] == '>')
    return file.fail(error, "values are big-endian ('" + descr + "'); needed little-endian");
  for (const TypeCode &type : kTypes)
    if (descr.substr(1) == type.descr) {
      dtype = type.dtype;
      return true;
    }
  return file.fail(error, "element type '" + descr + "'; needed <f4, <f8, <f2, <i4, <i8, or <V2 and <u2 for bf16");
}

static bool parseShape(const File &file, const std::string &header, std::vector<int64_t> &dims, std::string &error) {
  const std::string value = valueOf(header, "shape");
  const size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string::npos)
    return file.fail(error, "no shape in the header " + header);
  const char *text = value.c_str() + 1, *stop = value.c_str() + end;
  while (text < stop) {
    if (!std::isdigit(static_cast<unsigned char>(*text))) {
      if (*text != ' ' && *text != ',')
        return file.fail(error, "shape " + value.substr(0, end + 1) + " is not a list of sizes");
      ++text;
      continue;
    }
    char *next;
    errno = 0;
    dims.push_back(std::strtoll(text, &next, 10));
    if (errno)
      return file.fail(error, "shape " + value.substr(0, end + 1) + " has a size out of range");
    text = next;
  }
  return true;
}

static bool readHeader(File &file, std::string &header, std::string &error) {
  unsigned char start[kMagicBytes + 2];
  if (!file.read(start, sizeof(start), "magic", error))
    return false;
  if (std::memcmp(start, kMagic, kMagicBytes) != 0)
    return file.fail(error, "is no .npy file: it does not start with \\x93NUMPY");
  const int version = start[kMagicBytes];
  if (version < 1 || version > 3)
    return file.fail(error, "has .npy version " + std::to_string(version) + "; needed 1, 2 or 3");
  unsigned char length[4] = {};
  if (!file.read(length, version == 1 ? 2 : 4, "header length", error))
    return false;
  const int64_t bytes = length[0] | length[1] << 8 | length[2] << 16 | static_cast<int64_t>(length[3]) << 24;
  if (bytes > kMostHeaderBytes)
    return file.fail(error, "has a header of " + std::to_string(bytes) + " bytes; at most " +
                                std::to_string(kMostHeaderBytes) + " is sound");
  header.resize(bytes);
  return file.read(header.data(), bytes, "header", error);
}

static bool readNpyThrowing(const std::string &path, HostTensor &tensor, std::string &error) {
  File file(path, "rb");
  std::string header;
  int32_t dtype = MHCRT_NONE;
  std::vector<int64_t> dims;
  if (!file.opened(error) || !readHeader(file, header, error) || !parseType(file, header, dtype, error))
    return false;
  if (valueOf(header, "fortran_order").compare(0, 5, "False") != 0)
    return file.fail(error, "is in Fortran order; needed C order (numpy.ascontiguousarray)");
  if (!parseShape(file, header, dims, error))
    return false;
  std::string reason;
  if (!tensor.allocate(dtype, dims, reason))
    return file.fail(error, reason);
  if (!file.read(tensor.data(), tensor.bytes(), "data of " + tensor.type(), error))
    return false;
  if (!file.atEnd())
    return file.fail(error, "has bytes behind the data of " + tensor.type());
  return true;
}

bool mhcrt::readNpy(const std::string &path, HostTensor &tensor, std::string &error) {
  try {
    return readNpyThrowing(path, tensor, error);
  } catch (const std::bad_alloc &) {
    error = "'" + path + "': no memory";
    return false;
  }
}

static bool writeNpyThrowing(const std::string &path, const mhcrt_tensor &tensor, std::string &error) {
  const char *descr = nullptr;
  for (const TypeCode &type : kTypes)
    if (type.dtype == tensor.dtype && !descr)
      descr = type.descr;
  File file(path, "wb");
  if (!file.opened(error))
    return false;
  if (!descr)
    return file.fail(error, std::string("cannot store dtype ") + mhcrt_dtype_name(tensor.dtype));

  std::string header = std::string("{'descr': '<") + descr + "', 'fortran_order': False, 'shape': (";
  int64_t elements = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    header += std::to_string(tensor.dims[i]) + (tensor.rank == 1 || i + 1 < tensor.rank ? ", " : "");
    elements *= tensor.dims[i];
  }
  header += "), }";
  // The values start at a multiple of 64: 10 bytes before the header, a newline at its end.
  header.append(64 - (header.size() + 11) % 64, ' ');
  header += '\n';
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  start[8] = static_cast<unsigned char>(header.size() & 255);
  start[9] = static_cast<unsigned char>(header.size() >> 8);
  return file.write(start, sizeof(start), error) &&
         file.write(header.data(), static_cast<int64_t>(header.size()), error) &&
         file.write(tensor.data, elements * mhcrt_dtype_bytes(tensor.dtype), error) && file.close(error);
}

bool mhcrt::writeNpy(const std::string &path, const mhcrt_tensor &tensor, std::string &error) {
  try {
    return writeNpyThrowing(path, tensor, error);
  } catch (const std::bad_alloc &) {
    error = "'" + path + "': no memory";
    return false;
  }
}
