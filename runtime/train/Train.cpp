//===- Train.cpp - The training loop ----------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step depends on the state, its number and the seed alone, so that a run that was stopped and resumed ends with the
// same bits as one that was not.
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"
#include "Progress.h"
#include "Ranks.h"
#include "io/File.h"
#include "mhcrt/file.h"
#include "src/Philox.h"

#include <chrono>
#include <cmath>
#include <exception>
#include <memory>

using namespace mhcrt;

static constexpr const char *kTool = "mhc-train";

namespace {
class Trainer {
public:
  Trainer(const Session &session, const TrainOptions &options, Ranks &ranks)
      : session(session), options(options), ranks(ranks) {}

  /// Opens the model and checks everything that can be wrong, before the first step.
  bool open(std::string &error);
  bool run(std::string &error);

private:
  bool prepare(std::string &error);
  bool shareStart(std::string &error);
  bool start(std::string &error);
  bool makeInputs(std::string &error);
  bool placeInputs(std::string &error);
  bool placeState(std::string &error);
  bool fetchState(std::string &error);
  void fillBatch();
  bool uploadInputs(std::string &error);
  bool gradientsOfPart(double &loss, std::string &error);
  bool moveGradients(bool isBack, std::string &error);
  bool sumGradients(std::string &error);
  bool step(double &loss, std::string &error);
  bool steps(Progress &progress, std::string &error);
  bool runAll(std::string &error);
  bool save(std::string &error);
  const PlacedTensor *find(const std::string &name) const;

  const Session session;
  const TrainOptions &options;
  Ranks &ranks;
  NamedEntry init, lossGrad, update;
  std::string data;
  TrainState state;    ///< its tensors are those of the first step, and at the end those of the last
  NamedTensors inputs; ///< tokens, targets, seed, step, learning_rate, d_loss
  PlacedTensors placedInputs;
  PlacedTensors current;   ///< tensors of the state
  PlacedTensors gradients; ///< and the loss
  PlacedTensors next;      ///< the state that a step makes
  HostTensor lastLoss;
  std::vector<float> bucket; ///< all gradients, of several ranks
  bool isWarm = false;       ///< a step was made: all memory is there
};
} // namespace

static bool readBytes(const std::string &path, std::string &data, std::string &error) {
  File file(path, "rb");
  if (!file.opened(error))
    return false;
  data.resize(std::max<int64_t>(0, file.size()));
  return file.read(data.data(), static_cast<int64_t>(data.size()), "text", error);
}

/// As many ranks as the model was compiled for.
static bool checkMesh(const mhcrt_model *model, int32_t found, std::string &error) {
  const int32_t needed = mhcrt_model_ranks(model);
  if (found == needed)
    return true;
  const std::string mesh = mhcrt_model_mesh(model);
  error = "the model is for " + (mesh.empty() ? "no mesh" : "the mesh '" + mesh + "'") + ": found " +
          counted(found, "rank") + ", needed " + std::to_string(needed) +
          (needed > 1 ? "; start it by 'mpirun -np " + std::to_string(needed) + "'" : "");
  return false;
}

bool Trainer::open(std::string &error) { return ranks.agree(prepare(error), error) && shareStart(error); }

bool Trainer::prepare(std::string &error) {
  return checkMesh(session.model, ranks.count(), error) && init.open(session, "init", error) &&
         lossGrad.open(session, "loss_grad", error) && update.open(session, "update", error) && makeInputs(error) &&
         readBytes(options.data, data, error) && start(error) &&
         (options.save.empty() || !ranks.isFirst() || canWriteFile(options.save, error));
}

