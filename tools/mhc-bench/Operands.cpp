//===- Operands.cpp - Tensors of a program in memory ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mhc;
using namespace mhc::bench;
using llvm::Error;
using llvm::Expected;

/// Elements that are made on the host; a longer tensor repeats them, at a distance that no wrapped offset is a multiple
/// of.
constexpr int64_t kFillElements = 1000003;
constexpr uint64_t kOtherSeed = 1000; ///< than any that fill() has

static int64_t bytesOf(const CaseTensor &tensor) { return tensor.elements * mhcrt_dtype_bytes(tensor.dtype); }

/// Even random numbers in [-scale, scale], or [0, scale]: the high half of an f32 is the bf16 with its leading bits.
/// Cuts are evenly spaced, those of the other seed further and further apart.
static std::vector<char> randomElements(const CaseTensor &tensor, uint64_t seed) {
  const int64_t elements = std::min(tensor.elements, kFillElements);
  std::vector<char> bytes(elements * mhcrt_dtype_bytes(tensor.dtype));
  const int64_t last = std::max<int64_t>(elements - 1, 1);
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < elements; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float value = static_cast<float>((static_cast<double>(state >> 32) / 2147483648.0 - 1.0) * tensor.scale);
    value = tensor.isNegativeToo ? value : std::fabs(value);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (tensor.cuts >= 0)
      reinterpret_cast<int32_t *>(bytes.data())[i] =
          seed == kOtherSeed ? i * i * tensor.cuts / (last * last) : i * tensor.cuts / last;
    else if (tensor.dtype == MHCRT_I32)
      reinterpret_cast<int32_t *>(bytes.data())[i] = (state >> 32) % tensor.rows;
    else if (tensor.dtype == MHCRT_I64)
      reinterpret_cast<int64_t *>(bytes.data())[i] = (state >> 32) % tensor.rows;
    else if (tensor.dtype == MHCRT_F32)
      reinterpret_cast<uint32_t *>(bytes.data())[i] = bits;
    else
      reinterpret_cast<uint16_t *>(bytes.data())[i] = bits >> 16;
  }
  return bytes;
}

Error Operands::allocate() {
  for (const Case &c : program.cases)
    for (auto [record, tensor] : llvm::zip(c.info->tensors, c.tensors)) {
      const std::string name = record.name.str();
      if (tensor.count == 0 || tensors.count(name))
        continue;
      Buffer buffer(session, std::max<int64_t>(bytesOf(tensor), 1));
      if (!buffer.get())
        return session.error();
      tensors.emplace(name, Tensor{std::move(buffer), tensor, record.isResult});
    }
  return Error::success();
}

/// Fills intermediate tensors as well, so that the first run finds numbers everywhere.
Error Operands::fill() {
  uint64_t seed = 0;
  for (auto &[name, tensor] : tensors)
    if (Error error = fill(tensor, ++seed))
      return error;
  return Error::success();
}

Error Operands::fill(const Tensor &tensor, uint64_t seed) {
  const std::vector<char> pattern = randomElements(tensor.shape, seed);
  const int64_t all = bytesOf(tensor.shape);
  char *to = static_cast<char *>(tensor.buffer.get());
  session.runtime.copy(session.context, to, pattern.data(), pattern.size());
  for (int64_t done = pattern.size(); done < all && done > 0; done *= 2)
    session.runtime.copy(session.context, to + done, to, std::min(done, all - done));
  return session.runtime.synchronize(session.context) == MHCRT_OK ? Error::success() : session.error();
}

Error Operands::refill(llvm::StringRef tensor) { return fill(tensors.at(tensor.str()), kOtherSeed); }

Expected<uint64_t> Operands::hashOfResults() const {
  uint64_t hash = 0;
  for (auto &[name, tensor] : tensors) {
    if (!tensor.isResult)
      continue;
    std::vector<char> bytes(bytesOf(tensor.shape));
    session.runtime.copy(session.context, bytes.data(), tensor.buffer.get(), bytes.size());
    if (session.runtime.synchronize(session.context) != MHCRT_OK)
      return session.error();
    hash = hash * 0x9E3779B97F4A7C15u + llvm::xxh3_64bits(llvm::StringRef(bytes.data(), bytes.size()));
  }
  return hash;
}

Error Operands::link() {
  for (const Case &c : program.cases) {
    std::vector<void *> data;
    for (auto [record, tensor] : llvm::zip(c.info->tensors, c.tensors))
      data.push_back(tensor.count ? tensors.at(record.name.str()).buffer.get() : nullptr);
    auto *kernel = session.runtime.kernel(c.info->symbol);
    functions.push_back(std::make_unique<KernelFunction>(c, kernel, session.context, data));
    if (!functions.back()->isFound())
      return llvm::createStringError("the runtime has no '" + c.info->symbol + "'");
  }
  return Error::success();
}

llvm::Expected<std::unique_ptr<Operands>> Operands::make(const Session &session, const Program &program) {
  std::unique_ptr<Operands> operands(new Operands(session, program));
  if (Error error = operands->allocate())
    return error;
  if (Error error = operands->fill())
    return error;
  if (Error error = operands->link())
    return error;
  return operands;
}

llvm::Expected<std::unique_ptr<Operands>> Operands::copy() const {
  std::unique_ptr<Operands> other(new Operands(session, program));
  if (Error error = other->allocate())
    return error;
  for (auto &[name, tensor] : tensors)
    session.runtime.copy(session.context, other->tensors.at(name).buffer.get(), tensor.buffer.get(),
                         bytesOf(tensor.shape));
  if (session.runtime.synchronize(session.context) != MHCRT_OK)
    return session.error();
  if (Error error = other->link())
    return error;
  return other;
}

mhcrt_status Operands::run() {
  mhcrt_status status = MHCRT_OK;
  for (auto &function : functions)
    if (status == MHCRT_OK)
      status = (*function)();
  return status;
}

/// Whether no element has the exponent of infinities and of what is no number.
static bool isFinite(llvm::ArrayRef<char> bytes, int32_t dtype) {
  const auto *halves = reinterpret_cast<const uint16_t *>(bytes.data());
  const size_t step = dtype == MHCRT_F32 ? 2 : 1, count = bytes.size() / 2;
  for (size_t i = step - 1; i < count; i += step)
    if (!(~halves[i] & (dtype == MHCRT_F16 ? 0x7C00 : 0x7F80)))
      return false;
  return true;
}

Error Operands::checkFinite() const {
  for (auto &[name, tensor] : tensors) {
    if (!tensor.isResult)
      continue;
    std::vector<char> bytes(std::min(tensor.shape.elements, kFillElements) * mhcrt_dtype_bytes(tensor.shape.dtype));
    session.runtime.copy(session.context, bytes.data(), tensor.buffer.get(), bytes.size());
    if (session.runtime.synchronize(session.context) != MHCRT_OK)
      return session.error();
    if (!isFinite(bytes, tensor.shape.dtype))
      return llvm::createStringError("'" + program.name + "' leaves '" + name + "' with values that are not finite");
  }
  return Error::success();
}
