//===- IrWriter.cpp - Text of unfused IR ----------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/IrWriter.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace mhc::spelling {

//===----------------------------------------------------------------------===//
// Formatting
//===----------------------------------------------------------------------===//

std::string formatFloat(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  std::string result = text;
  size_t exponent = result.find('e');
  if (result.find('.') == std::string::npos)
    result.insert(exponent == std::string::npos ? result.size() : exponent, ".0");
  return result;
}

const char *elementName(Element element) {
  switch (element) {
  case Element::F32:
    return "f32";
  case Element::BF16:
    return "bf16";
  case Element::F16:
    return "f16";
  case Element::F64:
    return "f64";
  case Element::I1:
    return "i1";
  case Element::I32:
    return "i32";
  case Element::I64:
    return "i64";
  }
  return "";
}

static int64_t bits(Element element) {
  if (element == Element::F64)
    return 64;
  return element == Element::F32 ? 32 : 16;
}

std::string Type::str() const {
  std::string text = "tensor<";
  for (int64_t dim : dims)
    text += (dim == kTokens ? "?" : std::to_string(dim)) + "x";
  return text + elementName(element) + ">";
}

bool Type::isDynamic() const { return !dims.empty() && dims.front() == kTokens; }

template <typename Range, typename Fn>
static std::string join(const Range &range, Fn text) {
  std::string result;
  for (const auto &item : range)
    result += (result.empty() ? "" : ", ") + text(item);
  return result;
}

