//===- model.h - Load and run a compiled model ----------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C99 interface to a compiled model: a shared library that exports `const char mhc_model_manifest[]` and one
// mhcrt_entry per entry, named mhc_entry_<name>; or the same things inside this process (the JIT).
//
// The manifest is text, one fact per line; lines with an unknown first word are ignored:
//
//   mhc-model 1
//   target cuda:sm_90a
//   mesh dp=2,tp=2,pp=4
//   entry layer
//   arg x bf16 M 4 64
//   arg alpha f32 3
//   arg d_phi f32 24 256
//   result out bf16 M 64
//   result d_phi f32 24 256
//   in_place d_phi
//   split w 0 48 24
//   partial d_phi dp,tp
//   equal M*d1 d2*d3
//   end
//   function attention
//   arg u bf16 M 64
//   result f bf16 M 64
//   end
//
// A function is what entries call and the model has not: mhcrt_model_set_function gives it.
//
// The name of an entry has letters, digits and '_', the first no digit. That of a tensor is printable, without blanks,
// '/' and '=', and differs from those of the entry's other arguments, or other results.
//
// A dimension is a number, a symbol, or a sum of products of them such as 4*M*d1+d2-1; one symbol has one size in all
// tensors of the entry. Each is a dimension of an argument. `equal` has two sizes that are equal. A result that is
// computed in place is the memory of the argument of its name.
//
// A rank of the axis tp has its share of a tensor with `split`: of the dimension behind the name, and of each of the
// parts, side by side, the sizes of whose shares follow. A result with `partial` is to be added up over these axes.
//
// Without a target, it is cpu; without a mesh, it is of one rank. The tensors of an entry are in the memory of the
// target.
//
// A model library holds its own copy of the runtime, or names the library that it is in. Its kernels must be given
// contexts made by that copy, so contexts come from mhcrt_model_context_create, which calls the library's own
// mhcrt_context_create. For a wrapped model that is the copy which wraps it.
//
// A model is immutable once its functions are given: threads may share it, each with a context of its own.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_MODEL_H
#define MHCRT_MODEL_H

#include "mhcrt/cuda.h"
#include "mhcrt/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mhcrt_model mhcrt_model;

/// Description of one argument or result in the manifest. Dimension i is sizes[i] when that is not negative, else
/// symbols[i]: a symbol, or such as "4*M*d1+d2-1".
typedef struct mhcrt_tensor_info {
  const char *name;
  const char *type; ///< for people: "bf16[M,4,64]", "f32[]"
  int32_t dtype;
  int32_t rank;
  int64_t sizes[MHCRT_MAX_RANK];
  const char *symbols[MHCRT_MAX_RANK]; ///< null where the size is a number
  int32_t in_place;                    ///< of a result: the number of the argument whose memory it is, or -1
  int32_t split_dim;                   ///< of which a tensor-parallel rank has its share, or -1
  int32_t split_parts;                 ///< number of parts along it
  const int64_t *split_sizes;          ///< of the shares of the parts
  const char *partial;                 ///< axes over which it is to be added up, or null
} mhcrt_tensor_info;

/// Returns the entry called `name`, or null. Called while wrapping only.
typedef mhcrt_entry (*mhcrt_entry_lookup)(void *user, const char *name);

mhcrt_status mhcrt_model_open(const char *path, mhcrt_model **model, mhcrt_message *message);
mhcrt_status mhcrt_model_wrap(const char *manifest, mhcrt_entry_lookup lookup, void *user, mhcrt_model **model,
                              mhcrt_message *message);
/// Contexts of the model must be destroyed before.
void mhcrt_model_close(mhcrt_model *model);

/// "cpu", "cuda:sm_90a".
const char *mhcrt_model_target(const mhcrt_model *model);
/// The mesh that the model was compiled for, "dp=2,tp=2,pp=4", or "": its ranks, each of which runs the entries on its
/// part of a batch; the stages that they are divided into; and how many neighbours share heads and MLPs.
const char *mhcrt_model_mesh(const mhcrt_model *model);
int32_t mhcrt_model_stages(const mhcrt_model *model);
int32_t mhcrt_model_tensor_ranks(const mhcrt_model *model);
int32_t mhcrt_model_ranks(const mhcrt_model *model);

int32_t mhcrt_model_entries(const mhcrt_model *model);
const char *mhcrt_model_entry_name(const mhcrt_model *model, int32_t entry);
/// The message of a miss lists the entries there are.
mhcrt_status mhcrt_model_find_entry(const mhcrt_model *model, const char *name, int32_t *entry, mhcrt_message *message);
int32_t mhcrt_model_arguments(const mhcrt_model *model, int32_t entry);
int32_t mhcrt_model_results(const mhcrt_model *model, int32_t entry);
/// Null when there is no such argument (result). Lives as long as the model.
const mhcrt_tensor_info *mhcrt_model_argument(const mhcrt_model *model, int32_t entry, int32_t index);
const mhcrt_tensor_info *mhcrt_model_result(const mhcrt_model *model, int32_t entry, int32_t index);

