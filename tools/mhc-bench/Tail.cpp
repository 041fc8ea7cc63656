//===- Tail.cpp - The last tokens of a large call, alone ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tail.h"
#include "Operands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mhc;
using namespace mhc::bench;
using llvm::Error;
using llvm::Expected;

/// Whether what a token holds depends on its place.
static bool isRandom(const Case &c) {
  return llvm::any_of(llvm::zip(c.info->tensors, c.tensors),
                      [](auto pair) { return std::get<0>(pair).name == "seed" && std::get<1>(pair).count > 0; });
}

bool mhc::bench::hasTail(const Program &program) {
  return llvm::all_of(program.cases, [](const Case &c) {
    return llvm::is_contained(c.info->dims, "n") && !isRandom(c) &&
           llvm::none_of(c.info->tensors, [](const KernelTensor &tensor) { return tensor.isList; });
  });
}

namespace {
/// One tensor's memory for the last tokens.
struct Part {
  std::string name;
  char *data;
  int64_t bytes;
};
} // namespace

/// The same kernels on the last tokens, with operands and results in place.
static Program tailOf(const Program &program, int64_t tokens) {
  Sizes sizes = program.sizes();
  sizes.M = tokens;
  return makePrograms(sizes, program.dtype(), program.name).front();
}

static int64_t bytesOf(const CaseTensor &tensor) { return tensor.elements * mhcrt_dtype_bytes(tensor.dtype); }

/// Addresses of the tensors of one case, those of tokens at the last ones.
static std::vector<void *> addresses(const Operands &operands, const Case &whole, const Case &tail) {
  std::vector<void *> data;
  for (unsigned i = 0; i < whole.tensors.size(); ++i) {
    auto *start = static_cast<char *>(whole.tensors[i].count ? operands.data(whole.info->tensors[i].name) : nullptr);
    const bool isTokenwise = start && hasTokens(*whole.info, i);
    data.push_back(isTokenwise ? start + bytesOf(whole.tensors[i]) - bytesOf(tail.tensors[i]) : start);
  }
  return data;
}

/// Results that the kernels write per token.
static std::vector<Part> resultsOf(const Operands &operands, const Program &program, const Program &tail) {
  std::vector<Part> parts;
  for (auto [whole, few] : llvm::zip(program.cases, tail.cases))
    for (auto [i, data] : llvm::enumerate(addresses(operands, whole, few)))
      if (data && whole.info->tensors[i].isResult && hasTokens(*whole.info, i))
        parts.push_back({whole.info->tensors[i].name.str(), static_cast<char *>(data), bytesOf(few.tensors[i])});
  return parts;
}

static Error runTail(const Session &session, const Operands &operands, const Program &program, const Program &tail) {
  for (auto [whole, few] : llvm::zip(program.cases, tail.cases)) {
    KernelFunction function(few, session.runtime.kernel(few.info->symbol), session.context,
                            addresses(operands, whole, few));
    if (function() != MHCRT_OK)
      return session.error();
  }
  return Error::success();
}

static Expected<std::vector<char>> fetch(const Session &session, llvm::ArrayRef<Part> parts) {
  std::vector<char> all;
  for (const Part &part : parts) {
    all.resize(all.size() + part.bytes);
    session.runtime.copy(session.context, all.data() + all.size() - part.bytes, part.data, part.bytes);
    if (session.runtime.synchronize(session.context) != MHCRT_OK)
      return session.error();
  }
  return all;
}

/// Overwrites the parts, so that what is found there later was written later.
static Error poison(const Session &session, llvm::ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    const std::vector<char> bytes(part.bytes, ~0);
    session.runtime.copy(session.context, part.data, bytes.data(), part.bytes);
    if (session.runtime.synchronize(session.context) != MHCRT_OK)
      return session.error();
  }
  return Error::success();
}

Error mhc::bench::checkTail(const Session &session, const Program &program, int64_t tokens) {
  auto operands = Operands::make(session, program);
  if (!operands)
    return operands.takeError();
  const Program tail = tailOf(program, tokens);
  const std::vector<Part> parts = resultsOf(**operands, program, tail);
  if (Error error = poison(session, parts))
    return error;
  if ((*operands)->run() != MHCRT_OK)
    return session.error();
  auto whole = fetch(session, parts);
  if (!whole)
    return whole.takeError();
  if (Error error = poison(session, parts))
    return error;
  if (Error error = runTail(session, **operands, program, tail))
    return error;
  auto alone = fetch(session, parts);
  if (!alone)
    return alone.takeError();
  int64_t end = 0;
  for (const Part &part : parts) {
    if (std::memcmp(whole->data() + end, alone->data() + end, part.bytes) != 0)
      return llvm::createStringError(llvm::formatv("'{0}' of the last {1} tokens of '{2}' has other bits when they are "
                                                   "alone, at M = {3}, C = {4}",
                                                   part.name, tokens, program.name, program.sizes().M,
                                                   program.sizes().C));
    end += part.bytes;
  }
  return Error::success();
}
