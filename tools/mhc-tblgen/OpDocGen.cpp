//===- OpDocGen.cpp - Write what the records say about ops, for readers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's page of ops knows nothing of the dimensions and flops that are in the records of kernel ops.
//
//===----------------------------------------------------------------------===//

#include "KernelGen.h"
#include "mlir/Support/IndentedOstream.h"
#include "mlir/TableGen/Dialect.h"
#include "mlir/TableGen/EnumInfo.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

using namespace llvm;
using namespace mhc;
using mlir::tblgen::NamedTypeConstraint;
using mlir::tblgen::Operator;

static void emitDescription(StringRef text, raw_ostream &os) {
  mlir::raw_indented_ostream(os).printReindented(text.rtrim(" "));
}

static std::string quoted(ArrayRef<std::string> words) { return "`" + join(words, "`, `") + "`"; }

/// The cases of an enum, or what kind of value it is.
static std::string valuesOf(const mlir::tblgen::Attribute &attr) {
  if (!attr.getBaseAttr().getDef().isSubClassOf("EnumAttr"))
    return attr.getSummary().split(" (found").first.str(); // that is for errors
  mlir::tblgen::EnumInfo info(attr.getBaseAttr().getDef().getValueAsDef("enum"));
  std::vector<std::string> cases;
  for (const mlir::tblgen::EnumCase &enumCase : info.getAllCases())
    cases.push_back(enumCase.getStr().str());
  return quoted(cases);
}

static void emitAttributes(const Operator &op, raw_ostream &os) {
  std::string rows;
  for (const mlir::tblgen::NamedAttribute &named : op.getAttributes()) {
    if (named.attr.isDerivedAttr())
      continue;
    bool isEnum = named.attr.getBaseAttr().getDef().isSubClassOf("EnumAttr");
    StringRef meaning =
        isEnum ? named.attr.getBaseAttr().getDef().getValueAsDef("enum")->getValueAsString("summary") : "";
    rows += formatv("| `{0}`{1} | {2} | {3} |\n", named.name, named.attr.isOptional() ? ", optional" : "",
                    valuesOf(named.attr), meaning);
  }
  if (!rows.empty())
    os << "| attribute | values | meaning |\n| --- | --- | --- |\n" << rows << "\n";
}

