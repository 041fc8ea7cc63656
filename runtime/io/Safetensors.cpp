//===- Safetensors.cpp - .safetensors files -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format: 8 bytes with the length of a JSON header, the header {"name": {"dtype": "F32", "shape": [3, 4],
// "data_offsets": [begin, end]}, ...}, then the data that the offsets count in, each byte of it in one tensor.
// "__metadata__" is no tensor but texts by name; ours has a checksum of the header and the data.
//
//===------------------------------------------------------------------------===//
#include "io/File.h"
#include "mhcrt/file.h"
#include "mhcrt/io.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>
#include <zlib.h>

using namespace mhcrt;
using nlohmann::json;

static constexpr uint64_t kMostHeaderBytes = 100'000'000; // the format's own bound
static constexpr int kMostDepth = 3;                      // header, tensor, shape
static constexpr const char *kMetadata = "__metadata__";
static constexpr const char *kChecksum = "mhc.crc32";

static constexpr struct {
  const char *name;
  int32_t dtype;
} kTypes[] = {{"F32", MHCRT_F32}, {"BF16", MHCRT_BF16}, {"F16", MHCRT_F16},
              {"F64", MHCRT_F64}, {"I32", MHCRT_I32},   {"I64", MHCRT_I64}};

static const char *nameOf(int32_t dtype) {
  for (const auto &type : kTypes)
    if (type.dtype == dtype)
      return type.name;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Checksum
//===----------------------------------------------------------------------===//

static constexpr size_t kDigits = 8;

static std::string checksumText(unsigned long checksum) {
  char text[kDigits + 1];
  std::snprintf(text, sizeof(text), "%08lx", checksum);
  return text;
}

static unsigned long add(unsigned long checksum, const void *data, size_t bytes) {
  return crc32_z(checksum, static_cast<const unsigned char *>(data), bytes);
}

/// Position of the checksum's digits in a header; npos where it has none.
static size_t findChecksum(const std::string &header) {
  const std::string key = std::string("\"") + kChecksum + "\":\""; // no string has such quotes inside
  const size_t at = header.find(key);
  return at == std::string::npos || at + key.size() + kDigits > header.size() ? std::string::npos : at + key.size();
}

/// The digits count as zeros.
static unsigned long checksumOfHeader(std::string header) {
  if (const size_t at = findChecksum(header); at != std::string::npos)
    header.replace(at, kDigits, kDigits, '0');
  return add(0, header.data(), header.size());
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {
/// An error in a file.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TensorEntry {
  std::string name;
  mhcrt_tensor type;
  int64_t begin, end; ///< in the data
};

struct Header {
  std::vector<TensorEntry> tensors; ///< in the order of the data
  std::string checksum;             ///< empty where there is none
};
} // namespace

/// Any text on one line.
static std::string quoted(const std::string &text) {
  const std::string literal = json(text).dump();
  return "'" + literal.substr(1, literal.size() - 2) + "'";
}

/// A value as it was found, which may be long.
static std::string found(const json &value) {
  constexpr size_t kMost = 80;
  const std::string text = value.dump();
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// An object in which a key is there once, and nothing is nested deeper than the format has it.
static json parseHeader(const std::string &text) {
  if (text.empty() || text[0] != '{')
    throw FormatError("has a header that starts with " + (text.empty() ? "nothing" : quoted(text.substr(0, 1))) +
                      "; needed '{'");
  std::vector<std::set<std::string>> keys(kMostDepth + 1); // of the open object at each depth
  auto check = [&](int depth, json::parse_event_t event, json &parsed) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kMostDepth)
      throw FormatError("has a header that is nested deeper than " + std::to_string(kMostDepth) + " levels");
    if (opens)
      keys[depth + 1].clear();
    if (event == json::parse_event_t::key && !keys[depth].insert(parsed.get<std::string>()).second)
      throw FormatError("has the key " + quoted(parsed.get<std::string>()) + " twice in its header");
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::parse_error &problem) {
    throw FormatError("has a header that is not JSON at its byte " + std::to_string(problem.byte));
  } catch (const json::exception &) {
    throw FormatError("has a header with a number that is out of range");
  }
}

static bool isSize(const json &value) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

