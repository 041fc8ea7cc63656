//===- TorchGen.cpp - Write the boxed ops of PyTorch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchGen.h"
#include "mlir/TableGen/EnumInfo.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;
using namespace mhc;

TorchOp::TorchOp(const Record &record) : kernel(record) {
  // Streams that are equal are of compiled models: a program of PyTorch has its tensors expanded.
  erase_if(kernel.attrs, [&](const RecordAttr &attr) {
    return any_of(kernel.tensors, [&](const RecordTensor &tensor) { return tensor.equalAttr == attr.name; });
  });
  auto take = [&](auto belongs) {
    for (const RecordTensor &tensor : kernel.tensors)
      if (belongs(tensor))
        tensors.push_back(tensor);
  };
  take([](const RecordTensor &tensor) { return !tensor.isResult && !tensor.isOptional; });
  take([](const RecordTensor &tensor) { return !tensor.isResult && tensor.isOptional; });
  operandCount = tensors.size();
  take([](const RecordTensor &tensor) { return tensor.isResult; });
  for (const RecordTensor &tensor : tensors)
    if (tensor.isList)
      PrintFatalError(record.getLoc(), "an op of PyTorch takes no list, and '" + tensor.name + "' is one");
  auto isRead = [&](unsigned dim) {
    return any_of(operands(), [&](const RecordTensor &tensor) { return is_contained(tensor.dims, dim); });
  };
  for (const RecordTensor &tensor : results())
    for (unsigned dim : tensor.dims)
      if (!isRead(dim) && !is_contained(sizes, kernel.dims[dim]))
        sizes.push_back(kernel.dims[dim]);
  const unsigned m = find(kernel.dims, "M") - kernel.dims.begin();
  auto isFirst = [&](const std::vector<unsigned> &dims) { return !is_contained(drop_begin(dims, !dims.empty()), m); };
  if (all_of(tensors, [&](const RecordTensor &one) { return isFirst(one.dims) && isFirst(one.flippedDims); }))
    tokens = m;
}

bool TorchOp::hasOptionalResults() const {
  return any_of(results(), [](const RecordTensor &tensor) { return tensor.isOptional; });
}

template <typename Range>
static auto *findNamed(Range &&all, StringRef name) {
  auto it = find_if(all, [&](const auto &one) { return one.name == name; });
  return it == all.end() ? nullptr : &*it;
}

const RecordTensor *TorchOp::operand(StringRef name) const { return findNamed(operands(), name); }
const RecordTensor *TorchOp::result(StringRef name) const { return findNamed(results(), name); }
const RecordAttr *TorchOp::attr(StringRef name) const { return findNamed(kernel.attrs, name); }

std::string TorchOp::dimsOf(const RecordTensor &tensor) const {
  return join(map_range(tensor.dims, [&](unsigned dim) { return kernel.dims[dim]; }), ", ");
}

std::vector<TorchOp> mhc::readTorchOps(const RecordKeeper &records) {
  std::vector<TorchOp> ops;
  for (const Record *list : records.getAllDerivedDefinitions("Torch_Ops"))
    for (const Record *record : list->getValueAsListOfDefs("ops"))
      ops.emplace_back(*record);
  return ops;
}

static std::string schemaOf(const RecordAttr &attr) {
  static const char *const types[] = {"str", "int", "float", "bool", "bool"};
  return formatv(attr.whenAbsent.empty() ? "{0} {1}" : "{0}? {1}=None", types[attr.kind], attr.name);
}

std::string mhc::schemaOf(const TorchOp &op) {
  std::vector<std::string> arguments, results;
  for (const RecordTensor &tensor : op.operands())
    arguments.push_back(formatv(tensor.isOptional ? "Tensor? {0}=None" : "Tensor {0}", tensor.name));
  if (!op.sizes.empty() || !op.kernel.attrs.empty() || op.hasOptionalResults())
    arguments.push_back("*");
  for (const std::string &size : op.sizes)
    arguments.push_back("SymInt " + size);
  for (const RecordAttr &attr : op.kernel.attrs)
    arguments.push_back(::schemaOf(attr));
  if (op.hasOptionalResults())
    arguments.push_back("bool[] output_mask");
  for (const RecordTensor &tensor : op.results())
    results.push_back("Tensor " + tensor.name);
  return formatv("{0}({1}) -> ({2})", op.kernel.mnemonic, join(arguments, ", "), join(results, ", "));
}

//===----------------------------------------------------------------------===//
// Tables of runtime/torch/BoxedOp.h
//===----------------------------------------------------------------------===//

