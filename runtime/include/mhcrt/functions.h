//===- functions.h - Functions that a model is given by its user -------*- C -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function without a body in the model's source is called through a table that the model's user fills, by name
// (mhcrt_model_set_function): attention of another library, an expert layer, a collective. C99.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_FUNCTIONS_H
#define MHCRT_FUNCTIONS_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a failed call writes its reason. May be null wherever it is taken. Untouched on success.
typedef struct mhcrt_message {
  char text[1024];
} mhcrt_message;

/// One call of such a function. Tensors are contiguous, in the memory of the context's kernels and the function's until
/// it returns; on a GPU, until the work that it enqueues on `stream` has run. It writes all of each result.
typedef struct mhcrt_call {
  mhcrt_context *context;
  void *stream; ///< a cudaStream_t, on which the model's calls so far are enqueued; null on a CPU
  const mhcrt_tensor *arguments, *results;
  mhcrt_message *message; ///< for what fails; not null
} mhcrt_call;

/// `user` is what was given with the function. A status other than MHCRT_OK ends the entry. Threads that run the model
/// at a time call it at a time.
typedef mhcrt_status (*mhcrt_function)(void *user, const mhcrt_call *call);

/// An entry of a model for several ranks calls this function, f32[N] with no result, for each gradient that is a part
/// of a sum over ranks, when it is complete and no longer used. A model that is not given it does without.
#define MHCRT_GRADIENT_COMPLETE "gradient_complete"

/// A row of the table. Who calls an entry without mhcrt/model.h passes all rows, in the order of the manifest, behind
/// the arguments: as tensors whose data is the row.
typedef struct mhcrt_binding {
  const char *name;
  mhcrt_function function; ///< null as long as none was given
  void *user;
} mhcrt_binding;

/// The model's call of a row. An error of the context where the function is not there or fails; it is not called where
/// the context has one already.
void mhcrt_call_function(mhcrt_context *context, const mhcrt_binding *binding, const mhcrt_tensor *arguments,
                         const mhcrt_tensor *results);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_FUNCTIONS_H
