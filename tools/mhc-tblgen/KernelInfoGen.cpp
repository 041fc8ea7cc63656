//===- KernelInfoGen.cpp - Fill one KernelInfo per kernel op ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGen.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mhc;

static std::string indexList(const std::vector<unsigned> &indices) {
  return "{" + join(map_range(indices, [](unsigned i) { return std::to_string(i); }), ", ") + "}";
}

/// A function of the sizes: one local per dim, attribute and list or optional
/// tensor, so that the record's expression reads as written.
static std::string sizesLambda(const KernelRecord &kernel, StringRef expression) {
  std::string text = "[](const KernelSizes &sizes) -> double {\n";
  for (auto [i, dim] : enumerate(kernel.dims))
    text += formatv("      [[maybe_unused]] const double {0} = sizes.dims[{1}];\n", dim, i);
  for (auto [i, attr] : enumerate(kernel.attrs))
    text += formatv("      [[maybe_unused]] const double {0} = sizes.attrs[{1}];\n", attr.name, i);
  for (auto [i, tensor] : enumerate(kernel.tensors))
    if (tensor.isList || tensor.isOptional)
      text += formatv("      [[maybe_unused]] const double {0}_count = sizes.counts[{1}];\n", tensor.name, i);
  return text + "      return " + expression.str() + ";\n    }";
}

static void emitTensors(const KernelRecord &kernel, raw_ostream &os) {
  for (auto [i, tensor] : enumerate(kernel.tensors)) {
    os << formatv("  static const unsigned dims{0}[] = {1};\n", i, indexList(tensor.dims));
    if (!tensor.flippedDims.empty())
      os << formatv("  static const unsigned flipped{0}[] = {1};\n", i, indexList(tensor.flippedDims));
    if (!tensor.equalDims.empty())
      os << formatv("  static const unsigned equal{0}[] = {1};\n", i, indexList(tensor.equalDims));
  }
  os << "  static const KernelTensor tensors[] = {\n";
  for (auto [i, tensor] : enumerate(kernel.tensors)) {
    auto place = [](const auto &all, auto found) -> int { return found == all.end() ? -1 : found - all.begin(); };
    auto tensorCalled = [&](const std::string &name) {
      return place(kernel.tensors,
                   find_if(kernel.tensors, [&](const RecordTensor &other) { return other.name == name; }));
    };
    std::string read = tensor.elementsRead.empty() ? "nullptr" : sizesLambda(kernel, tensor.elementsRead);
    std::string flipped = tensor.flippedDims.empty() ? "{}" : "flipped" + std::to_string(i);
    std::string equal = tensor.equalDims.empty() ? "{}" : "equal" + std::to_string(i);
    os << formatv(
        "    {{\"{0}\", {1}, {2}, {9}, dims{3}, {4}, \"{5}\", {14}, \"{15}\", {6}, {7}, {8}, {16}, {10}, {11}, "
        "{12}, {13}},\n",
        tensor.name, tensor.isResult, tensor.isOptional, i, flipped, tensor.flipAttr, tensorCalled(tensor.elementOf),
        tensor.orF32, tensorCalled(tensor.startOf), tensor.isList, tensor.integerBits,
        place(kernel.dims, find(kernel.dims, tensor.indexOf)), place(kernel.dims, find(kernel.dims, tensor.cutsOf)),
        read, equal, tensor.equalAttr, tensorCalled(tensor.takenOverBy));
  }
  os << "  };\n";
}

static void emitAttrs(const KernelRecord &kernel, raw_ostream &os) {
  static const char *const kinds[] = {"Enum", "Int", "Float", "Bool", "Unit"};
  os << "  static const std::vector<KernelAttr> attrs = {\n";
  for (const RecordAttr &attr : kernel.attrs) {
    os << formatv("    {{\"{0}\", KernelAttr::{1}, \"{2}\", ", attr.name, kinds[attr.kind], attr.cType);
    if (attr.kind != RecordAttr::Enum) {
      os << formatv("nullptr, nullptr, nullptr, nullptr, {0}},\n",
                    attr.whenAbsent.empty() ? "std::nullopt" : attr.whenAbsent);
      continue;
    }
    StringRef className = attr.enumDef->getValueAsString("className");
    os << formatv("\n      [](llvm::StringRef text) -> std::optional<int64_t> {{\n"
                  "        if (auto value = symbolize{0}(text)) return static_cast<int64_t>(*value);\n"
                  "        return std::nullopt; },\n"
                  "      [](int64_t value) {{ return stringify{0}(static_cast<{0}>(value)); },\n"
                  "      [](mlir::MLIRContext *context, int64_t value) -> mlir::Attribute {{\n"
                  "        return {1}::get(context, static_cast<{0}>(value)); },\n"
                  "      [](mlir::Attribute attr) {{\n"
                  "        return static_cast<int64_t>(llvm::cast<{1}>(attr).getValue()); }, {2}},\n",
                  className, attr.attrClass,
                  attr.whenAbsent.empty()
                      ? "std::nullopt"
                      : formatv("static_cast<int64_t>({0}::{1})", className, attr.whenAbsent).str());
  }
  os << "  };\n";
}

