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
#include "Gradients.h"
#include "PlacedState.h"
#include "Progress.h"
#include "Ranks.h"
#include "Schedule.h"
#include "Stages.h"
#include "TensorRanks.h"
#include "Validation.h"
#include "io/File.h"
#include "mhcrt/file.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>

using namespace mhcrt;

static constexpr const char *kTool = "mhc-train";

namespace {
class Trainer {
public:
  Trainer(const Session &session, const TrainOptions &options, Ranks &ranks, TensorRanks &tensorRanks, Gpu &gpu)
      : session(session), options(options), ranks(ranks), tensorRanks(tensorRanks), stages(session.model, ranks),
        gradients(session, options, ranks, stages, tensorRanks, gpu), validation(session, options, ranks, stages, gpu),
        state(session, ranks, stages, tensorRanks) {}

  /// Opens the model and checks everything that can be wrong, before the first step.
  bool open(std::string &error);
  bool run(std::string &error);

private:
  bool prepare(std::string &error);
  bool shareStart(std::string &error);
  std::string sharedWork() const;
  bool start(std::string &error);
  bool makeInputs(std::string &error);
  bool placeInputs(std::string &error);
  bool openSquares(std::string &error);
  bool uploadInputs(std::string &error);
  bool openFurther(std::string &error);
  bool gradientsOfPart(double &loss, std::string &error);
  bool normOfGradient(double &norm, std::string &error);
  bool step(StepFigures &figures, std::string &error);
  bool validate(StepFigures &figures, std::string &error);
  bool steps(Progress &progress, std::string &error);
  bool runAll(std::string &error);
  bool replays() const { return options.kernels.asGraph && isWarm; }
  const PlacedTensor *find(const std::string &name) const;

  const Session session;
  const TrainOptions &options;
  Ranks &ranks;
  TensorRanks &tensorRanks;

  Stages stages;

  NamedEntry init, update, gradientSquares;
  bool hasNorm = false; ///< the log wants it, and the model has it
  Gradients gradients;
  Validation validation;
  std::string data;
  PlacedState state;
  NamedTensors inputs; ///< seed, step, learning_rate
  PlacedTensors placedInputs;
  PlacedTensor squares; ///< of all gradients, next to each other
  PlacedTensors squareOf;
  PlacedTensors next;  ///< the state that a step makes
  bool isWarm = false; ///< a step was made: all memory is there
};
} // namespace

static bool readBytes(const std::string &path, std::string &data, std::string &error) {
  File file(path, "rb");
  if (!file.opened(error))
    return false;
  data.resize(std::max<int64_t>(0, file.size()));
  return file.read(data.data(), static_cast<int64_t>(data.size()), "text", error);
}

