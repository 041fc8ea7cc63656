//===- LoopChecks.cpp - Checks that loops of a model make -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what the kernels of an image leave in `mhc_check` (mhcrt/cuda.h).
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LoopChecks.h"
#include "mhcrt/sizes.h"

#include <cstring>

using namespace mhcrt;

namespace {

/// A global of an image, in the memory of the GPU; null where the image has none of the name.
struct DeviceGlobal {
  void *address = nullptr;
  size_t bytes = 0;
};

class Reader {
public:
  Reader(mhcrt_context &context, const char *what) : context(context), what(what) {}

  DeviceGlobal find(cudaLibrary_t library, const char *name);
  bool copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, context.stream);
    if (error == cudaSuccess)
      error = cudaStreamSynchronize(context.stream);
    context.check(error, what);
    return error == cudaSuccess;
  }
  void report(const DeviceGlobal &record, const DeviceGlobal &texts);

private:
  mhcrt_context &context;
  const char *what;
};

} // namespace

DeviceGlobal Reader::find(cudaLibrary_t library, const char *name) {
  DeviceGlobal global;
  const cudaError_t error = cudaLibraryGetGlobal(&global.address, &global.bytes, library, name);
  if (error == cudaSuccess)
    return global;
  forget(error);
  if (error != cudaErrorSymbolNotFound)
    context.check(error, what);
  return {};
}

/// A record of no check that has failed.
static std::vector<int64_t> freeRecord(size_t words) {
  std::vector<int64_t> record(words);
  for (size_t check = 1; check + 2 < words; check += 3) {
    record[check + 1] = INT64_MAX;
    record[check + 2] = INT64_MIN;
  }
  return record;
}

void Reader::report(const DeviceGlobal &record, const DeviceGlobal &texts) {
  const std::vector<int64_t> free = freeRecord(record.bytes / sizeof(int64_t));
  std::vector<int64_t> found(free.size());
  std::string text(texts.bytes, '\0');
  if (!copy(found.data(), record.address, record.bytes, cudaMemcpyDeviceToHost) ||
      !copy(text.data(), texts.address, texts.bytes, cudaMemcpyDeviceToHost) ||
      !copy(record.address, free.data(), record.bytes, cudaMemcpyHostToDevice))
    return;
  // No other kernel has written into it, so that the first of its checks is the first of all.
  size_t word = 1;
  while (word + 2 < found.size() && found[word] == 0)
    word += 3;
  if (word + 2 >= found.size())
    return;
  const auto next = [](const char *string) { return string + std::strlen(string) + 1; };
  const char *check = text.c_str();
  for (size_t before = 1; before < word; before += 3)
    check = next(next(check));
  const int64_t most = found[word] - 2, least = found[word + 1], largest = found[word + 2];
  if (least > largest)
    mhcrt_check_assertion(&context, 0, check, next(check));
  else
    mhcrt_check_size(&context, least < 0 ? least : largest, 0, most, check, next(check));
}

void mhcrt::reportLoopChecks(mhcrt_context &context, const char *what) {
  Reader reader(context, what);
  for (const auto &[code, library] : context.images) {
    const DeviceGlobal record = library ? reader.find(library, "mhc_check") : DeviceGlobal();
    int64_t kernel = 0;
    if (record.address && reader.copy(&kernel, record.address, sizeof(kernel), cudaMemcpyDeviceToHost) && kernel != 0)
      reader.report(record, reader.find(library, "mhc_check_texts"));
  }
}
