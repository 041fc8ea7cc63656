//===- Report.cpp - Rows of measurements ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "mhc/IR/Counted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mhc;
using namespace mhc::bench;
using llvm::formatv;

Report::Report(const Options &options, const Session &session, std::vector<TorchRow> torch, llvm::raw_ostream &os)
    : options(options), session(session), os(os), torch(std::move(torch)) {
  if (options.json)
    return;
  std::string place = "the GPU, replays of graphs over operands that exceed its caches";
  if (!session.isOnGpu())
    place = formatv("{0}, {1}", counted(session.runtime.threads(session.context), "thread"),
                    session.runtime.amx(session.context) ? "AMX tiles" : "portable kernels");
  os << formatv("{0}, n = {1}; best of {2}\n\n", place, options.shapes.front().n, counted(options.rounds, "round"));
  os << formatv("{0,-34}{1,-6}{2,7}{3,6}{4,11}{5,9}{6,8}{7,8}{8,13}{9,13}{10,9}{11}\n", "kernel", "dtype", "M", "C",
                "us", "GB/s", "copy", "% copy", "bytes need", "adds need", "/ bound",
                session.isOnGpu() ? "  variant" : "");
}

const TorchRow *Report::torchOf(const Measurement &m) const {
  const Sizes sizes = m.program.sizes();
  auto row = llvm::find_if(torch, [&](const TorchRow &row) {
    return row.kernel == m.program.name && row.dtype == mhcrt_dtype_name(m.program.dtype()) && row.M == sizes.M &&
           row.C == sizes.C;
  });
  return row == torch.end() ? nullptr : &*row;
}

llvm::json::Object Report::toJson(const Measurement &m) const {
  const Sizes sizes = m.program.sizes();
  llvm::json::Object row{{"kernel", m.program.name},
                         {"dtype", mhcrt_dtype_name(m.program.dtype())},
                         {"M", sizes.M},
                         {"C", sizes.C},
                         {"n", sizes.n},
                         {"amx", session.runtime.amx(session.context) != 0},
                         {"variant", m.variant},
                         {"us", 1e6 * m.seconds},
                         {"bytes", m.program.bytes()},
                         {"flops", m.program.flops()},
                         {"gbs", m.bytesPerSecond() / 1e9},
                         {"copy_gbs", m.copyBytesPerSecond / 1e9},
                         {"copy_percent", m.copyPercent()},
                         {"multiply_adds_per_second", m.multiplyAddsPerSecond},
                         {"byte_bound_us", 1e6 * m.byteBound()},
                         {"arithmetic_bound_us", 1e6 * m.arithmeticBound()},
                         {"bound_ratio", m.seconds / m.bound()}};
  if (const TorchRow *other = torchOf(m)) {
    row["torch_eager_us"] = 1e6 * other->eager;
    row["torch_compiled_us"] = 1e6 * other->compiled;
  }
  return row;
}

void Report::add(Measurement m) {
  const Sizes sizes = m.program.sizes();
  if (!options.json)
    os << formatv("{0,-34}{1,-6}{2,7}{3,6}{4,11:f1}{5,9:f1}{6,8:f1}{7,8:f0}{8,10:f1} us{9,10:f1} us{10,9:f2}{11}\n",
                  m.program.name, mhcrt_dtype_name(m.program.dtype()), sizes.M, sizes.C, 1e6 * m.seconds,
                  m.bytesPerSecond() / 1e9, m.copyBytesPerSecond / 1e9, m.copyPercent(), 1e6 * m.byteBound(),
                  1e6 * m.arithmeticBound(), m.seconds / m.bound(), m.variant.empty() ? "" : "  " + m.variant);
  const TorchRow *other = torchOf(m);
  if (other && !options.json)
    os << formatv("{0,-34}PyTorch: eager {1:f1} us, {2:f2} times ours; torch.compile {3:f1} us, {4:f2} times ours\n",
                  "", 1e6 * other->eager, other->eager / m.seconds, 1e6 * other->compiled, other->compiled / m.seconds);
  os.flush();
  all.push_back(std::move(m));
}

/// Share of `pre` that its coefficients would take as kernels of their own.
static void printCoefficientShare(llvm::raw_ostream &os, llvm::ArrayRef<Measurement> all) {
  for (const Measurement &pre : all) {
    if (pre.program.name != "pre")
      continue;
    auto secondsOf = [&](llvm::StringRef kernel) {
      const auto *row = llvm::find_if(all, [&](const Measurement &m) {
        return m.program.name == kernel && m.program.sizes().M == pre.program.sizes().M;
      });
      return row == all.end() ? NAN : row->seconds;
    };
    const double share = 100 * (secondsOf("gates") + secondsOf("sinkhorn")) / pre.seconds;
    if (!std::isnan(share))
      os << formatv("gates and sinkhorn are {0:f1} % of pre at C = {1}, {2}\n", share, pre.program.sizes().C,
                    mhcrt_dtype_name(pre.program.dtype()));
  }
}

void Report::finish() {
  if (!options.json)
    return printCoefficientShare(os << "\n", all);
  llvm::json::Array rows;
  for (const Measurement &m : all)
    rows.push_back(toJson(m));
  os << formatv("{0:2}\n", llvm::json::Value(std::move(rows)));
}
