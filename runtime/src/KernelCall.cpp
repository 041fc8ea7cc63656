//===- KernelCall.cpp - Reading and checking a kernel's arguments -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "KernelCall.h"
#include "Philox.h"
#include "mhcrt/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mhcrt;

/// "f32, bf16 or f16"
static void listTypes(Types types, char (&text)[64]) {
  size_t length = 0;
  text[0] = '\0';
  for (const int32_t *type = types.begin(); type != types.end(); ++type) {
    const char *separator = type == types.begin() ? "" : type + 1 == types.end() ? " or " : ", ";
    length += std::snprintf(text + length, sizeof(text) - length, "%s%s", separator, mhcrt_dtype_name(*type));
  }
}

bool mhcrt::readArguments(CallState &state, const char *kernel, const void *given, void *args, int64_t bytes) {
  int64_t size;
  const int64_t known = bytes + sizeof(size);
  constexpr int64_t kMost = 1 << 16; // above it, `size` was not set
  if (state.status != MHCRT_OK)
    return false;
  if (!given) {
    state.fail(MHCRT_INVALID_ARGUMENT, "%s: 'args' is null; needed a %s_args", kernel, kernel);
    return false;
  }
  std::memcpy(&size, given, sizeof(size));
  if (size < int64_t(sizeof(size)) || size > kMost || size % 8 != 0) {
    state.fail(MHCRT_INVALID_ARGUMENT, "%s: 'size' is %lld; needed sizeof(%s_args) = %lld", kernel,
               static_cast<long long>(size), kernel, static_cast<long long>(known));
    return false;
  }
  const char *first = static_cast<const char *>(given), *last = first + size;
  const char *unknown = std::find_if(first + std::min(size, known), last, [](char byte) { return byte != 0; });
  if (unknown != last) {
    state.fail(MHCRT_INVALID_ARGUMENT,
               "%s: 'size' is %lld, and byte %lld is not zero; needed zeros behind the %lld bytes that this version of "
               "the library knows",
               kernel, static_cast<long long>(size), static_cast<long long>(unknown - first),
               static_cast<long long>(known));
    return false;
  }
  std::memset(args, 0, bytes);
  std::memcpy(args, first + sizeof(size), std::min(size, known) - sizeof(size));
  return true;
}

KernelCall &KernelCall::tensor(const char *name, const void *data, int32_t type, Types allowed, int64_t elements) {
  if (!met())
    return *this;
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    char needed[64];
    listTypes(allowed, needed);
    if (type == MHCRT_NONE)
      context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is absent; needed %s", kernel, name, needed);
    else
      context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' has dtype %s; needed %s", kernel, name, mhcrt_dtype_name(type),
                   needed);
  } else if (!data && elements > 0) {
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is null; needed elements of %s", kernel, name,
                 mhcrt_dtype_name(type));
  }
  return *this;
}

KernelCall &KernelCall::optional(const char *name, const void *data, int32_t type, Types allowed, int64_t elements) {
  if (type == MHCRT_NONE && !data)
    return *this;
  return tensor(name, data, type, allowed, elements);
}

KernelCall &KernelCall::list(const char *name, const void *const *data, int32_t type, int64_t count, Types allowed,
                             int64_t elements) {
  if (met() && !data && count > 0)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is null; needed %lld tensors", kernel, name,
                 static_cast<long long>(count));
  for (int64_t i = 0; i < count && met(); ++i)
    tensor(name, data[i], type, allowed, elements);
  return *this;
}

KernelCall &KernelCall::absent(const char *name, int32_t type, const char *reason) {
  if (met() && type != MHCRT_NONE)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' has dtype %s; needed none with %s", kernel, name,
                 mhcrt_dtype_name(type), reason);
  return *this;
}

KernelCall &KernelCall::start(const char *name, const void *data, int32_t type, Types allowed, int64_t elements,
                              const char *result, int32_t resultType) {
  if (met() && type != MHCRT_NONE && resultType == MHCRT_NONE) {
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' has dtype %s; needed none without '%s'", kernel, name,
                 mhcrt_dtype_name(type), result);
    return *this;
  }
  return optional(name, data, type, allowed, elements);
}

KernelCall &KernelCall::indices(const char *name, const void *data, int32_t type, int64_t count, int64_t size) {
  tensor(name, data, type, {MHCRT_I32}, count);
  if (!met())
    return *this;
  const int32_t *first = static_cast<const int32_t *>(data), *last = first + count;
  const int32_t *bad = std::find_if(first, last, [&](int32_t index) { return index < 0 || index >= size; });
  if (bad != last)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' has %d at %lld; needed 0 to %lld", kernel, name, *bad,
                 static_cast<long long>(bad - first), static_cast<long long>(size - 1));
  return *this;
}

KernelCall &KernelCall::cuts(const char *name, const void *data, int32_t type, int64_t count, int64_t size) {
  tensor(name, data, type, {MHCRT_I32}, count);
  if (!met())
    return *this;
  const int32_t *cut = static_cast<const int32_t *>(data);
  const auto need = [&](int64_t i, bool isMet, const char *relation, int64_t needed) {
    if (met() && !isMet)
      context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' has %d at %lld; needed %s%lld", kernel, name, cut[i],
                   static_cast<long long>(i), relation, static_cast<long long>(needed));
  };
  need(0, cut[0] == 0, "", 0);
  for (int64_t i = 1; i < count && met(); ++i)
    need(i, cut[i] >= cut[i - 1], "at least ", cut[i - 1]);
  need(count - 1, cut[count - 1] == size, "", size);
  return *this;
}

