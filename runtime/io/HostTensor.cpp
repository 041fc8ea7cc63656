//===- HostTensor.cpp - A tensor that owns its bytes ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/io.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace mhcrt;

static constexpr int64_t kAlignment = 64;

HostTensor::HostTensor(HostTensor &&other) noexcept : tensor(std::exchange(other.tensor, {})) {}

HostTensor &HostTensor::operator=(HostTensor &&other) noexcept {
  std::swap(tensor, other.tensor);
  return *this;
}

HostTensor::~HostTensor() { std::free(tensor.data); }

bool HostTensor::allocate(int32_t dtype, const std::vector<int64_t> &dims, std::string &error) {
  mhcrt_tensor fresh = {};
  fresh.dtype = dtype;
  fresh.rank = static_cast<int32_t>(dims.size());
  if (dims.size() > MHCRT_MAX_RANK) {
    error = "rank " + std::to_string(dims.size()) + "; at most " + std::to_string(MHCRT_MAX_RANK) + " is possible";
    return false;
  }
  std::copy(dims.begin(), dims.end(), fresh.dims);
  const int64_t size = bytesOf(fresh);
  const bool isSize = size >= 0 && std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim >= 0; });
  if (isSize && size <= INT64_MAX - kAlignment)
    fresh.data = std::aligned_alloc(kAlignment, (size / kAlignment + 1) * kAlignment);
  if (!fresh.data) {
    error = "no memory for a tensor " + typeName(fresh);
    return false;
  }
  std::memset(fresh.data, 0, size);
  std::free(tensor.data);
  tensor = fresh;
  return true;
}

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i)
    count *= tensor.dims[i];
  return count;
}

int64_t HostTensor::bytes() const { return bytesOf(tensor); }

std::vector<int64_t> HostTensor::dims() const { return {tensor.dims, tensor.dims + tensor.rank}; }

std::string HostTensor::type() const { return typeName(tensor); }

std::string mhcrt::typeName(const mhcrt_tensor &tensor) {
  std::string text = mhcrt_dtype_name(tensor.dtype);
  text += "[";
  for (int i = 0; i < tensor.rank && i < MHCRT_MAX_RANK; ++i)
    text += (i ? "," : "") + std::to_string(tensor.dims[i]);
  return text + "]";
}

int64_t mhcrt::bytesOf(const mhcrt_tensor &tensor) {
  int64_t bytes = mhcrt_dtype_bytes(tensor.dtype);
  for (int i = 0; i < tensor.rank; ++i)
    if (__builtin_mul_overflow(bytes, tensor.dims[i], &bytes))
      return -1;
  return bytes;
}
