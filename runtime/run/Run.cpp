//===- Run.cpp - Run a model on tensor files ---------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"
#include "Check.h"
#include "mhcrt/file.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

using namespace mhcrt;

static constexpr int kGood = 0, kMismatch = 1, kError = 2;
static constexpr const char *kTool = "mhc-run";

static int fail(const char *tool, const std::string &error) {
  std::fprintf(stderr, "%s: error: %s\n", tool, error.c_str());
  return kError;
}

/// The share of a tensor that a rank has, in words.
static std::string sharesOf(const mhcrt_tensor_info &info, bool isResult) {
  std::string text;
  if (info.split_dim >= 0)
    text = ", a share of dimension " + std::to_string(info.split_dim);
  if (isResult && info.partial)
    text += std::string(", to be added up over ") + info.partial;
  return text;
}

static void listModel(const mhcrt_model *model) {
  std::printf("target %s\n", mhcrt_model_target(model));
  if (*mhcrt_model_mesh(model))
    std::printf("mesh %s\n", mhcrt_model_mesh(model));
  for (int32_t entry = 0; entry < mhcrt_model_entries(model); ++entry) {
    std::printf("entry %s\n", mhcrt_model_entry_name(model, entry));
    for (bool results : {false, true}) {
      const Signature signature{model, entry, results};
      for (int32_t i = 0; i < signature.size(); ++i)
        std::printf("  %-8s %-16s %s%s%s\n", signature.noun(), signature[i].name, signature[i].type,
                    signature[i].in_place >= 0 ? ", in place" : "", sharesOf(signature[i], results).c_str());
    }
    for (int32_t i = 0; const char *equality = mhcrt_model_equality(model, entry, i); ++i)
      std::printf("  needed   %s\n", equality);
  }
}

static void listFunctions(const mhcrt_model *model) {
  for (int32_t i = 0; i < mhcrt_model_functions(model); ++i)
    std::printf("calls %s: %s\n", mhcrt_model_function_name(model, i), mhcrt_model_function_type(model, i));
}

static std::string listEntries(const mhcrt_model *model) {
  std::string text;
  for (int32_t entry = 0; entry < mhcrt_model_entries(model); ++entry)
    text += std::string(entry ? ", '" : "'") + mhcrt_model_entry_name(model, entry) + "'";
  return text;
}

bool mhcrt::selectEntry(const mhcrt_model *model, const RunOptions &options, int32_t &entry, std::string &error) {
  entry = 0;
  error.clear();
  mhcrt_message message;
  if (mhcrt_model_entries(model) == 0)
    error = "the model has no entry";
  else if (options.entry.empty() && mhcrt_model_entries(model) > 1)
    error = "--entry is needed: the model has " + listEntries(model);
  else if (!options.entry.empty() && mhcrt_model_find_entry(model, options.entry.c_str(), &entry, &message) != MHCRT_OK)
    error = message.text;
  return error.empty();
}

/// Prints what --expect found; false when a value does not pass.
static bool report(const char *name, const Comparison &c, double relative) {
  std::printf("%s: %s, max abs error %.3g, max rel error %.3g (tolerance %.3g)\n", name, c.pass ? "match" : "MISMATCH",
              c.maxAbs, c.maxRel, relative);
  if (!c.pass)
    std::printf("%s: %s %s, the first at %s: got %.9g, expected %.9g\n", name, counted(c.bad, "value").c_str(),
                c.bad == 1 ? "differs" : "differ", c.firstIndex.c_str(), c.firstGot, c.firstWant);
  return c.pass;
}