/// The functions that the model calls. A type is such as "bf16[M,64], f32[64] -> bf16[M,64]".
int32_t mhcrt_model_functions(const mhcrt_model *model);
const char *mhcrt_model_function_name(const mhcrt_model *model, int32_t function);
const char *mhcrt_model_function_type(const mhcrt_model *model, int32_t function);
/// Gives the model a function, or another one, for all calls that begin later. `type` is what the function takes, which
/// must be the model's word for word; null where the function looks itself.
mhcrt_status mhcrt_model_set_function(mhcrt_model *model, const char *name, const char *type, mhcrt_function function,
                                      void *user, mhcrt_message *message);
/// Gives the model those of its functions that a shared library exports under their names, with null as their `user`;
/// `const char NAME_type[]` in it is the type of NAME. An error where it has none of them. The library stays open as
/// long as the model.
mhcrt_status mhcrt_model_load_functions(mhcrt_model *model, const char *path, mhcrt_message *message);

/// An equation between the entry's sizes, "M*d1 = d2*d3"; null when there is none of this number.
const char *mhcrt_model_equality(const mhcrt_model *model, int32_t entry, int32_t index);
/// The number that symbols[i] of an info is, where `value_of` knows the symbols in it; 0 where that is no size.
int32_t mhcrt_size_value(const char *size, int64_t (*value_of)(void *user, const char *symbol), void *user,
                         int64_t *value);

/// Are these the dtypes and shapes of the manifest? `arguments` has mhcrt_model_arguments elements.
mhcrt_status mhcrt_model_check(const mhcrt_model *model, int32_t entry, const mhcrt_tensor *arguments,
                               mhcrt_message *message);
/// Checks `arguments` and fills dtype, rank and dims of all results; leaves their data pointers alone.
mhcrt_status mhcrt_model_infer(const mhcrt_model *model, int32_t entry, const mhcrt_tensor *arguments,
                               mhcrt_tensor *results, mhcrt_message *message);
/// Checks arguments and results, then runs the entry. Errors are cleared: one of an earlier call first, its own at the
/// end.
mhcrt_status mhcrt_model_invoke(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                                const mhcrt_tensor *arguments, const mhcrt_tensor *results, mhcrt_message *message);

mhcrt_status mhcrt_model_context_create(const mhcrt_model *model, int32_t threads, mhcrt_context **context,
                                        mhcrt_message *message);
void mhcrt_model_context_destroy(const mhcrt_model *model, mhcrt_context *context);

/// The functions of the same names in mhcrt.h, for a context of this model. An error is cleared by the call that
/// reports it.
int32_t mhcrt_model_context_device(const mhcrt_model *model, const mhcrt_context *context);
mhcrt_status mhcrt_model_buffer_create(const mhcrt_model *model, mhcrt_context *context, int64_t bytes, void **buffer,
                                       mhcrt_message *message);
void mhcrt_model_buffer_destroy(const mhcrt_model *model, mhcrt_context *context, void *buffer);
mhcrt_status mhcrt_model_copy(const mhcrt_model *model, mhcrt_context *context, void *to, const void *from,
                              int64_t bytes, mhcrt_message *message);
mhcrt_status mhcrt_model_synchronize(const mhcrt_model *model, mhcrt_context *context, mhcrt_message *message);

/// The functions of mhcrt/cuda.h. MHCRT_UNAVAILABLE, and no choice, where the model is not for a GPU.
mhcrt_status mhcrt_model_pin(const mhcrt_model *model, mhcrt_context *context, const char *pin, mhcrt_message *message);
mhcrt_status mhcrt_model_set_stream(const mhcrt_model *model, mhcrt_context *context, void *stream,
                                    mhcrt_message *message);
mhcrt_status mhcrt_model_set_strict(const mhcrt_model *model, mhcrt_context *context, int32_t strict,
                                    mhcrt_message *message);
mhcrt_status mhcrt_model_set_ranges(const mhcrt_model *model, mhcrt_context *context, int32_t ranges,
                                    mhcrt_message *message);
int32_t mhcrt_model_choices(const mhcrt_model *model, const mhcrt_context *context);
void mhcrt_model_choice_at(const mhcrt_model *model, const mhcrt_context *context, int32_t index,
                           mhcrt_cuda_choice *choice);

/// Runs the entry once, then records it into a CUDA graph that the caller destroys; null where that failed. A replay
/// runs it on what is then in the memory of these tensors.
mhcrt_status mhcrt_model_record(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                                const mhcrt_tensor *arguments, const mhcrt_tensor *results, mhcrt_cuda_graph **graph,
                                mhcrt_message *message);
mhcrt_status mhcrt_model_replay(const mhcrt_model *model, mhcrt_context *context, const mhcrt_cuda_graph *graph,
                                mhcrt_message *message);
void mhcrt_model_graph_destroy(const mhcrt_model *model, mhcrt_cuda_graph *graph);

/// Counters of a context of this model: see the functions of the same names in mhcrt.h.
typedef struct mhcrt_context_stats {
  int32_t threads;
  int64_t bytes;
  int64_t launches;
  int64_t allocations;
} mhcrt_context_stats;
void mhcrt_model_context_stats(const mhcrt_model *model, const mhcrt_context *context, mhcrt_context_stats *stats);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_MODEL_H
