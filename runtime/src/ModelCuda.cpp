//===- ModelCuda.cpp - Functions for GPU models only ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "ModelState.h"

#include <cstdio>

using namespace mhcrt;

/// `what` is what the caller wants of the model.
static mhcrt_status needGpu(const mhcrt_model *model, const char *what, mhcrt_message *message) {
  if (model->isForGpu())
    return MHCRT_OK;
  if (message)
    std::snprintf(message->text, sizeof(message->text), "%s: the model is for '%s'; needed one for a GPU", what,
                  mhcrt_model_target(model));
  return MHCRT_UNAVAILABLE;
}

extern "C" {

mhcrt_status mhcrt_model_pin(const mhcrt_model *model, mhcrt_context *context, const char *pin,
                             mhcrt_message *message) {
  if (const mhcrt_status status = needGpu(model, "a pinned variant", message))
    return status;
  return report(model, context, model->cuda.pin(context, pin), message);
}

mhcrt_status mhcrt_model_set_stream(const mhcrt_model *model, mhcrt_context *context, void *stream,
                                    mhcrt_message *message) {
  if (const mhcrt_status status = needGpu(model, "a stream", message))
    return status;
  return report(model, context, model->cuda.setStream(context, stream), message);
}

mhcrt_status mhcrt_model_set_strict(const mhcrt_model *model, mhcrt_context *context, int32_t strict,
                                    mhcrt_message *message) {
  if (const mhcrt_status status = needGpu(model, "strict mode", message))
    return status;
  model->cuda.setStrict(context, strict);
  return MHCRT_OK;
}

mhcrt_status mhcrt_model_set_ranges(const mhcrt_model *model, mhcrt_context *context, int32_t ranges,
                                    mhcrt_message *message) {
  if (const mhcrt_status status = needGpu(model, "NVTX ranges", message))
    return status;
  model->cuda.setRanges(context, ranges);
  return MHCRT_OK;
}

int32_t mhcrt_model_choices(const mhcrt_model *model, const mhcrt_context *context) {
  return model->isForGpu() ? model->cuda.choices(context) : 0;
}

void mhcrt_model_choice_at(const mhcrt_model *model, const mhcrt_context *context, int32_t index,
                           mhcrt_cuda_choice *choice) {
  model->cuda.choiceAt(context, index, choice);
}

mhcrt_status mhcrt_model_record(const mhcrt_model *model, int32_t entry, mhcrt_context *context,
                                const mhcrt_tensor *arguments, const mhcrt_tensor *results, mhcrt_cuda_graph **graph,
                                mhcrt_message *message) {
  *graph = nullptr;
  mhcrt_status status = needGpu(model, "a CUDA graph", message);
  if (status == MHCRT_OK)
    status = mhcrt_model_invoke(model, entry, context, arguments, results, message);
  if (status == MHCRT_OK)
    status = report(model, context, model->cuda.recordBegin(context), message);
  if (status != MHCRT_OK)
    return status;
  status = runEntry(model, entry, context, arguments, results, message);
  // In any case, as the stream must leave its mode; it makes no graph where the entry has failed.
  const mhcrt_status end = model->cuda.recordEnd(context, graph);
  if (status == MHCRT_OK)
    return report(model, context, end, message);
  model->runtime.clearError(context);
  return status;
}

mhcrt_status mhcrt_model_replay(const mhcrt_model *model, mhcrt_context *context, const mhcrt_cuda_graph *graph,
                                mhcrt_message *message) {
  if (const mhcrt_status status = needGpu(model, "a CUDA graph", message))
    return status;
  return report(model, context, model->cuda.replay(context, graph), message);
}

void mhcrt_model_graph_destroy(const mhcrt_model *model, mhcrt_cuda_graph *graph) {
  if (graph) // a model for the CPU has none, and nothing that destroys one
    model->cuda.destroyGraph(graph);
}

} // extern "C"
