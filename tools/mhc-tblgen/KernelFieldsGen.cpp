//===- KernelFieldsGen.cpp - Kernel ops from members with names ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGen.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mhc;

/// The type of an attribute's value, the class of the attribute, how that gives the value, and how one is made.
struct AttrForm {
  std::string type, attrClass, getter, made;
};

static AttrForm formOf(const RecordAttr &attr) {
  switch (attr.kind) {
  case RecordAttr::Enum:
    return {"mhc::" + attr.enumDef->getValueAsString("className").str(), attr.attrClass, "getValue()",
            attr.attrClass + "::get(builder.getContext(), *" + attr.name + ")"};
  case RecordAttr::Int:
    return {"int64_t", "mlir::IntegerAttr", "getInt()", "builder.getI64IntegerAttr(*" + attr.name + ")"};
  case RecordAttr::Float:
    return {"double", "mlir::FloatAttr", "getValueAsDouble()", "builder.getF64FloatAttr(*" + attr.name + ")"};
  case RecordAttr::Bool:
    return {"bool", "mlir::BoolAttr", "getValue()", "builder.getBoolAttr(*" + attr.name + ")"};
  case RecordAttr::Unit:
    return {"bool", "mlir::UnitAttr", "operator bool()", "builder.getUnitAttr()"};
  }
  llvm_unreachable("a kind of attribute");
}

static bool emitDecls(const RecordKeeper &records, raw_ostream &os) {
  for (const KernelRecord &kernel : readKernelRecords(records)) {
    os << formatv("/// What an mhc.{0} is created from.\nstruct mhc::{1}::Fields {{\n"
                  "  explicit Fields(mlir::Operation *like = nullptr) {{\n    if (like)\n      take(like);\n  }\n"
                  "  /// Takes over the operands and attributes of the same names; what lists hold is not.\n"
                  "  void take(mlir::Operation *op);\n"
                  "  mhc::{1} create(mlir::OpBuilder &builder, mlir::Location loc) const;\n\n",
                  kernel.mnemonic, kernel.op.getCppClassName());
    for (bool isResult : {true, false})
      for (const RecordTensor &tensor : kernel.tensors)
        if (tensor.isResult == isResult)
          os << formatv(tensor.isList ? "  llvm::SmallVector<mlir::{0}> {1};\n" : "  mlir::{0} {1};\n",
                        isResult ? "Type" : "Value", tensor.name);
    for (const RecordAttr &attr : kernel.attrs)
      os << formatv(attr.kind == RecordAttr::Unit ? "  {0} {1} = false;\n" : "  std::optional<{0}> {1};\n",
                    formOf(attr).type, attr.name);
    os << "};\n\n";
  }
  return false;
}

static void emitTake(const KernelRecord &kernel, raw_ostream &os) {
  os << formatv("void {0}::Fields::take(mlir::Operation *op) {{\n", kernel.op.getCppClassName());
  for (const RecordTensor &tensor : kernel.tensors)
    if (!tensor.isResult && !tensor.isList)
      os << formatv("  if (mlir::Value found = kernelOperand(op, \"{0}\"))\n    {0} = found;\n", tensor.name);
  for (const RecordAttr &attr : kernel.attrs)
    os << formatv("  if (auto found = op->getAttrOfType<{0}>(\"{1}\"))\n    {1} = found.{2};\n", formOf(attr).attrClass,
                  attr.name, formOf(attr).getter);
  os << "}\n\n";
}

static void emitCreate(const KernelRecord &kernel, raw_ostream &os) {
  StringRef name = kernel.op.getCppClassName();
  std::string checks, arguments = "builder, loc";
  auto require = [&](const std::string &member) {
    checks += formatv("  assert({0} && \"mhc.{1} needs '{0}'\");\n", member, kernel.mnemonic);
  };
  for (bool isResult : {true, false})
    for (const RecordTensor &tensor : kernel.tensors)
      if (tensor.isResult == isResult) {
        if (!tensor.isOptional && !tensor.isList)
          require(tensor.name);
        arguments += ", " + tensor.name;
      }
  for (const RecordAttr &attr : kernel.attrs) {
    if (attr.whenAbsent.empty() && attr.kind != RecordAttr::Unit)
      require(attr.name);
    arguments += formatv(",\n      {0} ? {1} : {2}()", attr.name, formOf(attr).made, formOf(attr).attrClass);
  }
  os << formatv("{0} {0}::Fields::create(mlir::OpBuilder &builder, mlir::Location loc) const {{\n{1}"
                "  return {0}::create({2});\n}\n\n",
                name, checks, arguments);
}

static bool emitDefs(const RecordKeeper &records, raw_ostream &os) {
  for (const KernelRecord &kernel : readKernelRecords(records)) {
    emitTake(kernel, os);
    emitCreate(kernel, os);
  }
  return false;
}

static mlir::GenRegistration genDecls("gen-kernel-fields-decls", "Generate what each kernel op is created from",
                                      emitDecls);
static mlir::GenRegistration genDefs("gen-kernel-fields-defs", "Generate the definitions of that", emitDefs);
