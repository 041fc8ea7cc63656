//===- Narrow.cpp - Projections of which only the first gate is used ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

Value mhc::firstRows(OpBuilder &builder, Location loc, Value phi, PhiLayout layout, int64_t count) {
  int64_t rows = layout == PhiLayout::out_in ? 0 : 1;
  if (cast<RankedTensorType>(phi.getType()).getDimSize(rows) == count)
    return phi;
  return LeafBuilder(builder, loc).slice(phi, rows, 0, count);
}

static bool narrow(GatesOp gates) {
  auto projection = gates.getProj().getDefiningOp<ProjectionOp>();
  if (!gates.getLogits() || !gates.getLogits().use_empty() || !gates.getHPost().use_empty() || !projection)
    return false;
  if (!projection.getProj().hasOneUse()) {
    remarkNotFused(gates, "narrow gates", "the projection has other users, which need all of its rows");
    return false;
  }
  OpBuilder builder(gates);
  LeafBuilder leaf(builder, gates.getLoc());
  auto gateType = cast<RankedTensorType>(gates.getHPre().getType());
  int64_t n = gateType.getDimSize(1);
  builder.setInsertionPoint(projection); // the statistic may have users before the gates
  Value phi = firstRows(builder, gates.getLoc(), projection.getPhi(), projection.getPhiLayout(), n);
  Value stat = projection.getStat();
  auto narrowed =
      ProjectionOp::create(builder, projection.getLoc(), gateType, stat ? stat.getType() : Type(), projection.getX(),
                           phi, projection.getNormWeight(), projection.getLayout(), projection.getPhiLayout(),
                           projection.getNorm(), projection.getNormEps(), projection.getStatForm());
  builder.setInsertionPoint(gates);
  auto small = GatesOp::create(builder, gates.getLoc(), gateType, Type(), Type(), narrowed.getProj(),
                               gates.getStat() == stat ? Value(narrowed.getStat()) : Value(gates.getStat()),
                               leaf.slice(gates.getAlpha(), 0, 0, 1), leaf.slice(gates.getBeta(), 0, 0, n),
                               gates.getStatForm(), gates.getNormEps(), gates.getPreEps(), gates.getPostMult());
  int64_t saved = bytesPerToken(projection) + bytesPerToken(gates) - bytesPerToken(narrowed) - bytesPerToken(small);
  gates.getHPre().replaceAllUsesWith(small.getHPre());
  if (stat)
    stat.replaceAllUsesWith(narrowed.getStat());
  remarkFused(small, "gates with one used group", saved);
  return true;
}

constexpr const char *kSegments = "resultSegmentSizes";

/// The same op without one optional result, which nothing uses.
static void dropResult(Operation *op, Value unused) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addAttributes(op->getAttrs());
  auto segments = llvm::to_vector(op->getAttrOfType<DenseI32ArrayAttr>(kSegments).asArrayRef());
  int64_t index = cast<OpResult>(unused).getResultNumber(); // a segment has one result or none
  for (int32_t &segment : segments)
    if (segment && index-- == 0)
      segment = 0;
  state.attributes.set(kSegments, DenseI32ArrayAttr::get(op->getContext(), segments));
  SmallVector<Value> kept;
  for (Value result : op->getResults())
    if (result != unused)
      kept.push_back(result);
  state.addTypes(TypeRange(ValueRange(kept)));
  Operation *narrowed = OpBuilder(op).create(state);
  for (auto [old, result] : llvm::zip(kept, narrowed->getResults()))
    old.replaceAllUsesWith(result);
  op->erase();
}

void mhc::dropUnusedGates(func::FuncOp func) {
  func.walk([](Operation *op) {
    Value gate;
    if (auto pre = dyn_cast<PreOp>(op))
      gate = pre.getHPre();
    else if (auto head = dyn_cast<HeadOp>(op))
      gate = head.getHPre();
    if (gate && gate.use_empty())
      dropResult(op, gate);
  });
}

unsigned mhc::narrowGates(func::FuncOp func) {
  unsigned count = 0;
  func.walk([&](GatesOp gates) { count += narrow(gates); });
  return count;
}
