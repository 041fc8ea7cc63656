//===- DimAnalysis.cpp - Which dimensions of a function are equal ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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

unsigned DimAnalysis::nodeOf(Key key) {
  std::optional<int64_t> size = staticSize(key.first, key.second);
  unsigned next = nodes.size();
  unsigned node =
      size ? constants.try_emplace(*size, next).first->second : numbers.try_emplace(key, next).first->second;
  if (node == next)
    nodes.push_back({node, size, {}, {}, {}, key.second != kIndexValue});
  return node;
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
  nodes[second].parent = first;
  nodes[first].isDimension |= nodes[second].isDimension;
  if (!nodes[first].size)
    nodes[first].size = nodes[second].size;
  if (!nodes[first].product)
    nodes[first].product = nodes[second].product;
}

void DimAnalysis::unite(Key a, Key b) {
  if (!staticSize(a.first, a.second) || !staticSize(b.first, b.second)) // nothing to learn from two numbers
    unite(nodeOf(a), nodeOf(b));
}

DimAnalysis::Product DimAnalysis::productOf(ArrayRef<unsigned> roots) const {
  Product result;
  for (unsigned root : roots) {
    const Node &node = nodes[root];
    if (node.size) {
      result.multiply(*node.size);
    } else if (node.product) {
      result.multiply(node.product->factor);
      for (unsigned base : node.product->bases)
        result.bases.push_back(numberOf(classOf(base)));
    } else {
      result.bases.push_back(root);
    }
  }
  llvm::sort(result.bases);
  return result;
}

void DimAnalysis::setProduct(Key whole, ArrayRef<Key> parts) {
  SmallVector<unsigned> roots;
  for (Key part : parts)
    roots.push_back(rootOf(nodeOf(part)));
  setProduct(rootOf(nodeOf(whole)), productOf(roots));
}

void DimAnalysis::setProduct(unsigned node, const Product &product) {
  if (product.factor == 0 || product.bases.empty()) // no elements, or no unknown
    return;
  if (product.factor == 1 && product.bases.size() == 1)
    return unite(product.bases[0], node);
  std::optional<Product> known = nodes[node].product;
  if (known && known->factor == product.factor && known->bases.size() == 1 && product.bases.size() == 1)
    return unite(known->bases[0], product.bases[0]);
  auto [it, isNew] = products.try_emplace(product, node);
  if (!isNew)
    return unite(it->second, node);
  nodes[node].product = product;
}

void DimAnalysis::setQuotient(Key whole, Key dividend, Key divisor) {
  Product from = expanded(productOf(rootOf(nodeOf(dividend)))), by = expanded(productOf(rootOf(nodeOf(divisor))));
  if (by.factor == 0 || from.factor % by.factor != 0 ||
      !std::includes(from.bases.begin(), from.bases.end(), by.bases.begin(), by.bases.end()))
    return;
  Product quotient{from.factor / by.factor, {}};
  std::set_difference(from.bases.begin(), from.bases.end(), by.bases.begin(), by.bases.end(),
                      std::back_inserter(quotient.bases));
  setProduct(rootOf(nodeOf(whole)), quotient);
}

DimAnalysis::DimAnalysis(func::FuncOp func) {
  for (BlockArgument arg : func.getArguments())
    for (int dim = 0; dim < rankOf(arg); ++dim) {
      unsigned node = nodeOf({arg, dim});
      if (!nodes[node].argument)
        nodes[node].argument = {arg.getArgNumber(), dim};
    }
  func.walk([&](Operation *op) {
    addResults(op);
    visit(op);
  });
  finish();
}

void DimAnalysis::finish() {
  for (unsigned node = 0; node < nodes.size(); ++node)
    nodes[node].parent = rootOf(node);
  unsigned named = 0;
  for (auto [number, node] : llvm::enumerate(nodes)) {
    if (node.parent != number)
      continue;
    if (node.size)
      node.name = std::to_string(*node.size);
    else if (!node.argument)
      node.name = "?";
    else
      node.name = named++ == 0 ? "M" : "d" + std::to_string(named - 1);
  }
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
  addResults(op);
  visit(op);
}

void DimAnalysis::addResults(Operation *op) {
  for (Value result : op->getResults())
    for (int dim = 0; dim < rankOf(result); ++dim)
      nodeOf({result, dim});
}

void DimAnalysis::forget(Operation *op) {
  auto forgetAll = [this](ValueRange values) {
    for (Value value : values)
      for (int dim = kIndexValue; dim < rankOf(value); ++dim)
        numbers.erase({value, dim});
  };
  op->walk([&](Operation *nested) {
    forgetAll(nested->getResults());
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        forgetAll(block.getArguments());
  });
}

bool DimAnalysis::sameSize(Value a, int da, Value b, int db) const {
  const Node *first = classOf(a, da), *second = classOf(b, db);
  return first && first == second;
}

bool DimAnalysis::isSize(Value number) const {
  std::optional<Product> product = productOfDims({{number, kIndexValue}});
  if (!product)
    return false;
  *product = expanded(*product);
  return product->factor > 0 && llvm::all_of(product->bases, [&](unsigned base) { return nodes[base].isDimension; });
}

std::optional<int64_t> DimAnalysis::constantSize(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->size : std::nullopt;
}

std::string DimAnalysis::symbol(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->name : "?";
}

std::optional<DimAnalysis::Product> DimAnalysis::productOfDims(ArrayRef<Key> parts) const {
  SmallVector<unsigned> roots;
  for (auto [value, dim] : parts) {
    const Node *node = classOf(value, dim);
    if (!node)
      return std::nullopt;
    roots.push_back(numberOf(*node));
  }
  return productOf(roots);
}

bool DimAnalysis::isProduct(Value value, int dim, int64_t factor, ArrayRef<std::pair<Value, int>> parts) const {
  const Node *whole = classOf(value, dim);
  std::optional<Product> product = productOfDims(parts);
  if (!whole || !product)
    return false;
  product->multiply(factor);
  return productOf(numberOf(*whole)) == *product;
}

bool DimAnalysis::sameProduct(ArrayRef<Key> a, ArrayRef<Key> b) const {
  std::optional<Product> first = productOfDims(a), second = productOfDims(b);
  if (!first || !second)
    return false;
  *first = expanded(*first);
  return first->factor != 0 && *first == expanded(*second);
}

DimAnalysis::Product DimAnalysis::expanded(Product product) const {
  // Each reshape adds factors; a longer chain would be a product of itself.
  while (product.bases.size() <= kMaxBases) {
    Product next = productOf(product.bases);
    next.multiply(product.factor);
    if (next == product)
      return product;
    product = next;
  }
  return {0, {}};
}

std::pair<int64_t, std::string> DimAnalysis::factors(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  if (!node)
    return {1, "?"};
  Product product = expanded(productOf(numberOf(*node)));
  std::string symbol;
  for (unsigned base : product.bases)
    symbol += (symbol.empty() ? "" : "*") + nodes[base].name;
  return {product.factor, StringRef(symbol).contains('?') ? "?" : symbol};
}

std::optional<std::pair<unsigned, int>> DimAnalysis::argumentDim(Value value, int dim) const {
  const Node *node = classOf(value, dim);
  return node ? node->argument : std::nullopt;
}
