//===- KernelInfo.cpp - Textual form and lookup of kernel ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/KernelInfo.h"
#include "DimBounds.h"
#include "mhc/IR/KernelArguments.h"
#include "mhc/IR/MhcOps.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

#include "mhc/IR/MhcKernelFields.cpp.inc"
#include "mhc/IR/MhcKernelInfo.cpp.inc"

const KernelInfo *mhc::lookupKernelInfo(StringRef opName) {
  for (const KernelInfo *info : allKernelInfos())
    if (info->opName == opName)
      return info;
  return nullptr;
}

double mhc::factorial(double n) { return n <= 1 ? 1 : n * factorial(n - 1); }

Value mhc::kernelOperand(Operation *op, StringRef name) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel)
    return {};
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors))
    if (!tensor.isResult && !tensor.isList && tensor.name == name)
      return kernel.getTensor(i);
  return {};
}

ArrayRef<unsigned> KernelTensor::dimsWhere(llvm::function_ref<bool(StringRef)> isSet) const {
  if (!equalDims.empty() && isSet(equalAttr))
    return equalDims;
  return !flippedDims.empty() && isSet(flipAttr) ? flippedDims : dims;
}

/// Whether an attribute that decides the dims of a tensor is present and not its first value.
static bool isSet(Attribute attr) {
  if (auto layout = dyn_cast_or_null<LayoutAttr>(attr))
    return layout.getValue() != Layout::nC;
  if (auto layout = dyn_cast_or_null<PhiLayoutAttr>(attr))
    return layout.getValue() != PhiLayout::out_in;
  if (auto layout = dyn_cast_or_null<SeqLayoutAttr>(attr))
    return layout.getValue() != SeqLayout::MbD;
  if (auto contracted = dyn_cast_or_null<ContractedAttr>(attr))
    return contracted.getValue() != Contracted::none;
  return attr != nullptr;
}

ArrayRef<unsigned> mhc::kernelTensorDims(DictionaryAttr attrs, const KernelTensor &tensor) {
  return tensor.dimsWhere([&](StringRef name) { return isSet(attrs.get(name)); });
}

ArrayRef<unsigned> mhc::kernelTensorDims(Operation *op, const KernelInfo &info, unsigned index) {
  return info.tensors[index].dimsWhere([&](StringRef name) { return isSet(op->getAttr(name)); });
}

double mhc::kernelAttrValue(const KernelAttr &attr, Attribute value) {
  if (!value && attr.whenAbsent)
    return *attr.whenAbsent;
  switch (attr.kind) {
  case KernelAttr::Enum:
    return attr.read(value);
  case KernelAttr::Int:
    return cast<IntegerAttr>(value).getInt();
  case KernelAttr::Float:
    return cast<FloatAttr>(value).getValueAsDouble();
  case KernelAttr::Bool:
    return cast<BoolAttr>(value).getValue();
  case KernelAttr::Unit:
    return value != nullptr;
  }
  llvm_unreachable("all kinds are above");
}

//===----------------------------------------------------------------------===//
// Textual form: op(name = %value : type, ...) <attr = value, ...> -> (name : type, ...)
// A list has one type: op(name = [%value, %value] : type) -> (name : 2 of type)
//===----------------------------------------------------------------------===//

namespace {
/// Tensors of one side of a record, with the parsed type of each that is present.
struct Side {
  Side(const KernelInfo &info, bool results) {
    for (const KernelTensor &tensor : info.tensors)
      if (tensor.isResult == results)
        tensors.push_back(&tensor);
    types.resize(tensors.size());
    counts.resize(tensors.size());
  }
  /// Index of the tensor called `name` that was not yet seen.
  FailureOr<unsigned> take(OpAsmParser &parser, SMLoc loc, StringRef name) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      if (tensor->name == name) {
        if (types[i])
          return parser.emitError(loc) << "'" << name << "' is given twice";
        return i;
      }
    return parser.emitError(loc) << "no '" << name << "' here; expected one of " << names();
  }
  LogicalResult checkComplete(OpAsmParser &parser, SMLoc loc, StringRef opName) {
    for (auto [tensor, type] : llvm::zip(tensors, types))
      if (!type && !tensor->isOptional && !tensor->isList)
        return parser.emitError(loc) << "'" << opName << "' needs '" << tensor->name << "'";
    return success();
  }
  std::string names() {
    return llvm::join(llvm::map_range(tensors, [](auto *t) { return ("'" + t->name + "'").str(); }), ", ");
  }
  /// Names that were not yet seen.
  SmallVector<StringRef> open() {
    SmallVector<StringRef> left;
    for (auto [tensor, type] : llvm::zip(tensors, types))
      if (!type)
        left.push_back(tensor->name);
    return left;
  }
  /// Segment sizes, needed when the number of more than one tensor is not fixed.
  void addSegments(OpAsmParser &parser, OperationState &result, StringRef name) {
    if (llvm::count_if(tensors, [](auto *t) { return t->isOptional || t->isList; }) >= 2)
      result.addAttribute(name, parser.getBuilder().getDenseI32ArrayAttr(counts));
  }
  SmallVector<const KernelTensor *> tensors;
  SmallVector<Type> types;
  SmallVector<int32_t> counts;
};
} // namespace