static bool compareResults(const Signature &results, const std::vector<HostTensor> &tensors,
                           const std::vector<std::string> &files, double tolerance, bool &match, std::string &error) {
  match = true;
  for (int32_t i = 0; i < results.size(); ++i) {
    if (files[i].empty())
      continue;
    HostTensor want;
    if (!readNpy(files[i], want, error))
      return false;
    Tolerance allowed = defaultTolerance(tensors[i].dtype());
    if (tolerance >= 0)
      allowed = {0, tolerance};
    Comparison comparison;
    if (!compare(tensors[i].get(), want.get(), allowed, comparison, error)) {
      error = std::string("result '") + results[i].name + "' and '" + files[i] + "': " + error;
      return false;
    }
    match = report(results[i].name, comparison, allowed.relative) && match;
  }
  return true;
}

bool mhcrt::allocateResults(const mhcrt_model *model, int32_t entry, const std::vector<mhcrt_tensor> &arguments,
                            std::vector<HostTensor> &tensors, std::vector<mhcrt_tensor> &views, std::string &error) {
  mhcrt_message message;
  const Signature results{model, entry, true};
  tensors = std::vector<HostTensor>(results.size());
  views.resize(results.size());
  if (mhcrt_model_infer(model, entry, arguments.data(), views.data(), &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  for (int32_t i = 0; i < results.size(); ++i) {
    const std::vector<int64_t> dims(views[i].dims, views[i].dims + views[i].rank);
    if (!tensors[i].allocate(views[i].dtype, dims, error)) {
      error = std::string("result '") + results[i].name + "': " + error;
      return false;
    }
    views[i] = tensors[i].get();
  }
  return true;
}

/// The files that the results go to are writable, and none of them is one that is read for something else. To write the
/// file of an argument is no mistake: a state goes from call to call.
static bool checkOutputs(const Signature &results, const RunOptions &options, const std::vector<std::string> &outFiles,
                         const std::vector<std::string> &expectFiles, std::string &error) {
  std::vector<FileRole> outputs, inputs = {{"the model", options.model}};
  for (int32_t i = 0; i < results.size(); ++i) {
    const std::string name = std::string("result '") + results[i].name + "'";
    outputs.push_back({"'--out' of " + name, outFiles[i]});
    inputs.push_back({"'--expect' of " + name, expectFiles[i]});
    if (!outFiles[i].empty() && !canWriteFile(outFiles[i], error))
      return false;
  }
  return checkDistinct(outputs, inputs, error);
}

static int runEntry(const char *tool, const mhcrt_model *model, mhcrt_context *context, int32_t entry,
                    const RunOptions &options) {
  const Signature arguments{model, entry, false}, results{model, entry, true};
  std::vector<HostTensor> inputs, outputs;
  std::vector<std::string> outFiles, expectFiles;
  std::string notes, error;
  if (!assignFiles(results, options.outs, "--out", outFiles, error) ||
      !assignFiles(results, options.expects, "--expect", expectFiles, error) ||
      !checkOutputs(results, options, outFiles, expectFiles, error) ||
      !readArguments(arguments, options, inputs, notes, error))
    return fail(tool, error);
  std::fputs(notes.c_str(), stderr);

  std::vector<mhcrt_tensor> given, wanted;
  for (const HostTensor &input : inputs)
    given.push_back(input.get());
  if (!allocateResults(model, entry, given, outputs, wanted, error))
    return fail(tool, error);

  EntryCall call(model, entry, context, given, wanted);
  if ((options.kernels.asGraph && !call.record(error)) || !call.runAndTime(options.repetitions, error))
    return fail(tool, error);
  reportKernels(tool, model, context, options.kernels);

  for (int32_t i = 0; i < results.size(); ++i) {
    if (outFiles[i].empty() && expectFiles[i].empty())
      std::printf("%s: %s\n", results[i].name, outputs[i].type().c_str());
    if (!outFiles[i].empty() && !writeNpy(outFiles[i], outputs[i].get(), error))
      return fail(tool, error);
  }
  bool match = true;
  if (!compareResults(results, outputs, expectFiles, options.tolerance, match, error))
    return fail(tool, error);
  return match ? kGood : kMismatch;
}

static int runChecked(const char *tool, const mhcrt_model *model, const RunOptions &options) {
  if (options.list) {
    listModel(model);
    listFunctions(model);
    return kGood;
  }
  int32_t entry = 0;
  std::string error;
  if (!selectEntry(model, options, entry, error))
    return fail(tool, error);
  mhcrt_context *context = nullptr;
  mhcrt_message message;
  if (mhcrt_model_context_create(model, options.threads, &context, &message) != MHCRT_OK)
    return fail(tool, message.text);
  const int status = applyOptions(model, context, options.kernels, error)
                         ? runEntry(tool, model, context, entry, options)
                         : fail(tool, error);
  mhcrt_model_context_destroy(model, context);
  return status;
}

int mhcrt::runModel(const char *tool, const mhcrt_model *model, const RunOptions &options) {
  try {
    return runChecked(tool, model, options);
  } catch (const std::exception &problem) {
    return fail(tool, problem.what());
  }
}

static int openAndRun(const RunOptions &options) {
  mhcrt_message message;
  mhcrt_model *opened = nullptr;
  if (mhcrt_model_open(options.model.c_str(), &opened, &message) != MHCRT_OK)
    return fail(kTool, message.text);
  const std::unique_ptr<mhcrt_model, decltype(&mhcrt_model_close)> model(opened, mhcrt_model_close);
  if (std::string error; !loadFunctions(opened, options.kernels, error))
    return fail(kTool, error);
  return runModel(kTool, opened, options);
}

/// The folder of `--check FOLDER [--cuda-graph]`, which stands alone; "" for anything else.
static std::string checkFolder(std::vector<std::string> words, bool &asGraph) {
  asGraph = !words.empty() && words.back() == "--cuda-graph";
  if (asGraph)
    words.pop_back();
  const std::string word = words.empty() ? "" : words[0], option = "--check";
  if (words.size() == 2 && word == option)
    return words[1];
  return words.size() == 1 && word.rfind(option + "=", 0) == 0 ? word.substr(option.size() + 1) : "";
}

/// The exit status, or that of an error where lines that were printed are lost.
static int finish(int status) {
  std::string error;
  return flushStandardOutput(error) ? status : fail(kTool, error);
}

int mhcrt::runMain(int argc, const char *const *argv) {
  makeFileLimitAnError();
  try {
    RunOptions options;
    std::string error;
    bool asGraph = false;
    if (const std::string folder = checkFolder({argv + 1, argv + argc}, asGraph); !folder.empty())
      return finish(runChecks(folder, asGraph));
    if (argc > 1 && std::string(argv[1]).rfind("--check", 0) == 0)
      return fail(kTool, "'--check' needs a folder, and takes no option but '--cuda-graph'");
    if (!parseRunOptions(argc, argv, options, error))
      return fail(kTool, error);
    if (options.help) {
      std::printf("mhc-run: run a compiled model on tensor files\n\n"
                  "usage: mhc-run model.so [--entry NAME] [--arg FILE | --arg NAME=FILE]... [options]\n"
                  "       mhc-run --check FOLDER [--cuda-graph]\n\n"
                  "  --check FOLDER         run the checks that mhc-conformance --emit wrote, and print what fails;\n"
                  "                         with --cuda-graph also replay each as a graph, which must leave the same "
                  "bits\n%s%s\n"
                  "bf16 in a .npy file is '<V2' or '<u2'. Exit status: 0 good, 1 a comparison failed, 2 an error.\n",
                  kRunOptionsHelp, kKernelOptionsHelp);
      return finish(kGood);
    }
    if (options.list && options.given.size() > 1)
      return fail(kTool, "'--list' takes no other option");
    if (options.given.count("--tolerance") && options.expects.empty())
      return fail(kTool, "'--tolerance' needs '--expect'");
    return finish(openAndRun(options));
  } catch (const std::exception &problem) {
    return fail(kTool, problem.what());
  }
}