KernelCall &KernelCall::dim(const char *name, int64_t value, int64_t least, int64_t most) {
  if (!met() || (value >= least && value <= most))
    return *this;
  if (most == INT64_MAX)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed at least %lld", kernel, name,
                 static_cast<long long>(value), static_cast<long long>(least));
  else
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed %lld to %lld", kernel, name,
                 static_cast<long long>(value), static_cast<long long>(least), static_cast<long long>(most));
  return *this;
}

KernelCall &KernelCall::equal(const char *name, int64_t value, const char *formula, int64_t expected) {
  if (met() && value != expected)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed %s = %lld", kernel, name,
                 static_cast<long long>(value), formula, static_cast<long long>(expected));
  return *this;
}

KernelCall &KernelCall::equal(const char *name, int64_t value, int64_t expected) {
  if (met() && value != expected)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed %lld", kernel, name, static_cast<long long>(value),
                 static_cast<long long>(expected));
  return *this;
}

KernelCall &KernelCall::multiple(const char *name, int64_t value, const char *divisorName, int64_t divisor) {
  if (met() && value % divisor != 0)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed a multiple of %s = %lld", kernel, name,
                 static_cast<long long>(value), divisorName, static_cast<long long>(divisor));
  return *this;
}

KernelCall &KernelCall::attribute(const char *name, int64_t value, int32_t count) {
  if (met() && (value < 0 || value >= count))
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %lld; needed 0 to %d", kernel, name,
                 static_cast<long long>(value), count - 1);
  return *this;
}

KernelCall &KernelCall::fraction(const char *name, double value) {
  if (met() && !(value >= 0 && value < 1))
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %g; needed at least 0 and less than 1", kernel, name, value);
  return *this;
}

KernelCall &KernelCall::dropout(double rate, int64_t stream, const char *formula, int64_t elements) {
  return fraction("rate", rate).dim("stream", stream, 0, UINT32_MAX).dim(formula, elements, 0, kMostRandom);
}

KernelCall &KernelCall::optionalDropout(const void *seed, int32_t type, int64_t size, double rate, int64_t stream,
                                        int64_t elements) {
  if (seed || type != MHCRT_NONE)
    return tensor("seed", seed, type, {MHCRT_I64}, size).equal("S", size, 2).dropout(rate, stream, "M*n*C", elements);
  return zero("rate", rate, "seed");
}

KernelCall &KernelCall::layerDropouts(const void *const *seeds, int32_t type, int64_t count, int64_t size, double rate,
                                      int64_t stream, int64_t step, int64_t elements) {
  if (count == 0)
    return optionalDropout(nullptr, type, size, rate, stream, elements);
  list("seed", seeds, type, count, {MHCRT_I64}, size).equal("S", size, 2);
  dropout(rate, stream, "M*n*C", elements).dim("stream_step", step, -int64_t(UINT32_MAX), UINT32_MAX);
  return dim("stream + (seed_count-1)*stream_step", stream + (count - 1) * step, 0, UINT32_MAX);
}

KernelCall &KernelCall::finite(const char *name, double value) {
  if (met() && !std::isfinite(value))
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %g; needed a finite number", kernel, name, value);
  return *this;
}

KernelCall &KernelCall::epsilon(const char *name, double value) {
  if (met() && !(std::isfinite(value) && value >= 0))
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %g; needed a finite number of at least 0", kernel, name, value);
  return *this;
}

KernelCall &KernelCall::zero(const char *name, double value, const char *tensor) {
  if (met() && value != 0)
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: '%s' is %g; needed 0 without '%s'", kernel, name, value, tensor);
  return *this;
}

KernelCall &KernelCall::sinkhorn(int32_t init, int32_t order, int32_t denom, const char *epsName, double eps,
                                 int64_t iters) {
  return attribute("init", init, 8)
      .attribute("order", order, 2)
      .attribute("denom", denom, 4)
      .epsilon(epsName, eps)
      .dim("iters", iters, init == MHCRT_INIT_SOFTMAX_EPS ? 1 : 0, kMaxIterations);
}

KernelCall &KernelCall::sinkhornFormat(const char *name, int64_t value, int32_t denom) {
  return attribute(name, value, denom == MHCRT_DENOM_POTENTIALS ? 1 : 3);
}

KernelCall &KernelCall::solver(int64_t value, int32_t init, int32_t order, int64_t format) {
  const bool hasLimit = init == MHCRT_INIT_LOG && order == MHCRT_ORDER_ROW_COL && format == MHCRT_FORMAT_F32;
  if (met() && value == MHCRT_SOLVER_NEWTON && !hasLimit)
    context.fail(MHCRT_INVALID_ARGUMENT,
                 "%s: 'solver' is newton; needed init log, order row_col and format f32 with it", kernel);
  return attribute("solver", value, 2);
}

bool KernelCall::begin() {
  if (!met())
    return false;
  ++context.launches;
  return true;
}
