//===- Kernels.cpp - Which kernels a model for a GPU takes ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mhcrt;

const char *const mhcrt::kKernelOptionsHelp =
    R"(of models for a GPU:
  --pin=OP=VARIANT       take this variant of a kernel, such as post=generic
  --strict               make an error of a call that no fast variant of its kernel takes
  --list-kernels         print which variants the calls of each kernel took
  --cuda-graph           record the calls of an entry into a CUDA graph and replay that
  --nvtx                 show profilers a range for each kernel; models of mhcc -g name the source line
)";

bool *KernelOptions::flag(const std::string &name) {
  return name == "--strict"         ? &strict
         : name == "--nvtx"         ? &ranges
         : name == "--cuda-graph"   ? &asGraph
         : name == "--list-kernels" ? &list
                                    : nullptr;
}

bool mhcrt::loadFunctions(mhcrt_model *model, const KernelOptions &options, std::string &error) {
  mhcrt_message message;
  for (const std::string &path : options.functions)
    if (mhcrt_model_load_functions(model, path.c_str(), &message) != MHCRT_OK) {
      error = message.text;
      return false;
    }
  return true;
}

bool mhcrt::applyOptions(const mhcrt_model *model, mhcrt_context *context, const KernelOptions &options,
                         std::string &error) {
  mhcrt_message message;
  mhcrt_status status = MHCRT_OK;
  if (options.strict)
    status = mhcrt_model_set_strict(model, context, 1, &message);
  if (options.ranges && status == MHCRT_OK)
    status = mhcrt_model_set_ranges(model, context, 1, &message);
  const bool isForCpu = std::strcmp(mhcrt_model_target(model), "cpu") == 0;
  if (isForCpu && (options.list || options.asGraph)) {
    error = options.list ? "the kernels of a model for 'cpu' have no variants to list"
                         : "a CUDA graph: the model is for 'cpu'; needed one for a GPU";
    return false;
  }
  for (const std::string &pin : options.pins)
    if (status == MHCRT_OK)
      status = mhcrt_model_pin(model, context, pin.c_str(), &message);
  if (status != MHCRT_OK)
    error = message.text;
  return status == MHCRT_OK;
}

/// In the order of names.
static std::vector<mhcrt_cuda_choice> choicesOf(const mhcrt_model *model, const mhcrt_context *context) {
  std::vector<mhcrt_cuda_choice> choices(mhcrt_model_choices(model, context));
  for (size_t i = 0; i < choices.size(); ++i)
    mhcrt_model_choice_at(model, context, static_cast<int32_t>(i), &choices[i]);
  std::sort(choices.begin(), choices.end(), [](const mhcrt_cuda_choice &a, const mhcrt_cuda_choice &b) {
    const int ops = std::strcmp(a.op, b.op);
    return ops < 0 || (ops == 0 && std::strcmp(a.variant, b.variant) < 0);
  });
  return choices;
}

static void printKernels(const std::vector<mhcrt_cuda_choice> &choices) {
  std::printf("%-20s %-10s %8s\n", "kernel", "variant", "calls");
  for (const mhcrt_cuda_choice &choice : choices)
    std::printf("%-20s %-10s %8lld%s%s\n", choice.op, choice.variant, static_cast<long long>(choice.calls),
                choice.fallback[0] ? "  " : "", choice.fallback);
}

void mhcrt::reportKernels(const char *tool, const mhcrt_model *model, const mhcrt_context *context,
                          const KernelOptions &options) {
  const std::vector<mhcrt_cuda_choice> choices = choicesOf(model, context);
  for (const mhcrt_cuda_choice &choice : choices)
    if (choice.fallback[0])
      std::fprintf(stderr, "%s: warning: '%s' takes its variant '%s'. %s\n", tool, choice.op, choice.variant,
                   choice.fallback);
  for (const std::string &pin : options.pins) {
    const std::string op = pin.substr(0, pin.find('='));
    if (std::none_of(choices.begin(), choices.end(), [&](const mhcrt_cuda_choice &c) { return op == c.op; }))
      std::fprintf(stderr, "%s: warning: '--pin %s' has no effect: no kernel '%s' was called\n", tool, pin.c_str(),
                   op.c_str());
  }
  if (options.list)
    printKernels(choices);
}
