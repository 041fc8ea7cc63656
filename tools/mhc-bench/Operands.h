//===- Operands.h - Tensors of a program in memory ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_OPERANDS_H
#define MHC_TOOLS_BENCH_OPERANDS_H

#include "KernelFunction.h"
#include "Program.h"
#include "Session.h"
#include <map>

namespace mhc::bench {

/// One set of the tensors of a program, and its kernels with them. Tensors of one name are one tensor.
class Operands {
public:
  static llvm::Expected<std::unique_ptr<Operands>> make(const Session &session, const Program &program);
  /// The same with other memory.
  llvm::Expected<std::unique_ptr<Operands>> copy() const;

  void *data(llvm::StringRef tensor) const { return tensors.at(tensor.str()).buffer.get(); }
  mhcrt_status run();
  /// Gives an operand other numbers.
  llvm::Error refill(llvm::StringRef tensor);
  /// A number that follows from the bits of all results.
  llvm::Expected<uint64_t> hashOfResults() const;
  /// Checks that the first elements of the results are finite after a run.
  llvm::Error checkFinite() const;

private:
  struct Tensor {
    Buffer buffer;
    CaseTensor shape;
    bool isResult;
  };

  Operands(const Session &session, const Program &program) : session(session), program(program) {}
  llvm::Error allocate();
  llvm::Error fill();
  llvm::Error fill(const Tensor &tensor, uint64_t seed);
  llvm::Error link();

  const Session &session;
  const Program &program;
  std::map<std::string, Tensor> tensors;
  std::vector<std::unique_ptr<KernelFunction>> functions;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_OPERANDS_H
