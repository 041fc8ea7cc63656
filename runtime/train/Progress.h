//===- Progress.h - Progress of a training run ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_PROGRESS_H
#define MHCRT_TRAIN_PROGRESS_H

#include "io/File.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace mhcrt {

/// Figures of one step; NaN where one was not asked for.
struct StepFigures {
  double loss = 0, milliseconds = 0, gradientNorm = NAN, learningRate = 0, validationLoss = NAN;
};

/// A bar on a terminal, a line at the end, and a log in a file.
class Progress {
public:
  /// `tokens` are those of a step.
  Progress(int64_t first, int64_t last, int64_t tokens);

  bool openLog(const std::string &path, std::string &error);
  void add(const StepFigures &figures);
  void finish();
  /// False where the log could not be written.
  bool closeLog(std::string &error);

private:
  void drawBar() const;
  double medianTime() const;

  int64_t first, last, tokens;
  bool isTerminal;
  std::vector<double> losses, times;
  double validationLoss = NAN; ///< the last one
  std::unique_ptr<File> log;
  std::string logError;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_PROGRESS_H
