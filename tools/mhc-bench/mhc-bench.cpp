//===- mhc-bench.cpp - Time the kernels of the runtime ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using namespace mhc::bench;

namespace {
/// Made after the options of libLLVM are gone: one of them is called 'threads', too.
struct CommandLine {
  cl::opt<int64_t> tokens{"M", cl::desc("Tokens"), cl::init(4096)};
  cl::opt<int64_t> streams{"n", cl::desc("Residual streams, 1 to 16"), cl::init(4)};
  cl::list<int64_t> channels{"C", cl::desc("Channels of one stream (default: 1280,2560,4096,7168)"),
                             cl::CommaSeparated};
  cl::opt<std::string> kernel{"kernel", cl::desc("Only this kernel, such as 'pre'")};
  cl::list<mhcrt_dtype> dtypes{
      "dtype", cl::desc("Types of the activations (default: f32,bf16)"), cl::CommaSeparated,
      cl::values(clEnumValN(MHCRT_F32, "f32", "32 bits"), clEnumValN(MHCRT_BF16, "bf16", "16 bits"))};
  cl::opt<int> threads{"threads", cl::desc("Threads; 0 is one per core"), cl::init(0)};
  cl::opt<int> rounds{"rounds", cl::desc("Calls per kernel, of which the best counts"), cl::init(15)};
  cl::opt<bool> portable{"portable", cl::desc("Vector instructions only, where kernels have a variant for AMX")};
  cl::opt<bool> json{"json", cl::desc("Print one JSON array")};
  cl::opt<std::string> backend{"backend", cl::desc("Where kernels run: cpu or cuda"), cl::init("cpu")};
  cl::list<std::string> pins{"pin", cl::desc("On a GPU: time this variant of a kernel, such as post=generic")};
  cl::opt<bool> strict{"strict", cl::desc("On a GPU: a call that no fast variant of its kernel takes is an error")};

  Options options() {
    Options options{tokens,
                    streams,
                    {channels.begin(), channels.end()},
                    {dtypes.begin(), dtypes.end()},
                    kernel,
                    threads,
                    rounds,
                    json,
                    !portable,
                    backend,
                    {pins.begin(), pins.end()},
                    strict};
    if (options.channels.empty())
      options.channels = {1280, 2560, 4096, 7168};
    if (options.dtypes.empty())
      options.dtypes = {MHCRT_F32, MHCRT_BF16};
    return options;
  }
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  CommandLine line;
  cl::ParseCommandLineOptions(argc, argv, "times every kernel of the runtime against the speed of this machine\n");
  llvm::Error error = run(line.options(), llvm::outs());
  if (!error)
    return 0;
  llvm::WithColor::error(llvm::errs(), "mhc-bench") << llvm::toString(std::move(error)) << "\n";
  return 1;
}
