//===- Progress.h - Progress of a training run ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_PROGRESS_H
#define MHCRT_TRAIN_PROGRESS_H

#include "io/File.h"

#include <memory>
#include <string>
#include <vector>

namespace mhcrt {

/// A bar on a terminal, a line at the end, and a log in a file.
class Progress {
public:
  Progress(int64_t first, int64_t last);

  bool openLog(const std::string &path, std::string &error);
  void add(double loss, double milliseconds);
  void finish();
  /// False where the log could not be written.
  bool closeLog(std::string &error);

private:
  void drawBar() const;

  int64_t first, last;
  bool isTerminal;
  std::vector<double> losses, times;
  std::unique_ptr<File> log;
  std::string logError;
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_PROGRESS_H
