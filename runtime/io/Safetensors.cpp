//===- Safetensors.cpp - .safetensors files -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format: 8 bytes with the length of a JSON header, the header {"name": {"dtype": "F32", "shape": [3, 4],
// "data_offsets": [begin, end]}, ...}, then the data that the offsets count in.
//
//===------------------------------------------------------------------------===//
#include "io/File.h"
#include "mhcrt/io.h"

#include <nlohmann/json.hpp>

using namespace mhcrt;
using nlohmann::json;

static int32_t typeOf(const std::string &name) {
  if (name == "F32")
    return MHCRT_F32;
  if (name == "BF16")
    return MHCRT_BF16;
  if (name == "F16")
    return MHCRT_F16;
  if (name == "F64")
    return MHCRT_F64;
  if (name == "I32")
    return MHCRT_I32;
  if (name == "I64")
    return MHCRT_I64;
  return MHCRT_NONE;
}

static bool readThrowing(const std::string &path, std::map<std::string, HostTensor> &tensors, std::string &error) {
  File file(path, "rb");
  if (!file.opened(error))
    return false;
  const int64_t fileBytes = file.size();
  uint64_t headerBytes = 0;
  if (!file.read(&headerBytes, 8, "header length", error))
    return false;
  if (fileBytes < 8 || headerBytes > static_cast<uint64_t>(fileBytes - 8))
    return file.fail(error, "is no .safetensors file, or cut: its header would have " + std::to_string(headerBytes) +
                                " bytes, the file has " + std::to_string(fileBytes));
  std::string text(headerBytes, '\0');
  if (!file.read(text.data(), static_cast<int64_t>(headerBytes), "header", error))
    return false;
  const int64_t dataBytes = fileBytes - 8 - static_cast<int64_t>(headerBytes);
  std::vector<char> data(dataBytes);
  if (!file.read(data.data(), dataBytes, "data", error))
    return false;

  const json header = json::parse(text);
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    const std::string typeText = entry.at("dtype");
    const int32_t dtype = typeOf(typeText);
    if (dtype == MHCRT_NONE)
      return file.fail(error,
                       "tensor '" + name + "' has dtype " + typeText + "; needed F32, BF16, F16, F64, I32 or I64");
    HostTensor tensor;
    std::string reason;
    if (!tensor.allocate(dtype, entry.at("shape").get<std::vector<int64_t>>(), reason))
      return file.fail(error, "tensor '" + name + "': " + reason);
    const auto offsets = entry.at("data_offsets").get<std::vector<int64_t>>();
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != tensor.bytes())
      return file.fail(error, "tensor '" + name + "' of type " + tensor.type() + " needs " +
                                  std::to_string(tensor.bytes()) + " bytes; its data_offsets are " +
                                  entry.at("data_offsets").dump());
    if (offsets[1] > dataBytes)
      return file.fail(error, "is cut: tensor '" + name + "' ends at byte " + std::to_string(offsets[1]) +
                                  " of the data, which has " + std::to_string(dataBytes));
    if (tensor.bytes())
      std::memcpy(tensor.data(), data.data() + offsets[0], tensor.bytes());
    tensors[name] = std::move(tensor);
  }
  return true;
}

bool mhcrt::readSafetensors(const std::string &path, std::map<std::string, HostTensor> &tensors, std::string &error) {
  try {
    return readThrowing(path, tensors, error);
  } catch (const json::exception &problem) {
    error = "'" + path + "': header is not what .safetensors asks for: " + problem.what();
  } catch (const std::exception &) {
    error = "'" + path + "': no memory";
  }
  return false;
}
