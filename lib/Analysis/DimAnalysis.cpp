//===- DimAnalysis.cpp - Which dimensions of a function are equal ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Number of named dimensions of a value: its rank, or 0 for what is not a ranked tensor.
static int rankOf(Value value) {
  RankedTensorType type = tensorType(value);
  return type ? type.getRank() : 0;
}

//===----------------------------------------------------------------------===//
// What ops say about sizes
//===----------------------------------------------------------------------===//

namespace mhc {
/// Visits the ops of a function, bodies before the op that holds them, and unites what they say is equal.
class DimCollector {
public:
  explicit DimCollector(DimAnalysis &dims) : dims(dims) {}

  void visit(Operation *op) {
    if (auto labelled = dyn_cast<DimsOpInterface>(op))
      uniteLabels(op, labelled.getDimLabels());
    if (op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<OpTrait::SameOperandsAndResultShape>())
      uniteShapes(op);
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      for (OpResult result : op->getResults())
        uniteDims(destination.getTiedOpOperand(result)->get(), result);
    if (auto loops = dyn_cast<linalg::LinalgOp>(op))
      visitLoops(loops);
    llvm::TypeSwitch<Operation *>(op)
        .Case<BroadcastOp>([&](auto op) { visitBroadcast(op); })
        .Case<tensor::DimOp>([&](auto op) { visitDim(op); })
        .Case<arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::IndexCastOp>([&](auto op) {
          if (op.getType().isIntOrIndex())
            visitNumber(op);
        })
        .Case<tensor::ReshapeOp>([&](auto op) { visitReshape(op); })
        .Case<tensor::CastOp>([&](auto op) { uniteShapes(op); })
        .Case<tensor::CollapseShapeOp>(
            [&](auto op) { visitReassociation(op.getReassociationIndices(), op.getSrc(), op.getResult()); })
        .Case<tensor::ExpandShapeOp>([&](auto op) {
          visitReassociation(op.getReassociationIndices(), op.getResult(), op.getSrc());
          uniteSizes(op.getResult(), op.getMixedOutputShape());
        })
        .Case<tensor::ExtractSliceOp>(
            [&](auto op) { visitSlice(op.getResult(), op.getMixedSizes(), op.getDroppedDims()); })
        .Case<tensor::InsertSliceOp>([&](auto op) {
          visitSlice(op.getSource(), op.getMixedSizes(), op.getDroppedDims());
          uniteDims(op.getDest(), op.getResult());
        })
        .Case<tensor::ConcatOp>([&](auto op) { visitConcat(op); })
        .Case<tensor::SplatOp, tensor::EmptyOp, tensor::GenerateOp>(
            [&](auto op) { uniteDynamicSizes(op.getResult(), op->getOperands().take_back(countDynamic(op))); })
        .Case<scf::ForOp>([&](auto op) { visitFor(op); })
        .Case<scf::IfOp>([&](auto op) { visitIf(op); });
  }

private:
  void unite(Value a, int da, Value b, int db) { dims.unite({a, da}, {b, db}); }
  void unite(Value a, int da, Value index) { dims.unite({a, da}, {index, DimAnalysis::kIndexValue}); }

  bool same(Value a, int da, Value b, int db) {
    return dims.rootOf(dims.nodeOf({a, da})) == dims.rootOf(dims.nodeOf({b, db}));
  }

  void uniteDims(Value a, Value b) {
    for (int dim = 0, rank = std::min(rankOf(a), rankOf(b)); dim < rank; ++dim)
      unite(a, dim, b, dim);
  }

  /// All tensors among operands and results have one shape.
  void uniteShapes(Operation *op) {
    Value first;
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        if (tensorType(value)) {
          first = first ? first : value;
          uniteDims(first, value);
        }
  }

  void uniteLabels(Operation *op, const DimLabels &labels) {
    llvm::SmallDenseMap<int, DimAnalysis::Key> seen;
    auto add = [&](ValueRange values, ArrayRef<SmallVector<int>> lists) {
      for (auto [value, list] : llvm::zip(values, lists))
        for (auto [dim, label] : llvm::enumerate(list))
          if (label >= 0) {
            DimAnalysis::Key key(value, dim);
            dims.unite(seen.try_emplace(label, key).first->second, key);
          }
    };
    add(op->getOperands(), labels.operands);
    add(op->getResults(), labels.results);
  }

  void uniteSizes(Value tensor, ArrayRef<OpFoldResult> sizes) {
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (auto value = dyn_cast<Value>(size))
        unite(tensor, dim, value);
  }

  static unsigned countDynamic(Operation *op) { return tensorType(op->getResult(0)).getNumDynamicDims(); }