/// A keyword. Editors offer `choices`; that another one is wrong is for the caller to say.
static ParseResult parseKeyword(OpAsmParser &parser, StringRef &keyword, ArrayRef<StringRef> choices) {
  if (succeeded(parser.parseOptionalKeyword(&keyword, choices)))
    return success();
  return parser.parseKeyword(&keyword);
}

static SmallVector<StringRef> casesOf(const KernelAttr &attr) {
  SmallVector<StringRef> cases;
  for (int64_t i = 0; !attr.stringify(i).empty(); ++i)
    cases.push_back(attr.stringify(i));
  return cases;
}

static ParseResult parseAttribute(OpAsmParser &parser, OperationState &result, const KernelInfo &info) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  auto names = llvm::map_to_vector(info.attrs, [](const KernelAttr &attr) { return attr.name; });
  if (parseKeyword(parser, name, names))
    return failure();
  const auto *attr = llvm::find_if(info.attrs, [&](const KernelAttr &a) { return a.name == name; });
  if (attr == info.attrs.end())
    return parser.emitError(loc) << "'" << info.opName << "' has no attribute '" << name << "'";
  if (result.attributes.get(name))
    return parser.emitError(loc) << "'" << name << "' is given twice";
  Builder &builder = parser.getBuilder();
  if (attr->kind == KernelAttr::Unit) {
    result.addAttribute(name, builder.getUnitAttr());
    return success();
  }
  if (parser.parseEqual())
    return failure();
  loc = parser.getCurrentLocation();
  switch (attr->kind) {
  case KernelAttr::Enum: {
    StringRef text;
    SmallVector<StringRef> cases = casesOf(*attr);
    if (parseKeyword(parser, text, cases))
      return failure();
    std::optional<int64_t> value = attr->symbolize(text);
    if (!value)
      return parser.emitError(loc) << "'" << name << "' is '" << text << "'; expected '" << llvm::join(cases, "', '")
                                   << "'";
    result.addAttribute(name, attr->make(builder.getContext(), *value));
    return success();
  }
  case KernelAttr::Int: {
    int64_t value = 0;
    if (parser.parseInteger(value))
      return failure();
    result.addAttribute(name, builder.getI64IntegerAttr(value));
    return success();
  }
  case KernelAttr::Float: {
    double value = 0;
    if (parser.parseFloat(value))
      return failure();
    result.addAttribute(name, builder.getF64FloatAttr(value));
    return success();
  }
  case KernelAttr::Bool: {
    StringRef text;
    if (parseKeyword(parser, text, {"true", "false"}))
      return failure();
    if (text != "true" && text != "false")
      return parser.emitError(loc) << "'" << name << "' is '" << text << "'; expected 'true' or 'false'";
    result.addAttribute(name, builder.getBoolAttr(text == "true"));
    return success();
  }
  case KernelAttr::Unit:
    break; // has no value
  }
  llvm_unreachable("all kinds are above");
}

/// The number of tensors in a list of results, one for each of some operands.
static ParseResult parseListLength(OpAsmParser &parser, ArrayRef<SmallVector<OpAsmParser::UnresolvedOperand>> operands,
                                   int32_t &length) {
  SMLoc loc = parser.getCurrentLocation();
  int32_t most = 0;
  for (const auto &list : operands)
    most += list.size();
  if (parser.parseInteger(length))
    return failure();
  if (length < 1 || length > most)
    return parser.emitError(loc) << "a list of " << length << " results; needed 1 to " << most
                                 << ", as many as the op has operands";
  return success();
}

