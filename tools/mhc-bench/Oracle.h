//===- Oracle.h - Expected results of a kernel ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_ORACLE_H
#define MHC_TOOLS_BENCH_ORACLE_H

#include "Case.h"
#include "mhc/Reference/Evaluator.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mhc::bench {

/// A context with the dialects that the ops of kernels decompose into.
std::unique_ptr<mlir::MLIRContext> makeOracleContext();

/// The op of a case in a function of its own, for any number of tokens. Its decomposition is what it means.
class Oracle {
public:
  Oracle(mlir::MLIRContext &context, const Case &c);

  /// Whether the op's verifier takes the case.
  bool isLegal() const { return legal; }
  /// The op as text: sizes, types and attributes.
  const std::string &text() const { return opText; }
  /// The results that are present from the operands that are, in the order of the record, lists one by one.
  llvm::Expected<std::vector<reference::HostTensor>> evaluate(llvm::ArrayRef<reference::HostTensor> operands,
                                                              reference::Rounding rounding);
  /// Sizes of tensor `index` in memory order.
  static reference::Shape shapeOf(const Case &c, unsigned index);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string opText;
  bool legal = false, isDecomposed = false;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_ORACLE_H
