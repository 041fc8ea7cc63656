//===- mhcrt.h - Runtime of compiled mHC models ---------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C99 interface of the runtime: status, tensors, contexts. No global state, no exception and no exit crosses it.
// The kernels are declared in kernels.h, which is generated from the op records.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_MHCRT_H
#define MHCRT_MHCRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Result of every call that can fail. The text behind it is in mhcrt_last_error.
typedef enum mhcrt_status {
  MHCRT_OK = 0,
  MHCRT_INVALID_ARGUMENT = 1, ///< a shape, dtype or attribute that no kernel takes
  MHCRT_OUT_OF_MEMORY = 2,    ///< the message says how much was asked
  MHCRT_NOT_FOUND = 3,        ///< a file, symbol or entry that is missing
  MHCRT_UNAVAILABLE = 4,      ///< a backend that this machine lacks
  MHCRT_DEVICE_ERROR = 5      ///< the GPU's driver reports it, or there is none
} mhcrt_status;

/// Element types of tensors. Kernels accumulate in f32 whatever the element type is.
typedef enum mhcrt_dtype {
  MHCRT_NONE = 0, ///< an optional tensor that is absent; its pointer is null
  MHCRT_F32 = 1,
  MHCRT_BF16 = 2,
  MHCRT_F16 = 3,
  MHCRT_F64 = 4,
  MHCRT_I32 = 5,
  MHCRT_I64 = 6
} mhcrt_dtype;

enum { MHCRT_MAX_RANK = 8 };

/// A contiguous row-major tensor, owned by the caller.
typedef struct mhcrt_tensor {
  void *data;
  int32_t dtype; ///< mhcrt_dtype
  int32_t rank;  ///< at most MHCRT_MAX_RANK
  int64_t dims[MHCRT_MAX_RANK];
} mhcrt_tensor;

/// Threads, workspace and last error of one caller. Calls on one context must not overlap; contexts are independent. On
/// a GPU a call that overlaps another one does nothing and returns MHCRT_INVALID_ARGUMENT, and the context has the
/// error once the other has ended.
typedef struct mhcrt_context mhcrt_context;

/// Makes a context that runs kernels on `threads` threads; 0 means one per core this process may use.
/// Results do not depend on the number of threads.
mhcrt_status mhcrt_context_create(int32_t threads, mhcrt_context **context);
void mhcrt_context_destroy(mhcrt_context *context);

int32_t mhcrt_context_threads(const mhcrt_context *context);

/// Whether the kernels of this context multiply in AMX matrix tiles where they know how. They do when processor and
/// system let them, unless that is turned off; results differ in the order and the rounding of sums.
int32_t mhcrt_context_amx(const mhcrt_context *context);
/// MHCRT_UNAVAILABLE, and nothing changes, when `amx` is not 0 on a machine without it.
mhcrt_status mhcrt_context_set_amx(mhcrt_context *context, int32_t amx);

/// The message of the first failed call since the last mhcrt_clear_error; "" when there is none. Errors are sticky: a
/// kernel called on a context with an error does nothing and returns that error's status, so that a compiled function
/// may check once, at its end.
const char *mhcrt_last_error(const mhcrt_context *context);
mhcrt_status mhcrt_last_status(const mhcrt_context *context);
void mhcrt_clear_error(mhcrt_context *context);
/// Where the calls that follow are in the source of a model, "layer.mlir:12:8"; errors name it. The text outlives the
/// context; "" where it is not known.
void mhcrt_set_location(mhcrt_context *context, const char *location);

/// The context's workspace, at least `bytes` long and 64-byte aligned. It grows when needed and never shrinks, so the
/// second run of a model allocates nothing. Null with MHCRT_OUT_OF_MEMORY set when the memory is not to be had.
/// The next call may move it.
void *mhcrt_workspace(mhcrt_context *context, int64_t bytes);

/// Calls body(frame, begin, end) for ranges that make up [0, count), on the context's threads. An iteration handles
/// `work` elements; the ranges follow from both numbers alone. Compiled models run their loops through it.
void mhcrt_parallel_loop(mhcrt_context *context, void (*body)(void *frame, int64_t begin, int64_t end), void *frame,
                         int64_t count, int64_t work);

/// Memory that the tensors of a context's kernels are in.
typedef enum mhcrt_device { MHCRT_CPU = 0, MHCRT_CUDA = 1 } mhcrt_device;
int32_t mhcrt_context_device(const mhcrt_context *context);

/// Memory for tensors, 64-byte aligned, where the context's kernels reach it. Null with the error set when there is
/// none. A program that has such memory from elsewhere may use that.
void *mhcrt_buffer_create(mhcrt_context *context, int64_t bytes);
void mhcrt_buffer_destroy(mhcrt_context *context, void *buffer);
/// Copies after the calls made so far; each side is a buffer or memory of the host. Host memory has its bytes after
/// mhcrt_synchronize.
mhcrt_status mhcrt_copy(mhcrt_context *context, void *to, const void *from, int64_t bytes);
/// Waits for all calls made so far.
mhcrt_status mhcrt_synchronize(mhcrt_context *context);

/// Bytes that the context holds: workspace plus the kernels' scratch memory.
int64_t mhcrt_context_bytes(const mhcrt_context *context);

/// Number of kernel calls and of heap allocations since the context was made.
int64_t mhcrt_context_launches(const mhcrt_context *context);
int64_t mhcrt_context_allocations(const mhcrt_context *context);

/// Bytes of one element; 0 for MHCRT_NONE.
int64_t mhcrt_dtype_bytes(int32_t dtype);
/// "f32", "bf16", ...
const char *mhcrt_dtype_name(int32_t dtype);

/// An entry of a compiled model. Arguments and results are in the order of the manifest; results are allocated by the
/// caller. The caller has checked the shapes (mhcrt/model.h does).
typedef mhcrt_status (*mhcrt_entry)(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_MHCRT_H
