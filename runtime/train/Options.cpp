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

using namespace mhcrt;

const char *const mhcrt::kTrainOptionsHelp =
    "  --data=FILE            train on the bytes of FILE\n"
    "  --steps=N              train up to step N, default 100\n"
    "  --learning-rate=X      default 1e-3\n"
    "  --warmup=N             let the learning rate rise over the first N steps\n"
    "  --seed=N               of the weights, the batches and dropout, default 1; a checkpoint has its own\n"
    "  --save=FILE            write the state to a .safetensors file at the end\n"
    "  --save-every=N         and every N steps; FILE is at all times whole\n"
    "  --load=FILE            go on from such a file\n"
    "  --log=FILE             write step, loss and milliseconds as comma-separated values\n"
    "  --threads=N            default: one per core\n";

static std::string parseInteger(const std::string &text, int64_t least, int64_t most, int64_t &value) {
  char *end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || number < least || number > most)
    return std::to_string(least) + " to " + std::to_string(most);
  value = number;
  return "";
}

/// The log and the checkpoint are files of their own; to go on in the checkpoint that was loaded is no mistake.
static bool checkFiles(const TrainOptions &options, std::string &error) {
  const FileRole model = {"the model", options.model}, data = {"'--data'", options.data};
  const FileRole save = {"'--save'", options.save}, log = {"'--log'", options.log};
  return checkDistinct({save, log}, {model, data}, error) && checkDistinct({log}, {{"'--load'", options.load}}, error);
}

/// Sets one option; what was needed where the value is not it, "?" for an unknown option.
static std::string setOption(TrainOptions &options, const std::string &name, const std::string &value) {
  std::string *const text = name == "--data"   ? &options.data
                            : name == "--save" ? &options.save
                            : name == "--load" ? &options.load
                            : name == "--log"  ? &options.log
                                               : nullptr;
  if (text) {
    *text = value;
    return value.empty() ? "a file" : "";
  }
  if (name == "--pin") {
    options.kernels.pins.push_back(value);
    return "";
  }
  if (name == "--steps")
    return parseInteger(value, 0, INT32_MAX, options.steps);
  if (name == "--save-every")
    return parseInteger(value, 1, INT32_MAX, options.saveEvery);
  if (name == "--warmup")
    return parseInteger(value, 0, INT32_MAX, options.warmup);
  if (name == "--seed")
    return parseInteger(value, 0, INT64_MAX, options.seed);
  if (name == "--threads") {
    int64_t threads = 0;
    const std::string needed = parseInteger(value, 1, 1024, threads);
    options.threads = static_cast<int>(threads);
    return needed;
  }
  if (name != "--learning-rate")
    return "?";
  char *end = nullptr;
  options.rate = std::strtod(value.c_str(), &end);
  return !value.empty() && !*end && std::isfinite(options.rate) && options.rate >= 0 ? "" : "a number of at least 0";
}

bool mhcrt::parseTrainOptions(int argc, const char *const *argv, TrainOptions &options, std::string &error) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      return true;
    }
    if (word.rfind("--", 0) != 0) {
      if (!options.model.empty()) {
        error = "two models: '" + options.model + "' and '" + word + "'";
        return false;
      }
      options.model = word;
      continue;
    }
    if (bool *flag = options.kernels.flag(word)) {
      *flag = true;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    const std::string needed = setOption(options, name, value);
    if (!needed.empty()) {
      error = needed == "?" ? "unknown option '" + name + "'; see --help"
                            : "'" + name + "' is '" + value + "'; needed " + needed;
      return false;
    }
  }
  if (options.model.empty() || options.data.empty())
    error = options.model.empty() ? "no model given; see --help" : "no --data given; see --help";
  else if (options.saveEvery && options.save.empty())
    error = "'--save-every' needs '--save'";
  return error.empty() && checkFiles(options, error);
}
