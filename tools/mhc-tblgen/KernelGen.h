//===- KernelGen.h - The record of a kernel op, as the generators see it ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_TBLGEN_KERNELGEN_H
#define MHC_TOOLS_TBLGEN_KERNELGEN_H

#include "mlir/TableGen/Operator.h"
#include "llvm/TableGen/Record.h"
#include <string>
#include <vector>

namespace mhc {

struct RecordTensor {
  std::string name;
  bool isResult;
  bool isOptional;
  bool isList;
  std::vector<unsigned> dims;
  std::vector<unsigned> flippedDims;
  std::string flipAttr;
  std::vector<unsigned> equalDims; ///< without n
  std::string equalAttr;           ///< the unit attribute under which it has them; empty where there is none
  std::string elementOf;
  bool orF32;
  std::string startOf, takenOverBy;
  int64_t integerBits;
  std::string indexOf, cutsOf;
  std::string elementsRead; ///< empty where all are
  int64_t since;            ///< the version of the dialect that brought it
};

struct RecordAttr {
  enum Kind { Enum, Int, Float, Bool, Unit };
  std::string name;
  Kind kind;
  std::string cType;
  const llvm::Record *enumDef = nullptr;
  std::string mnemonic;   ///< of an enum attribute
  std::string attrClass;  ///< of an enum attribute
  std::string whenAbsent; ///< what an attribute counts as that may be absent; empty when it may not
  int64_t since;          ///< the version of the dialect that brought it
};

/// A member of the struct of a kernel's arguments.
struct RecordField {
  enum Kind { Data, Type, Count, Dim, Attr };
  Kind kind;
  unsigned index; ///< of the tensor, the dim or the attribute
  std::string cType, name;
  int64_t since;
  unsigned offset = 0; ///< in bytes
};

class KernelRecord {
public:
  explicit KernelRecord(const llvm::Record &record);

  /// Indices of the dims that a C++ expression of the record reads.
  std::vector<unsigned> dimsUsedBy(llvm::StringRef expression) const;

  const llvm::Record &def;
  mlir::tblgen::Operator op;
  std::string mnemonic, summary, flops;
  std::vector<RecordTensor> tensors;
  std::vector<std::string> dims; ///< in order of first appearance
  std::vector<RecordAttr> attrs;
  /// Members for tensors, dims and attributes. The struct has them in the order of their offsets, behind its size.
  std::vector<RecordField> fields;
  unsigned argsBytes = 8; ///< of the struct

private:
  void addFields();
  void layOutFields();
  unsigned dimIndex(llvm::StringRef name);
  void addTensor(const mlir::tblgen::NamedTypeConstraint &value, bool isResult);
  void addAttr(const mlir::tblgen::NamedAttribute &value);
  void checkNames() const;
};

std::vector<KernelRecord> readKernelRecords(const llvm::RecordKeeper &records);

} // namespace mhc

#endif // MHC_TOOLS_TBLGEN_KERNELGEN_H