/// The sizes that `key` lists in the entry of a tensor.
static std::vector<int64_t> sizesOf(const std::string &tensor, const json &entry, const char *key) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array() || !std::all_of(list->begin(), list->end(), isSize))
    throw FormatError(tensor + (list == entry.end() ? " has no " : " has " + found(*list) + " as its ") + key +
                      "; needed a list of whole numbers from 0 to " + std::to_string(INT64_MAX));
  return *list;
}

static int32_t typeOf(const std::string &tensor, const json &entry) {
  const auto name = entry.find("dtype");
  for (const auto &type : kTypes)
    if (name != entry.end() && *name == type.name)
      return type.dtype;
  throw FormatError(tensor + " has " + (name == entry.end() ? "no dtype" : "dtype " + found(*name)) +
                    "; needed F32, BF16, F16, F64, I32 or I64");
}

static TensorEntry readEntry(const std::string &name, const json &entry) {
  const std::string tensor = "tensor " + quoted(name);
  if (!entry.is_object())
    throw FormatError(tensor + " is " + found(entry) + "; needed an object with dtype, shape and data_offsets");
  mhcrt_tensor type = {};
  type.dtype = typeOf(tensor, entry);
  const std::vector<int64_t> shape = sizesOf(tensor, entry, "shape");
  const std::vector<int64_t> offsets = sizesOf(tensor, entry, "data_offsets");
  if (shape.size() > MHCRT_MAX_RANK)
    throw FormatError(tensor + " has " + std::to_string(shape.size()) + " dimensions; needed at most " +
                      std::to_string(MHCRT_MAX_RANK));
  type.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), type.dims);
  const int64_t bytes = bytesOf(type);
  if (bytes < 0)
    throw FormatError(tensor + " of type " + typeName(type) + " has more than 2^63 bytes");
  if (offsets.size() != 2 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes)
    throw FormatError(tensor + " of type " + typeName(type) + " needs " + std::to_string(bytes) +
                      " bytes; its data_offsets are " + found(entry["data_offsets"]));
  return {name, type, offsets[0], offsets[1]};
}

static std::string readChecksum(const json &metadata) {
  const auto isText = [](const json &value) { return value.is_string(); };
  if (!metadata.is_object() || !std::all_of(metadata.begin(), metadata.end(), isText))
    throw FormatError(std::string("has ") + found(metadata) + " as '" + kMetadata + "'; needed texts by name");
  const auto checksum = metadata.find(kChecksum);
  return checksum == metadata.end() ? "" : checksum->get<std::string>();
}

/// Each tensor starts where the one before it ends, and the last one ends with the data.
static void checkCover(const std::vector<TensorEntry> &tensors, int64_t dataBytes) {
  int64_t end = 0;
  std::string place = "the data starts";
  for (const TensorEntry &tensor : tensors) {
    const std::string name = "tensor " + quoted(tensor.name);
    if (tensor.begin != end)
      throw FormatError(name + " starts at byte " + std::to_string(tensor.begin) + " of the data; needed " +
                        std::to_string(end) + ", where " + place);
    end = tensor.end;
    place = name + " ends";
    if (end > dataBytes)
      throw FormatError("is cut: " + name + " ends at byte " + std::to_string(end) + " of the data, which has " +
                        std::to_string(dataBytes));
  }
  if (end != dataBytes)
    throw FormatError("has " + std::to_string(dataBytes) + " bytes of data; needed " + std::to_string(end) +
                      ", where " + place);
}