  void uniteDynamicSizes(Value tensor, ValueRange sizes) {
    size_t next = 0;
    for (int dim = 0; dim < rankOf(tensor); ++dim)
      if (tensorType(tensor).isDynamicDim(dim))
        unite(tensor, dim, sizes[next++]);
  }

  /// All dimensions that one loop runs along are as long as it. Loops over buffers say nothing about tensors.
  void visitLoops(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return;
    SmallVector<std::optional<DimAnalysis::Key>> seen(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands())
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
          DimAnalysis::Key key(operand.get(), dim);
          std::optional<DimAnalysis::Key> &first = seen[loop.getPosition()];
          dims.unite(first.value_or(key), key);
          first = first.value_or(key);
        }
  }

  /// `sizes` gives the dynamic result sizes that no operand dimension gives.
  void visitBroadcast(BroadcastOp op) {
    auto sizes = op.getSizes().begin();
    for (int dim = 0; dim < rankOf(op.getOut()); ++dim) {
      const auto *source = llvm::find(op.getDims(), dim);
      bool given = source != op.getDims().end() && op.getX().getType().getDimSize(source - op.getDims().begin()) != 1;
      if (tensorType(op.getOut()).isDynamicDim(dim) && !given)
        unite(op.getOut(), dim, *sizes++);
    }
  }

  void visitDim(tensor::DimOp op) {
    std::optional<int64_t> dim = op.getConstantIndex();
    if (dim && *dim >= 0 && *dim < rankOf(op.getSource()))
      unite(op.getSource(), *dim, op.getResult());
  }

  static DimAnalysis::Key number(Value value) { return {value, DimAnalysis::kIndexValue}; }

  void visitNumber(arith::MulIOp op) {
    dims.setProduct(number(op.getResult()), {number(op.getLhs()), number(op.getRhs())});
  }

  void visitNumber(arith::IndexCastOp op) { dims.unite(number(op.getIn()), number(op.getResult())); }

  template <typename Division>
  void visitNumber(Division op) {
    dims.setQuotient(number(op.getResult()), number(op.getLhs()), number(op.getRhs()));
  }

  /// The shape says how long each dimension is.
  void visitReshape(tensor::ReshapeOp op) {
    auto sizes = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    if (!sizes || rankOf(op.getResult()) != static_cast<int>(sizes.getElements().size()))
      return;
    for (auto [dim, size] : llvm::enumerate(sizes.getElements()))
      unite(op.getResult(), dim, size);
  }

  /// A group keeps its size where all but one of its dimensions are 1, and is else the product of its sizes.
  void visitReassociation(ArrayRef<ReassociationIndices> groups, Value expanded, Value collapsed) {
    for (auto [i, group] : llvm::enumerate(groups)) {
      SmallVector<DimAnalysis::Key> wide;
      for (int64_t dim : group)
        if (tensorType(expanded).getDimSize(dim) != 1)
          wide.push_back({expanded, static_cast<int>(dim)});
      if (wide.size() == 1)
        unite(expanded, wide[0].second, collapsed, i);
      else
        dims.setProduct({collapsed, static_cast<int>(i)}, wide);
    }
  }

  /// `slice` is the small tensor; the dimensions of `sizes` that it does not have are in `dropped`.
  void visitSlice(Value slice, ArrayRef<OpFoldResult> sizes, const llvm::SmallBitVector &dropped) {
    SmallVector<OpFoldResult> kept;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!dropped[dim])
        kept.push_back(size);
    uniteSizes(slice, kept);
  }

  void visitConcat(tensor::ConcatOp op) {
    for (Value input : op.getInputs())
      for (int dim = 0; dim < rankOf(input); ++dim)
        if (dim != static_cast<int>(op.getDim()))
          unite(input, dim, op.getResult(), dim);
  }

  /// A carried tensor keeps its size when the body hands on the size it got, or the size it started with.
  void visitFor(scf::ForOp op) {
    for (auto [init, arg, yielded, result] :
         llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getYieldedValues(), op.getResults()))
      for (int dim = 0; dim < rankOf(init); ++dim)
        if (same(yielded, dim, arg, dim) || same(yielded, dim, init, dim))
          for (Value value : {Value(arg), Value(yielded), Value(result)})
            unite(init, dim, value, dim);
  }

  void visitIf(scf::IfOp op) {
    if (op.getNumResults() == 0)
      return;
    for (auto [result, a, b] : llvm::zip(op.getResults(), op.thenYield().getOperands(), op.elseYield().getOperands()))
      for (int dim = 0; dim < rankOf(result); ++dim)
        if (same(a, dim, b, dim))
          unite(result, dim, a, dim);
  }

  DimAnalysis &dims;
};
} // namespace mhc

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
  DimCollector collector(*this);
  func.walk([&](Operation *op) {
    addResults(op);
    collector.visit(op);
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
  DimCollector(*this).visit(op);
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