/// All ranks work on the same, and begin with the state of rank 0.
bool Trainer::shareStart(std::string &error) {
  std::string model;
  if (!ranks.agree(readBytes(options.model, model, error), error))
    return false;
  const std::string numbers = std::to_string(options.steps) + " " + std::to_string(options.warmup) + " " +
                              std::to_string(options.seed) + " " + std::to_string(options.rate);
  if (!ranks.agreeOn({hashOf(model), hashOf(data), hashOf(numbers)},
                     {"code in the model", "bytes in '--data'", "steps, warmup, seed or learning rate"}, error) ||
      !ranks.broadcast(state, error))
    return false;
  static_cast<int64_t *>(inputs["seed"].data())[0] = state.seed;
  return placeState(error);
}

/// Makes the inputs of the entries that are neither state nor gradient.
bool Trainer::makeInputs(std::string &error) {
  for (const char *name : {"tokens", "targets", "d_loss"})
    if (!lossGrad.makeArgument(name, inputs[name], error))
      return false;
  for (const char *name : {"step", "learning_rate"})
    if (!update.makeArgument(name, inputs[name], error))
      return false;
  if (!init.makeArgument("seed", inputs["seed"], error))
    return false;
  const HostTensor &tokens = inputs["tokens"];
  if (tokens.dtype() != MHCRT_I32 || tokens.dims().size() != 2 || tokens.type() != inputs["targets"].type()) {
    error = "'tokens' is " + tokens.type() + " and 'targets' " + inputs["targets"].type() +
            "; needed i32 of one shape with two dimensions";
    return false;
  }
  *static_cast<float *>(inputs["d_loss"].data()) = 1 / static_cast<float>(ranks.count()); // the loss is a mean
  return placeInputs(error);
}

bool Trainer::placeInputs(std::string &error) {
  for (const auto &[name, host] : inputs)
    if (!placedInputs[name].allocate(session, host.get(), error))
      return false;
  return true;
}

bool Trainer::uploadInputs(std::string &error) {
  for (const auto &[name, host] : inputs)
    if (!placedInputs[name].upload(host, error))
      return false;
  return true;
}

/// The state before the first step: weights from init or a checkpoint, zeros for the rest.
bool Trainer::start(std::string &error) {
  const int64_t window = inputs["tokens"].dims()[1] + 1;
  if (static_cast<int64_t>(data.size()) < window) {
    error = "'" + options.data + "' has " + counted(static_cast<int64_t>(data.size()), "byte") + "; needed at least " +
            std::to_string(window) + ", the context and one";
    return false;
  }
  state.seed = options.seed;
  int64_t *const seed = static_cast<int64_t *>(inputs["seed"].data());
  seed[0] = state.seed;
  auto findSeed = [&](const std::string &name) { return name == "seed" ? &placedInputs["seed"] : nullptr; };
  if (!uploadInputs(error) || !init.run(findSeed, current, /*asGraph=*/false, error) || !fetchState(error))
    return false;
  for (const std::string &name : update.arguments())
    if (!state.tensors.count(name) && !inputs.count(name) && name.rfind("d_", 0) != 0)
      if (!update.makeArgument(name, state.tensors[name], error))
        return false;
  if (!options.load.empty() && ranks.isFirst() && !loadCheckpoint(options.load, state, error))
    return false;
  if (state.step > options.steps) {
    error = "'" + options.load + "' is of step " + std::to_string(state.step) + "; '--steps' is " +
            std::to_string(options.steps) + ", needed at least that of the checkpoint";
    return false;
  }
  return true;
}

bool Trainer::placeState(std::string &error) {
  for (const auto &[name, host] : state.tensors)
    if (!current[name].allocate(session, host.get(), error) || !current[name].upload(host, error))
      return false;
  return true;
}

bool Trainer::fetchState(std::string &error) {
  for (const auto &[name, tensor] : current)
    if (!tensor.download(state.tensors[name], error))
      return false;
  return true;
}

