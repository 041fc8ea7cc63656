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

Progress::Progress(int64_t first, int64_t last, int64_t tokens)
    : first(first), last(last), tokens(tokens), isTerminal(isatty(STDERR_FILENO)) {}

bool Progress::openLog(const std::string &path, std::string &error) {
  log = std::make_unique<File>(path, "w");
  const std::string header = "step,loss,milliseconds,gradient_norm,learning_rate,validation_loss\n";
  return log->opened(error) && log->write(header.data(), static_cast<int64_t>(header.size()), error);
}

/// 17 digits tell every double from its neighbours; nothing where there is no number.
static std::string field(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), ",%.17g", value);
  return std::isnan(value) ? "," : text;
}

void Progress::add(const StepFigures &figures) {
  losses.push_back(figures.loss);
  times.push_back(figures.milliseconds);
  if (!std::isnan(figures.validationLoss))
    validationLoss = figures.validationLoss;
  if (isTerminal)
    drawBar();
  if (!log || !logError.empty())
    return;
  char time[32];
  std::snprintf(time, sizeof(time), ",%.3f", figures.milliseconds);
  const std::string line = std::to_string(first + static_cast<int64_t>(losses.size())) + field(figures.loss) + time +
                           field(figures.gradientNorm) + field(figures.learningRate) + field(figures.validationLoss) +
                           "\n";
  log->write(line.data(), static_cast<int64_t>(line.size()), logError);
}

double Progress::medianTime() const {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

/// "1:02:03", "02:03"
static std::string duration(double milliseconds) {
  const auto seconds = static_cast<long long>(milliseconds / 1000);
  char text[64];
  if (seconds >= 3600)
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60, seconds % 60);
  else
    std::snprintf(text, sizeof(text), "%02lld:%02lld", seconds / 60, seconds % 60);
  return text;
}

void Progress::drawBar() const {
  constexpr int64_t kWidth = 40;
  const int64_t done = first + static_cast<int64_t>(losses.size());
  const int filled = static_cast<int>(kWidth * done / std::max<int64_t>(1, last));
  const double recent = recentMean(times);
  std::fprintf(stderr, "\r[%-40.*s] %lld/%lld  loss %.4f", filled, "########################################",
               static_cast<long long>(done), static_cast<long long>(last), recentMean(losses));
  if (!std::isnan(validationLoss))
    std::fprintf(stderr, " (%.4f)", validationLoss);
  std::fprintf(stderr, "  %.0f tokens/s  %s left ", static_cast<double>(tokens) / recent * 1000,
               duration(static_cast<double>(last - done) * recent).c_str());
}

void Progress::finish() {
  if (isTerminal && !losses.empty())
    std::fputc('\n', stderr);
  if (losses.empty())
    return;
  const double median = medianTime();
  std::printf("step %lld: loss %.4f, mean of the last %zu; median %.2f ms per step, %.0f tokens per second\n",
              static_cast<long long>(first + losses.size()), recentMean(losses), std::min(kShown, losses.size()),
              median, static_cast<double>(tokens) / median * 1000);
  if (!std::isnan(validationLoss))
    std::printf("validation loss %.4f\n", validationLoss);
}

bool Progress::closeLog(std::string &error) {
  error = logError;
  return error.empty() && log->close(error);
}
