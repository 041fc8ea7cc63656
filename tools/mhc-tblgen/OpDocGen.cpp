//===- OpDocGen.cpp - Write what the records say about ops as C++ strings ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Support/IndentedOstream.h"
#include "mlir/TableGen/GenInfo.h"
#include "mlir/TableGen/Operator.h"
#include "llvm/TableGen/Record.h"

/// A row of name and Markdown for each op of the file.
static bool emitOpDocs(const llvm::RecordKeeper &records, llvm::raw_ostream &os) {
  for (const llvm::Record *record : records.getAllDerivedDefinitions("Op")) {
    mlir::tblgen::Operator op(record);
    os << "{\"" << op.getOperationName() << "\", R\"doc(" << op.getSummary() << "\n\n";
    mlir::raw_indented_ostream(os).printReindented(op.getDescription().rtrim(" "));
    os << ")doc\"},\n";
  }
  return false;
}

static mlir::GenRegistration genOpDocs("gen-op-docs", "Generate the documentation of ops as C++ strings", emitOpDocs);
