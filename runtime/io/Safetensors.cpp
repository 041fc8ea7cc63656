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

static constexpr struct {
  const char *name;
  int32_t dtype;
} kTypes[] = {{"F32", MHCRT_F32}, {"BF16", MHCRT_BF16}, {"F16", MHCRT_F16},
              {"F64", MHCRT_F64}, {"I32", MHCRT_I32},   {"I64", MHCRT_I64}};

static int32_t typeOf(const std::string &name) {
  for (const auto &type : kTypes)
    if (type.name == name)
      return type.dtype;
  return MHCRT_NONE;
}

static const char *nameOf(int32_t dtype) {
  for (const auto &type : kTypes)
    if (type.dtype == dtype)
      return type.name;
  return "";
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

static int64_t bytesOf(const mhcrt_tensor &tensor) {
  int64_t bytes = mhcrt_dtype_bytes(tensor.dtype);
  for (int i = 0; i < tensor.rank; ++i)
    bytes *= tensor.dims[i];
  return bytes;
}

static std::string headerOf(const std::map<std::string, mhcrt_tensor> &tensors) {
  json header = json::object();
  int64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    const int64_t end = offset + bytesOf(tensor);
    header[name] = {{"dtype", nameOf(tensor.dtype)},
                    {"shape", std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank)},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // so that the data is aligned
  return text;
}

bool mhcrt::writeSafetensors(const std::string &path, const std::map<std::string, mhcrt_tensor> &tensors,
                             std::string &error) {
  const std::string header = headerOf(tensors);
  const uint64_t headerBytes = header.size();
  File file(path, "wb");
  if (!file.opened(error) || !file.write(&headerBytes, 8, error) ||
      !file.write(header.data(), static_cast<int64_t>(headerBytes), error))
    return false;
  for (const auto &[name, tensor] : tensors)
    if (!file.write(tensor.data, bytesOf(tensor), error))
      return false;
  return file.close(error);
}
