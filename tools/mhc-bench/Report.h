//===- Report.h - Rows of measurements ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_REPORT_H
#define MHC_TOOLS_BENCH_REPORT_H

#include "Bench.h"
#include "Session.h"
#include "llvm/Support/JSON.h"

namespace mhc::bench {

/// Prints rows as they come, or one JSON array at the end.
class Report {
public:
  /// Adds the times of PyTorch, if there are any.
  Report(const Options &options, const Session &session, std::vector<TorchRow> torch, llvm::raw_ostream &os);
  void add(Measurement measurement);
  bool isEmpty() const { return all.empty(); }
  void finish();

private:
  /// PyTorch's row for a measurement, or null.
  const TorchRow *torchOf(const Measurement &m) const;
  llvm::json::Object toJson(const Measurement &m) const;

  const Options &options;
  const Session &session;
  llvm::raw_ostream &os;
  std::vector<TorchRow> torch;
  std::vector<Measurement> all;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_REPORT_H
