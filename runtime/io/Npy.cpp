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
#include "mhcrt/file.h"
#include "mhcrt/io.h"

#include <algorithm>
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

namespace {
/// Contents of a header's dictionary.
struct Header {
  std::string descr;
  bool isFortran = false;
  std::vector<int64_t> dims;
};

/// Reads the dictionary, in which each key is there once.
class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  /// False with `reason` set: what stands at the place where another thing is needed.
  bool parse(Header &header, std::string &reason);

private:
  bool fail(const std::string &needed) {
    reason = "has the header " + text.substr(0, text.find_last_not_of(" \n") + 1) + "; needed " + needed +
             " at its character " + std::to_string(at + 1);
    return false;
  }
  char next() {
    at = std::min(text.find_first_not_of(" \n", at), text.size());
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c) {
    if (next() != c)
      return false;
    ++at;
    return true;
  }
  bool need(char c) { return take(c) || fail(std::string("'") + c + "'"); }

  bool parseString(std::string &value);
  bool parseBool(bool &value);
  bool parseSize(int64_t &value);
  bool parseShape(std::vector<int64_t> &dims);
  bool parseValue(const std::string &key, Header &header);

  const std::string &text;
  std::string reason;
  size_t at = 0;
};
} // namespace

bool HeaderParser::parseString(std::string &value) {
  const char quote = next();
  const size_t end = quote == '\'' || quote == '"' ? text.find(quote, at + 1) : std::string::npos;
  if (end == std::string::npos)
    return fail("a string");
  value = text.substr(at + 1, end - at - 1);
  at = end + 1;
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  next();
  for (const auto &[word, meaning] : {std::pair("True", true), std::pair("False", false)})
    if (text.compare(at, std::strlen(word), word) == 0) {
      at += std::strlen(word);
      value = meaning;
      return true;
    }
  return fail("True or False");
}

bool HeaderParser::parseSize(int64_t &value) {
  if (!std::isdigit(static_cast<unsigned char>(next())))
    return fail("a size");
  char *end;
  errno = 0;
  value = std::strtoll(text.c_str() + at, &end, 10);
  if (errno)
    return fail("a size of at most " + std::to_string(INT64_MAX));
  at = end - text.c_str();
  return true;
}

/// (), (3,) or (3, 4): without its comma (3) would be a number.
bool HeaderParser::parseShape(std::vector<int64_t> &dims) {
  if (!need('('))
    return false;
  while (!take(')')) {
    int64_t size;
    if (!parseSize(size))
      return false;
    dims.push_back(size);
    if (!take(',') && (dims.size() == 1 || next() != ')'))
      return fail("','");
  }
  return true;
}

bool HeaderParser::parseValue(const std::string &key, Header &header) {
  if (key == "descr")
    return parseString(header.descr);
  if (key == "fortran_order")
    return parseBool(header.isFortran);
  return parseShape(header.dims);
}

bool HeaderParser::parse(Header &header, std::string &error) {
  std::vector<std::string> missing = {"descr", "fortran_order", "shape"};
  bool good = need('{');
  while (good && next() != '}') {
    const size_t start = at;
    std::string key;
    good = parseString(key);
    const auto found = std::find(missing.begin(), missing.end(), key);
    if (good && found == missing.end()) {
      at = start;
      next();
      good = fail("'descr', 'fortran_order' and 'shape', each once,");
    }
    good = good && need(':') && parseValue(key, header) && (take(',') || next() == '}' || fail("',' or '}'"));
    if (good)
      missing.erase(found);
  }
  good = good && (missing.empty() || fail("'" + missing.front() + "'")) && need('}') &&
         (next() == '\0' || fail("nothing"));
  error = reason;
  return good;
}

/// The element type that a header names: little-endian, or of the machine, which is that.
static bool findType(const File &file, const std::string &descr, int32_t &dtype, std::string &error) {
  if (descr[0] == '>')
    return file.fail(error, "values are big-endian ('" + descr + "'); needed little-endian");
  for (const TypeCode &type : kTypes)
    if (!descr.empty() && std::strchr("<=|", descr[0]) && descr.substr(1) == type.descr) {
      dtype = type.dtype;
      return true;
    }
  return file.fail(error, "element type '" + descr + "'; needed <f4, <f8, <f2, <i4, <i8, or <V2 and <u2 for bf16");
}

static bool readHeaderText(File &file, std::string &header, std::string &error) {
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
  std::string text, reason;
  Header header;
  int32_t dtype = MHCRT_NONE;
  if (!file.opened(error) || !readHeaderText(file, text, error))
    return false;
  if (!HeaderParser(text).parse(header, reason))
    return file.fail(error, reason);
  if (!findType(file, header.descr, dtype, error))
    return false;
  if (header.isFortran)
    return file.fail(error, "is in Fortran order; needed C order (numpy.ascontiguousarray)");
  if (header.dims.size() > MHCRT_MAX_RANK)
    return file.fail(error, "has " + std::to_string(header.dims.size()) + " dimensions; needed at most " +
                                std::to_string(MHCRT_MAX_RANK));
  mhcrt_tensor type = {nullptr, dtype, static_cast<int32_t>(header.dims.size()), {}};
  std::copy(header.dims.begin(), header.dims.end(), type.dims);
  if (const int64_t bytes = bytesOf(type); bytes >= 0 && !file.has(bytes, "data of " + typeName(type), error))
    return false;
  if (!tensor.allocate(dtype, header.dims, reason))
    return file.fail(error, reason);
  if (!file.read(tensor.data(), tensor.bytes(), "data of " + tensor.type(), error))
    return false;
  return file.atEnd() || file.fail(error, "has bytes behind the data of " + tensor.type());
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
  if (!descr) {
    error = "'" + path + "': cannot store dtype " + mhcrt_dtype_name(tensor.dtype);
    return false;
  }
  std::string header = std::string("{'descr': '<") + descr + "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < tensor.rank; ++i)
    header += std::to_string(tensor.dims[i]) + (tensor.rank == 1 || i + 1 < tensor.rank ? ", " : "");
  header += "), }";
  // The values start at a multiple of 64: 10 bytes before the header, a newline at its end.
  header.append(64 - (header.size() + 11) % 64, ' ');
  header += '\n';
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  start[8] = static_cast<unsigned char>(header.size() & 255);
  start[9] = static_cast<unsigned char>(header.size() >> 8);
  OutputFile file(path);
  return file.open(error) && file.write(start, sizeof(start), error) &&
         file.write(header.data(), static_cast<int64_t>(header.size()), error) &&
         file.write(tensor.data, bytesOf(tensor), error) && file.commit(error);
}

bool mhcrt::writeNpy(const std::string &path, const mhcrt_tensor &tensor, std::string &error) {
  try {
    return writeNpyThrowing(path, tensor, error);
  } catch (const std::bad_alloc &) {
    error = "'" + path + "': no memory";
    return false;
  }
}