/// Windows of the text at places that the seed and the number of the step give. The rows of the ranks are one batch.
void Trainer::fillBatch() {
  const std::vector<int64_t> dims = inputs["tokens"].dims();
  int32_t *const tokens = static_cast<int32_t *>(inputs["tokens"].data());
  int32_t *const targets = static_cast<int32_t *>(inputs["targets"].data());
  const int64_t seed[] = {state.seed, state.step};
  constexpr int64_t kStream = UINT32_MAX; // ops of the model count theirs from 0
  const PhiloxStream philox = {seed, kStream};
  for (int64_t row = 0; row < dims[0]; ++row) {
    const Words words = philox(ranks.rank() * dims[0] + row);
    const uint64_t random = uint64_t(words[0]) << 32 | words[1];
    const char *const window = data.data() + random % (data.size() - dims[1]);
    for (int64_t i = 0; i < dims[1]; ++i) {
      tokens[row * dims[1] + i] = static_cast<unsigned char>(window[i]);
      targets[row * dims[1] + i] = static_cast<unsigned char>(window[i + 1]);
    }
  }
}

const PlacedTensor *Trainer::find(const std::string &name) const {
  for (const PlacedTensors *tensors : {&current, &placedInputs, &gradients})
    if (const auto found = tensors->find(name); found != tensors->end())
      return &found->second;
  return nullptr;
}

bool Trainer::gradientsOfPart(double &loss, std::string &error) {
  fillBatch();
  // Each rank drops other elements.
  static_cast<int64_t *>(inputs["seed"].data())[1] = state.step | int64_t(ranks.rank()) << 32;
  *static_cast<float *>(inputs["step"].data()) = static_cast<float>(state.step + 1);
  const double rise = std::min(1.0, static_cast<double>(state.step + 1) / std::max<int64_t>(1, options.warmup));
  *static_cast<float *>(inputs["learning_rate"].data()) = static_cast<float>(options.rate * rise);
  auto lookup = [&](const std::string &name) { return find(name); };
  const bool asGraph = options.kernels.asGraph && isWarm;
  if (!uploadInputs(error) || !lossGrad.run(lookup, gradients, asGraph, error) ||
      !gradients["loss"].download(lastLoss, error))
    return false;
  loss = element(lastLoss.get(), 0);
  if (std::isfinite(loss))
    return ranks.count() == 1 || moveGradients(/*isBack=*/false, error);
  error = "the loss of step " + std::to_string(state.step) + " is " + std::to_string(loss);
  return false;
}

/// Moves all gradients into the bucket, in which they travel together, or back. Those of a GPU pass through the memory
/// of the host.
bool Trainer::moveGradients(bool isBack, std::string &error) {
  constexpr int64_t kWidth = sizeof(float);
  auto isGradient = [](const std::string &name) { return name.rfind("d_", 0) == 0; };
  int64_t bytes = 0;
  for (const auto &[name, tensor] : gradients)
    bytes += isGradient(name) ? bytesOf(tensor.get()) : 0;
  bucket.resize(bytes / kWidth);
  float *place = bucket.data();
  mhcrt_message message;
  mhcrt_status status = MHCRT_OK;
  for (const auto &[name, placed] : gradients) {
    const mhcrt_tensor &tensor = placed.get();
    if (!isGradient(name) || status != MHCRT_OK)
      continue;
    status = mhcrt_model_copy(session.model, session.context, isBack ? tensor.data : place,
                              isBack ? place : tensor.data, bytesOf(tensor), &message);
    place += bytesOf(tensor) / kWidth;
  }
  if (status == MHCRT_OK)
    status = mhcrt_model_synchronize(session.model, session.context, &message);
  if (status != MHCRT_OK)
    error = message.text;
  return status == MHCRT_OK;
}

/// The gradients of the whole batch.
bool Trainer::sumGradients(std::string &error) {
  return ranks.count() == 1 || (ranks.sum(bucket, error) && moveGradients(/*isBack=*/true, error));
}

bool Trainer::step(double &loss, std::string &error) {
  const bool asGraph = options.kernels.asGraph && isWarm;
  auto lookup = [&](const std::string &name) { return find(name); };
  if (!ranks.agree(gradientsOfPart(loss, error), loss, error) || !sumGradients(error) ||
      !update.run(lookup, next, asGraph, error))
    return false;
  current.swap(next);
  isWarm = true;
  ++state.step;
  return true;
}