/// A row of name and Markdown for each op of the file.
static bool emitOpDocs(const RecordKeeper &records, raw_ostream &os) {
  for (const Record *record : records.getAllDerivedDefinitions("Op")) {
    Operator op(record);
    os << "{\"" << op.getOperationName() << "\", R\"doc(" << op.getSummary() << "\n\n";
    emitDescription(op.getDescription(), os);
    os << "\n";
    emitAttributes(op, os);
    os << ")doc\"},\n";
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The page of ops
//===----------------------------------------------------------------------===//

/// In the order of the files.
static std::vector<const Record *> inOrder(ArrayRef<const Record *> records) {
  std::vector<const Record *> sorted(records);
  llvm::sort(sorted, LessRecordByID());
  return sorted;
}

/// "Sinkhorn" of "Ops/Sinkhorn.td": forward and backward ops of a stem are one section.
static StringRef sectionOf(const Record *record) {
  unsigned buffer = SrcMgr.FindBufferContainingLoc(record->getLoc().front());
  return sys::path::stem(SrcMgr.getMemoryBuffer(buffer)->getBufferIdentifier());
}

static std::string shapeOf(const KernelRecord &kernel, ArrayRef<unsigned> dims) {
  return "`[" + join(map_range(dims, [&](unsigned dim) { return kernel.dims[dim]; }), ",") + "]`";
}

/// "32-bit float" of "2D tensor of 32-bit float values".
static StringRef elementsOf(const NamedTypeConstraint &value) {
  StringRef summary = value.constraint.getSummary();
  auto [before, elements] = summary.split("tensor of ");
  return elements.empty() ? summary : elements.split(" values").first;
}

static void emitKernelTensor(const KernelRecord &kernel, const RecordTensor &tensor, const NamedTypeConstraint &value,
                             raw_ostream &os) {
  os << "| `" << tensor.name << "`"
     << (tensor.isOptional ? ", optional"
         : tensor.isList   ? ", any number"
                           : "")
     << " | " << shapeOf(kernel, tensor.dims);
  if (!tensor.flippedDims.empty())
    os << ", or " << shapeOf(kernel, tensor.flippedDims) << " by `" << tensor.flipAttr << "`";
  if (!tensor.equalDims.empty())
    os << ", or " << shapeOf(kernel, tensor.equalDims) << " by `" << tensor.equalAttr << "`";
  os << " | ";
  if (tensor.elementOf.empty())
    os << elementsOf(value);
  else
    os << "that of `" << tensor.elementOf << "`" << (tensor.orF32 ? ", or f32" : "");
  os << " |\n";
}

static void emitKernelTensors(const KernelRecord &kernel, raw_ostream &os) {
  for (bool results : {false, true}) {
    os << formatv("| {0} | shape | element type |\n| --- | --- | --- |\n", results ? "result" : "operand");
    unsigned next = 0;
    for (const RecordTensor &tensor : kernel.tensors)
      if (tensor.isResult == results)
        emitKernelTensor(kernel, tensor, results ? kernel.op.getResult(next++) : kernel.op.getOperand(next++), os);
    os << "\n";
  }
}

/// "Sizes: `n` 1 to 16, `C` at least 1."
static void emitDimBounds(const KernelRecord &kernel, raw_ostream &os) {
  std::vector<std::string> bounds;
  for (const Record *bound : kernel.def.getValueAsListOfDefs("dimBounds")) {
    int64_t least = bound->getValueAsInt("least"), most = bound->getValueAsInt("most");
    if (is_contained(kernel.dims, bound->getValueAsString("name")))
      bounds.push_back(formatv("`{0}` {1}", bound->getValueAsString("name"),
                               most ? formatv("{0} to {1}", least, most).str() : formatv("at least {0}", least).str()));
  }
  if (!bounds.empty())
    os << "Sizes: " << join(bounds, ", ") << ".\n\n";
}

static void emitValues(const Operator &op, raw_ostream &os) {
  auto emit = [&](StringRef kind, auto values) {
    if (values.empty())
      return;
    os << "| " << kind << " | type |\n| --- | --- |\n";
    for (const NamedTypeConstraint &value : values)
      os << formatv("| `{0}` | {1} |\n", value.name, value.constraint.getSummary());
    os << "\n";
  };
  emit("operand", op.getOperands());
  emit("result", op.getResults());
}

static void emitOp(const Record *record, raw_ostream &os) {
  Operator op(record);
  os << "### `" << op.getOperationName() << "`\n\n" << op.getSummary() << ".\n\n";
  emitDescription(op.getDescription(), os);
  os << "\n";
  if (record->isSubClassOf("Mhc_KernelOp")) {
    KernelRecord kernel(*record);
    emitKernelTensors(kernel, os);
    emitDimBounds(kernel, os);
    emitAttributes(op, os);
    os << "Flops: `" << kernel.flops << "`.\n\n";
    return;
  }
  emitValues(op, os);
  emitAttributes(op, os);
}

static bool emitReference(const RecordKeeper &records, raw_ostream &os) {
  os << "# Ops\n\n<!-- Generated by mhc-tblgen -gen-op-reference from include/mhc/IR/MhcOps.td. Do not edit. -->\n\n";
  for (const Record *dialect : records.getAllDerivedDefinitions("Dialect"))
    if (dialect->getValueAsString("name") == "mhc")
      emitDescription(dialect->getValueAsString("description"), os);
  StringRef section;
  for (const Record *record : inOrder(records.getAllDerivedDefinitions("Op"))) {
    if (section != sectionOf(record)) {
      section = sectionOf(record);
      os << "\n## " << section << "\n\n";
    }
    emitOp(record, os);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The page of attributes
//===----------------------------------------------------------------------===//

/// The ops that have an attribute of this kind.
static std::vector<std::string> usersOf(const Record *attribute, ArrayRef<const Record *> ops) {
  std::vector<std::string> users;
  for (const Record *record : ops) {
    Operator op(record);
    if (any_of(op.getAttributes(), [&](const mlir::tblgen::NamedAttribute &named) {
          return &named.attr.getBaseAttr().getDef() == attribute;
        }))
      users.push_back(op.getOperationName());
  }
  return users;
}

static bool emitAttributeReference(const RecordKeeper &records, raw_ostream &os) {
  os << "# Attributes\n\n"
        "<!-- Generated by mhc-tblgen -gen-attribute-reference from include/mhc/IR/FunctionAttributes.td. Do not edit. "
        "-->\n"
        "\nThose of functions, their arguments and results are [at the end](#attributes-of-functions).\n\n"
        "Enums of the dialect. An op with a form of its own prints the case alone, `layout = nC`; the generic form is\n"
        "`layout = #mhc.layout<nC>`. A number that is no integer has a point: `eps = 1.0e-6`. MLIR reads the `1e-6` "
        "of\n"
        "Python as the integer 1 and a name.\n";
  std::vector<const Record *> ops = inOrder(records.getAllDerivedDefinitions("Op"));
  for (const Record *attribute : inOrder(records.getAllDerivedDefinitions("EnumAttr"))) {
    std::vector<std::string> users = usersOf(attribute, ops);
    if (users.empty())
      continue; // of another dialect
    mlir::tblgen::Attribute attr(attribute);
    os << formatv("\n## `{0}`\n\n{1}.\n\n- cases: {2}\n- of {3}\n", attribute->getValueAsString("mnemonic"),
                  attribute->getValueAsDef("enum")->getValueAsString("summary"), valuesOf(attr), quoted(users));
  }
  if (!records.getClass("FunctionAttr"))
    return false; // the file has the ops alone
  os << "\n## Attributes of functions\n\n| attribute of | written | meaning |\n| --- | --- | --- |\n";
  for (const Record *record : inOrder(records.getAllDerivedDefinitions("FunctionAttr")))
    os << formatv("| {0} | `{1}` | {2} |\n", record->getValueAsString("owner"), record->getValueAsString("form"),
                  record->getValueAsString("meaning"));
  return false;
}

static mlir::GenRegistration genOpDocs("gen-op-docs", "Generate the documentation of ops as C++ strings", emitOpDocs);
static mlir::GenRegistration genReference("gen-op-reference", "Generate the page of ops", emitReference);
static mlir::GenRegistration genAttributes("gen-attribute-reference", "Generate the page of attributes",
                                           emitAttributeReference);
