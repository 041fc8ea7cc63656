//===- cuda.h - Functions for CUDA contexts only ---------------- -*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmhcrt_cuda.so exports mhcrt.h and kernels.h, with tensors in the memory of the GPU, and these functions.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_H
#define MHCRT_CUDA_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The GPU that is current, and what the library has for it.
typedef struct mhcrt_cuda_machine {
  char name[256];
  int32_t arch; ///< compute capability, times ten
  int32_t multiprocessors;
  int64_t bytes;     ///< of memory
  char images[256];  ///< "sm_80, sm_90, PTX of compute_90"
  char problem[512]; ///< why no context can be made; else ""
} mhcrt_cuda_machine;
/// MHCRT_UNAVAILABLE where the library has no code for the GPU, MHCRT_DEVICE_ERROR where there is none; `problem` says
/// so, also after mhcrt_context_create has failed in that way.
mhcrt_status mhcrt_cuda_describe(mhcrt_cuda_machine *machine);

/// A context belongs to the GPU that is current when it is made. Each call makes that one current and the caller's
/// again, and leaves no error behind as the thread's last one: what fails is the context's error. Nothing that a caller
/// left there is taken for an error of a call.

/// Calls that follow run on `stream`, a cudaStream_t of the context's GPU, behind those so far: the new stream waits
/// for the old one by an event. Null is the legacy default stream, cudaStreamPerThread that of the calling thread,
/// which alone may then call. A new context has a stream of its own. Both streams exist until the call returns, and the
/// last one until the context is destroyed.
///
/// While the old stream is captured, the new one joins its capture by that event; set the old one again before the
/// capture ends. Where the new stream is captured and the old one is not, nothing waits in the graph: the calls that
/// run, once the capture has ended, wait for those of the old stream. A graph that others captured has the context's
/// memory in it: they order its launches with the context's other calls, and end them before the context is destroyed.
mhcrt_status mhcrt_cuda_set_stream(mhcrt_context *context, void *stream);

/// Memory for `stream`, as by cudaMallocAsync: a multiple of 256, for work enqueued there from now on. Null where there
/// is none.
typedef void *(*mhcrt_cuda_alloc)(void *user, int64_t bytes, void *stream);
/// Takes back what mhcrt_cuda_alloc returned; work that is on `stream` may still use it.
typedef void (*mhcrt_cuda_free)(void *user, void *memory, int64_t bytes, void *stream);
/// All memory that the context asks for from now on comes from `alloc`, in place of cudaMalloc and cudaFree; both null
/// for those again. What it holds goes back to where it came from, at the latest when the context is destroyed. The
/// functions do not call the context.
///
/// With an allocator, the scratch memory of a kernel is taken and given back around each call, also in a capture,
/// where both are captured if the allocator enqueues. Without one, it grows at the first calls of a shape and stays;
/// in a capture cudaMalloc is not called: the call fails, and says so. A model's workspace grows and stays in either
/// case; in a capture the allocator is asked once for one that stays until the context is destroyed. Memory that a
/// captured call has used is not given back before either.
mhcrt_status mhcrt_cuda_set_allocator(mhcrt_context *context, mhcrt_cuda_alloc alloc, mhcrt_cuda_free free, void *user);

/// Fixes the variant of an op: "post=generic"; "post=" frees it again. MHCRT_NOT_FOUND where the op is called and has
/// no such variant.
mhcrt_status mhcrt_cuda_pin(mhcrt_context *context, const char *pin);
/// If not 0, a call that only a slower variant takes is an error.
void mhcrt_cuda_set_strict(mhcrt_context *context, int32_t strict);
/// The variant that the last call of `op` ("post") took; null when it was not called.
const char *mhcrt_cuda_chosen(const mhcrt_context *context, const char *op);

/// A variant that calls of an op took.
typedef struct mhcrt_cuda_choice {
  const char *op, *variant;
  int64_t calls;
  /// Why the first of them took a slower variant, because of the call or because this GPU has no room for the faster;
  /// else "".
  const char *fallback;
} mhcrt_cuda_choice;
/// The number of them so far.
int32_t mhcrt_cuda_choices(const mhcrt_context *context);
/// The text in `choice` is there until the next call of a kernel.
void mhcrt_cuda_choice_at(const mhcrt_context *context, int32_t index, mhcrt_cuda_choice *choice);

/// Launches as for a GPU of `count` multiprocessors, so that other work finds room beside them; 0 is as many as it has.
/// No result depends on it. With fewer than the GPU has, kernels of clusters of blocks take their tiles from a counter:
/// where other kernels, as those of collectives, leave room for some of the clusters, the others find nothing left when
/// they come. Alone they take 2 to 10 % longer so. The counters are 64 KiB of the context's; each captured call has its
/// own, and from the 16,384th on the tiles are divided beforehand.
mhcrt_status mhcrt_cuda_set_multiprocessors(mhcrt_context *context, int32_t count);

/// Calls between these two are recorded into a graph in place of being run. The same calls must have been made before:
/// memory of their shapes is not made here, unless there is an allocator. The second sets the stream of the first. The
/// graph belongs to the caller; null where the status is not MHCRT_OK.
typedef struct mhcrt_cuda_graph mhcrt_cuda_graph;
mhcrt_status mhcrt_cuda_record_begin(mhcrt_context *context);
mhcrt_status mhcrt_cuda_record_end(mhcrt_context *context, mhcrt_cuda_graph **graph);
/// Enqueues the recorded calls, on what is now in the memory of their tensors. An error once other calls have made the
/// context's memory grow.
mhcrt_status mhcrt_cuda_replay(mhcrt_context *context, const mhcrt_cuda_graph *graph);
void mhcrt_cuda_graph_destroy(mhcrt_cuda_graph *graph);

/// If not 0, each call is in an NVTX range for profilers, named by op and, where the model has it, source location.
void mhcrt_cuda_set_ranges(mhcrt_context *context, int32_t ranges);

/// Memory of the GPU that holds `bytes` bytes from `host`, copied at the first call with this address. Null with the
/// error set when that fails.
const void *mhcrt_constant(mhcrt_context *context, const void *host, int64_t bytes);

/// Runs `count` iterations of the loop kernel `name` of `image` (a cubin, fatbin or PTX text of `bytes` bytes), one per
/// thread. `arguments` point at the values of its parameters, the last of which is the count. The image is loaded at
/// the first call with this address.
///
/// An image whose kernels check indices has two globals, which mhcrt_synchronize reads. `mhc_check` is of int64_t. The
/// first word is 0, or the number, from 1, of the first check of the kernel in which one has failed before those of any
/// other kernel. Three words follow for each check: 0, INT64_MAX, INT64_MIN; or, where it has failed in that kernel,
/// the largest value that it allows plus 2, and the least and the largest value that it has met outside of 0 to that.
/// An assertion that fails writes 1, and no values. `mhc_check_texts` has two strings for each check, one behind the
/// other: what it checks, and where that is in the source.
void mhcrt_cuda_loop(mhcrt_context *context, const void *image, int64_t bytes, const char *name, void **arguments,
                     int64_t count);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_CUDA_H
