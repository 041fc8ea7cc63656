//===- Progress.cpp - Progress of a training run --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Progress.h"

#include <algorithm>
#include <numeric>
#include <unistd.h>

using namespace mhcrt;

/// Losses jump from batch to batch: what is shown is the mean of this many.
static constexpr size_t kShown = 20;

static double recentMean(const std::vector<double> &values) {
  const size_t count = std::min(kShown, values.size());
  return std::accumulate(values.end() - count, values.end(), 0.0) / static_cast<double>(count);
}

Progress::Progress(int64_t first, int64_t last) : first(first), last(last), isTerminal(isatty(STDERR_FILENO)) {}

bool Progress::openLog(const std::string &path, std::string &error) {
  log = std::make_unique<File>(path, "w");
  const std::string header = "step,loss,milliseconds\n";
  return log->opened(error) && log->write(header.data(), static_cast<int64_t>(header.size()), error);
}

void Progress::add(double loss, double milliseconds) {
  losses.push_back(loss);
  times.push_back(milliseconds);
  if (isTerminal)
    drawBar();
  if (!log || !logError.empty())
    return;
  char line[96]; // 17 digits tell every double from its neighbours
  const int length = std::snprintf(line, sizeof(line), "%lld,%.17g,%.3f\n",
                                   static_cast<long long>(first + losses.size()), loss, milliseconds);
  log->write(line, length, logError);
}

void Progress::drawBar() const {
  constexpr int64_t kWidth = 40;
  const int64_t done = first + static_cast<int64_t>(losses.size());
  const int filled = static_cast<int>(kWidth * done / std::max<int64_t>(1, last));
  std::fprintf(stderr, "\r[%-40.*s] %lld/%lld  loss %.4f  %.1f ms", filled, "########################################",
               static_cast<long long>(done), static_cast<long long>(last), recentMean(losses), times.back());
}

void Progress::finish() {
  if (isTerminal && !losses.empty())
    std::fputc('\n', stderr);
  if (losses.empty())
    return;
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  std::printf("step %lld: loss %.4f, mean of the last %zu; median %.2f ms per step\n",
              static_cast<long long>(first + losses.size()), recentMean(losses), std::min(kShown, losses.size()),
              sorted[sorted.size() / 2]);
}

bool Progress::closeLog(std::string &error) {
  error = logError;
  return error.empty() && log->close(error);
}
