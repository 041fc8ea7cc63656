//===- DimCollector.cpp - Facts about sizes, from ops --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Whether all sizes that an op reads and makes are numbers, so that it says nothing about others.
static bool hasOnlyNumbers(Operation *op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.hasStaticShape() : isa<FloatType>(type);
  };
  return op->getNumRegions() == 0 && !isa<func::CallOp>(op) && llvm::all_of(op->getOperandTypes(), isKnown) &&
         llvm::all_of(op->getResultTypes(), isKnown);
}

namespace mhc {
/// Visits the ops of a function, bodies before the op that holds them, and unites what they say is equal.
class DimCollector {
public:
  explicit DimCollector(DimAnalysis &dims) : dims(dims) {}

  void visit(Operation *op) {
    if (hasOnlyNumbers(op))
      return;
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
        .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
              arith::IndexCastOp>([&](auto op) {
          if (op.getType().isIntOrIndex())
            visitNumber(op);
        })
        .Case<affine::AffineApplyOp>([&](auto op) { visitApply(op); })
        .Case<cf::AssertOp>([&](auto op) { visitAssertion(op); })
        .Case<func::CallOp>([&](auto op) { visitCall(op); })
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
        .Case<tensor::PadOp>([&](auto op) { visitPad(op); })
        .Case<tensor::SplatOp, tensor::EmptyOp, tensor::GenerateOp>(
            [&](auto op) { uniteDynamicSizes(op.getResult(), op->getOperands().take_back(countDynamic(op))); })
        .Case<scf::ForOp, scf::WhileOp>([&](auto op) { visitLoop(op); })
        .Case<scf::ConditionOp>([&](auto op) { visitCondition(op); })
        .Case<scf::IfOp>([&](auto op) { visitIf(op); });
  }

private:
  static int rankOf(Value value) { return DimAnalysis::rankOf(value); }
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
    SmallVector<std::pair<int, DimAnalysis::Key>, 8> seen;
    auto add = [&](ValueRange values, ArrayRef<SmallVector<int>> lists) {
      for (auto [value, list] : llvm::zip(values, lists))
        for (auto [dim, label] : llvm::enumerate(list)) {
          DimAnalysis::Key key(value, dim);
          auto first = llvm::find_if(seen, [&](const auto &other) { return other.first == label; });
          if (first != seen.end())
            dims.unite(first->second, key);
          else if (label >= 0)
            seen.emplace_back(label, key);
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

  void visitNumber(arith::AddIOp op) {
    dims.setSum(number(op.getResult()), {number(op.getLhs()), number(op.getRhs())});
  }

  void visitNumber(arith::SubIOp op) {
    dims.setDifference(number(op.getResult()), number(op.getLhs()), number(op.getRhs()));
  }

  void visitNumber(arith::MulIOp op) {
    dims.setProduct(number(op.getResult()), {number(op.getLhs()), number(op.getRhs())});
  }

  void visitNumber(arith::IndexCastOp op) { dims.unite(number(op.getIn()), number(op.getResult())); }

  template <typename Division>
  void visitNumber(Division op) {
    dims.setQuotient(number(op.getResult()), number(op.getLhs()), number(op.getRhs()));
  }

  void visitApply(affine::AffineApplyOp op) {
    if (std::optional<Polynomial> value = valueOf(op.getAffineMap().getResult(0), op))
      dims.setValue(dims.nodeOf(number(op.getResult())), *value);
  }

  /// Nothing for quotients that may leave something, and for remainders.
  std::optional<Polynomial> valueOf(AffineExpr expr, affine::AffineApplyOp op) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constantPolynomial(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims.valueOf(number(op.getDimOperands()[dim.getPosition()]));
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return dims.valueOf(number(op.getSymbolOperands()[symbol.getPosition()]));
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::optional<Polynomial> a = valueOf(binary.getLHS(), op), b = valueOf(binary.getRHS(), op);
    if (!a || !b)
      return std::nullopt;
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return add(*a, *b);
    case AffineExprKind::Mul:
      return multiply(*a, *b);
    case AffineExprKind::FloorDiv:
    case AffineExprKind::CeilDiv:
      return divide(*a, *b);
    default:
      return std::nullopt;
    }
  }

  /// The shape says how long each dimension is.
  void visitReshape(tensor::ReshapeOp op) {
    auto sizes = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    if (!sizes || rankOf(op.getResult()) != static_cast<int>(sizes.getElements().size()))
      return;
    for (auto [dim, size] : llvm::enumerate(sizes.getElements()))
      if (getConstantIntValue(size).value_or(0) >= 0) // an exporter may leave a -1, which is no size
        unite(op.getResult(), dim, size);
    visitElements(op.getSource(), op.getResult());
    visitElements(op.getResult(), op.getSource());
  }

  /// The number of elements; nothing where it is no product.
  std::optional<Polynomial> elementsOf(Value tensor) {
    std::optional<Polynomial> product = constantPolynomial(1);
    for (int dim = 0; dim < rankOf(tensor); ++dim)
      product = product ? multiply(*product, dims.valueOf({tensor, dim})) : product;
    product = product ? dims.expanded(*product) : product;
    return product && product->size() == 1 ? product : std::nullopt;
  }

  /// As many elements in both: where each has one open size that the other does not have, that of `whole` may be a
  /// multiple of that of `part`. It is none where both have no elements, and a program then has no shape for them.
  void visitElements(Value whole, Value part) {
    std::optional<Polynomial> all = elementsOf(whole), same = all ? elementsOf(part) : std::nullopt;
    if (!same)
      return;
    auto &[allSizes, allFactor] = *all->begin();
    auto &[sizes, factor] = *same->begin();
    Monomial size, divisor;
    std::set_difference(allSizes.begin(), allSizes.end(), sizes.begin(), sizes.end(), std::back_inserter(size));
    std::set_difference(sizes.begin(), sizes.end(), allSizes.begin(), allSizes.end(), std::back_inserter(divisor));
    bool isMultiple = allFactor > 0 && factor > allFactor && factor % allFactor == 0;
    if (isMultiple && size.size() == 1 && divisor.size() == 1 && !dims.isKnown(dims.rootOf(size[0])))
      dims.setValue(size[0], {{divisor, factor / allFactor}});
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
    const int joined = op.getDim();
    SmallVector<DimAnalysis::Key> parts;
    for (Value input : op.getInputs()) {
      parts.push_back({input, joined});
      for (int dim = 0; dim < rankOf(input); ++dim)
        if (dim != joined)
          unite(input, dim, op.getResult(), dim);
    }
    dims.setSum({op.getResult(), joined}, parts);
  }

  void visitPad(tensor::PadOp op) {
    for (auto [dim, low, high] : llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
      SmallVector<DimAnalysis::Key> parts = {{op.getSource(), static_cast<int>(dim)}};
      int64_t known = 0;
      for (OpFoldResult side : {low, high})
        if (std::optional<int64_t> width = getConstantIntValue(side))
          known += *width;
        else
          parts.push_back(number(cast<Value>(side)));
      dims.setSum({op.getResult(), static_cast<int>(dim)}, parts, known);
    }
  }

  /// A function asserts what it needs of its arguments' sizes.
  void visitAssertion(cf::AssertOp op) {
    auto compare = op.getArg().getDefiningOp<arith::CmpIOp>();
    if (compare && compare.getPredicate() == arith::CmpIPredicate::eq && isa<func::FuncOp>(op->getParentOp()))
      dims.unite(number(compare.getLhs()), number(compare.getRhs()));
  }

  /// Operands and results have the sizes that are written down of the function.
  void visitCall(func::CallOp op) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
    if (!callee || callee.getFunctionType() != op.getCalleeType())
      return;
    SmallVector<std::pair<Value, Attribute>> tensors;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      tensors.emplace_back(operand, callee.getArgAttr(i, kDims));
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      tensors.emplace_back(result, callee.getResultAttr(i, kDims));
    dims.readFacts(tensors, callee->getAttr(kConditions));
  }

