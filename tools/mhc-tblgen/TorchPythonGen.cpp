//===- TorchPythonGen.cpp - Write the Python side of the ops of PyTorch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results' shapes for tracing (fake kernels), derivatives, and functions with defaults.
//
//===----------------------------------------------------------------------===//

#include "TorchGen.h"
#include "mlir/Support/IndentedOstream.h"
#include "mlir/TableGen/EnumInfo.h"
#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TableGen/Error.h"
#include <functional>

using namespace llvm;
using namespace mhc;

static std::string firstWord(const RecordAttr &attr) {
  return "\"" + mlir::tblgen::EnumInfo(*attr.enumDef).getAllCases().front().getStr().str() + "\"";
}

template <typename Range, typename Function>
static std::string joined(const Range &all, Function text) {
  return join(map_range(all, text), ", ");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Python for shapes of an op's tensors. Sizes are read from operands, or are among those `given`; an attribute or a
/// given size is `keyword` of its name.
class Shapes {
public:
  Shapes(const TorchOp &op, ArrayRef<RecordTensor> operands, ArrayRef<std::string> given,
         std::function<std::string(StringRef)> keyword)
      : op(op), operands(operands), given(given), keyword(std::move(keyword)) {}

  std::string of(const RecordTensor &tensor) const;

private:
  std::string axis(const RecordTensor &tensor, unsigned dim) const;
  /// A size of a tensor. Where it may be absent, so may be the operand that has it.
  std::string size(const RecordTensor &tensor, unsigned dim) const;
  bool isTokens(unsigned dim) const { return op.tokens == dim; }
  /// "chosen if layout == nC else flipped"
  std::string choice(const RecordTensor &tensor, const std::string &plain, const std::string &flipped) const;
  /// Sizes of a tensor that has these dims, without the tokens.
  std::string list(const RecordTensor &tensor, const std::vector<unsigned> &dims) const;

  const TorchOp &op;
  ArrayRef<RecordTensor> operands;
  ArrayRef<std::string> given;
  std::function<std::string(StringRef)> keyword;
};

std::string Shapes::choice(const RecordTensor &tensor, const std::string &plain, const std::string &flipped) const {
  if (tensor.flippedDims.empty() || plain == flipped)
    return plain;
  return formatv("{0} if {1} == {2} else {3}", plain, keyword(tensor.flipAttr), firstWord(*op.attr(tensor.flipAttr)),
                 flipped);
}

/// The axis of a tensor that is `dim`, counted from the end.
std::string Shapes::axis(const RecordTensor &tensor, unsigned dim) const {
  auto place = [&](const std::vector<unsigned> &dims) {
    return std::to_string(find(dims, dim) - dims.begin() - int64_t(dims.size()));
  };
  return choice(tensor, place(tensor.dims), place(tensor.flippedDims));
}

std::string Shapes::size(const RecordTensor &tensor, unsigned dim) const {
  if (is_contained(given, op.kernel.dims[dim]))
    return keyword(op.kernel.dims[dim]);
  for (bool isOptional : {false, true})
    for (const RecordTensor &source : operands)
      if (source.isOptional == isOptional && isOptional <= tensor.isOptional && is_contained(source.dims, dim))
        return isTokens(dim) ? formatv("{0}.shape[:{1}]", source.name, 1 - int64_t(source.dims.size())).str()
                             : formatv("{0}.shape[{1}]", source.name, axis(source, dim)).str();
  PrintFatalError(op.kernel.def.getLoc(), "no operand has dim '" + op.kernel.dims[dim] + "' for sure");
}

std::string Shapes::list(const RecordTensor &tensor, const std::vector<unsigned> &dims) const {
  std::string text;
  for (unsigned dim : dims)
    if (!isTokens(dim))
      text += (text.empty() ? "" : ", ") + size(tensor, dim);
  return text;
}

std::string Shapes::of(const RecordTensor &tensor) const {
  std::string sizes =
      choice(tensor, "(" + list(tensor, tensor.dims) + ",)", "(" + list(tensor, tensor.flippedDims) + ",)");
  if (!isTokens(tensor.dims.front()))
    return sizes;
  std::string tokens = size(tensor, tensor.dims.front());
  if (StringRef(tokens).ends_with("[:0]"))
    tokens = StringRef(tokens).drop_back(4);
  if (tensor.dims.size() == 1)
    return tokens;
  return tokens + " + " + (tensor.flippedDims.empty() || tensor.flippedDims == tensor.dims ? sizes : "(" + sizes + ")");
}

//===----------------------------------------------------------------------===//
// Fake kernels
//===----------------------------------------------------------------------===//

static std::string parametersOf(ArrayRef<RecordTensor> operands) {
  return joined(operands, [](const RecordTensor &tensor) { return tensor.name + (tensor.isOptional ? "=None" : ""); });
}

static std::string dtypeOf(const TorchOp &op, const RecordTensor &result) {
  std::string own = result.elementOf.empty() ? "torch.float32" : result.elementOf + ".dtype";
  for (const RecordTensor &start : op.operands())
    if (start.startOf == result.name && !result.elementOf.empty())
      return formatv("{0} if {1} is None else {1}.dtype", own, start.name);
  return own;
}

static void emitFake(const TorchOp &op, raw_ostream &os) {
  std::vector<std::string> keywords = op.sizes, made;
  for (const RecordAttr &attr : op.kernel.attrs)
    if (any_of(op.tensors, [&](const RecordTensor &tensor) { return tensor.flipAttr == attr.name; }))
      keywords.push_back(attr.name);
  if (op.hasOptionalResults())
    keywords.push_back("output_mask");
  Shapes shapes(op, op.operands(), op.sizes, [](StringRef name) { return name.str(); });
  for (auto [i, result] : enumerate(op.results())) {
    std::string text =
        formatv("{0}.new_empty({1}, dtype={2})", op.operands().front().name, shapes.of(result), dtypeOf(op, result));
    made.push_back(result.isOptional ? formatv("{0} if output_mask[{1}] else None", text, i).str() : text);
  }
  os << formatv("@register_fake(\"{0}\")\n"
                "def _({1}{2}, **_):\n    return ",
                op.kernel.mnemonic, parametersOf(op.operands()),
                keywords.empty() ? "" : ", *, " + join(keywords, ", "));
  os << (made.size() == 1 ? made.front() : "(\n        " + join(made, ",\n        ") + ",\n    )") << "\n\n\n";
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// An op and the op of its gradients.
class Derivative {
public:
  Derivative(const TorchOp &op, const TorchOp &bwd) : op(op), bwd(bwd) {}
  void emit(raw_ostream &os) const;

private:
  /// The result of the op whose gradient the operand is, or null.
  const RecordTensor *gradientOf(const RecordTensor &operand) const;
  bool isSaved(const RecordTensor &operand) const;
  std::string saved() const;
  std::string maskOf(const RecordTensor &gradient) const;
  std::string attrOf(const RecordAttr &attr) const;
  void emitSetup(raw_ostream &os) const;
  void emitBackward(raw_ostream &os) const;

  const TorchOp &op, &bwd;
};

const RecordTensor *Derivative::gradientOf(const RecordTensor &operand) const {
  StringRef name = operand.name;
  return name.consume_front("d_") ? op.result(name) : nullptr;
}

/// Operands of the op, and those of its results that are made for this. An optional operand that has the name of
/// another result is of a fusion.
bool Derivative::isSaved(const RecordTensor &operand) const {
  const RecordTensor *result = op.result(operand.name);
  return op.operand(operand.name) || (result && (result->isOptional || !operand.isOptional));
}

std::string Derivative::saved() const {
  std::vector<std::string> names;
  for (const RecordTensor &operand : bwd.operands())
    if (isSaved(operand))
      names.push_back(operand.name);
  return join(names, ", ");
}

void Derivative::emitSetup(raw_ostream &os) const {
  StringRef name = op.kernel.mnemonic;
  os << formatv("def _{0}_setup(ctx, operands, attributes, results):\n    {1}, = operands\n    {2} = results\n", name,
                joined(op.operands(), [](const RecordTensor &tensor) { return tensor.name; }),
                joined(op.results(), [](const RecordTensor &tensor) { return tensor.name; }));
  for (const RecordTensor &operand : op.operands())
    if (!bwd.operand(operand.name))
      os << formatv("    if {0} is not None:\n"
                    "        raise NotImplementedError(\"mhc::{1} has no derivative where '{0}' is given\")\n",
                    operand.name, name);
  std::string constants;
  for (const RecordTensor &result : op.results())
    if (!bwd.operand("d_" + result.name))
      constants += (constants.empty() ? "" : ", ") + result.name;
  os << formatv("    ctx.save_for_backward({0})\n    ctx.set_materialize_grads(False)\n"
                "    ctx.attributes = attributes\n",
                saved());
  if (!constants.empty())
    os << formatv("    ctx.mark_non_differentiable(*(one for one in ({0},) if one is not None))\n", constants);
  os << "\n\n";
}

std::string Derivative::maskOf(const RecordTensor &gradient) const {
  StringRef name = gradient.name;
  name.consume_front("d_");
  const RecordTensor *operand = op.operand(name);
  if (!operand)
    return "False";
  std::string needed = formatv("needed[{0}]", operand - op.operands().begin());
  return operand->isOptional ? formatv("{0} is not None and {1}", name, needed).str() : needed;
}

std::string Derivative::attrOf(const RecordAttr &attr) const {
  if (op.attr(attr.name))
    return formatv(attr.whenAbsent.empty() ? "attributes[\"{0}\"]" : "attributes.get(\"{0}\")", attr.name);
  if (attr.kind != RecordAttr::Enum)
    PrintFatalError(bwd.kernel.def.getLoc(), "attribute '" + attr.name + "' is not known to " + op.kernel.mnemonic);
  return firstWord(attr); // it is of a fusion, and not read
}

void Derivative::emitBackward(raw_ostream &os) const {
  std::vector<std::string> arguments, gradients;
  os << formatv("def _{0}_backward(ctx, {1}):\n    {2}, = ctx.saved_tensors\n"
                "    attributes, needed = ctx.attributes, ctx.needs_input_grad\n",
                op.kernel.mnemonic, joined(op.results(), [](const RecordTensor &tensor) { return "d_" + tensor.name; }),
                saved());
  std::vector<RecordTensor> sources; // what has sizes for sure
  copy_if(bwd.operands(), std::back_inserter(sources), [&](const RecordTensor &operand) { return isSaved(operand); });
  Shapes shapes(bwd, sources, op.sizes, [](StringRef name) { return formatv("attributes[\"{0}\"]", name).str(); });
  for (const RecordTensor &operand : bwd.operands()) {
    const bool isGradient = gradientOf(operand);
    arguments.push_back(isGradient || isSaved(operand) ? operand.name : "None");
    if (isGradient && !operand.isOptional && op.results().size() > 1)
      os << formatv("    if {0} is None:\n        {0} = {1}.new_zeros({2}, dtype={3})\n", operand.name,
                    sources.front().name, shapes.of(operand),
                    operand.elementOf.empty() ? "torch.float32" : operand.elementOf + ".dtype");
  }
  for (const RecordAttr &attr : bwd.kernel.attrs)
    arguments.push_back(attr.name + "=" + attrOf(attr));
  if (bwd.hasOptionalResults())
    arguments.push_back("output_mask=[" +
                        joined(bwd.results(), [&](const RecordTensor &result) { return maskOf(result); }) + "]");
  for (const RecordTensor &operand : op.operands())
    gradients.push_back(bwd.result("d_" + operand.name) ? "d_" + operand.name : "None");
  os << formatv("    {0} = torch.ops.mhc.{1}.default(\n        {2})\n    return {3}\n\n\n",
                joined(bwd.results(), [](const RecordTensor &result) { return result.name; }), bwd.kernel.mnemonic,
                join(arguments, ", "), join(gradients, ", "));
}

void Derivative::emit(raw_ostream &os) const {
  emitSetup(os);
  emitBackward(os);
  // Results that are made for backward, whether or not the caller wants them.
  std::vector<std::string> kept;
  for (auto [i, result] : enumerate(op.results()))
    if (const RecordTensor *reader = bwd.operand(result.name); result.isOptional && reader && !reader->isOptional)
      kept.push_back(std::to_string(i));
  os << formatv("register_derivative(\"{0}\", _{0}_setup, _{0}_backward{1})\nregister_no_derivative(\"{2}\")\n\n\n",
                op.kernel.mnemonic, kept.empty() ? "" : ", kept=[" + join(kept, ", ") + "]", bwd.kernel.mnemonic);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The record's words about an op, without its example.
static void emitDocstring(const TorchOp &op, raw_ostream &os) {
  StringRef description = op.kernel.def.getValueAsString("description").split("```mlir").first;
  std::string text;
  raw_string_ostream stream(text);
  mlir::raw_indented_ostream(stream).printReindented(description);
  os << "    r\"\"\"" << op.kernel.summary << ".\n\n";
  for (StringRef line : split(StringRef(text).trim(), '\n'))
    os << (line.empty() ? "" : "    ") << line << "\n";
  os << "    \"\"\"\n";
}

class Function {
public:
  Function(const Record &record, const RecordKeeper &records)
      : record(record), records(records), op(*record.getValueAsDef("op")) {}
  void emit(raw_ostream &os) const;

private:
  std::string parameters() const;
  std::optional<StringRef> defaultOf(StringRef attr) const;
  std::optional<StringRef> sizeOf(StringRef dim) const;
  bool isLeft(const RecordTensor &operand) const {
    return is_contained(record.getValueAsListOfStrings("without"), operand.name);
  }
  /// When a result is returned: a Python expression, empty for never.
  std::string whenReturned(const RecordTensor &result) const;

  const Record &record;
  const RecordKeeper &records;
  TorchOp op;
};

std::optional<StringRef> Function::defaultOf(StringRef attr) const {
  for (const Record *given : records.getAllDerivedDefinitions("Torch_Default"))
    if (given->getValueAsString("name") == attr)
      return given->getValueAsString("value");
  return std::nullopt;
}

std::optional<StringRef> Function::sizeOf(StringRef dim) const {
  for (const Record *rule : record.getValueAsListOfDefs("sizes"))
    if (rule->getValueAsString("name") == dim)
      return rule->getValueAsString("value");
  return std::nullopt;
}

std::string Function::whenReturned(const RecordTensor &result) const {
  for (const Record *also : record.getValueAsListOfDefs("results"))
    if (also->getValueAsString("name") == result.name)
      return also->getValueAsString("when").empty() ? "True" : also->getValueAsString("when").str();
  return result.isOptional ? "" : "True";
}

std::string Function::parameters() const {
  std::vector<RecordTensor> operands;
  copy_if(op.operands(), std::back_inserter(operands), [&](const RecordTensor &operand) { return !isLeft(operand); });
  std::string positional = parametersOf(operands);
  std::vector<std::string> keywords;
  const bool hasOptional = any_of(operands, [](const RecordTensor &operand) { return operand.isOptional; });
  for (const std::string &size : op.sizes)
    if (!sizeOf(size)) {
      if (hasOptional)
        keywords.push_back(size);
      else
        positional += ", " + size;
    }
  for (const RecordAttr &attr : op.kernel.attrs)
    if (!attr.whenAbsent.empty())
      keywords.push_back(attr.name + "=None");
    else if (std::optional<StringRef> value = defaultOf(attr.name))
      keywords.push_back(attr.name + "=" + value->str());
    else
      keywords.push_back(attr.name);
  return positional + (keywords.empty() ? "" : ", *, " + join(keywords, ", "));
}

void Function::emit(raw_ostream &os) const {
  StringRef name = op.kernel.mnemonic;
  std::vector<std::string> arguments, sizes, rules, mask, results, returned;
  for (const RecordTensor &operand : op.operands())
    arguments.push_back(isLeft(operand) ? "None" : operand.name);
  for (const std::string &size : op.sizes) {
    arguments.push_back(size + "=" + size);
    if (std::optional<StringRef> rule = sizeOf(size)) {
      sizes.push_back(size);
      rules.push_back(rule->str());
    }
  }
  for (const RecordAttr &attr : op.kernel.attrs)
    arguments.push_back(attr.name + "=" + attr.name);
  for (const RecordTensor &result : op.results()) {
    std::string when = whenReturned(result);
    results.push_back(when.empty() ? "_" : result.name);
    if (!when.empty())
      returned.push_back(result.name);
    mask.push_back(when.empty() ? "False" : when);
  }
  const std::string made = "[" + join(mask, ", ") + "]";
  if (op.hasOptionalResults())
    arguments.push_back("output_mask=" + (sizes.empty() ? made : "made"));
  os << formatv("def {0}({1}):\n", name, parameters());
  emitDocstring(op, os);
  if (!sizes.empty())
    os << formatv("    try:\n        {0}, made = {1}, {2}\n"
                  "    except (AttributeError, IndexError, TypeError):  # of a wrong argument, which the op tells\n"
                  "        {0}, made = {3}[True] * {4}\n",
                  join(sizes, ", "), join(rules, ", "), made, join(std::vector<std::string>(sizes.size() + 1), "0, "),
                  mask.size());
  os << formatv("    {0} = torch.ops.mhc.{1}.default(\n        {2})\n    return {3}\n\n\n", join(results, ", "), name,
                join(arguments, ", "), join(returned, ", "));
}

/// Loads the library first: what follows it is registered on its ops.
static void emitHead(ArrayRef<TorchOp> ops, raw_ostream &os) {
  os << "\"\"\"Generated by mhc-tblgen -gen-torch-python from python/TorchOps.td. Do not edit.\"\"\"\n\n"
        "import torch\n\n"
        "from ._library import load, register_derivative, register_fake, register_no_derivative\n\n"
     << formatv("load([{0}])\n\n\n", joined(ops, [](const TorchOp &op) { return "\"" + op.kernel.mnemonic + "\""; }));
}

static bool emitPython(const RecordKeeper &records, raw_ostream &os) {
  std::vector<TorchOp> ops = readTorchOps(records);
  emitHead(ops, os);
  for (const TorchOp &op : ops)
    emitFake(op, os);
  for (const TorchOp &op : ops)
    for (const TorchOp &bwd : ops)
      if (bwd.kernel.mnemonic == op.kernel.mnemonic + "_bwd")
        Derivative(op, bwd).emit(os);
  std::vector<const Record *> functions = records.getAllDerivedDefinitions("Torch_Function");
  llvm::sort(functions, LessRecordByID());
  for (const Record *function : functions)
    Function(*function, records).emit(os);
  return false;
}

static mlir::GenRegistration genPython("gen-torch-python", "Generate the Python side of the ops of PyTorch",
                                       emitPython);