/// A number for the bytes of all files.
static bool hashFiles(const std::vector<std::string> &paths, uint64_t &hash, std::string &error) {
  std::string all, one;
  for (const std::string &path : paths) {
    if (!readBytes(path, one, error))
      return false;
    all += one;
  }
  hash = hashOf(all);
  return true;
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

/// Opens what options ask for.
bool Trainer::openFurther(std::string &error) {
  int32_t found = 0;
  const std::string name = stages.entry("gradient_squares");
  hasNorm = !options.log.empty() && mhcrt_model_find_entry(session.model, name.c_str(), &found, nullptr) == MHCRT_OK;
  if (hasNorm && (!gradientSquares.open(session, name, error) || !openSquares(error)))
    return false;
  if (options.validation.empty())
    return true;
  std::string text;
  return readBytes(options.validation, text, error) &&
         validation.open(options.validation, std::move(text), tensorRanks, error);
}

/// Squares are next to each other, so that one copy fetches them.
bool Trainer::openSquares(std::string &error) {
  const std::vector<std::string> names = gradientSquares.results();
  const mhcrt_tensor all = {nullptr, MHCRT_F32, 1, {static_cast<int64_t>(names.size()) * kAlignment}};
  if (!squares.allocate(session, all, error))
    return false;
  for (size_t i = 0; i < names.size(); ++i) {
    float *const place = static_cast<float *>(squares.get().data) + i * kAlignment;
    squareOf[names[i]].view(session, {place, MHCRT_F32, 0, {}});
  }
  return true;
}

bool Trainer::open(std::string &error) { return ranks.agree(prepare(error), error) && shareStart(error); }

bool Trainer::prepare(std::string &error) {
  if (!checkMesh(session.model, ranks.count(), error) || !init.open(session, stages.entry("init"), error) ||
      !stages.open(error))
    return false;
  for (int32_t stage = 0; stage < stages.count(); ++stage)
    if (!tensorRanks.open(stages.entry("update", stage), error))
      return false;
  return update.open(session, stages.entry("update"), error) && tensorRanks.open("loss", error) && makeInputs(error) &&
         readBytes(options.data, data, error) && gradients.open(update, data, error) && openFurther(error) &&
         start(error) && (options.save.empty() || !ranks.isFirst() || canWriteFile(options.save, error));
}

/// Options ask for this, and all ranks take part in it.
std::string Trainer::sharedWork() const {
  std::string work = std::to_string(options.validation.empty() ? -1 : options.validateEvery);
  work += ' ' + std::to_string(hasNorm);
  if (tensorRanks.count() > 1 || stages.count() > 1) // else the first rank has all that it saves
    work += ' ' + std::to_string(options.save.empty() ? -1 : options.saveEvery);
  return work;
}

/// All ranks work on the same, and begin with the same state.
bool Trainer::shareStart(std::string &error) {
  uint64_t model = 0, functions = 0;
  if (!ranks.agree(hashFiles({options.model}, model, error) && hashFiles(options.kernels.functions, functions, error),
                   error))
    return false;
  char numbers[160];
  std::snprintf(numbers, sizeof(numbers), "%lld %lld %lld %lld %.17g %.17g ", static_cast<long long>(options.steps),
                static_cast<long long>(options.warmup), static_cast<long long>(options.seed),
                static_cast<long long>(options.microbatches), options.rate, options.leastRate);
  if (!ranks.agreeOn({model, functions, hashOf(data), hashOf(numbers + options.rateSchedule), hashOf(sharedWork()),
                      hashOf(validation.bytes())},
                     {"code in the model", "code in '--functions'", "bytes in '--data'",
                      "steps, warmup, seed, microbatches or learning rate",
                      "steps with a validation, a log or a checkpoint", "bytes in '--validation'"},
                     error) ||
      !state.share(error))
    return false;
  return tensorRanks.connect(error) && gradients.connect(error);
}

/// Makes the inputs of init and update that are neither state nor gradient.
bool Trainer::makeInputs(std::string &error) {
  for (const char *name : {"step", "learning_rate"})
    if (!update.makeArgument(name, inputs[name], error))
      return false;
  return init.makeArgument("seed", inputs["seed"], error) && placeInputs(error);
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
  state.host.seed = options.seed;
  static_cast<int64_t *>(inputs["seed"].data())[0] = options.seed;
  auto findSeed = [&](const std::string &name) { return name == "seed" ? &placedInputs["seed"] : nullptr; };
  if (!uploadInputs(error) || !init.run(findSeed, state.current, /*asGraph=*/false, error) || !state.complete(error) ||
      (!options.load.empty() && ranks.isFirst() && !state.load(options.load, error)))
    return false;
  if (state.host.step <= options.steps)
    return true;
  error = "'" + options.load + "' is of step " + std::to_string(state.host.step) + "; '--steps' is " +
          std::to_string(options.steps) + ", needed at least that of the checkpoint";
  return false;
}

const PlacedTensor *Trainer::find(const std::string &name) const {
  for (const PlacedTensors *tensors : {&state.current, &placedInputs})
    if (const auto found = tensors->find(name); found != tensors->end())
      return &found->second;
  return gradients.find(name);
}

bool Trainer::gradientsOfPart(double &loss, std::string &error) {
  if (!gradients.compute(state.host, state.current, replays(), loss, error))
    return false;
  if (std::isfinite(loss))
    return true;
  error = "the loss of step " + std::to_string(state.host.step) + " is " + std::to_string(loss);
  return false;
}

/// Each square counts once: of a whole tensor in the first part of the first stage that has it, of shares in each
/// tensor-parallel rank of these.
bool Trainer::normOfGradient(double &norm, std::string &error) {
  HostTensor fetched;
  double square = 0;
  const bool good =
      gradientSquares.run([&](const std::string &name) { return find(name); }, squareOf, replays(), error) &&
      squares.download(fetched, error);
  int64_t place = 0;
  for (const std::string &result : gradientSquares.results()) {
    const std::string name = result.substr(result.find('_') + 1);
    const int32_t holders = tensorRanks.isShare(name) ? tensorRanks.count() : 1;
    if (good && stages.ownerOf(name) == stages.own() && stages.part() < holders)
      square += element(fetched.get(), place);
    place += kAlignment;
  }
  if (!ranks.agree(good, square, error)) // the mean
    return false;
  norm = std::sqrt(square * ranks.count());
  return true;
}

bool Trainer::step(StepFigures &figures, std::string &error) {
  *static_cast<float *>(inputs["step"].data()) = static_cast<float>(state.host.step + 1);
  figures.learningRate = learningRate(options, state.host.step);
  *static_cast<float *>(inputs["learning_rate"].data()) = static_cast<float>(figures.learningRate);
  const bool good = uploadInputs(error) && gradientsOfPart(figures.loss, error);
  if (!ranks.agree(good, figures.loss, error) || !gradients.sum(error) ||
      (hasNorm && !normOfGradient(figures.gradientNorm, error)) ||
      !update.run([&](const std::string &name) { return find(name); }, next, replays(), error))
    return false;
  state.current.swap(next);
  isWarm = true;
  ++state.host.step;
  return true;
}

bool Trainer::validate(StepFigures &figures, std::string &error) {
  const bool isDue = state.host.step % options.validateEvery == 0 || state.host.step == options.steps;
  if (options.validation.empty() || !isDue)
    return true;
  const bool good = validation.loss([&](const std::string &name) { return find(name); }, figures.validationLoss, error);
  return ranks.agree(good, figures.validationLoss, error);
}

bool Trainer::steps(Progress &progress, std::string &error) {
  while (state.host.step < options.steps) {
    const auto begin = std::chrono::steady_clock::now();
    StepFigures figures;
    if (!step(figures, error))
      return false;
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    figures.milliseconds = taken.count();
    if (!validate(figures, error))
      return false;
    if (ranks.isFirst())
      progress.add(figures);
    const bool isDue = options.saveEvery && state.host.step % options.saveEvery == 0 && state.host.step < options.steps;
    if (isDue && !state.save(options.save, error))
      return false;
  }
  return true;
}

bool Trainer::run(std::string &error) { return ranks.agree(runAll(error), error); }

bool Trainer::runAll(std::string &error) {
  const int64_t first = state.host.step;
  Progress progress(first, options.steps, gradients.tokensOfStep());
  const bool logs = !options.log.empty() && ranks.isFirst();
  if (logs && !progress.openLog(options.log, error))
    return false;
  if (state.host.step == options.steps && ranks.isFirst())
    std::fprintf(stderr, "%s: note: nothing is left to do up to step %lld\n", kTool,
                 static_cast<long long>(options.steps));
  if (!steps(progress, error))
    return false;
  progress.finish();
  if (const int64_t sent = ranks.sentBytes(); sent && ranks.isFirst())
    std::printf("rank 0 sent %lld bytes in each step\n", static_cast<long long>(sent / (state.host.step - first)));
  // A log that could not be written is no reason to lose the state.
  return (options.save.empty() || state.save(options.save, error)) && (!logs || progress.closeLog(error));
}

static void sayError(const std::string &error) { std::fprintf(stderr, "%s: error: %s\n", kTool, error.c_str()); }

static bool trainWith(Trainer &trainer, std::string &error) {
  try {
    return trainer.open(error) && trainer.run(error);
  } catch (const std::exception &problem) {
    error = problem.what();
    return false;
  }
}

/// Says what is wrong, for all ranks, and ends them without giving back anything: memory of a GPU is given back behind
/// the work on it, and that may wait for a rank that does not come. A rank that has nothing to say is ended by one that
/// has.
static void endOnGpus(Ranks &ranks, std::string &error) {
  ranks.agree(false, error);
  if (!ranks.reports())
    return;
  sayError(error);
  ranks.end();
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
  const bool isForGpu = std::strcmp(mhcrt_model_target(opened), "cpu") != 0;
  if ((isForGpu && !ranks.chooseGpu(error)) || !loadFunctions(opened, options.kernels, error))
    return false;
  // Kernels of NCCL that wait for another stage start no earlier than those that were enqueued before them: else they
  // take a part of the GPU from what this stage computes. The caller may choose otherwise.
  if (mhcrt_model_stages(opened) > 1)
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", /*overwrite=*/0);
  if (mhcrt_model_context_create(opened, options.threads, &context, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  Gpu gpu;
  const bool needsGpu = isForGpu && (ranks.count() > 1 || options.microbatches > 1);
  bool good =
      applyOptions(opened, context, options.kernels, error) && (!needsGpu || gpu.open({opened, context}, error));
  if (good) {
    TensorRanks tensorRanks(opened, ranks, gpu);
    Trainer trainer({opened, context}, options, ranks, tensorRanks, gpu);
    good = trainWith(trainer, error);
    if (!good && gpu.isOpen() && ranks.count() > 1)
      endOnGpus(ranks, error);
  }
  if (good && ranks.isFirst())
    reportKernels(kTool, opened, context, options.kernels);
  mhcrt_model_context_destroy(opened, context);
  return good;
}

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