ParseResult mhc::parseKernelOp(OpAsmParser &parser, OperationState &result, const KernelInfo &info) {
  SMLoc start = parser.getCurrentLocation();
  Side operands(info, /*results=*/false), results(info, /*results=*/true);
  SmallVector<SmallVector<OpAsmParser::UnresolvedOperand>> values(operands.tensors.size());
  auto parseOperand = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parseKeyword(parser, name, operands.open()))
      return failure();
    FailureOr<unsigned> index = operands.take(parser, loc, name);
    if (failed(index) || parser.parseEqual())
      return failure();
    bool isList = operands.tensors[*index]->isList;
    if (isList ? parser.parseOperandList(values[*index], AsmParser::Delimiter::Square)
               : parser.parseOperand(values[*index].emplace_back()))
      return failure();
    operands.counts[*index] = values[*index].size();
    return parser.parseColonType(operands.types[*index]);
  };
  auto parseResult = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parseKeyword(parser, name, results.open()))
      return failure();
    FailureOr<unsigned> index = results.take(parser, loc, name);
    if (failed(index) || parser.parseColon())
      return failure();
    results.counts[*index] = 1;
    if (results.tensors[*index]->isList &&
        (parseListLength(parser, values, results.counts[*index]) || parser.parseKeyword("of")))
      return failure();
    return parser.parseType(results.types[*index]);
  };
  if (failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOperand)) ||
      failed(operands.checkComplete(parser, start, info.opName)) ||
      failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                            [&] { return parseAttribute(parser, result, info); })))
    return failure();
  for (const KernelAttr &attr : info.attrs)
    if (!attr.whenAbsent && attr.kind != KernelAttr::Unit && !result.attributes.get(attr.name))
      return parser.emitError(start) << "'" << info.opName << "' needs attribute '" << attr.name << "'";
  if (failed(parser.parseArrow()) || failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseResult)) ||
      failed(results.checkComplete(parser, start, info.opName)) ||
      failed(parser.parseOptionalAttrDict(result.attributes)))
    return failure();
  operands.addSegments(parser, result, "operandSegmentSizes");
  results.addSegments(parser, result, "resultSegmentSizes");
  for (auto [list, type] : llvm::zip(values, operands.types))
    if (type && parser.resolveOperands(list, type, result.operands))
      return failure();
  for (auto [type, count] : llvm::zip(results.types, results.counts))
    result.types.append(count, type);
  return success();
}

/// The shortest decimal that reads back as the same number.
static void printDouble(raw_ostream &os, double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof(text), "%.*e", digits - 1, value);
    if (strtod(text, nullptr) == value)
      break;
  }
  StringRef mantissa = StringRef(text).split('e').first, exponent = StringRef(text).split('e').second;
  os << mantissa << (mantissa.contains('.') ? "" : ".0");
  if (exponent != "+00")
    os << 'e' << exponent;
}

static void printAttribute(OpAsmPrinter &printer, const KernelAttr &attr, Attribute value) {
  printer << attr.name;
  if (attr.kind == KernelAttr::Unit)
    return;
  printer << " = ";
  if (attr.kind == KernelAttr::Enum)
    printer << attr.stringify(attr.read(value));
  else if (attr.kind == KernelAttr::Int)
    printer << cast<IntegerAttr>(value).getInt();
  else if (attr.kind == KernelAttr::Float)
    printDouble(printer.getStream(), cast<FloatAttr>(value).getValueAsDouble());
  else
    printer << (cast<BoolAttr>(value).getValue() ? "true" : "false");
}

void mhc::printKernelOp(OpAsmPrinter &printer, Operation *op, const KernelInfo &info) {
  SmallVector<StringRef> elided = {"operandSegmentSizes", "resultSegmentSizes"};
  auto kernel = cast<KernelOpInterface>(op);
  auto printTensors = [&](bool results) {
    printer << "(";
    bool first = true;
    for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
      ValueRange values = tensor.isResult == results ? kernel.getTensors(i) : ValueRange();
      if (values.empty())
        continue;
      printer << (first ? "" : ", ") << tensor.name;
      if (!results)
        printer << " = " << (tensor.isList ? "[" : "") << values << (tensor.isList ? "]" : "");
      printer << " : ";
      if (results && tensor.isList)
        printer << values.size() << " of ";
      printer << values.front().getType();
      first = false;
    }
    printer << ")";
  };
  printTensors(/*results=*/false);
  auto present = llvm::make_filter_range(info.attrs, [&](const KernelAttr &attr) { return op->hasAttr(attr.name); });
  if (!present.empty()) {
    printer << " <";
    llvm::interleaveComma(present, printer, [&](const KernelAttr &attr) {
      elided.push_back(attr.name);
      printAttribute(printer, attr, op->getAttr(attr.name));
    });
    printer << ">";
  }
  printer << " -> ";
  printTensors(/*results=*/true);
  printer.printOptionalAttrDict(op->getAttrs(), elided);
}

void mhc::nameKernelResults(Operation *op, function_ref<void(Value, StringRef)> setName) {
  auto kernel = cast<KernelOpInterface>(op);
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors))
    if (tensor.isResult)
      for (Value value : kernel.getTensors(i))
        setName(value, tensor.name);
}

Operation *mhc::replaceWithResults(RewriterBase &rewriter, Operation *op, const KernelInfo &info,
                                   ArrayRef<Type> types) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<int32_t> segments;
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), {}, op->getAttrs());
  for (Type type : types) {
    segments.push_back(type ? 1 : 0);
    if (type)
      state.addTypes(type);
  }
  state.attributes.set("resultSegmentSizes", rewriter.getDenseI32ArrayAttr(segments));
  Operation *replacement = rewriter.create(state);
  for (unsigned i = info.tensors.size() - types.size(); i < info.tensors.size(); ++i) {
    Value before = cast<KernelOpInterface>(op).getTensor(i), after = cast<KernelOpInterface>(replacement).getTensor(i);
    if (before && after)
      rewriter.replaceAllUsesWith(before, after);
  }
  rewriter.eraseOp(op);
  return replacement;
}