static std::string list(const Dims &dims) {
  return "[" + join(dims, [](int64_t dim) { return std::to_string(dim); }) + "]";
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

/// Fills in the number of tokens, where it is known.
Dims IrWriter::resolve(Dims dims) const {
  std::replace(dims.begin(), dims.end(), kTokens, tokenCount);
  return dims;
}

Value IrWriter::argument(const std::string &name, Type type, const std::string &attributes) {
  type.dims = resolve(type.dims);
  Value value{uniqueName(name), type};
  arguments.push_back(value.name + ": " + type.str() + " {mhc.name = \"" + name + "\"" +
                      (attributes.empty() ? "" : ", " + attributes) + "}");
  if (tokenSource.empty() && type.isDynamic())
    tokenSource = "tensor.dim " + value.name + ", " + indexConstant(0) + " : " + type.str();
  return value;
}

void IrWriter::result(const std::string &name, Value value) {
  results.push_back(value.type.str() + " {mhc.name = \"" + name + "\"}");
  returned.push_back(value);
}

void IrWriter::functionAttribute(const std::string &name, const std::string &text) {
  functionAttributes.push_back(name + " = \"" + text + "\"");
}

std::string IrWriter::finish(const std::string &entry) const {
  auto text = [](const std::string &item) { return item; };
  std::string margin(entry.size() + 12, ' ');
  std::string signature;
  for (const std::string &argument : arguments)
    signature += (signature.empty() ? "" : ",\n" + margin) + argument;
  std::string names = join(returned, [](const Value &value) { return value.name; });
  std::string types = join(returned, [](const Value &value) { return value.type.str(); });
  std::string attributes = functionAttributes.empty() ? "" : "attributes {" + join(functionAttributes, text) + "} ";
  return "func.func @" + entry + "(" + signature + ")\n    -> (" + join(results, text) + ") " + attributes + "{\n" +
         prologue + body + "  return " + names + " : " + types + "\n}\n";
}

IrWriter &IrWriter::as(const std::string &name) {
  hint = name;
  return *this;
}

void IrWriter::comment(const std::string &text) { body += "\n" + std::string(2 * indent, ' ') + "// " + text + "\n"; }

std::string IrWriter::uniqueName(const std::string &wanted) {
  std::string name = wanted.empty() ? std::to_string(counter++) : wanted;
  for (int &suffix = suffixes[wanted]; !taken.insert(name).second;)
    name = wanted + "_" + std::to_string(++suffix);
  return "%" + name;
}

Value IrWriter::define(Type type, const std::string &text) {
  Value value{uniqueName(hint), std::move(type)};
  hint.clear();
  body += std::string(2 * indent, ' ') + value.name + " = " + text + "\n";
  return value;
}

//===----------------------------------------------------------------------===//
// Constants: all at the top of the function
//===----------------------------------------------------------------------===//

std::string IrWriter::indexConstant(int64_t value) {
  std::string &name = constants["index " + std::to_string(value)];
  if (name.empty()) {
    name = uniqueName("c" + std::to_string(value));
    prologue += "  " + name + " = arith.constant " + std::to_string(value) + " : index\n";
  }
  return name;
}

std::string IrWriter::scalar(double value, Element element) {
  std::string text = formatFloat(value) + " : " + elementName(element);
  std::string &name = constants[text];
  if (name.empty()) {
    name = uniqueName("cst");
    prologue += "  " + name + " = arith.constant " + text + "\n";
  }
  return name;
}

std::string IrWriter::tokens() {
  std::string &name = constants["tokens"];
  if (name.empty()) {
    assert(!tokenSource.empty() && "a dynamic value needs a token argument");
    name = uniqueName("M");
    prologue += "  " + name + " = " + tokenSource + "\n";
  }
  return name;
}

Value IrWriter::splat(double value, Type type) {
  type.dims = resolve(type.dims);
  std::string text = type.isDynamic() ? "tensor.splat " + scalar(value, type.element) + "[" + tokens() + "] : "
                                      : "arith.constant dense<" + formatFloat(value) + "> : ";
  std::string &name = constants[text + type.str()];
  if (name.empty()) {
    name = uniqueName("splat");
    prologue += "  " + name + " = " + text + type.str() + "\n";
  }
  return {name, type};
}

/// Elements from `next` on as nested lists of the given shape.
static std::string nested(const std::vector<double> &elements, const Dims &dims, size_t depth, size_t &next) {
  if (depth == dims.size())
    return formatFloat(elements[next++]);
  std::string text, separator = depth + 1 < dims.size() ? ",\n      " : ", ";
  for (int64_t i = 0; i < dims[depth]; ++i)
    text += (i ? separator : "") + nested(elements, dims, depth + 1, next);
  return "[" + text + "]";
}

Value IrWriter::constant(const std::vector<double> &elements, Type type) {
  size_t next = 0;
  return define(type, "arith.constant dense<" + nested(elements, type.dims, 0, next) + "> : " + type.str());
}

Value IrWriter::iota(int64_t count) {
  Type type{{count}, Element::I32};
  std::string &name = constants["iota " + std::to_string(count)];
  if (name.empty()) {
    Dims numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    name = uniqueName("iota");
    prologue += "  " + name + " = arith.constant dense<" + list(numbers) + "> : " + type.str() + "\n";
  }
  return {name, type};
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value IrWriter::binary(const std::string &op, Value lhs, Value rhs, bool commutative) {
  assert(lhs.type == rhs.type && "elementwise operands have one type");
  if (commutative && swapOperands && swapOperands())
    std::swap(lhs, rhs);
  return define(lhs.type, op + " " + lhs.name + ", " + rhs.name + " : " + lhs.type.str());
}

Value IrWriter::unary(const std::string &op, Value operand) {
  return define(operand.type, op + " " + operand.name + " : " + operand.type.str());
}

Value IrWriter::compare(const std::string &predicate, Value lhs, Value rhs) {
  assert(lhs.type == rhs.type && "elementwise operands have one type");
  return define({lhs.type.dims, Element::I1},
                "arith.cmpi " + predicate + ", " + lhs.name + ", " + rhs.name + " : " + lhs.type.str());
}

Value IrWriter::compareFloat(const std::string &predicate, Value lhs, Value rhs) {
  assert(lhs.type == rhs.type && "elementwise operands have one type");
  return define({lhs.type.dims, Element::I1},
                "arith.cmpf " + predicate + ", " + lhs.name + ", " + rhs.name + " : " + lhs.type.str());
}

Value IrWriter::select(Value condition, Value yes, Value no) {
  assert(yes.type == no.type && "elementwise operands have one type");
  return define(yes.type, "arith.select " + condition.name + ", " + yes.name + ", " + no.name + " : " +
                              condition.type.str() + ", " + yes.type.str());
}

Value IrWriter::convert(Value operand, Element element) {
  if (operand.type.element == element) {
    hint.clear();
    return operand;
  }
  Type type{operand.type.dims, element};
  const char *op = bits(element) > bits(operand.type.element) ? "arith.extf " : "arith.truncf ";
  if (operand.type.element == Element::I32)
    op = "arith.sitofp ";
  else if (element == Element::I32)
    op = "arith.fptosi ";
  return define(type, op + operand.name + " : " + operand.type.str() + " to " + type.str());
}

//===----------------------------------------------------------------------===//
// Leaf ops
//===----------------------------------------------------------------------===//

static std::string signature(const Value &lhs, const Value &rhs, const Type &result) {
  return " : (" + lhs.type.str() + ", " + rhs.type.str() + ") -> " + result.str();
}

Value IrWriter::call(const std::string &function, Value operand, Type result) {
  return define(result,
                "func.call @" + function + "(" + operand.name + ") : (" + operand.type.str() + ") -> " + result.str());
}

Value IrWriter::matmul(Value lhs, Value rhs, bool transposeRhs) {
  assert(lhs.dim(1) == rhs.dim(transposeRhs ? 1 : 0) && "inner dimensions agree");
  Type type{{lhs.dim(0), rhs.dim(transposeRhs ? 0 : 1)}, lhs.type.element};
  return define(type, "mhc.matmul " + lhs.name + ", " + rhs.name + (transposeRhs ? " transpose_rhs" : "") +
                          signature(lhs, rhs, type));
}

Value IrWriter::batchMatmul(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
  assert(lhs.dim(transposeLhs ? 1 : 2) == rhs.dim(transposeRhs ? 2 : 1) && "inner dimensions agree");
  Type type{{lhs.dim(0), lhs.dim(transposeLhs ? 2 : 1), rhs.dim(transposeRhs ? 1 : 2)}, lhs.type.element};
  return define(type, "mhc.batch_matmul " + lhs.name + ", " + rhs.name + (transposeLhs ? " transpose_lhs" : "") +
                          (transposeRhs ? " transpose_rhs" : "") + signature(lhs, rhs, type));
}

Value IrWriter::transpose(Value operand, const Dims &perm) {
  Type type{{}, operand.type.element};
  for (int64_t dim : perm)
    type.dims.push_back(operand.dim(dim));
  return define(type, "mhc.transpose " + operand.name + " perm = " + list(perm) + " : " + operand.type.str() + " -> " +
                          type.str());
}

Value IrWriter::reduce(const std::string &kind, Value operand, const Dims &dims) {
  Type type{{}, operand.type.element};
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end())
      type.dims.push_back(operand.dim(dim));
  return define(type, "mhc.reduce " + kind + " " + operand.name + " dims = " + list(dims) + " : " + operand.type.str() +
                          " -> " + type.str());
}

Value IrWriter::softmax(Value operand, int64_t dim) {
  return define(operand.type,
                "mhc.softmax " + operand.name + " dim = " + std::to_string(dim) + " : " + operand.type.str());
}

Value IrWriter::rmsNorm(Value operand, Value weight, double eps) {
  return define(operand.type, "mhc.rms_norm " + operand.name + (weight ? ", " + weight.name : "") +
                                  " eps = " + formatFloat(eps) + " : " + operand.type.str() +
                                  (weight ? ", " + weight.type.str() : ""));
}

Value IrWriter::shift(Value operand, Value starts, int64_t dim, int64_t by) {
  return define(operand.type, "mhc.shift " + operand.name + (starts ? ", " + starts.name : "") +
                                  " dim = " + std::to_string(dim) + " by = " + std::to_string(by) + " : " +
                                  operand.type.str() + (starts ? ", " + starts.type.str() : ""));
}

Value IrWriter::sequenceStarts(Value cuSeqlens, int64_t count) {
  Type type{{count}, Element::I32};
  return define(type, "mhc.sequence_starts " + cuSeqlens.name + " : " + cuSeqlens.type.str() + " -> " + type.str());
}

Values IrWriter::named(const std::string &name, const std::vector<std::pair<std::string, Value>> &operands,
                       const std::string &attributes, const std::vector<std::pair<std::string, Type>> &results) {
  std::string in, out, names;
  Values made;
  for (const auto &[own, value] : operands)
    if (value)
      in += (in.empty() ? "" : ", ") + own + " = " + value.name + " : " + value.type.str();
  for (const auto &[own, type] : results) {
    made.push_back({uniqueName(results.size() == 1 ? hint : own), type});
    names += (names.empty() ? "" : ", ") + made.back().name;
    out += (out.empty() ? "" : ", ") + own + " : " + type.str();
  }
  hint.clear();
  body += std::string(2 * indent, ' ') + names + " = mhc." + name + "(" + in + ")" +
          (attributes.empty() ? "" : " <" + attributes + ">") + " -> (" + out + ")\n";
  return made;
}

Value IrWriter::take(Value table, Value ids) {
  Type type{{ids.dim(0), table.dim(1)}, table.type.element};
  return named("take", {{"table", table}, {"ids", ids}}, "", {{"out", type}})[0];
}

Value IrWriter::seed(int64_t seed, int64_t offset) {
  Type type{{2}, Element::I64};
  return define(type, "arith.constant dense<" + list({seed, offset}) + "> : " + type.str());
}

Value IrWriter::dropout(Value operand, Value seed, double rate, int64_t stream) {
  return named("dropout", {{"x", operand}, {"seed", seed}},
               "rate = " + formatFloat(rate) + ", stream = " + std::to_string(stream), {{"out", operand.type}})[0];
}

Value IrWriter::random(Value seed, const std::string &distribution, int64_t stream, int64_t count) {
  return named("random", {{"seed", seed}}, "distribution = " + distribution + ", stream = " + std::to_string(stream),
               {{"out", {{count}, Element::F32}}})[0];
}

Value IrWriter::broadcast(Value operand, const Dims &wanted, const Dims &dims) {
  Dims shape = resolve(wanted);
  if (operand.type.dims == shape) {
    hint.clear();
    return operand;
  }
  Type type{shape, operand.type.element};
  bool mapped = operand.type.isDynamic() && !dims.empty() && dims.front() == 0;
  std::string sizes = type.isDynamic() && !mapped ? "[" + tokens() + "]" : "";
  return define(type, "mhc.broadcast " + operand.name + sizes + " dims = " + list(dims) + " : " + operand.type.str() +
                          " -> " + type.str());
}

} // namespace mhc::spelling
