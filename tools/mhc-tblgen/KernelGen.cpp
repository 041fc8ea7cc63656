//===- KernelGen.cpp - Reads the records of kernel ops -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include <cctype>

using namespace llvm;
using namespace mhc;
using mlir::tblgen::NamedTypeConstraint;

static const Record &tensorRecord(const NamedTypeConstraint &value) {
  const Record &def = value.constraint.getDef();
  return value.isVariableLength() ? *def.getValueAsDef("baseType") : def;
}

unsigned KernelRecord::dimIndex(StringRef name) {
  auto it = llvm::find(dims, name);
  if (it == dims.end())
    it = dims.insert(dims.end(), name.str());
  return it - dims.begin();
}

void KernelRecord::addTensor(const NamedTypeConstraint &value, bool isResult) {
  const Record &def = tensorRecord(value);
  if (!def.getValue("dimNames"))
    PrintFatalError(op.getLoc(), "tensor '" + value.name + "' of a kernel op must be an Mhc_Tensor");
  RecordTensor tensor;
  tensor.name = value.name.str();
  tensor.isResult = isResult;
  tensor.isOptional = value.isOptional();
  tensor.isList = value.isVariadic();
  for (StringRef dim : def.getValueAsListOfStrings("dimNames"))
    tensor.dims.push_back(dimIndex(dim));
  for (StringRef dim : def.getValueAsListOfStrings("flippedDims"))
    tensor.flippedDims.push_back(dimIndex(dim));
  tensor.flipAttr = def.getValueAsString("flipAttr").str();
  tensor.elementOf = def.getValueAsString("elementOf").str();
  tensor.orF32 = def.getValueAsBit("orF32");
  tensor.startOf = def.getValueAsString("startOf").str();
  tensor.integerBits = def.getValueAsInt("integerBits");
  tensor.indexOf = def.getValueAsString("indexOf").str();
  tensors.push_back(tensor);
}

void KernelRecord::addAttr(const mlir::tblgen::NamedAttribute &value) {
  RecordAttr attr;
  attr.name = value.name.str();
  mlir::tblgen::Attribute base = value.attr.getBaseAttr();
  StringRef def = base.getDefName();
  if (base.getDef().isSubClassOf("EnumAttr")) {
    attr.kind = RecordAttr::Enum;
    attr.enumDef = base.getDef().getValueAsDef("enum");
    attr.mnemonic = base.getDef().getValueAsString("mnemonic").str();
    attr.attrClass = base.getDef().getValueAsString("cppClassName").str();
  } else if (base.getStorageType().contains("IntegerAttr")) {
    attr.kind = RecordAttr::Int;
  } else if (base.getStorageType().contains("FloatAttr")) {
    attr.kind = RecordAttr::Float;
  } else if (base.getStorageType().contains("BoolAttr")) {
    attr.kind = RecordAttr::Bool;
  } else if (base.getStorageType().contains("UnitAttr")) {
    attr.kind = RecordAttr::Unit;
  } else {
    PrintFatalError(op.getLoc(), "attribute '" + attr.name + "' of a kernel op has a type without a C form: " + def);
  }
  static const char *const cTypes[] = {"int32_t", "int64_t", "double", "int32_t", "int32_t"};
  attr.cType = value.attr.getDef().getValue("isAdded") ? "int64_t" : cTypes[attr.kind];
  if (value.attr.getDef().getValue("whenAbsent"))
    attr.whenAbsent = value.attr.getDef().getValueAsString("whenAbsent").str();
  attrs.push_back(attr);
}

