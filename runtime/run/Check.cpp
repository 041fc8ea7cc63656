//===- Check.cpp - Checks that another machine prepared -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Check.h"
#include "mhcrt/run.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

using namespace mhcrt;

/// Reads one line into the checks; false when it makes no sense.
static bool parseLine(const std::string &text, std::string &library, std::string &data, std::vector<Check> &checks) {
  std::istringstream line(text);
  std::string key;
  line >> key;
  if (key == "library")
    return static_cast<bool>(line >> library);
  if (key == "data")
    return static_cast<bool>(line >> data);
  if (key == "check") {
    checks.push_back({text.substr(std::min(text.size(), key.size() + 1)), library, data, "", {}, {}});
    return !checks.back().name.empty();
  }
  if (checks.empty())
    return false;
  if (key == "entry")
    return static_cast<bool>(line >> checks.back().entry);
  if (key == "arg")
    return static_cast<bool>(line >> checks.back().arguments.emplace_back());
  if (key != "want")
    return false;
  Check::Want &want = checks.back().wants.emplace_back();
  return static_cast<bool>(line >> want.result >> want.tensor >> want.tolerance.absolute >> want.tolerance.relative);
}

bool mhcrt::parseChecks(const std::string &text, std::vector<Check> &checks, std::string &error) {
  std::istringstream lines(text);
  std::string line, library, data;
  for (int number = 1; std::getline(lines, line); ++number) {
    const bool good = number == 1 ? line == "mhc-checks 1" : parseLine(line, library, data, checks);
    if (good)
      continue;
    error = "line " + std::to_string(number) + ": " +
            (number == 1 ? "expected 'mhc-checks 1', found '" + line + "'" : "'" + line + "' is no part of a check");
    return false;
  }
  if (checks.empty())
    error = "no check";
  return !checks.empty();
}

namespace {
/// Keeps the last library and the last data file open: checks of one library follow one another.
class CheckRunner {
public:
  CheckRunner(std::string folder, bool asGraph) : folder(std::move(folder)), asGraph(asGraph) {}
  CheckRunner(const CheckRunner &) = delete;
  CheckRunner &operator=(const CheckRunner &) = delete;
  ~CheckRunner() { close(); }

  /// Runs the check. Returns its errors, one line each; empty when it passes.
  std::string run(const Check &check);

private:
  bool open(const std::string &wanted, std::string &error);
  void close();
  bool load(const std::string &wanted, std::string &error);
  bool find(const Check &check, int32_t &entry, std::vector<mhcrt_tensor> &arguments, std::string &error) const;
  bool call(const Check &check, std::vector<HostTensor> &results, std::string &error);
  const HostTensor *find(const std::string &tensor, std::string &error) const;

  std::string folder, library, data;
  bool asGraph;
  mhcrt_model *model = nullptr;
  mhcrt_context *context = nullptr;
  std::map<std::string, HostTensor> tensors;
};
} // namespace

void CheckRunner::close() {
  if (context)
    mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
  context = nullptr;
  model = nullptr;
  library.clear();
}

bool CheckRunner::open(const std::string &wanted, std::string &error) {
  if (wanted == library)
    return true;
  close();
  mhcrt_message message;
  if (mhcrt_model_open((folder + "/" + wanted).c_str(), &model, &message) != MHCRT_OK ||
      mhcrt_model_context_create(model, 0, &context, &message) != MHCRT_OK) {
    error = message.text;
    close();
    return false;
  }
  library = wanted;
  return true;
}

bool CheckRunner::load(const std::string &wanted, std::string &error) {
  if (wanted == data)
    return true;
  data.clear();
  tensors.clear();
  if (!readSafetensors(folder + "/" + wanted, tensors, error))
    return false;
  data = wanted;
  return true;
}

const HostTensor *CheckRunner::find(const std::string &tensor, std::string &error) const {
  auto found = tensors.find(tensor);
  if (found != tensors.end())
    return &found->second;
  error = "'" + data + "' has no tensor '" + tensor + "'";
  return nullptr;
}

/// The entry and the arguments of a check.
bool CheckRunner::find(const Check &check, int32_t &entry, std::vector<mhcrt_tensor> &arguments,
                       std::string &error) const {
  mhcrt_message message;
  if (mhcrt_model_find_entry(model, check.entry.c_str(), &entry, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  for (const std::string &argument : check.arguments) {
    const HostTensor *tensor = find(argument, error);
    if (!tensor)
      return false;
    arguments.push_back(tensor->get());
  }
  const int32_t needed = mhcrt_model_arguments(model, entry);
  if (static_cast<int32_t>(arguments.size()) == needed)
    return true;
  error = "entry '" + check.entry + "' has " + counted(needed, "argument") + "; the check has " +
          std::to_string(arguments.size());
  return false;
}

bool CheckRunner::call(const Check &check, std::vector<HostTensor> &results, std::string &error) {
  int32_t entry = 0;
  std::vector<mhcrt_tensor> given, wanted;
  if (!find(check, entry, given, error) || !allocateResults(model, entry, given, results, wanted, error) ||
      !EntryCall(model, entry, context, given, wanted).runAndTime(0, error))
    return false;
  if (!asGraph)
    return true;
  std::vector<HostTensor> replayed;
  if (!allocateResults(model, entry, given, replayed, wanted, error))
    return false;
  EntryCall graph(model, entry, context, given, wanted);
  if (!graph.record(error) || !graph.runAndTime(0, error))
    return false;
  for (size_t i = 0; i < results.size(); ++i)
    if (std::memcmp(results[i].data(), replayed[i].data(), results[i].bytes()) != 0) {
      error = "result " + std::to_string(i) + " of the replayed graph has other bits than that of the calls";
      return false;
    }
  return true;
}

std::string CheckRunner::run(const Check &check) {
  std::string error, report;
  std::vector<HostTensor> results;
  if (!open(check.library, error) || !load(check.data, error) || !call(check, results, error))
    return "  " + error + "\n";
  for (const Check::Want &want : check.wants) {
    if (want.result < 0 || static_cast<size_t>(want.result) >= results.size())
      return "  no result " + std::to_string(want.result) + "; the entry has " + counted(results.size(), "result") +
             "\n";
    const HostTensor *tensor = find(want.tensor, error);
    Comparison verdict;
    if (!tensor || !compare(results[want.result].get(), tensor->get(), want.tolerance, verdict, error))
      report += "  result " + std::to_string(want.result) + ": " + error + "\n";
    else if (!verdict.pass)
      report += "  '" + want.tensor + "': " + describe(verdict, want.tolerance) + "\n";
  }
  return report;
}

int mhcrt::runChecks(const std::string &folder, bool asGraph) {
  std::ifstream file(folder + "/checks.txt");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Check> checks;
  std::string error = "cannot be read";
  if (!file || !parseChecks(text.str(), checks, error)) {
    std::fprintf(stderr, "mhc-run: error: '%s/checks.txt': %s\n", folder.c_str(), error.c_str());
    return 2;
  }
  CheckRunner runner(folder, asGraph);
  int failed = 0;
  for (const Check &check : checks)
    if (const std::string report = runner.run(check); !report.empty()) {
      std::printf("FAIL %s\n%s", check.name.c_str(), report.c_str());
      ++failed;
    }
  std::printf("%d passed, %d failed\n", static_cast<int>(checks.size()) - failed, failed);
  return failed ? 1 : 0;
}
