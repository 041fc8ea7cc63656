//===- CostReport.cpp - The cost of a function in print ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/CostReport.h"
#include "TensorSizes.h"
#include "mhc/IR/Counted.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mhc;
using llvm::formatv;
using llvm::raw_ostream;

/// A count; a fraction shows only where there is one.
static std::string count(double value) {
  if (std::fabs(value) >= 1e15)
    return formatv("{0:e3}", value);
  return value == std::floor(value) ? std::to_string(static_cast<long long>(value)) : formatv("{0:f2}", value).str();
}

static double microseconds(const Cost &cost, const CostReportOptions &options) {
  return 1e6 * options.machine->seconds(cost, options.tokens);
}

double mhc::boundSeconds(const FunctionCost &function, const CostReportOptions &options) {
  double sum = 0;
  for (const OpCost &op : function.ops)
    sum += options.machine->seconds(op.cost, options.tokens);
  return sum;
}

static double microseconds(const FunctionCost &function, const CostReportOptions &options) {
  return 1e6 * boundSeconds(function, options);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Plain ops of one name are one row, at the place of the first: their number is in place of the line.
static void printOps(raw_ostream &os, const FunctionCost &function, const CostReportOptions &options) {
  constexpr const char *row = "  {0,-24}{1,6}{2,16}{3,14}{4,16}{5,10}{6,12}\n";
  os << formatv(row, "op", "line", "bytes/token", "+ bytes", "flops/token", "launches", "bound us");
  struct Row {
    const OpCost *op;
    int64_t ops = 0;
    Cost cost;
    double microseconds = 0;
  };
  std::vector<Row> rows;
  llvm::StringMap<size_t> plain; // row of a name
  for (const OpCost &op : function.ops) {
    const bool isAlone = op.isMhc || !op.unknown.empty();
    const size_t at = isAlone ? rows.size() : plain.try_emplace(op.name, rows.size()).first->second;
    if (at == rows.size())
      rows.push_back({&op});
    Row &sum = rows[at];
    ++sum.ops;
    sum.cost += op.cost;
    sum.microseconds += microseconds(op.cost, options);
  }
  for (const Row &sum : rows) {
    std::string place = sum.ops > 1        ? "x" + std::to_string(sum.ops)
                        : sum.op->line > 0 ? std::to_string(sum.op->line)
                                           : "-";
    if (!sum.op->unknown.empty()) {
      os << formatv("  {0,-24}{1,6}  not counted: depends on {2}\n", sum.op->name, place, sum.op->unknown);
      continue;
    }
    Amount bytes = sum.cost.bytes();
    os << formatv(row, sum.op->name, place, count(bytes.perToken), count(bytes.fixed), count(sum.cost.flops.perToken),
                  count(sum.cost.launches), formatv("{0:f2}", sum.microseconds).str());
  }
}

static void printTotal(raw_ostream &os, const char *what, double before, double after,
                       std::optional<double> compiled = std::nullopt) {
  std::string ratio = after > 0 && before != after ? formatv("{0:f2}x", before / after).str() : "";
  os << formatv("  {0,-30}{1,16}{2,16}{3,10}{4,16}\n", what, count(before), count(after), ratio,
                compiled ? count(*compiled) : "");
}

static void printTotals(raw_ostream &os, const FunctionCost &before, const FunctionCost &after,
                        const FunctionCost &compiled, const CostReportOptions &options) {
  const Cost &a = before.total, &b = after.total, &c = compiled.total;
  os << formatv("  {0,-30}{1,16}{2,16}{3,10}{4,16}\n", "total", "before", "after", "", "compiled");
  printTotal(os, "bytes per token", a.bytes().perToken, b.bytes().perToken, c.bytes().perToken);
  printTotal(os, "bytes once", a.bytes().fixed, b.bytes().fixed, c.bytes().fixed);
  printTotal(os, "flops per token", a.flops.perToken, b.flops.perToken, c.flops.perToken);
  printTotal(os, "launches", a.launches, b.launches, c.launches);
  printTotal(os, "temporary bytes per token", before.peakBytes.perToken, after.peakBytes.perToken);
  printTotal(os, "temporary bytes once", before.peakBytes.fixed, after.peakBytes.fixed);
  printTotal(os, "bound us", microseconds(before, options), microseconds(after, options),
             microseconds(compiled, options));
  if (after.plannedPeakBytes)
    os << formatv("  arena of the compiled function: {0} bytes per token, {1} bytes once\n",
                  count(after.plannedPeakBytes->perToken), count(after.plannedPeakBytes->fixed));
  std::string besides;
  for (const OpCost &op : after.ops)
    if (!op.besides.empty())
      note(besides, op.besides);
  if (!besides.empty())
    os << "  not counted: " << besides << "\n";
  if (!before.isComplete() || !after.isComplete())
    os << "  the totals lack what is not counted above\n";
}

/// Each temporary in the arena; those whose steps do not overlap may share memory.
static void printTemporaries(raw_ostream &os, llvm::ArrayRef<Temporary> temporaries) {
  constexpr const char *row = "  {0,-30}{1,16}{2,16}{3,10}\n";
  if (!temporaries.empty())
    os << formatv(row, "temporaries, bytes", "from step", "to step", "line");
  for (const Temporary &temporary : temporaries)
    os << formatv(row, temporary.bytes, temporary.first, temporary.last,
                  temporary.line > 0 ? std::to_string(temporary.line) : "-");
}

/// The closed forms beside what the function does, in bytes per token: multiples of the number of channels C.
static void printStreamGradients(raw_ostream &os, const StreamGradients &gradients) {
  int64_t n = gradients.streams, a = gradients.elementBytes;
  auto row = [&](const char *what, const char *form, double bytes) {
    os << formatv("  {0,-46}{1,-12}{2}C\n", what, form, count(bytes));
  };
  os << formatv("  gradients of {0}, n = {1} streams of a = {2} bytes, per token and sublayer\n",
                counted(gradients.sublayers, "sublayer"), n, a);
  row("  post, aggregate, projection, and a sum", "(11n+3)aC", addedBytesPerChannel(n, a));
  row("  the same without the sum", "(7n+3)aC", separateBytesPerChannel(n, a));
  row("  chain: each adds to those before it", "(9n+3)aC", chainBytesPerChannel(n, a));
  row("  layer: all of the streams by pre", "(5n+3)aC", layerBytesPerChannel(n, a));
  row("  model: post and pre across sublayers", "(3n+3)aC", modelBytesPerChannel(n, a));
  row("  this function", "", gradients.bytesPerChannel);
}

/// The same kernel by kernel: what joins two sublayers, and what their first and last cost.
static void printSublayerKernels(raw_ostream &os, llvm::ArrayRef<SublayerKernels> kernels) {
  if (!kernels.empty())
    os << formatv("  {0,-30}{1,-52}{2,16}{3,16}\n", "kernels of sublayers", "bytes per token, each", "closed form",
                  "this function");
  for (const SublayerKernels &kernel : kernels) {
    std::string form = kernel.streams == 0 ? "" : kernel.streams == 1 ? "n" : formatv("{0}n", kernel.streams).str();
    if (kernel.channels)
      form += formatv("{0}{1}", form.empty() ? "" : "+", kernel.channels);
    os << formatv("  {0,-30}{1,-52}{2,15}C{3,15}C\n", formatv("{0} {1}", kernel.ops, kernel.op).str(),
                  "(" + form + ")aC", count(kernel.closedForm / kernel.ops), count(kernel.counted / kernel.ops));
  }
}

/// The same for front ends of gated delta nets, in bytes per token.
static void printFrontEnds(raw_ostream &os, const FunctionCost &function) {
  auto row = [&](const char *what, const char *form, const FrontEndBytes &bytes) {
    if (bytes.ops)
      os << formatv("  {0,-30}{1,-52}{2,16}{3,16}\n", counted(bytes.ops, what), form, count(bytes.closedForm),
                    count(bytes.counted));
  };
  if (function.frontEnds.ops || function.frontEndsInPlace.ops || function.frontEndGradients.ops)
    os << formatv("  {0,-82}{1,16}{2,16}\n", "front ends of gated delta nets, bytes per token", "closed form",
                  "this function");
  row("front end", "a(D + 2 h_v(d_k + d_v) + h_v) + 4 h_v", function.frontEnds);
  row("bare front end", "a(E + 2 h_v + h_v(2 d_k + d_v) + h_v) + 4 h_v", function.frontEndsInPlace);
  row("gradient", "a(E + 2 h_v + D + 2 h_v(d_k + d_v) + h_v) + 4 h_v", function.frontEndGradients);
}

void mhc::printReport(raw_ostream &os, const FunctionCost &before, const FunctionCost &after,
                      const FunctionCost &compiled, const CostReportOptions &options) {
  os << formatv("@{0}, bounds for {1} at M = {2}\n\nbefore\n", after.name, options.machine->name,
                count(options.tokens));
  printOps(os, before, options);
  os << "\nafter\n";
  printOps(os, after, options);
  os << "\n";
  printTotals(os, before, after, compiled, options);
  printTemporaries(os, after.temporaries);
  if (after.streamGradients)
    printStreamGradients(os, *after.streamGradients);
  printSublayerKernels(os, after.sublayerKernels);
  printFrontEnds(os, after);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value toJson(Amount amount) {
  return llvm::json::Object{{"per_token", amount.perToken}, {"fixed", amount.fixed}};
}

static llvm::json::Object toJson(const Cost &cost) {
  return llvm::json::Object{{"bytes_read", toJson(cost.bytesRead)},
                            {"bytes_written", toJson(cost.bytesWritten)},
                            {"flops", toJson(cost.flops)},
                            {"launches", cost.launches}};
}

static llvm::json::Array opsJson(const FunctionCost &function, const CostReportOptions &options) {
  llvm::json::Array ops;
  for (const OpCost &op : function.ops) {
    llvm::json::Object row = toJson(op.cost);
    row["op"] = op.name;
    row["line"] = op.line;
    row["times"] = op.times;
    row["bound_us"] = microseconds(op.cost, options);
    if (!op.unknown.empty())
      row["depends_on"] = op.unknown;
    if (!op.besides.empty())
      row["not_counted"] = op.besides;
    ops.push_back(std::move(row));
  }
  return ops;
}

static llvm::json::Value toJson(llvm::ArrayRef<SublayerKernels> kernels) {
  llvm::json::Array rows;
  for (const SublayerKernels &kernel : kernels)
    rows.push_back(llvm::json::Object{{"op", "mhc." + kernel.op},
                                      {"ops", kernel.ops},
                                      {"closed_form_bytes_per_channel", kernel.closedForm / kernel.ops},
                                      {"bytes_per_channel", kernel.counted / kernel.ops}});
  return rows;
}

static llvm::json::Value toJson(const FunctionCost &function, const CostReportOptions &options, bool withOps) {
  llvm::json::Object total = toJson(function.total);
  total["bound_us"] = microseconds(function, options);
  total["complete"] = function.isComplete();
  total["temporary_bytes"] = toJson(function.peakBytes);
  if (function.plannedPeakBytes)
    total["arena_bytes"] = toJson(*function.plannedPeakBytes);
  llvm::json::Array temporaries;
  for (const Temporary &temporary : function.temporaries)
    temporaries.push_back(llvm::json::Object{
        {"bytes", temporary.bytes}, {"first", temporary.first}, {"last", temporary.last}, {"line", temporary.line}});
  if (!temporaries.empty())
    total["temporaries"] = std::move(temporaries);
  if (function.streamGradients)
    total["stream_gradient_bytes_per_channel"] = function.streamGradients->bytesPerChannel;
  if (!function.sublayerKernels.empty())
    total["sublayer_kernels"] = toJson(function.sublayerKernels);
  llvm::json::Object result{{"total", std::move(total)}};
  if (withOps)
    result["ops"] = opsJson(function, options);
  return result;
}

llvm::json::Value mhc::reportJson(const FunctionCost &before, const FunctionCost &after, const FunctionCost &compiled,
                                  const CostReportOptions &options, bool withOps) {
  return llvm::json::Object{{"function", after.name},
                            {"machine", options.machine->name},
                            {"tokens", options.tokens},
                            {"before", toJson(before, options, withOps)},
                            {"after", toJson(after, options, withOps)},
                            {"compiled", toJson(compiled, options, /*withOps=*/false)}};
}
