//===- Rules.h - Evaluation rules, by op ---------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_REFERENCE_RULES_H
#define MHC_LIB_REFERENCE_RULES_H

#include "mhc/Reference/HostTensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace mhc::reference {

/// The one result of an op from its operands.
using Rule = std::function<llvm::Expected<HostTensor>(mlir::Operation *, llvm::ArrayRef<HostTensor>)>;

/// All rules by op name. Calls and control flow are in the evaluator itself.
const llvm::StringMap<Rule> &rules();
void addArithmeticRules(llvm::StringMap<Rule> &rules);
void addTensorRules(llvm::StringMap<Rule> &rules);
void addLeafRules(llvm::StringMap<Rule> &rules);
void addRandomRules(llvm::StringMap<Rule> &rules);

std::string toString(llvm::ArrayRef<int64_t> shape);
/// An error that opens with the location and the name of the op.
llvm::Error errorAt(mlir::Operation *op, const llvm::Twine &message);
/// An error with the message of a cf.assert, when one of its conditions is false.
llvm::Error checkAssert(mlir::Operation *op, const HostTensor &condition);

} // namespace mhc::reference

#endif // MHC_LIB_REFERENCE_RULES_H
