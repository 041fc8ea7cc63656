//===- Options.cpp - Options of a run ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

#include <algorithm>
#include <cerrno>
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
  --functions FILE       a shared library with functions that the model calls and has not, by their names
  --convert              let arguments of another float type be rounded to the expected one
  --threads N            default: one per core
  --time[=N]             run N times (default 20) after one warm-up; print median and best
  --list                 print the entries with their arguments and results
  --help
)";

bool mhcrt::parseInteger(const std::string &text, int64_t least, int64_t most, int64_t &value) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return false; // strtoll takes blanks and signs
  errno = 0;
  value = std::strtoll(text.c_str(), nullptr, 10);
  return errno == 0 && value >= least && value <= most;
}

static bool parseTolerance(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end && value >= 0 && std::isfinite(value);
}

namespace {
struct RunOption {
  enum Value { none, optional, needed, list };

  const char *name;
  Value value;
  /// Returns what would have been right; empty when the value is taken.
  std::string (*set)(RunOptions &, const std::string &value);
};
} // namespace

/// Sets a text, such as a name or a file; it must not be empty.
static std::string setText(std::string &text, const std::string &value, const char *needed) {
  text = value;
  return value.empty() ? needed : "";
}

static std::string append(std::vector<std::string> &texts, const std::string &value, const char *needed) {
  texts.push_back(value);
  return value.empty() ? needed : "";
}

static std::string setInteger(int &number, const std::string &value, int64_t most) {
  int64_t wide = 0;
  if (!parseInteger(value, 1, most, wide))
    return "1 to " + std::to_string(most);
  number = static_cast<int>(wide);
  return "";
}

static const RunOption kOptions[] = {
    {"--help", RunOption::none, [](RunOptions &o, const std::string &) { return o.help = true, std::string(); }},
    {"--list", RunOption::none, [](RunOptions &o, const std::string &) { return o.list = true, std::string(); }},
    {"--convert", RunOption::none, [](RunOptions &o, const std::string &) { return o.convert = true, std::string(); }},
    {"--entry", RunOption::needed, [](RunOptions &o, const std::string &v) { return setText(o.entry, v, "a name"); }},
    {"--arg", RunOption::list, [](RunOptions &o, const std::string &v) { return append(o.args, v, "a file"); }},
    {"--args", RunOption::list,
     [](RunOptions &o, const std::string &v) { return append(o.bundles, v, "a file or a folder"); }},
    {"--expect", RunOption::list, [](RunOptions &o, const std::string &v) { return append(o.expects, v, "a file"); }},
    {"--out", RunOption::list, [](RunOptions &o, const std::string &v) { return append(o.outs, v, "a file"); }},
    {"--functions", RunOption::list,
     [](RunOptions &o, const std::string &v) { return append(o.kernels.functions, v, "a file"); }},
    {"--pin", RunOption::list,
     [](RunOptions &o, const std::string &v) { return append(o.kernels.pins, v, "OP=VARIANT"); }},
    {"--tolerance", RunOption::needed,
     [](RunOptions &o, const std::string &v) {
       return std::string(parseTolerance(v, o.tolerance) ? "" : "a number, at least 0");
     }},
    {"--threads", RunOption::needed,
     [](RunOptions &o, const std::string &v) { return setInteger(o.threads, v, 1024); }},
    {"--time", RunOption::optional,
     [](RunOptions &o, const std::string &v) { return setInteger(o.repetitions, v, 1000000); }},
};

static const RunOption *findOption(const std::string &name) {
  for (const RunOption &option : kOptions)
    if (name == option.name)
      return &option;
  return nullptr;
}

/// Takes the option that `words[i]` is, and the word behind it where that is its value.
static std::string takeOption(const std::vector<std::string> &words, size_t &i, RunOptions &options) {
  const size_t equals = words[i].find('=');
  const bool hasValue = equals != std::string::npos;
  const std::string name = words[i].substr(0, equals);
  std::string value = hasValue ? words[i].substr(equals + 1) : "";
  const RunOption *const option = findOption(name);
  bool *const flag = options.kernels.flag(name);
  if (!option && !flag)
    return "unknown option '" + name + "'; see --help";
  if (hasValue && (flag || option->value == RunOption::none))
    return "'" + name + "' takes no value, found '" + value + "'";
  const bool isNew = options.given.insert(name).second;
  if (flag) {
    *flag = true;
    return "";
  }
  if (!isNew && (option->value == RunOption::needed || option->value == RunOption::optional))
    return "'" + name + "' is given twice";
  if (!hasValue && (option->value == RunOption::needed || option->value == RunOption::list)) {
    if (i + 1 >= words.size())
      return "'" + name + "' needs a value";
    value = words[++i];
    if (value.rfind("--", 0) == 0)
      return "'" + name + "' needs a value, found the option '" + value + "'";
  }
  if (!hasValue && option->value == RunOption::optional)
    value = std::to_string(kDefaultRepetitions);
  const std::string needed = option->set(options, value);
  return needed.empty() ? "" : "'" + name + "' is '" + value + "'; needed " + needed;
}

bool mhcrt::parseRunOptions(int argc, const char *const *argv, RunOptions &options, std::string &error) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  error.clear();
  for (size_t i = 0; i < words.size() && error.empty(); ++i) {
    if (words[i].size() > 1 && words[i][0] == '-') // "-" alone is the standard input
      error = takeOption(words, i, options);
    else if (!options.model.empty())
      error = "two models given, '" + options.model + "' and '" + words[i] + "'; arguments need --arg";
    else
      options.model = words[i];
  }
  if (error.empty() && !options.help && options.model.empty())
    error = "no model given; see --help";
  return error.empty();
}