/// By name: the record has attributes that an op of PyTorch lacks.
static unsigned offsetOf(const KernelRecord &kernel, const std::string &member) {
  return find_if(kernel.fields, [&](const RecordField &field) { return field.name == member; })->offset;
}

/// Index of what has this name, or -1.
template <typename Range>
static int indexOf(const Range &all, StringRef name) {
  auto it = find_if(all, [&](const auto &one) { return one.name == name; });
  return it == all.end() ? -1 : it - all.begin();
}

static std::string numberList(ArrayRef<unsigned> values) {
  return "{" + join(map_range(values, [](unsigned value) { return std::to_string(value); }), ", ") + "}";
}

static void emitTensors(const TorchOp &op, raw_ostream &os) {
  os << formatv("static const BoxedTensor {0}_tensors[] = {{\n", op.kernel.mnemonic);
  for (const RecordTensor &tensor : op.tensors)
    os << formatv("  {{\"{0}\", {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}},\n", tensor.name, tensor.isOptional,
                  tensor.dims.size(), numberList(tensor.dims), numberList(tensor.flippedDims),
                  indexOf(op.kernel.attrs, tensor.flipAttr), indexOf(op.tensors, tensor.elementOf), tensor.integerBits,
                  indexOf(op.tensors, tensor.startOf), offsetOf(op.kernel, tensor.name),
                  offsetOf(op.kernel, tensor.name + "_type"));
  os << "};\n";
}

static std::vector<std::string> wordsOf(const RecordAttr &attr) {
  std::vector<std::string> words;
  mlir::tblgen::EnumInfo info(*attr.enumDef);
  for (auto [i, word] : enumerate(info.getAllCases())) {
    if (word.getValue() != int64_t(i))
      PrintFatalError(attr.enumDef, "an op of PyTorch takes enums that count from 0");
    words.push_back(word.getStr().str());
  }
  return words;
}

static void emitAttrs(const TorchOp &op, raw_ostream &os) {
  static const char *const kinds[] = {"Word", "Int", "Float", "Bool", "Bool"};
  for (const RecordAttr &attr : op.kernel.attrs)
    if (attr.kind == RecordAttr::Enum)
      os << formatv("static const char *const {0}_{1}[] = {{\"{2}\"};\n", op.kernel.mnemonic, attr.name,
                    join(wordsOf(attr), "\", \""));
  if (op.kernel.attrs.empty())
    return;
  os << formatv("static const BoxedAttr {0}_attrs[] = {{\n", op.kernel.mnemonic);
  for (const RecordAttr &attr : op.kernel.attrs) {
    std::string absent = attr.whenAbsent.empty() ? "0" : attr.whenAbsent, words = "{}";
    if (attr.kind == RecordAttr::Enum) {
      std::vector<std::string> all = wordsOf(attr);
      words = formatv("{{{0}_{1}, {2}}", op.kernel.mnemonic, attr.name, all.size());
      if (!attr.whenAbsent.empty())
        absent = std::to_string(find(all, attr.whenAbsent) - all.begin());
    }
    os << formatv("  {{\"{0}\", BoxedAttr::{1}, {2}, {3}, {4}, {5}, {6}},\n", attr.name, kinds[attr.kind],
                  !attr.whenAbsent.empty(), absent, words, offsetOf(op.kernel, attr.name),
                  attr.cType == "int32_t" ? 4 : 8);
  }
  os << "};\n";
}

static void emitDims(const TorchOp &op, raw_ostream &os) {
  os << formatv("static const BoxedDim {0}_dims[] = {{\n", op.kernel.mnemonic);
  for (const std::string &dim : op.kernel.dims)
    os << formatv("  {{\"{0}\", {1}, {2}},\n", dim, is_contained(op.sizes, dim), offsetOf(op.kernel, dim));
  os << "};\n";
}