static Header readHeader(const std::string &text, int64_t dataBytes) {
  Header header;
  const json entries = parseHeader(text);
  for (const auto &[name, entry] : entries.items())
    if (name == kMetadata)
      header.checksum = readChecksum(entry);
    else
      header.tensors.push_back(readEntry(name, entry));
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  checkCover(header.tensors, dataBytes);
  return header;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The text of the header; false where the file itself cannot be read.
static bool readHeaderText(File &file, std::string &text, std::string &error) {
  const int64_t fileBytes = file.size();
  uint64_t headerBytes = 0;
  if (fileBytes < 0)
    return file.fail(error, "is a pipe or a device; needed a file, whose size is known");
  if (!file.read(&headerBytes, sizeof(headerBytes), "header length", error))
    return false;
  if (headerBytes > static_cast<uint64_t>(fileBytes - sizeof(headerBytes)))
    return file.fail(error, "is no .safetensors file, or cut: its header would have " + std::to_string(headerBytes) +
                                " bytes, the file has " + std::to_string(fileBytes));
  if (headerBytes > kMostHeaderBytes)
    return file.fail(error, "has a header of " + std::to_string(headerBytes) + " bytes; needed at most " +
                                std::to_string(kMostHeaderBytes));
  text.resize(headerBytes);
  return file.read(text.data(), static_cast<int64_t>(headerBytes), "header", error);
}

static bool readThrowing(File &file, std::map<std::string, HostTensor> &tensors, std::string &error) {
  std::string text;
  if (!file.opened(error) || !readHeaderText(file, text, error))
    return false;
  const Header header = readHeader(text, file.size() - 8 - static_cast<int64_t>(text.size()));
  unsigned long checksum = checksumOfHeader(text);
  for (const TensorEntry &entry : header.tensors) {
    HostTensor &tensor = tensors[entry.name];
    std::string reason;
    if (!tensor.allocate(entry.type.dtype, {entry.type.dims, entry.type.dims + entry.type.rank}, reason))
      return file.fail(error, "tensor " + quoted(entry.name) + ": " + reason);
    if (!file.read(tensor.data(), tensor.bytes(), "tensor " + quoted(entry.name), error))
      return false;
    checksum = add(checksum, tensor.data(), tensor.bytes());
  }
  if (!header.checksum.empty() && header.checksum != checksumText(checksum))
    return file.fail(error, "is damaged, or was changed by a program that left '" + std::string(kChecksum) + "' in '" +
                                kMetadata + "': the checksum there is " + quoted(header.checksum) +
                                ", that of its bytes '" + checksumText(checksum) + "'");
  return true;
}

bool mhcrt::readSafetensors(const std::string &path, std::map<std::string, HostTensor> &tensors, std::string &error) {
  File file(path, "rb");
  try {
    return readThrowing(file, tensors, error);
  } catch (const FormatError &problem) {
    return file.fail(error, problem.what());
  } catch (const std::exception &) {
    return file.fail(error, "no memory");
  }
}

static std::string headerOf(const std::map<std::string, mhcrt_tensor> &tensors) {
  json header;
  header[kMetadata][kChecksum] = checksumText(0);
  int64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    if (name == kMetadata || !nameOf(tensor.dtype))
      throw FormatError("cannot hold a tensor " + typeName(tensor) + " called '" + name + "'");
    const int64_t end = offset + bytesOf(tensor);
    header[name] = {{"dtype", nameOf(tensor.dtype)},
                    {"shape", std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank)},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // so that the data is aligned
  unsigned long checksum = checksumOfHeader(text);
  for (const auto &[name, tensor] : tensors)
    checksum = add(checksum, tensor.data, bytesOf(tensor));
  return text.replace(findChecksum(text), kDigits, checksumText(checksum));
}

static bool writeThrowing(const std::string &path, const std::map<std::string, mhcrt_tensor> &tensors,
                          std::string &error) {
  const std::string header = headerOf(tensors);
  const uint64_t headerBytes = header.size();
  OutputFile file(path);
  if (!file.open(error) || !file.write(&headerBytes, sizeof(headerBytes), error) ||
      !file.write(header.data(), static_cast<int64_t>(headerBytes), error))
    return false;
  for (const auto &[name, tensor] : tensors)
    if (!file.write(tensor.data, bytesOf(tensor), error))
      return false;
  return file.commit(error);
}

bool mhcrt::writeSafetensors(const std::string &path, const std::map<std::string, mhcrt_tensor> &tensors,
                             std::string &error) {
  try {
    return writeThrowing(path, tensors, error);
  } catch (const json::exception &) {
    error = "'" + path + "': the name of a tensor is not UTF-8";
  } catch (const FormatError &problem) {
    error = "'" + path + "': " + problem.what();
  } catch (const std::exception &) {
    error = "'" + path + "': no memory";
  }
  return false;
}
