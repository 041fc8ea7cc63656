//===- run.h - Run a model on tensor files ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implementation of mhc-run for a model library and of mhcc --run for a program in its own process: the options, which
// file belongs to which tensor, the run, the comparison, the timing. C++17; no exception leaves these functions.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_RUN_H
#define MHCRT_RUN_H

#include "mhcrt/io.h"
#include "mhcrt/model.h"

#include <set>
#include <string>
#include <vector>

namespace mhcrt {

/// Options on what a model calls, most for models that run on a GPU.
struct KernelOptions {
  std::vector<std::string> functions; ///< libraries with functions that the model has not
  std::vector<std::string> pins;      ///< "post=generic"
  bool strict = false;                ///< an op that has a fast variant may not take a slower one
  bool ranges = false;                ///< NVTX ranges for profilers
  bool asGraph = false;               ///< calls are recorded and replayed as CUDA graphs
  bool list = false;                  ///< the variants taken are printed

  /// The flag that an option without a value sets; null for any other option.
  bool *flag(const std::string &name);
};
/// The lines on them in the help text.
extern const char *const kKernelOptionsHelp;

/// Opens the libraries of --functions.
bool loadFunctions(mhcrt_model *model, const KernelOptions &options, std::string &error);
/// False with `error` set where the model is for the CPU and an option is given.
bool applyOptions(const mhcrt_model *model, mhcrt_context *context, const KernelOptions &options, std::string &error);
/// Says on stderr why calls took a slower variant, and which pin had no call; prints the variants taken where wanted.
void reportKernels(const char *tool, const mhcrt_model *model, const mhcrt_context *context,
                   const KernelOptions &options);

struct RunOptions {
  std::string model;
  std::string entry;                ///< "" when the model's only entry is meant
  std::vector<std::string> args;    ///< "path" or "name=path"
  std::vector<std::string> bundles; ///< .safetensors files, or folders with one NAME.npy per argument
  std::vector<std::string> expects; ///< "path" or "name=path"
  std::vector<std::string> outs;    ///< "path" or "name=path"
  double tolerance = -1;            ///< relative; negative means the default of the dtype
  int threads = 0;
  int repetitions = 0; ///< 0: no timing
  bool convert = false;
  bool list = false;
  bool help = false;
  KernelOptions kernels;
  std::set<std::string> given; ///< the options on the command line, "--arg" for one

  bool givesArguments() const { return !args.empty() || !bundles.empty(); }
};

/// False with `error` set when the command line cannot be understood.
bool parseRunOptions(int argc, const char *const *argv, RunOptions &options, std::string &error);

/// The lines on options in the help text.
extern const char *const kRunOptionsHelp;

/// Reads digits alone; false when they are no number in [least, most].
bool parseInteger(const std::string &text, int64_t least, int64_t most, int64_t &value);

/// "1 result", "2 results"
std::string counted(int64_t count, const std::string &noun);

/// The arguments (results) of an entry.
struct Signature {
  const mhcrt_model *model;
  int32_t entry;
  bool results;

  int32_t size() const;
  const mhcrt_tensor_info &operator[](int32_t index) const;
  /// "argument" or "result"
  const char *noun() const { return results ? "result" : "argument"; }
  /// -1 when there is none.
  int32_t find(const std::string &name) const;
};

/// One path per tensor of the signature, "" where none was given: "NAME=FILE" by name, "FILE" in order.
bool assignFiles(const Signature &signature, const std::vector<std::string> &words, const char *option,
                 std::vector<std::string> &files, std::string &error);

/// All arguments of the entry, from --arg and --args. `notes` says what --convert rounded.
bool readArguments(const Signature &signature, const RunOptions &options, std::vector<HostTensor> &tensors,
                   std::string &notes, std::string &error);

/// The entry that --entry names, or the only one. The error lists the entries there are.
bool selectEntry(const mhcrt_model *model, const RunOptions &options, int32_t &entry, std::string &error);

/// Results for these arguments, on the host, and what a call takes of them.
bool allocateResults(const mhcrt_model *model, int32_t entry, const std::vector<mhcrt_tensor> &arguments,
                     std::vector<HostTensor> &tensors, std::vector<mhcrt_tensor> &views, std::string &error);

/// An entry with its tensors, ready to run. The tensors are the host's; where the context's kernels do not reach those,
/// they work on copies in buffers of the GPU.
class EntryCall {
public:
  EntryCall(const mhcrt_model *model, int32_t entry, mhcrt_context *context, std::vector<mhcrt_tensor> arguments,
            std::vector<mhcrt_tensor> results);
  EntryCall(const EntryCall &) = delete;
  EntryCall &operator=(const EntryCall &) = delete;
  ~EntryCall();

  /// Lets runs replay a CUDA graph, which is recorded on arguments of zeros: results of other data show that the replay
  /// reads what is there then.
  bool record(std::string &error);
  /// Runs the entry, and with `repetitions` prints the median and best time, kernels and allocations per run, and the
  /// memory held beside that of the tensors. The results are then in the host's tensors.
  bool runAndTime(int repetitions, std::string &error);

private:
  bool makeBuffers(std::string &error);
  bool place(std::string &error);
  bool upload(std::string &error) const;
  bool clear(std::string &error) const;
  bool run(std::string &error) const;
  bool time(int repetitions, std::string &error) const;
  bool synchronize(std::string &error) const;
  bool fetch(std::string &error) const;
  bool copy(void *to, const void *from, const mhcrt_tensor &type, std::string &error) const;

  const mhcrt_model *model;
  int32_t entry;
  mhcrt_context *context;
  std::vector<mhcrt_tensor> given, wanted;      ///< the host's
  std::vector<mhcrt_tensor> arguments, results; ///< what the kernels get
  std::vector<void *> buffers;
  mhcrt_cuda_graph *graph = nullptr;
  int64_t graphKernels = 0;
};

/// Runs an entry on the files that the options name, compares and prints. `tool` starts the error lines. Returns the
/// exit status: 0 good, 1 a comparison failed, 2 an error.
int runModel(const char *tool, const mhcrt_model *model, const RunOptions &options);

/// All of mhc-run.
int runMain(int argc, const char *const *argv);

} // namespace mhcrt

#endif // MHCRT_RUN_H