/// Whatever a tensor or a rule names is part of the same record.
void KernelRecord::checkNames() const {
  auto has = [](const auto &all, StringRef name) { return any_of(all, [&](auto &one) { return one.name == name; }); };
  for (const RecordTensor &tensor : tensors) {
    if (!tensor.elementOf.empty() && !has(tensors, tensor.elementOf))
      PrintFatalError(op.getLoc(), "tensor '" + tensor.name + "' has the elements of '" + tensor.elementOf +
                                       "', which is no tensor of the op");
    if (!tensor.startOf.empty() && !has(tensors, tensor.startOf))
      PrintFatalError(op.getLoc(), "tensor '" + tensor.name + "' is the start of '" + tensor.startOf +
                                       "', which is no tensor of the op");
    if (!tensor.indexOf.empty() && !is_contained(dims, tensor.indexOf))
      PrintFatalError(op.getLoc(), "tensor '" + tensor.name + "' counts along dim '" + tensor.indexOf +
                                       "', which no tensor of the op has");
    if (!tensor.flipAttr.empty() && !has(attrs, tensor.flipAttr))
      PrintFatalError(op.getLoc(), "the dims of tensor '" + tensor.name + "' depend on '" + tensor.flipAttr +
                                       "', which is no attribute of the op");
  }
  for (const Record *rule : def.getValueAsListOfDefs("dimRules"))
    if (StringRef dim = rule->getValueAsString("name"); !is_contained(dims, dim))
      PrintFatalError(op.getLoc(), "a rule gives dim '" + dim + "', which no tensor of the op has");
}

KernelRecord::KernelRecord(const Record &record) : def(record), op(record) {
  mnemonic = record.getValueAsString("opName").str();
  summary = record.getValueAsString("summary").str();
  flops = record.getValueAsString("flops").str();
  for (const NamedTypeConstraint &operand : op.getOperands())
    addTensor(operand, /*isResult=*/false);
  for (const NamedTypeConstraint &result : op.getResults())
    addTensor(result, /*isResult=*/true);
  for (const mlir::tblgen::NamedAttribute &attr : op.getAttributes())
    if (!attr.attr.isDerivedAttr())
      addAttr(attr);
  checkNames();
  addFields();
}

/// Members have 4 or 8 bytes and are aligned as in C.
void KernelRecord::addField(RecordField::Kind kind, unsigned index, const std::string &cType, const std::string &name) {
  const unsigned bytes = cType == "int32_t" ? 4 : 8, last = fields.empty() ? 0 : fields.back().offset;
  const unsigned end = fields.empty() ? 8 : last + (fields.back().cType == "int32_t" ? 4 : 8);
  fields.push_back({kind, index, cType, name, (end + bytes - 1) / bytes * bytes});
  argsBytes = (fields.back().offset + bytes + 7) / 8 * 8;
}

void KernelRecord::addFields() {
  for (auto [i, tensor] : enumerate(tensors)) {
    std::string element = tensor.isResult ? "void *" : "const void *";
    addField(RecordField::Data, i, element + (tensor.isList ? "const *" : ""), tensor.name);
    addField(RecordField::Type, i, "int32_t", tensor.name + "_type");
    if (tensor.isList)
      addField(RecordField::Count, i, "int64_t", tensor.name + "_count");
  }
  for (auto [i, dim] : enumerate(dims))
    addField(RecordField::Dim, i, "int64_t", dim);
  for (auto [i, attr] : enumerate(attrs))
    addField(RecordField::Attr, i, attr.cType, attr.name);
}

std::vector<unsigned> KernelRecord::dimsUsedBy(StringRef expression) const {
  std::vector<unsigned> used;
  for (size_t i = 0; i < expression.size();) {
    if (!isAlpha(expression[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < expression.size() && (isAlnum(expression[end]) || expression[end] == '_'))
      ++end;
    auto it = llvm::find(dims, expression.slice(i, end));
    unsigned index = it - dims.begin();
    if (it != dims.end() && !llvm::is_contained(used, index))
      used.push_back(index);
    i = end;
  }
  return used;
}

std::vector<KernelRecord> mhc::readKernelRecords(const RecordKeeper &records) {
  std::vector<KernelRecord> kernels;
  for (const Record *record : records.getAllDerivedDefinitions("Mhc_KernelOp"))
    kernels.emplace_back(*record);
  return kernels;
}
