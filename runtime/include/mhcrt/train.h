//===- train.h - Train a compiled model ---------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implementation of mhc-train for a model library that has these entries. It knows tensors by name only:
//
//   init       seed                                        -> the weights
//   loss_grad  tokens, targets, [seed], weights, d_loss    -> loss, and d_W for each weight W
//   update     step, learning_rate, weights, d_W, others   -> the new weights and others, such as moments
//
// With tensor-parallel ranks that divide the tokens of a row, loss_grad and loss take `places`, too: those in the row.
//
// It may have these:
//
//   loss           tokens, targets, weights                -> loss, for validation; needed with tensor-parallel ranks
//   evaluate       the same, in place of loss where that has dropout
//   gradient_squares  d_W for each weight W             -> square_W, the sum of the squares of its elements
//
// A model that is cut into stages has loss_stage0_fwd, loss_stage0_bwd, loss_stage0, init_stage0, update_stage0 and so
// on for each; those of one know the weights that it reads.
//
// `others` start at zero. Weights and others are the state, which a checkpoint holds under the same names. Where mpirun
// started several processes, each computes the gradients of its part of a batch. C++17; no exception leaves these
// functions.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_H
#define MHCRT_TRAIN_H

#include "mhcrt/run.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mhcrt {

struct TrainOptions {
  std::string model;
  std::string data; ///< a file whose bytes are the tokens
  std::string load, save;
  int64_t saveEvery = 0;                 ///< steps between checkpoints; 0: at the end only
  std::string log;                       ///< one line of figures per step
  std::string validation;                ///< a file that no step trains on
  int64_t validateEvery = 100;           ///< steps
  std::string rateSchedule = "constant"; ///< of the learning rate behind the warm-up: constant, linear or cosine
  double leastRate = 0;                  ///< at the last step, where it falls
  int64_t steps = 100;                   ///< in all, with those before the checkpoint
  int64_t warmup = 0;                    ///< steps over which the learning rate rises
  int64_t seed = 1;
  double rate = 1e-3;
  int64_t microbatches = 1; ///< of a step, whose gradient is the mean of theirs
  bool gpipe = false;       ///< all forward passes of a stage come before its backward passes
  double timeout = 600;     ///< seconds that a rank waits for others
  int threads = 0;
  bool help = false;
  KernelOptions kernels;
};

/// False with `error` set when the command line cannot be understood.
bool parseTrainOptions(int argc, const char *const *argv, TrainOptions &options, std::string &error);

/// The lines on options in the help text.
extern const char *const kTrainOptionsHelp;

using NamedTensors = std::map<std::string, HostTensor>;

/// A model and a context of it, which outlive what is made with them.
struct Session {
  const mhcrt_model *model;
  mhcrt_context *context;
};

/// A tensor where the kernels of a session reach it.
class PlacedTensor {
public:
  PlacedTensor() = default;
  PlacedTensor(const PlacedTensor &) = delete;
  PlacedTensor &operator=(const PlacedTensor &) = delete;
  ~PlacedTensor();

  /// Allocates a tensor of the type of `type`, unless this one has it already.
  bool allocate(const Session &session, const mhcrt_tensor &type, std::string &error);
  /// Stands for memory of somebody else, for as long as that is there.
  void view(const Session &session, const mhcrt_tensor &tensor);
  /// From, and to, one of the same type.
  bool upload(const HostTensor &from, std::string &error);
  bool download(HostTensor &to, std::string &error) const;

  void swap(PlacedTensor &other) {
    std::swap(session, other.session);
    std::swap(tensor, other.tensor);
    std::swap(isView, other.isView);
  }

  const mhcrt_tensor &get() const { return tensor; }

private:
  void release();

  Session session = {};
  mhcrt_tensor tensor = {};
  bool isView = false;
};
using PlacedTensors = std::map<std::string, PlacedTensor>;

/// An entry whose arguments are found, and whose results are kept, by name.
class NamedEntry {
public:
  using Find = std::function<const PlacedTensor *(const std::string &)>;

  NamedEntry() = default;
  NamedEntry(const NamedEntry &) = delete;
  NamedEntry &operator=(const NamedEntry &) = delete;
  ~NamedEntry();

  /// All sizes of the entry must be numbers.
  bool open(const Session &session, const std::string &name, std::string &error);
  /// Runs on what `find` gives for the names of the arguments; the results are enqueued. Results of the right type are
  /// overwritten. `asGraph`: calls on the same memory replay a CUDA graph.
  bool run(const Find &find, PlacedTensors &results, bool asGraph, std::string &error);

  /// Makes results of the right type where they are not.
  bool allocateResults(PlacedTensors &results, std::string &error) const;

  std::vector<std::string> arguments() const;
  std::vector<std::string> results() const;
  /// Whether it has a result of this name, in f32, that is a part of a sum over ranks.
  bool isPartial(const std::string &name) const;
  /// A zero-filled tensor for one argument; false when there is none of that name.
  bool makeArgument(const std::string &name, HostTensor &tensor, std::string &error) const;

private:
  mhcrt_status replay(const std::vector<mhcrt_tensor> &inputs, const std::vector<mhcrt_tensor> &outputs,
                      mhcrt_message &message);

  Session session = {};
  int32_t entry = 0;
  std::string name;
  std::map<std::vector<const void *>, mhcrt_cuda_graph *> graphs; ///< by the addresses of all tensors
};

/// Weights and what the optimizer keeps, with the steps done.
struct TrainState {
  NamedTensors tensors;
  int64_t step = 0, seed = 0;
};

/// Keys are the names of the tensors, "step" and "seed". The file is whole, or the one that was there before.
bool saveCheckpoint(const std::string &path, const TrainState &state, std::string &error);
/// `state` has the tensors that the model needs; each is read, and no other may be there.
bool loadCheckpoint(const std::string &path, TrainState &state, std::string &error);

/// All of mhc-train.
int trainMain(int argc, const char *const *argv);

} // namespace mhcrt

#endif // MHCRT_TRAIN_H
