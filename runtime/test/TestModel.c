//===- TestModel.c - A compiled model written by hand ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler makes of a model: the manifest and the entries, linked with the runtime. Compiled as pedantic C99,
// it also proves that the headers are C.
//
//===------------------------------------------------------------------------===//
#include "mhcrt/kernels.h"
#include "mhcrt/measure.h"
#include "mhcrt/mhcrt.h"
#include "mhcrt/model.h"

const char mhc_model_manifest[] = "mhc-model 1\n"
                                  "compiler by hand\n"
                                  "entry weigh\n"
                                  "arg x bf16 M 4 64\n"
                                  "arg h f32 M 4\n"
                                  "result u bf16 M 64\n"
                                  "workspace 0\n"
                                  "end\n"
                                  "entry widen\n"
                                  "arg x f32 M C\n"
                                  "result out f32 M 3 C\n"
                                  "end\n";

mhcrt_status mhc_entry_weigh(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results) {
  return mhcrt_aggregate(context, arguments[0].data, arguments[0].dtype, arguments[1].data, arguments[1].dtype,
                         results[0].data, results[0].dtype, arguments[0].dims[0], 4, 64, MHCRT_LAYOUT_NC);
}

/// Fails for M above 3: the error of an entry.
mhcrt_status mhc_entry_widen(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results) {
  int64_t n = arguments[0].dims[0] > 3 ? 99 : 3;
  mhcrt_expand(context, arguments[0].data, arguments[0].dtype, results[0].data, results[0].dtype, arguments[0].dims[0],
               arguments[0].dims[1], n, MHCRT_LAYOUT_NC);
  return mhcrt_last_status(context);
}
