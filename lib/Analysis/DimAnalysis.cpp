//===- DimAnalysis.cpp - Which dimensions of a function are equal ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

int DimAnalysis::rankOf(Value value) {
  RankedTensorType type = tensorType(value);
  return type ? type.getRank() : 0;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// The number that a size is by itself.
static std::optional<int64_t> staticSize(Value value, int dim) {
  if (dim == DimAnalysis::kIndexValue)
    return getConstantIntValue(value);
  int64_t size = tensorType(value).getDimSize(dim);
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

unsigned DimAnalysis::addNode(std::optional<int64_t> size, bool isDimension) {
  unsigned node = nodes.size();
  nodes.push_back({.parent = node, .size = size, .isDimension = isDimension});
  return node;
}

unsigned DimAnalysis::nodeOf(int64_t number) {
  auto [known, isNew] = constants.try_emplace(number, nodes.size());
  return isNew ? addNode(number, /*isDimension=*/false) : known->second;
}

unsigned DimAnalysis::nodeOf(Key key) {
  bool isDimension = key.second != kIndexValue;
  if (std::optional<int64_t> size = staticSize(key.first, key.second)) {
    unsigned node = nodeOf(*size);
    nodes[rootOf(node)].isDimension |= isDimension;
    return node;
  }
  auto [known, isNew] = numbers.try_emplace(key, nodes.size());
  return isNew ? addNode(std::nullopt, isDimension) : known->second;
}

unsigned DimAnalysis::rootOf(unsigned node) {
  while (nodes[node].parent != node) {
    nodes[node].parent = nodes[nodes[node].parent].parent;
    node = nodes[node].parent;
  }
  return node;
}

/// The older node becomes the root, so that a class that arguments are in has one of them as root. Different numbers
/// never become one class: code that says so does not run.
void DimAnalysis::unite(unsigned a, unsigned b) {
  unsigned first = rootOf(a), second = rootOf(b);
  if (first == second || (nodes[first].size && nodes[second].size && nodes[first].size != nodes[second].size))
    return;
  if (second < first)
    std::swap(first, second);
  std::optional<std::pair<Polynomial, Polynomial>> both;
  if (isKnown(first) && isKnown(second))
    both = {valueOf(first), valueOf(second)};
  nodes[second].parent = first;
  nodes[first].isDimension |= nodes[second].isDimension;
  if (!nodes[first].size)
    nodes[first].size = nodes[second].size;
  // The product of older sizes, where there are two: those of the first arguments.
  if (!nodes[first].value || (nodes[second].value && *nodes[second].value < *nodes[first].value))
    nodes[first].value = nodes[second].value;
  if (both)
    equate(both->first, both->second);
}

void DimAnalysis::unite(Key a, Key b) {
  const bool isNumber = staticSize(b.first, b.second).has_value();
  if (isNumber && staticSize(a.first, a.second)) // nothing to learn from two numbers
    return;
  const unsigned first = nodeOf(a);
  if (isNumber)
    return unite(first, nodeOf(b));
  // A dimension that is met for the first time needs no class of its own, as most of a function are.
  auto [known, isNew] = numbers.try_emplace(b, first);
  if (!isNew)
    return unite(first, known->second);
  nodes[rootOf(first)].isDimension |= b.second != kIndexValue;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `value` with what `valueOf` says of its symbols. What does not fit 64 bits is left as it is.
template <typename Function>
static Polynomial substitute(const Polynomial &value, Function valueOf) {
  std::optional<Polynomial> sum = Polynomial{};
  for (auto &[monomial, coefficient] : value) {
    std::optional<Polynomial> product = constantPolynomial(coefficient);
    for (unsigned symbol : monomial)
      product = product ? multiply(*product, valueOf(symbol)) : product;
    sum = sum && product ? add(*sum, *product) : std::nullopt;
    if (!sum)
      return value;
  }
  return *sum;
}

Polynomial DimAnalysis::valueOf(unsigned node) const {
  const Node &root = classOf(node);
  if (root.size)
    return constantPolynomial(*root.size);
  if (!root.value)
    return symbolPolynomial(numberOf(root));
  return substitute(*root.value, [&](unsigned symbol) { return symbolPolynomial(numberOf(classOf(symbol))); });
}

Polynomial DimAnalysis::valueOf(Key key) { return valueOf(nodeOf(key)); }

void DimAnalysis::setProduct(Key whole, ArrayRef<Key> parts) {
  std::optional<Polynomial> product = constantPolynomial(1);
  for (Key part : parts)
    product = product ? multiply(*product, valueOf(part)) : product;
  if (product)
    setValue(nodeOf(whole), *product);
}

void DimAnalysis::setSum(Key whole, ArrayRef<Key> parts, int64_t offset) {
  std::optional<Polynomial> sum = constantPolynomial(offset);
  for (Key part : parts)
    sum = sum ? add(*sum, valueOf(part)) : sum;
  if (sum)
    setValue(nodeOf(whole), *sum);
}

void DimAnalysis::setDifference(Key whole, Key from, Key part) {
  if (std::optional<Polynomial> difference = subtract(valueOf(from), valueOf(part)))
    setValue(nodeOf(whole), *difference);
}

void DimAnalysis::setQuotient(Key whole, Key dividend, Key divisor) {
  std::optional<Polynomial> from = expanded(valueOf(dividend)), by = expanded(valueOf(divisor));
  std::optional<Polynomial> quotient = from && by ? divide(*from, *by) : std::nullopt;
  if (quotient)
    setValue(nodeOf(whole), *quotient);
}

void DimAnalysis::setValue(unsigned node, const Polynomial &value) {
  if (constantOf(value)) // no elements, or no unknown
    return;
  if (std::optional<unsigned> symbol = symbolOf(value))
    return unite(*symbol, node);
  if (isKnown(rootOf(node)))
    equate(valueOf(node), value);
  else
    nodes[rootOf(node)].value = value;
  unite(values.try_emplace(value, node).first->second, node);
}

void DimAnalysis::equate(const Polynomial &a, const Polynomial &b) {
  std::optional<Polynomial> difference = subtract(a, b);
  if (!difference || difference->empty())
    return;
  const auto &first = *difference->begin(), &last = *difference->rbegin();
  if (difference->size() == 2 && first.first.size() == 1 && last.first.size() == 1 && first.second == -last.second)
    return unite(first.first.front(), last.first.front());
  equalities.emplace_back(a, b);
}

std::optional<Polynomial> DimAnalysis::expanded(const Polynomial &value) const {
  // Each reshape adds factors; a longer chain would be a product of itself.
  auto isShort = [](const auto &term) { return term.first.size() <= kMostTerms; };
  Polynomial result = value;
  for (size_t step = 0; step < kMostSteps && result.size() <= kMostTerms && llvm::all_of(result, isShort); ++step) {
    Polynomial next = substitute(result, [&](unsigned symbol) { return valueOf(symbol); });
    if (next == result)
      return result;
    result = std::move(next);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Facts that are written down
//===----------------------------------------------------------------------===//

/// The texts of an attribute; none where it is no list of them.
static SmallVector<StringRef> textsOf(Attribute attribute) {
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return {};
  return llvm::map_to_vector(list.getAsRange<StringAttr>(), [](StringAttr text) { return text.getValue(); });
}

bool mhc::isSymbol(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_') &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

void DimAnalysis::readFacts(ArrayRef<std::pair<Value, Attribute>> tensors, Attribute conditions) {
  llvm::StringMap<unsigned> symbols;
  auto parse = [&](StringRef text) {
    return parsePolynomial(text, [&](StringRef name) {
      auto [symbol, isNew] = symbols.try_emplace(name, nodes.size());
      return isNew ? addNode(std::nullopt, /*isDimension=*/true) : symbol->second;
    });
  };
  SmallVector<std::pair<unsigned, StringRef>> others;
  for (auto [tensor, dims] : tensors) {
    SmallVector<StringRef> texts = textsOf(dims);
    if (static_cast<int>(texts.size()) != rankOf(tensor))
      continue;
    for (auto [dim, text] : llvm::enumerate(texts)) {
      unsigned node = nodeOf({tensor, static_cast<int>(dim)});
      if (isSymbol(text))
        unite(symbols.try_emplace(text, node).first->second, node);
      else if (text != "?")
        others.emplace_back(node, text);
    }
  }
  for (auto [node, text] : others) {
    std::optional<Polynomial> value = parse(text);
    std::optional<int64_t> number = value ? constantOf(*value) : std::nullopt;
    if (number && *number >= 0)
      unite(nodeOf(*number), node);
    else if (value)
      setValue(node, *value);
  }
  for (StringRef text : textsOf(conditions)) {
    auto [left, right] = text.split('=');
    std::optional<Polynomial> a = parse(left), b = parse(right);
    if (a && b)
      equate(*a, *b);
  }
}

void DimAnalysis::readFacts(func::FuncOp func) {
  SmallVector<std::pair<Value, Attribute>> tensors;
  for (BlockArgument arg : func.getArguments())
    tensors.emplace_back(arg, func.getArgAttr(arg.getArgNumber(), kDims));
  if (func.getBody().hasOneBlock())
    for (auto [i, result] : llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
      tensors.emplace_back(result, func.getResultAttr(i, kDims));
  readFacts(tensors, func->getAttr(kConditions));
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The dimensions of unknown size that ops make.
static size_t countDynamicDims(func::FuncOp func) {
  size_t count = 0;
  func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        count += tensor.getNumDynamicDims();
  });
  return count;
}

DimAnalysis::DimAnalysis(func::FuncOp func) {
  numbers.reserve(countDynamicDims(func));
  for (BlockArgument arg : func.getArguments())
    for (int dim = 0; dim < rankOf(arg); ++dim) {
      unsigned node = nodeOf({arg, dim});
      if (!nodes[node].argument)
        nodes[node].argument = {arg.getArgNumber(), dim};
    }
  func.walk([&](Operation *op) {
    visit(op);
    addResults(op);
  });
  readFacts(func);
  finish();
}

void DimAnalysis::finish() {
  for (unsigned node = 0; node < nodes.size(); ++node)
    nodes[node].parent = rootOf(node);
  unsigned named = 0;
  SmallVector<Node *> computed;
  for (auto [number, node] : llvm::enumerate(nodes)) {
    if (node.parent != number)
      continue;
    if (node.size)
      node.name = std::to_string(*node.size);
    else if (!node.argument)
      continue; // has no name
    else if (followsFromArguments(node))
      computed.push_back(&node);
    else
      node.name = named++ == 0 ? "M" : "d" + std::to_string(named - 1);
  }
  for (Node *node : computed)
    node->name = textOf(*node->value);
}

/// Whether the size is a value of arguments' sizes.
bool DimAnalysis::followsFromArguments(const Node &root) const {
  std::optional<Polynomial> value = root.value ? expanded(*root.value) : std::nullopt;
  return value && llvm::all_of(*value, [&](const auto &term) {
           return llvm::all_of(term.first, [&](unsigned symbol) { return nodes[symbol].argument.has_value(); });
         });
}

std::string DimAnalysis::textOf(const Polynomial &value) const {
  bool allNamed = true;
  std::string text = mhc::describe(expanded(value).value_or(value), [&](unsigned symbol) {
    const std::string &name = classOf(symbol).name;
    allNamed &= isSymbol(name);
    return name;
  });
  return allNamed ? text : "";
}

const DimAnalysis::Node &DimAnalysis::classOf(unsigned node) const {
  while (nodes[node].parent != node)
    node = nodes[node].parent;
  return nodes[node];
}

const DimAnalysis::Node *DimAnalysis::classOf(Value value, int dim) const {
  auto nodeAt = [this](const auto &map, auto key) -> const Node * {
    auto it = map.find(key);
    return it == map.end() ? nullptr : &classOf(it->second);
  };
  if (std::optional<int64_t> size = staticSize(value, dim))
    return nodeAt(constants, *size);
  return nodeAt(numbers, Key(value, dim));
}

void DimAnalysis::learn(Value value) {
  Operation *op = value.getDefiningOp();
  auto isKnown = [&](int dim) { return staticSize(value, dim) || numbers.contains({value, dim}); };
  bool isSize = value.getType().isIndex();
  if (!op || (isSize ? isKnown(kIndexValue) : llvm::all_of(llvm::seq(0, rankOf(value)), isKnown)))
    return;
  llvm::for_each(op->getOperands(), [this](Value operand) { learn(operand); });
  visit(op);
  addResults(op);
}

void DimAnalysis::addResults(Operation *op) {
  for (Value result : op->getResults())
    for (int dim = 0; dim < rankOf(result); ++dim)
      nodeOf({result, dim});
}

void DimAnalysis::forget(ValueRange values) {
  for (Value value : values)
    for (int dim = kIndexValue; dim < rankOf(value); ++dim)
      numbers.erase({value, dim});
}

void DimAnalysis::forget(Operation *op) {
  op->walk([&](Operation *nested) {
    forget(ValueRange(nested->getResults()));
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        forget(ValueRange(block.getArguments()));
  });
}

bool DimAnalysis::sameSize(Value a, int da, Value b, int db) const {
  const Node *first = classOf(a, da), *second = classOf(b, db);
  return first && first == second;
}

bool DimAnalysis::isSumOfSizes(const Polynomial &value) const {
  auto isDimension = [&](unsigned symbol) { return nodes[symbol].isDimension; };
  return llvm::all_of(value,
                      [&](const auto &term) { return term.second > 0 && llvm::all_of(term.first, isDimension); });
}

bool DimAnalysis::isSize(Value number) const {
  std::optional<Polynomial> size = value(number, kIndexValue);
  return size && !size->empty() && isSumOfSizes(*size);
}

bool DimAnalysis::isAtMost(Value less, Value more) const {
  auto numberOf = [&](Value value) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    return constant ? constantPolynomial(*constant) : this->value(value, kIndexValue);
  };
  std::optional<Polynomial> low = numberOf(less), high = numberOf(more);
  std::optional<Polynomial> rest = low && high ? subtract(*high, *low) : std::nullopt;
  return rest && isSumOfSizes(*rest);
}

std::optional<int64_t> DimAnalysis::constantSize(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->size : std::nullopt;
}

std::string DimAnalysis::symbol(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->name : "?";
}

ArrayAttr DimAnalysis::symbols(Value tensor) const {
  SmallVector<Attribute> texts;
  for (int dim = 0; dim < rankOf(tensor); ++dim) {
    const Node *node = classOf(tensor, dim);
    bool isComputed = node && node->name == "?" && followsFromArguments(*node);
    texts.push_back(StringAttr::get(tensor.getContext(), isComputed ? textOf(*node->value) : symbol(tensor, dim)));
  }
  return ArrayAttr::get(tensor.getContext(), texts);
}

ArrayAttr DimAnalysis::conditions(MLIRContext *context) const {
  llvm::SetVector<Attribute> texts;
  auto add = [&](const std::string &left, const std::string &right) {
    if (!left.empty() && !right.empty() && left != right)
      texts.insert(StringAttr::get(context, left + "=" + right));
  };
  for (auto &[left, right] : equalities)
    add(textOf(left), textOf(right));
  for (auto [number, node] : llvm::enumerate(nodes))
    if (node.parent == number && node.argument && node.value && !node.size)
      add(isSymbol(node.name) ? node.name : "", textOf(*node.value));
  return ArrayAttr::get(context, texts.getArrayRef());
}

std::optional<Polynomial> DimAnalysis::value(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  if (node && !node->value) // most sizes are a number or a symbol
    return valueOf(numberOf(*node));
  return expandedProduct({{value, dim}});
}

std::optional<Polynomial> DimAnalysis::expandedProduct(ArrayRef<Key> parts) const {
  std::optional<Polynomial> product = constantPolynomial(1);
  for (auto [value, dim] : parts) {
    const Node *node = classOf(value, dim);
    product = node && product ? multiply(*product, valueOf(numberOf(*node))) : std::nullopt;
  }
  return product ? expanded(*product) : std::nullopt;
}

bool DimAnalysis::isProduct(Value value, int dim, int64_t factor, ArrayRef<std::pair<Value, int>> parts) const {
  std::optional<Polynomial> whole = expandedProduct({{value, dim}}), product = expandedProduct(parts);
  std::optional<Polynomial> scaled = product ? multiply(*product, constantPolynomial(factor)) : std::nullopt;
  if (!whole || !scaled)
    return false;
  // Another reshape may have written the size in another way.
  return whole == scaled || llvm::any_of(values, [&](const auto &known) {
           return &classOf(known.second) == classOf(value, dim) && expanded(known.first) == scaled;
         });
}

bool DimAnalysis::sameProduct(ArrayRef<Key> a, ArrayRef<Key> b) const {
  std::optional<Polynomial> first = expandedProduct(a);
  return first && !first->empty() && first == expandedProduct(b);
}

std::pair<int64_t, std::string> DimAnalysis::factors(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  std::optional<Polynomial> product = node ? expandedProduct({{value, dim}}) : std::nullopt;
  if (!product || product->size() > 1)
    return {1, node ? node->name : "?"};
  if (product->empty())
    return {0, ""};
  std::string symbol;
  for (unsigned base : product->begin()->first)
    symbol += (symbol.empty() ? "" : "*") + nodes[base].name;
  return {product->begin()->second, StringRef(symbol).contains('?') ? "?" : symbol};
}

std::optional<std::pair<unsigned, int>> DimAnalysis::argumentDim(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->argument : std::nullopt;
}