bool Trainer::save(std::string &error) {
  return !ranks.isFirst() || (fetchState(error) && saveCheckpoint(options.save, state, error));
}

bool Trainer::steps(Progress &progress, std::string &error) {
  while (state.step < options.steps) {
    const auto begin = std::chrono::steady_clock::now();
    double loss = 0;
    if (!step(loss, error))
      return false;
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    if (ranks.isFirst())
      progress.add(loss, taken.count());
    const bool isDue = options.saveEvery && state.step % options.saveEvery == 0 && state.step < options.steps;
    if (isDue && !save(error))
      return false;
  }
  return true;
}

bool Trainer::run(std::string &error) { return ranks.agree(runAll(error), error); }

bool Trainer::runAll(std::string &error) {
  Progress progress(state.step, options.steps);
  const bool logs = !options.log.empty() && ranks.isFirst();
  if (logs && !progress.openLog(options.log, error))
    return false;
  if (state.step == options.steps && ranks.isFirst())
    std::fprintf(stderr, "%s: note: nothing is left to do up to step %lld\n", kTool,
                 static_cast<long long>(options.steps));
  if (!steps(progress, error))
    return false;
  progress.finish();
  // A log that could not be written is no reason to lose the state.
  return (options.save.empty() || save(error)) && (!logs || progress.closeLog(error));
}

static bool trainOn(Ranks &ranks, const TrainOptions &options, std::string &error) {
  mhcrt_message message;
  mhcrt_model *opened = nullptr;
  mhcrt_context *context = nullptr;
  if (mhcrt_model_open(options.model.c_str(), &opened, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  const std::unique_ptr<mhcrt_model, decltype(&mhcrt_model_close)> model(opened, mhcrt_model_close);
  if (!loadFunctions(opened, options.kernels, error))
    return false;
  if (mhcrt_model_context_create(opened, options.threads, &context, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  bool good = applyOptions(opened, context, options.kernels, error);
  if (good) {
    Trainer trainer({opened, context}, options, ranks);
    good = trainer.open(error) && trainer.run(error);
  }
  if (good && ranks.isFirst())
    reportKernels(kTool, opened, context, options.kernels);
  mhcrt_model_context_destroy(opened, context);
  return good;
}

static void sayError(const std::string &error) { std::fprintf(stderr, "%s: error: %s\n", kTool, error.c_str()); }

/// Trains on all ranks. Of several, one says what is wrong while the others are still there, and `error` is empty:
/// a launcher ends all of them when the first one goes.
static bool train(const TrainOptions &options, std::string &error) {
  Ranks ranks;
  bool good = ranks.open(options.timeout, error);
  try {
    good = good && trainOn(ranks, options, error);
  } catch (const std::exception &problem) { // the other ranks shall know it
    error = problem.what();
    good = false;
  }
  good = ranks.agree(good, error);
  if (good || ranks.count() == 1)
    return good;
  if (ranks.reports())
    sayError(error);
  error.clear();
  return false;
}

int mhcrt::trainMain(int argc, const char *const *argv) {
  makeFileLimitAnError();
  std::string error;
  try {
    TrainOptions options;
    bool good = parseTrainOptions(argc, argv, options, error);
    if (options.help)
      std::printf("mhc-train: train a compiled model\n\nusage: mhc-train model.so --data=FILE [options]\n\n%s%s\n"
                  "The model has the entries init, loss_grad and update (mhcc model.json --grad -o model.so).\n",
                  kTrainOptionsHelp, kKernelOptionsHelp);
    else
      good = good && train(options, error);
    if (good && flushStandardOutput(error))
      return 0;
  } catch (const std::exception &problem) {
    error = problem.what();
  }
  if (!error.empty())
    sayError(error);
  return 2;
}