static void emitRules(const KernelRecord &kernel, raw_ostream &os) {
  std::vector<const Record *> rules = kernel.def.getValueAsListOfDefs("dimRules");
  for (auto [i, rule] : enumerate(rules))
    os << formatv("  static const std::vector<unsigned> uses{0} = {1};\n", i,
                  indexList(kernel.dimsUsedBy(rule->getValueAsString("value"))));
  os << "  static const std::vector<KernelDimRule> rules = {\n";
  for (auto [i, rule] : enumerate(rules)) {
    unsigned dim = find(kernel.dims, rule->getValueAsString("name")) - kernel.dims.begin();
    StringRef value = rule->getValueAsString("value");
    os << formatv("    {{{0}, uses{1}, \"{2}\", {3}},\n", dim, i, value, sizesLambda(kernel, value));
  }
  os << "  };\n";
}

/// Emits the bounds of each record's dims, by op.
static void emitDimBounds(ArrayRef<KernelRecord> kernels, raw_ostream &os) {
  os << "\nllvm::ArrayRef<DimBound> mhc::dimBoundsOf(llvm::StringRef opName) {\n";
  for (const KernelRecord &kernel : kernels) {
    os << formatv("  if (opName == \"mhc.{0}\") {{\n    static const std::vector<DimBound> bounds = {{\n",
                  kernel.mnemonic);
    for (const Record *bound : kernel.def.getValueAsListOfDefs("dimBounds"))
      if (auto dim = find(kernel.dims, bound->getValueAsString("name")); dim != kernel.dims.end())
        os << formatv("      {{{0}, {1}, {2}},\n", dim - kernel.dims.begin(), bound->getValueAsInt("least"),
                      bound->getValueAsInt("most"));
    os << "    };\n    return bounds;\n  }\n";
  }
  os << "  return {};\n}\n";
}

/// The struct of a runtime call, by op.
static void emitArguments(ArrayRef<KernelRecord> kernels, raw_ostream &os) {
  static const char *const kinds[] = {"Data", "Type", "Count", "Dim", "Attr"};
  os << "\nKernelArguments mhc::kernelArgumentsOf(llvm::StringRef opName) {\n";
  for (const KernelRecord &kernel : kernels) {
    os << formatv("  if (opName == \"mhc.{0}\") {{\n    static const KernelField fields[] = {{\n", kernel.mnemonic);
    for (const RecordField &field : kernel.fields)
      os << formatv("      {{KernelField::{0}, {1}, {2}}, // {3}\n", kinds[field.kind], field.index, field.offset,
                    field.name);
    os << formatv("    };\n    return {{fields, {0}};\n  }\n", kernel.argsBytes);
  }
  os << "  return {};\n}\n";
}

static bool emitKernelInfos(const RecordKeeper &records, raw_ostream &os) {
  std::vector<KernelRecord> kernels = readKernelRecords(records);
  for (const KernelRecord &kernel : kernels) {
    os << formatv("const KernelInfo &{0}::kernelInfo() {{\n", kernel.op.getCppClassName());
    emitTensors(kernel, os);
    os << "  static const llvm::StringRef dims[] = {"
       << join(map_range(kernel.dims, [](const std::string &dim) { return "\"" + dim + "\""; }), ", ") << "};\n";
    emitAttrs(kernel, os);
    emitRules(kernel, os);
    os << formatv(
        "  static const KernelInfo info = {{\"mhc.{0}\", \"mhcrt_{0}\", tensors, dims, attrs, rules, {1}, {2}};\n",
        kernel.mnemonic, sizesLambda(kernel, kernel.flops), kernel.def.getValueAsBit("roundsInside"));
    os << "  return info;\n}\n\n";
  }
  os << "llvm::ArrayRef<const KernelInfo *> mhc::allKernelInfos() {\n"
        "  static const std::vector<const KernelInfo *> infos = {\n";
  for (const KernelRecord &kernel : kernels)
    os << formatv("    &{0}::kernelInfo(),\n", kernel.op.getCppClassName());
  os << "  };\n  return infos;\n}\n";
  emitDimBounds(kernels, os);
  emitArguments(kernels, os);
  return false;
}

static mlir::GenRegistration genKernelInfo("gen-kernel-info", "Generate the KernelInfo of each kernel op",
                                           emitKernelInfos);