static void emitOp(const TorchOp &op, raw_ostream &os) {
  StringRef name = op.kernel.mnemonic;
  emitTensors(op, os);
  emitAttrs(op, os);
  emitDims(op, os);
  os << formatv(
      "static_assert(sizeof(mhcrt_{0}_args) <= kMostArgsBytes && {4} <= kMostDims);\n"
      "static const BoxedOp op_{0} = {{\n"
      "  \"mhcrt_{0}\",\n"
      "  [](mhcrt_context *context, const void *args) {{\n"
      "    return mhcrt_{0}(context, static_cast<const mhcrt_{0}_args *>(args));\n"
      "  },\n"
      "  [] {{\n"
      "    static const Kernel kernel = gpuKernel(\"mhcrt_{0}\");\n"
      "    return kernel;\n"
      "  },\n"
      "  sizeof(mhcrt_{0}_args), {{{0}_tensors, {1}}, {2}, {3}, {{{0}_dims, {4}}, {5}, {6}};\n"
      "static void boxed_{0}(StableIValue *stack, uint64_t, uint64_t) {{ callBoxed(op_{0}, stack); }\n"
      "static void refused_{0}(StableIValue *stack, uint64_t, uint64_t) {{ refuseBoxed(op_{0}, stack); }\n"
      "static void compiled_{0}(StableIValue *stack, uint64_t, uint64_t) {{ callCompiled(op_{0}, stack); }\n\n",
      name, op.tensors.size(), op.operandCount,
      op.kernel.attrs.empty() ? "{}" : formatv("{{{0}_attrs, {1}}", name, op.kernel.attrs.size()).str(),
      op.kernel.dims.size(), op.tokens.value_or(op.kernel.dims.size()), op.hasOptionalResults());
}

static bool emitBoxedOps(const RecordKeeper &records, raw_ostream &os) {
  os << "// Generated by mhc-tblgen -gen-torch-boxed-ops from python/TorchOps.td. Do not edit.\n\n";
  std::vector<TorchOp> ops = readTorchOps(records);
  for (const TorchOp &op : ops)
    emitOp(op, os);
  os << "STABLE_TORCH_LIBRARY_FRAGMENT(mhc, library) {\n";
  for (const TorchOp &op : ops)
    os << formatv("  library.def(\"{0}\");\n"
                  "  library.def(\"{1}.compiled(Tensor[] operands, SymInt[] sizes, str call) -> Tensor[]\");\n",
                  schemaOf(op), op.kernel.mnemonic);
  os << "}\n";
  for (StringRef device : {"CPU", "CUDA"}) {
    os << formatv("\nSTABLE_TORCH_LIBRARY_IMPL(mhc, {0}, library) {{\n", device);
    for (const TorchOp &op : ops)
      os << formatv("  library.impl(\"{0}\", &boxed_{0});\n  library.impl(\"{0}.compiled\", &compiled_{0});\n",
                    op.kernel.mnemonic);
    os << "}\n";
  }
  os << "\nSTABLE_TORCH_LIBRARY_IMPL(mhc, CompositeExplicitAutograd, library) {\n";
  for (const TorchOp &op : ops)
    os << formatv("  library.impl(\"{0}\", &refused_{0});\n", op.kernel.mnemonic);
  os << "}\n";
  return false;
}

//===----------------------------------------------------------------------===//
// The page of ops
//===----------------------------------------------------------------------===//

static bool emitReference(const RecordKeeper &records, raw_ostream &os) {
  os << "# Ops of PyTorch\n\n"
        "<!-- Generated by mhc-tblgen -gen-torch-reference from python/TorchOps.td. Do not edit. -->\n\n"
        "The ops `torch.ops.mhc.*`, which the wheel of `./dev wheel` has. Tensors, attributes and formulas are those "
        "of\n"
        "[the ops of the dialect](ops.md) of the same names, with these rules:\n\n"
        "- The dim `M` is any number of leading dims, also none, the same for all tensors of a call. Where it is not "
        "the\n"
        "  first dim of each tensor that has it, it is one dim.\n"
        "- Operands that may be absent come last. Attributes go by name, enums as the words of "
        "[attributes](attributes.md).\n"
        "- `output_mask` has one entry for each result. An optional result is made where it is true and is None "
        "elsewhere.\n"
        "- A size that no operand has is given by name.\n"
        "- An op is differentiated by the op of its name and `_bwd`, once.\n"
        "- Each op has the overload `compiled`, which the backend puts into graphs behind AOTAutograd. It has no "
        "derivative, and\n"
        "  takes what does not change from call to call as one text, so that a call costs the host less.\n\n"
        "The module `mhcc` has functions with defaults over them.\n";
  for (const TorchOp &op : readTorchOps(records))
    os << formatv("\n## `{0}`\n\n{1}.\n\n```text\n{2}\n```\n", op.kernel.mnemonic, op.kernel.summary, schemaOf(op));
  return false;
}

static mlir::GenRegistration genReference("gen-torch-reference", "Generate the page of the ops of PyTorch",
                                          emitReference);
static mlir::GenRegistration genBoxed("gen-torch-boxed-ops", "Generate the boxed ops of PyTorch", emitBoxedOps);
