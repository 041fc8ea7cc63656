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

/// The version of the dialect that brought an operand or attribute, 0 for the first.
static int64_t versionOf(const Record &def) { return def.getValue("since") ? def.getValueAsInt("since") : 0; }

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
  tensor.equalAttr = def.getValueAsString("equalAttr").str();
  if (!tensor.equalAttr.empty())
    for (unsigned dim : tensor.dims)
      if (dims[dim] != "n")
        tensor.equalDims.push_back(dim);
  tensor.elementOf = def.getValueAsString("elementOf").str();
  tensor.orF32 = def.getValueAsBit("orF32");
  tensor.startOf = def.getValueAsString("startOf").str();
  tensor.takenOverBy = def.getValueAsString("takenOverBy").str();
  tensor.integerBits = def.getValueAsInt("integerBits");
  tensor.indexOf = def.getValueAsString("indexOf").str();
  tensor.cutsOf = def.getValueAsString("cutsOf").str();
  tensor.elementsRead = def.getValueAsString("elementsRead").str();
  tensor.since = versionOf(value.constraint.getDef());
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
  attr.since = versionOf(value.attr.getDef());
  attr.cType = attr.since > 0 && attr.kind != RecordAttr::Float ? "int64_t" : cTypes[attr.kind];
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
    for (const std::string &result : {tensor.startOf, tensor.takenOverBy})
      if (!result.empty() && !has(tensors, result))
        PrintFatalError(op.getLoc(), "tensor '" + tensor.name + "' starts, or is taken over by, '" + result +
                                         "', which is no tensor of the op");
    for (StringRef dim : {tensor.indexOf, tensor.cutsOf})
      if (!dim.empty() && !is_contained(dims, dim))
        PrintFatalError(op.getLoc(),
                        "tensor '" + tensor.name + "' counts along dim '" + dim + "', which no tensor of the op has");
    for (const std::string &attr : {tensor.flipAttr, tensor.equalAttr})
      if (!attr.empty() && !has(attrs, attr))
        PrintFatalError(op.getLoc(), "the dims of tensor '" + tensor.name + "' depend on '" + attr +
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
  layOutFields();
}

void KernelRecord::addFields() {
  for (auto [i, tensor] : enumerate(tensors)) {
    std::string element = tensor.isResult ? "void *" : "const void *",
                data = element + (tensor.isList ? "const *" : "");
    fields.push_back({RecordField::Data, unsigned(i), data, tensor.name, tensor.since});
    fields.push_back({RecordField::Type, unsigned(i), "int32_t", tensor.name + "_type", tensor.since});
    if (tensor.isList)
      fields.push_back({RecordField::Count, unsigned(i), "int64_t", tensor.name + "_count", tensor.since});
  }
  for (auto [i, dim] : enumerate(dims))
    fields.push_back({RecordField::Dim, unsigned(i), "int64_t", dim, /*since=*/0});
  for (auto [i, attr] : enumerate(attrs))
    fields.push_back({RecordField::Attr, unsigned(i), attr.cType, attr.name, attr.since});
}

/// Members have 4 or 8 bytes and are aligned as in C. Those of later versions come last.
void KernelRecord::layOutFields() {
  auto order = to_vector(map_range(fields, [](RecordField &field) { return &field; }));
  stable_sort(order, [](RecordField *a, RecordField *b) { return a->since < b->since; });
  unsigned end = 8;
  for (RecordField *field : order) {
    const unsigned bytes = field->cType == "int32_t" ? 4 : 8;
    field->offset = alignTo(end, bytes);
    end = field->offset + bytes;
  }
  argsBytes = alignTo(end, 8);
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
