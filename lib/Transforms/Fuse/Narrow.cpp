//===- Narrow.cpp - Coefficients of which only the first gate is used ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

Value mhc::firstRows(OpBuilder &builder, Location loc, Value phi, PhiLayout layout, int64_t count) {
  int64_t rows = layout == PhiLayout::out_in ? 0 : 1;
  if (cast<RankedTensorType>(phi.getType()).getDimSize(rows) == count)
    return phi;
  return LeafBuilder(builder, loc).slice(phi, rows, 0, count);
}

static void narrow(Sites &sites, GatesOp gates) {
  auto projection = gates.getProj().getDefiningOp<ProjectionOp>();
  if (!gates.getLogits() || !gates.getLogits().use_empty() || !gates.getHPost().use_empty() || !projection)
    return;
  if (!projection.getProj().hasOneUse()) {
    int64_t users = llvm::range_size(projection.getProj().getUses());
    sites.decline("gates", {Reason::narrowShared, gates, std::to_string(users) + " users of the projection", "1 user"});
    return;
  }
  OpBuilder builder(gates);
  LeafBuilder leaf(builder, gates.getLoc());
  auto gateType = cast<RankedTensorType>(gates.getHPre().getType());
  int64_t n = gateType.getDimSize(1);
  builder.setInsertionPoint(projection); // the statistic may have users before the gates
  Value stat = projection.getStat();
  ProjectionOp::Fields fewerRows(projection);
  fewerRows.phi = firstRows(builder, gates.getLoc(), projection.getPhi(), projection.getPhiLayout(), n);
  fewerRows.proj = gateType;
  fewerRows.stat = stat ? stat.getType() : Type();
  ProjectionOp narrowed = fewerRows.create(builder, projection.getLoc());
  builder.setInsertionPoint(gates);
  GatesOp::Fields firstGroup(gates);
  firstGroup.h_pre = gateType;
  firstGroup.proj = narrowed.getProj();
  if (gates.getStat() == stat)
    firstGroup.stat = narrowed.getStat();
  firstGroup.alpha = leaf.slice(gates.getAlpha(), 0, 0, 1);
  firstGroup.beta = leaf.slice(gates.getBeta(), 0, 0, n);
  GatesOp small = firstGroup.create(builder, gates.getLoc());
  int64_t saved = bytesPerToken(projection) + bytesPerToken(gates) - bytesPerToken(narrowed) - bytesPerToken(small);
  gates.getHPre().replaceAllUsesWith(small.getHPre());
  if (stat)
    stat.replaceAllUsesWith(narrowed.getStat());
  takeFused(sites, small, "gates with one used group", saved);
}

/// The sublayer's input alone needs the first gate only.
static void narrow(Sites &sites, PreOp pre) {
  auto isUsed = [](Value result) { return result && !result.use_empty(); };
  if (!isUsed(pre.getU()) || pre.getHIn() || llvm::any_of(ValueRange{pre.getHPost(), pre.getHRes()}, isUsed) ||
      isUsed(pre.getProj()))
    return;
  OpBuilder builder(pre);
  LeafBuilder leaf(builder, pre.getLoc());
  int64_t n = cast<RankedTensorType>(pre.getHPost().getType()).getDimSize(1);
  auto wanted = [&](Value result) { return isUsed(result) ? result.getType() : Type(); };
  HeadOp::Fields fields(pre);
  fields.phi = firstRows(builder, pre.getLoc(), pre.getPhi(), pre.getPhiLayout(), n);
  fields.alpha = leaf.slice(pre.getAlpha(), 0, 0, 1);
  fields.beta = leaf.slice(pre.getBeta(), 0, 0, n);
  fields.out = pre.getU().getType();
  fields.h_pre = wanted(pre.getHPre());
  fields.proj = Type();
  fields.stat = wanted(pre.getStat());
  HeadOp head = fields.create(builder, pre.getLoc());
  for (auto [result, small] :
       {std::pair(pre.getU(), head.getOut()), {pre.getHPre(), head.getHPre()}, {pre.getStat(), head.getStat()}})
    if (isUsed(result))
      result.replaceAllUsesWith(small);
  takeFused(sites, head, "mhc.pre of which only u is used", bytesPerToken(pre) - bytesPerToken(head));
}

/// The same op without the optional results that nothing uses.
static void dropUnusedResults(KernelOpInterface op) {
  const KernelInfo &info = op.getKernelInfo();
  SmallVector<Type> types;
  bool drops = false;
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    if (!tensor.isResult)
      continue;
    Value result = op.getTensor(i);
    bool isUnused = result && tensor.isOptional && result.use_empty();
    types.push_back(result && !isUnused ? result.getType() : Type());
    drops |= isUnused;
  }
  IRRewriter rewriter(op.getContext());
  if (drops)
    replaceWithResults(rewriter, op, info, types);
}

void mhc::dropUnusedResults(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (isa<PreOp, PostPreOp, HeadOp, PostHeadOp, PreGatedDeltaRuleOp>(op))
      ::dropUnusedResults(cast<KernelOpInterface>(op));
  });
}

void mhc::narrowPre(func::FuncOp func, Sites &sites) {
  func.walk([&](PreOp pre) {
    if (sites.mayTake())
      narrow(sites, pre);
  });
}

void mhc::narrowGates(func::FuncOp func, Sites &sites) {
  func.walk([&](GatesOp gates) {
    if (sites.mayTake())
      narrow(sites, gates);
  });
}
