//===- Options.cpp - Command line of mhc-train ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/file.h"
#include "mhcrt/train.h"

#include <cmath>
#include <cstdlib>
#include <set>

using namespace mhcrt;

const char *const mhcrt::kTrainOptionsHelp =
    "  --data=FILE            train on the bytes of FILE\n"
    "  --steps=N              train up to step N, default 100\n"
    "  --learning-rate=X      default 1e-3\n"
    "  --warmup=N             let the learning rate rise over the first N steps\n"
    "  --rate-schedule=NAME   of the learning rate behind that: constant (default), or linear or cosine, which let it\n"
    "                         fall up to the last step\n"
    "  --least-rate=X         where it falls to, default 0\n"
    "  --validation=FILE      print and log the loss on FILE as well, which no step trains on\n"
    "  --validate-every=N     how often, default 100 steps; always at the end\n"
    "  --seed=N               of the weights, the batches and dropout, default 1; a checkpoint has its own\n"
    "  --save=FILE            write the state to a .safetensors file at the end\n"
    "  --save-every=N         and every N steps; FILE is at all times whole\n"
    "  --load=FILE            go on from such a file\n"
    "  --log=FILE             write the figures of each step, with the norm of its gradient, as comma-separated "
    "values\n"
    "  --microbatches=N       let the gradient of a step be the mean over N batches, default 1\n"
    "  --schedule=NAME        of the stages of a pipeline: 1f1b, a backward pass as soon as it can be (default), or "
    "gpipe\n"
    "  --timeout=SECONDS      with several ranks, how long one waits for the others, default 600\n"
    "  --functions=FILE       a shared library with functions that the model calls and has not, by their names\n"
    "  --threads=N            default: one per core\n";

static std::string setInteger(const std::string &text, int64_t least, int64_t most, int64_t &value) {
  return parseInteger(text, least, most, value) ? "" : std::to_string(least) + " to " + std::to_string(most);
}

/// A number of at least 0.
static bool setNumber(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(value) && value >= 0;
}

/// The log and the checkpoint are files of their own; to go on in the checkpoint that was loaded is no mistake.
static bool checkFiles(const TrainOptions &options, std::string &error) {
  const FileRole model = {"the model", options.model}, data = {"'--data'", options.data};
  const FileRole validation = {"'--validation'", options.validation};
  const FileRole save = {"'--save'", options.save}, log = {"'--log'", options.log};
  const FileRole load = {"'--load'", options.load};
  return checkDistinct({save, log}, {model, data, validation}, error) && checkDistinct({log}, {load}, error);
}

/// Sets one option; what was needed where the value is not it, "?" for an unknown option.
static std::string setOption(TrainOptions &options, const std::string &name, const std::string &value) {
  std::string *const text = name == "--data"         ? &options.data
                            : name == "--validation" ? &options.validation
                            : name == "--save"       ? &options.save
                            : name == "--load"       ? &options.load
                            : name == "--log"        ? &options.log
                                                     : nullptr;
  if (text) {
    *text = value;
    return value.empty() ? "a file" : "";
  }
  if (name == "--pin" || name == "--functions") {
    (name == "--pin" ? options.kernels.pins : options.kernels.functions).push_back(value);
    return !value.empty() ? "" : name == "--pin" ? "OP=VARIANT" : "a file";
  }
  if (name == "--steps")
    return setInteger(value, 0, INT32_MAX, options.steps);
  if (name == "--save-every")
    return setInteger(value, 1, INT32_MAX, options.saveEvery);
  if (name == "--microbatches")
    return setInteger(value, 1, 32767, options.microbatches);
  if (name == "--schedule") {
    options.gpipe = value == "gpipe";
    return options.gpipe || value == "1f1b" ? "" : "'1f1b' or 'gpipe'";
  }
  if (name == "--warmup")
    return setInteger(value, 0, INT32_MAX, options.warmup);
  if (name == "--seed")
    return setInteger(value, 0, INT64_MAX, options.seed);
  if (name == "--threads") {
    int64_t threads = 0;
    const std::string needed = setInteger(value, 1, 1024, threads);
    options.threads = static_cast<int>(threads);
    return needed;
  }
  if (name == "--timeout")
    return setNumber(value, options.timeout) && options.timeout > 0 ? "" : "a number of seconds above 0";
  if (name == "--validate-every")
    return setInteger(value, 1, INT32_MAX, options.validateEvery);
  if (name == "--rate-schedule") {
    options.rateSchedule = value;
    return value == "constant" || value == "linear" || value == "cosine" ? "" : "'constant', 'linear' or 'cosine'";
  }
  if (name != "--learning-rate" && name != "--least-rate")
    return "?";
  return setNumber(value, name == "--least-rate" ? options.leastRate : options.rate) ? "" : "a number of at least 0";
}

/// Takes one word of the command line; what is wrong with it, or "".
static std::string takeWord(const std::string &word, TrainOptions &options, std::set<std::string> &given) {
  if (word.empty() || word[0] != '-') {
    const std::string other = options.model;
    options.model = word;
    return other.empty() ? "" : "two models: '" + other + "' and '" + word + "'";
  }
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
  if (bool *flag = options.kernels.flag(name)) {
    *flag = true;
    return equals == word.npos ? "" : "'" + name + "' takes no value, found '" + value + "'";
  }
  const std::string needed = setOption(options, name, value);
  if (needed == "?")
    return "unknown option '" + name + "'; see --help";
  if (!needed.empty())
    return "'" + name + "' is '" + value + "'; needed " + needed;
  return given.insert(name).second || name == "--pin" || name == "--functions" ? "" : "'" + name + "' is given twice";
}

bool mhcrt::parseTrainOptions(int argc, const char *const *argv, TrainOptions &options, std::string &error) {
  std::set<std::string> given;
  for (int i = 1; i < argc && error.empty(); ++i) {
    const std::string word = argv[i];
    options.help = word == "--help" || word == "-h";
    if (options.help)
      return true;
    error = takeWord(word, options, given);
  }
  if (error.empty() && (options.model.empty() || options.data.empty()))
    error = options.model.empty() ? "no model given; see --help" : "no --data given; see --help";
  if (error.empty() && options.saveEvery && options.save.empty())
    error = "'--save-every' needs '--save'";
  if (error.empty() && given.count("--validate-every") && options.validation.empty())
    error = "'--validate-every' needs '--validation'";
  if (error.empty() && given.count("--least-rate") && options.rateSchedule == "constant")
    error = "'--least-rate' needs '--rate-schedule=linear' or '--rate-schedule=cosine'";
  return error.empty() && checkFiles(options, error);
}
