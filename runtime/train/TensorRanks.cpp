//===- TensorRanks.cpp - Ranks that share heads and MLPs --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "TensorRanks.h"
#include "ModelCall.h"

#include <cstring>
#include <numeric>

using namespace mhcrt;

TensorRanks::TensorRanks(mhcrt_model *model, Ranks &ranks, Gpu &gpu)
    : model(model), all(ranks), ranks(mhcrt_model_tensor_ranks(model)),
      parts(ranks.count() / mhcrt_model_stages(model)), nccl(gpu) {}

bool TensorRanks::open(const std::string &entry, std::string &error) {
  int32_t number = 0;
  mhcrt_message message;
  if (ranks == 1)
    return true;
  if (mhcrt_model_find_entry(model, entry.c_str(), &number, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  const Signature arguments{model, number, false};
  for (int32_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].split_dim >= 0)
      shares[arguments[i].name] = arguments[i];
  return true;
}

//===------------------------------------------------------------------------===//
// Collectives
//===------------------------------------------------------------------------===//

static int64_t elementsOf(const mhcrt_tensor &tensor) { return bytesOf(tensor) / mhcrt_dtype_bytes(tensor.dtype); }

/// Whether `whole` is `own` of all ranks, in one type that can be added up or, `orIds`, be sent.
static bool fits(const mhcrt_tensor &own, const mhcrt_tensor &whole, bool orIds, int32_t ranks, std::string &error) {
  if (own.dtype == whole.dtype && bytesOf(own) * ranks == bytesOf(whole) &&
      (own.dtype == MHCRT_F32 || own.dtype == MHCRT_BF16 || (orIds && own.dtype == MHCRT_I32)))
    return true;
  error = "tensors are " + typeName(own) + " and " + typeName(whole) + "; needed f32" + (orIds ? ", i32" : "") +
          " or bf16, the larger one " + std::to_string(ranks) + " times as large";
  return false;
}

mhcrt_status TensorRanks::gather(const mhcrt_call &call, std::string &error) {
  const mhcrt_tensor &own = call.arguments[0], &whole = call.results[0];
  if (!fits(own, whole, /*orIds=*/true, ranks, error))
    return MHCRT_INVALID_ARGUMENT;
  return statusOf(nccl.isOpen() ? nccl.allGather(own.data, whole.data, elementsOf(own), own.dtype, call.stream, error)
                                : all.allGather(neighbours(), own.data, whole.data, bytesOf(own), error));
}

mhcrt_status TensorRanks::scatter(const mhcrt_call &call, std::string &error) {
  const mhcrt_tensor &whole = call.arguments[0], &own = call.results[0];
  if (!fits(own, whole, /*orIds=*/false, ranks, error))
    return MHCRT_INVALID_ARGUMENT;
  return statusOf(nccl.isOpen()
                      ? nccl.reduceScatter(whole.data, own.data, elementsOf(own), own.dtype, call.stream, error)
                      : all.reduceScatter(neighbours(), whole.data, own.data, elementsOf(own), own.dtype, error));
}

bool TensorRanks::connect(std::string &error) {
  if (ranks == 1)
    return true;
  if (std::strcmp(mhcrt_model_target(model), "cpu") != 0) {
    const bool isThere = nccl.isThere();
    if (!isThere)
      error = "tensor-parallel ranks on GPUs need NCCL: 'libnccl.so.2' is not there";
    if (!all.agree(isThere, error) || !nccl.open(all, neighbours(), error))
      return false;
  }
  // A name ends with that of the data, if these are no tokens.
  const std::pair<std::string, mhcrt_function> collectives[] = {
      {"tp_all_gather", callMethod<TensorRanks, &TensorRanks::gather>},
      {"tp_reduce_scatter", callMethod<TensorRanks, &TensorRanks::scatter>}};
  for (int32_t i = 0; i < mhcrt_model_functions(model); ++i) {
    const std::string name = mhcrt_model_function_name(model, i);
    for (const auto &[kind, function] : collectives)
      if (name.rfind(kind, 0) == 0 && !give(name.c_str(), function, this, error))
        return false;
  }
  return true;
}

bool TensorRanks::give(const char *name, mhcrt_function function, void *user, std::string &error) {
  mhcrt_message message;
  if (mhcrt_model_set_function(model, name, /*type=*/nullptr, function, user, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

//===------------------------------------------------------------------------===//
// Shares
//===------------------------------------------------------------------------===//

void TensorRanks::fillNumbers(NamedTensors &inputs) const {
  for (const char *name : {"places", "words"}) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      continue;
    const int64_t count = found->second.elements();
    int32_t *const to = static_cast<int32_t *>(found->second.data());
    std::iota(to, to + count, static_cast<int32_t>(place() * count));
  }
}

/// Calls `copy` for each stretch of bytes: where it begins in the share, and in the whole.
template <typename Copy>
static void forEachStretch(const mhcrt_tensor_info &info, int32_t place, int32_t ranks, Copy copy) {
  int64_t rows = 1, width = mhcrt_dtype_bytes(info.dtype);
  for (int32_t dim = 0; dim < info.rank; ++dim)
    (dim < info.split_dim ? rows : width) *= dim == info.split_dim ? 1 : info.sizes[dim];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = row * info.sizes[info.split_dim]; // in the whole, everything before is `ranks` times as much
    for (int32_t part = 0; part < info.split_parts; ++part) {
      const int64_t size = info.split_sizes[part];
      copy(begin * width, (begin * ranks + place * size) * width, size * width);
      begin += size;
    }
  }
}

bool TensorRanks::widen(const std::string &name, HostTensor &tensor, std::string &error) const {
  const mhcrt_tensor_info &info = shares.at(name);
  std::vector<int64_t> dims(info.sizes, info.sizes + info.rank);
  dims[info.split_dim] *= ranks;
  return tensor.allocate(info.dtype, dims, error);
}

bool TensorRanks::cut(const std::string &name, const HostTensor &whole, HostTensor &share, std::string &error) const {
  const mhcrt_tensor_info &info = shares.at(name);
  if (!share.allocate(info.dtype, std::vector<int64_t>(info.sizes, info.sizes + info.rank), error))
    return false;
  const char *const from = static_cast<const char *>(whole.data());
  char *const to = static_cast<char *>(share.data());
  forEachStretch(info, place(), ranks,
                 [&](int64_t own, int64_t inWhole, int64_t bytes) { std::memcpy(to + own, from + inWhole, bytes); });
  return true;
}

bool TensorRanks::join(const std::string &name, const HostTensor &share, HostTensor &whole, std::string &error) {
  const mhcrt_tensor_info &info = shares.at(name);
  std::vector<char> gathered(share.bytes() * ranks);
  if (!widen(name, whole, error) || !all.allGather(neighbours(), share.data(), gathered.data(), share.bytes(), error))
    return false;
  char *const to = static_cast<char *>(whole.data());
  for (int32_t other = 0; other < ranks; ++other)
    forEachStretch(info, other, ranks, [&](int64_t own, int64_t inWhole, int64_t bytes) {
      std::memcpy(to + inWhole, gathered.data() + other * share.bytes() + own, bytes);
    });
  return true;
}
