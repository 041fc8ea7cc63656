//===- TestModel.c - A compiled model written by hand ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model as the compiler writes it: the manifest and the entries, linked with the runtime. Compiled as pedantic C99,
// it also shows that the headers are C.
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
  mhcrt_aggregate_args args = {.size = sizeof(args), .n = 4, .C = 64, .layout = MHCRT_LAYOUT_NC};
  args.x = arguments[0].data, args.x_type = arguments[0].dtype;
  args.h_pre = arguments[1].data, args.h_pre_type = arguments[1].dtype;
  args.u = results[0].data, args.u_type = results[0].dtype;
  args.M = arguments[0].dims[0];
  return mhcrt_aggregate(context, &args);
}

/// Fails for M above 3: the error of an entry.
mhcrt_status mhc_entry_widen(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results) {
  mhcrt_expand_args args = {.size = sizeof(args), .layout = MHCRT_LAYOUT_NC};
  args.x = arguments[0].data, args.x_type = arguments[0].dtype;
  args.streams = results[0].data, args.streams_type = results[0].dtype;
  args.M = arguments[0].dims[0], args.C = arguments[0].dims[1], args.n = args.M > 3 ? 99 : 3;
  mhcrt_expand(context, &args);
  return mhcrt_last_status(context);
}
