//===- Options.cpp - Options of a run ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

#include <cmath>
#include <cstdlib>

using namespace mhcrt;

static constexpr int kDefaultRepetitions = 20;

const char *const mhcrt::kRunOptionsHelp =
    R"(  --entry NAME           which entry to run; may be left out when the model has one
  --arg FILE             the next argument, in the order of --list; .npy
  --arg NAME=FILE        the argument called NAME
  --args FILE            .safetensors: arguments by name; other tensors in it are ignored
  --args FOLDER          arguments by name, from FOLDER/NAME.npy
  --out FILE             store the next result as .npy; also NAME=FILE
  --expect FILE          compare the next result with a .npy file; also NAME=FILE
  --tolerance X          a value passes when |got - expected| <= X * max|expected|
                         default: 4 roundings of the result's dtype, at least 2e-5
                         (f32 2e-5, f16 2e-3, bf16 1.6e-2)
  --convert              let arguments of another float type be rounded to the expected one
  --threads N            default: one per core
  --time[=N]             run N times (default 20) after one warm-up; print median and best
  --list                 print the entries with their arguments and results
  --help
)";

/// Reads a whole number in [least, most].
static bool parseInteger(const std::string &text, long least, long most, int &value) {
  char *end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || number < least || number > most)
    return false;
  value = static_cast<int>(number);
  return true;
}

static bool parseTolerance(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && value >= 0 && std::isfinite(value);
}

bool mhcrt::parseRunOptions(int argc, const char *const *argv, RunOptions &options, std::string &error) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i], value;
    bool hasValue = false;
    if (word.rfind("--", 0) != 0) {
      if (!options.model.empty()) {
        error = "two models given, '" + options.model + "' and '" + word + "'; arguments need --arg";
        return false;
      }
      options.model = word;
      continue;
    }
    // --option=value, and --option value for the options that need one
    const size_t equals = word.find('=');
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
      hasValue = true;
    }
    bool *flag = word == "--help"      ? &options.help
                 : word == "--list"    ? &options.list
                 : word == "--convert" ? &options.convert
                                       : options.kernels.flag(word);
    if (flag) {
      *flag = true;
      if (hasValue) {
        error = "'" + word + "' takes no value, found '" + value + "'";
        return false;
      }
      continue;
    }
    if (word == "--time") {
      options.repetitions = kDefaultRepetitions;
      if (hasValue && !parseInteger(value, 1, 1000000, options.repetitions)) {
        error = "'--time' is '" + value + "'; needed 1 to 1000000";
        return false;
      }
      continue;
    }
    std::vector<std::string> *list = word == "--arg"      ? &options.args
                                     : word == "--args"   ? &options.bundles
                                     : word == "--expect" ? &options.expects
                                     : word == "--out"    ? &options.outs
                                     : word == "--pin"    ? &options.kernels.pins
                                                          : nullptr;
    if (!list && word != "--entry" && word != "--tolerance" && word != "--threads") {
      error = "unknown option '" + word + "'; see --help";
      return false;
    }
    if (!hasValue) {
      if (i + 1 >= argc) {
        error = "'" + word + "' needs a value";
        return false;
      }
      value = argv[++i];
    }
    if (list) {
      list->push_back(value);
    } else if (word == "--entry") {
      options.entry = value;
    } else if (word == "--tolerance") {
      if (!parseTolerance(value, options.tolerance)) {
        error = "'--tolerance' is '" + value + "'; needed a number, at least 0";
        return false;
      }
    } else if (!parseInteger(value, 1, 1024, options.threads)) {
      error = "'--threads' is '" + value + "'; needed 1 to 1024";
      return false;
    }
  }
  if (!options.help && options.model.empty()) {
    error = "no model given; see --help";
    return false;
  }
  return true;
}