  /// A dimension of a carried tensor.
  struct Carried {
    unsigned number;
    int dim;
    unsigned init, arg, yielded; ///< classes
    bool stays = true;
  };

  SmallVector<Carried> carriedBy(LoopLikeOpInterface op) {
    auto classOf = [&](Value value, int dim) { return dims.rootOf(dims.nodeOf({value, dim})); };
    SmallVector<Carried> all;
    for (auto [i, init, arg, yielded] : llvm::enumerate(op.getInits(), op.getRegionIterArgs(), op.getYieldedValues()))
      for (int dim = 0; dim < rankOf(init); ++dim)
        all.push_back({static_cast<unsigned>(i), dim, classOf(init, dim), classOf(arg, dim), classOf(yielded, dim)});
    return all;
  }

  /// A carried tensor keeps its size when the body hands on the size it started with, or that of a tensor which started
  /// with the same size and keeps it: tensors may change places.
  static void findChanging(SmallVectorImpl<Carried> &all) {
    std::map<std::pair<unsigned, unsigned>, unsigned> staying; // how many of a class start with a size
    for (const Carried &carried : all)
      ++staying[{carried.arg, carried.init}];
    for (bool changed = true; changed;) {
      changed = false;
      for (Carried &carried : all)
        if (carried.stays && carried.yielded != carried.init && !staying[{carried.yielded, carried.init}]) {
          carried.stays = false;
          --staying[{carried.arg, carried.init}];
          changed = true;
        }
    }
  }

  void visitLoop(LoopLikeOpInterface op) {
    SmallVector<Carried> all = carriedBy(op);
    findChanging(all);
    for (const Carried &carried : all) {
      if (!carried.stays)
        continue;
      Value init = op.getInits()[carried.number];
      unite(init, carried.dim, op.getRegionIterArgs()[carried.number], carried.dim);
      unite(init, carried.dim, op.getYieldedValues()[carried.number], carried.dim);
      if (isa<scf::ForOp>(op)) // the result of another loop is what its condition passes on
        unite(init, carried.dim, op->getResult(carried.number), carried.dim);
    }
  }

  /// The condition's arguments are the body's arguments, and the last of them are the results.
  void visitCondition(scf::ConditionOp op) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    for (auto [passed, arg, result] : llvm::zip(op.getArgs(), loop.getAfterArguments(), loop.getResults())) {
      uniteDims(passed, arg);
      uniteDims(passed, result);
    }
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

void DimAnalysis::visit(Operation *op) { DimCollector(*this).visit(op); }
