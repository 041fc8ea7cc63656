//===- KernelCall.h - Reading and checking a kernel's arguments -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of each kernel (Checks.h) makes one of these, states its needs, and returns begin(). The first unmet need
// becomes the context's error; the message has the kernel, the value found and the value needed.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_KERNELCALL_H
#define MHCRT_SRC_KERNELCALL_H

#include "CallState.h"

#include <initializer_list>

namespace mhcrt {

using Types = std::initializer_list<int32_t>;
constexpr Types kFloats = {MHCRT_F32, MHCRT_BF16, MHCRT_F16};
constexpr Types kF32 = {MHCRT_F32};

/// The largest number of streams that kernels take.
constexpr int64_t kMaxStreams = 16;
/// The largest number of streams whose n! permutations are summed, as the ops' verifier has it: the logits of 7 are
/// 5,040 a token.
constexpr int64_t kMostPermuted = 6;
/// The most iterations of Sinkhorn: backward kernels keep what each of them made.
constexpr int64_t kMaxIterations = 1000;
/// The most taps of a causal convolution.
constexpr int64_t kMostTaps = 8;

/// Elements of the streams.
inline int64_t streamElements(int64_t M, int64_t n, int64_t C) { return saturatingMul(M, saturatingMul(n, C)); }

/// Reads the arguments of a caller, which may have been built against another version of the library. `given` begins
/// with its size, behind which `bytes` bytes are copied to `args`. False with the error set where it asks for what this
/// library does not know.
bool readArguments(CallState &state, const char *kernel, const void *given, void *args, int64_t bytes);

class KernelCall {
public:
  KernelCall(CallState &context, const char *kernel) : context(context), kernel(kernel) {}

  KernelCall &tensor(const char *name, const void *data, int32_t type, Types allowed, int64_t elements);
  /// Absent (null pointer and MHCRT_NONE) or one of `allowed`.
  KernelCall &optional(const char *name, const void *data, int32_t type, Types allowed, int64_t elements);
  /// `count` tensors of one type; none is an empty list.
  KernelCall &list(const char *name, const void *const *data, int32_t type, int64_t count, Types allowed,
                   int64_t elements);
  /// Must be absent; `reason` completes "needed none with ".
  KernelCall &absent(const char *name, int32_t type, const char *reason);
  /// An optional operand that result `result`, of dtype `resultType`, starts from; it goes with that result only.
  KernelCall &start(const char *name, const void *data, int32_t type, Types allowed, int64_t elements,
                    const char *result, int32_t resultType);
  /// i32 numbers, each at least 0 and less than `size`. They are read, so ask after the dims.
  KernelCall &indices(const char *name, const void *data, int32_t type, int64_t count, int64_t size);
  /// i32 ends of runs along a dim of `size`, with the 0 in front of the first. They are read, so ask after the dims.
  KernelCall &cuts(const char *name, const void *data, int32_t type, int64_t count, int64_t size);
  KernelCall &dim(const char *name, int64_t value, int64_t least, int64_t most = INT64_MAX);
  KernelCall &multiple(const char *name, int64_t value, const char *divisorName, int64_t divisor);
  /// `formula` is what `expected` was computed from: "n*C".
  KernelCall &equal(const char *name, int64_t value, const char *formula, int64_t expected);
  KernelCall &equal(const char *name, int64_t value, int64_t expected);
  /// An enum attribute with values 0 .. count-1.
  KernelCall &attribute(const char *name, int64_t value, int32_t count);
  /// A mhcrt_format.
  KernelCall &format(const char *name, int64_t value) { return attribute(name, value, 3); }
  /// At least 0 and less than 1.
  KernelCall &fraction(const char *name, double value);
  /// The options of a dropout of `elements` that are `formula`: "M*n*C".
  KernelCall &dropout(double rate, int64_t stream, const char *formula, int64_t elements);
  /// The same of M*n*C elements, with the seed of `size` numbers; absent where the seed is.
  KernelCall &optionalDropout(const void *seed, int32_t type, int64_t size, double rate, int64_t stream,
                              int64_t elements);
  /// The same with a seed for each layer, whose stream numbers go up by `step`; absent where there is no seed.
  KernelCall &layerDropouts(const void *const *seeds, int32_t type, int64_t count, int64_t size, double rate,
                            int64_t stream, int64_t step, int64_t elements);
  KernelCall &finite(const char *name, double value);
  /// Checks the guard of a divisor against 0.
  KernelCall &epsilon(const char *name, double value);
  /// An attribute that is read with `tensor` only, which is absent.
  KernelCall &zero(const char *name, double value, const char *tensor);
  /// The options of a Sinkhorn iteration; its eps has the name `epsName`.
  KernelCall &sinkhorn(int32_t init, int32_t order, int32_t denom, const char *epsName, double eps, int64_t iters);
  /// The format of its results, which potentials do not have.
  KernelCall &sinkhornFormat(const char *name, int64_t value, int32_t denom);
  /// A mhcrt_solver: a limit has one start and no order. Checked behind sinkhorn().
  KernelCall &solver(int64_t value, int32_t init, int32_t order, int64_t format);

  /// True when all needs so far are met and the context has no earlier error.
  bool met() const { return context.status == MHCRT_OK; }
  /// The same; counts the launch.
  bool begin();

private:
  CallState &context;
  const char *kernel;
};

} // namespace mhcrt

#endif // MHCRT_SRC_KERNELCALL_H
