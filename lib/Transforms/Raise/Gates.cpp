//===- Gates.cpp - Gates and residual logits with their projection ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups of rows that sigmoids and residual maps read, by the streams that they project: one gate alone is the gate
// of a head; two gates with logits are those of a sublayer.
//
//===------------------------------------------------------------------------===//

#include "GateOrder.h"
#include "GatesBuilder.h"
#include "Places.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Size;

namespace {
struct Gate {
  SigmoidOp op;
  LinearGroup group;
  bool isTaken = false;
};

class GatesRaiser {
public:
  GatesRaiser(func::FuncOp func, Sites &sites) : func(func), reading(func), sites(sites) {}
  void run();

private:
  void collect();
  void raiseFrom(Gate &gate);

  func::FuncOp func;
  algebra::Reading reading;
  Sites &sites;
  std::vector<Gate> gates;
  std::vector<LinearGroup> logits;
  /// Those of one tensor of streams: a model has some of each for every layer.
  struct Readers {
    SmallVector<Gate *> gates;
    SmallVector<const LinearGroup *> logits;
  };
  llvm::DenseMap<const algebra::Node *, Readers> readersOf;
};
} // namespace

static const LinearGroup &groupOf(const Gate &gate) { return gate.group; }
static const LinearGroup &groupOf(const LinearGroup &group) { return group; }

void GatesRaiser::collect() {
  func.walk([&](Operation *op) {
    bool isGate = isa<SigmoidOp>(op);
    if (!isGate && !isa<SinkhornOp, PermutationMixOp>(op))
      return;
    // The logits as they are before they become matrices: other code may read them there.
    Value z = op->getOperand(0);
    while (auto matrices = isGate ? tensor::ExpandShapeOp() : z.getDefiningOp<tensor::ExpandShapeOp>())
      z = matrices.getSrc();
    std::optional<LinearGroup> group = matchLinearGroup(reading, z, op);
    if (!group)
      return;
    if (isGate && group->extent >= kMinStreams && group->extent <= kMaxStreams)
      gates.push_back({cast<SigmoidOp>(op), *group});
    else if (!isGate)
      logits.push_back(*group);
  });
  for (Gate &gate : gates)
    readersOf[gate.group.x.node()].gates.push_back(&gate);
  for (const LinearGroup &group : logits)
    readersOf[group.x.node()].logits.push_back(&group);
}

void GatesRaiser::raiseFrom(Gate &gate) {
  const LinearGroup &group = gate.group;
  auto isSame = [&](const auto *other) { return isSameProjection(groupOf(*other), group); };
  const Readers &readers = readersOf[group.x.node()];
  SmallVector<Gate *> same = llvm::filter_to_vector(readers.gates, isSame);
  SmallVector<const LinearGroup *> maps = llvm::filter_to_vector(readers.logits, isSame);
  for (Gate *taken : same)
    taken->isTaken = true;
  const int64_t n = group.extent;
  // Other layers end in sigmoids of a few rows, too.
  bool isOfStreams = !group.beta.empty() || (group.flat.size() == 2 && group.flat[0].second == Size(n));
  if (same.size() == 1 && maps.empty() && group.hasWholeWeight() && isOfStreams) {
    GatesBuilder(reading, sites, {group}, {gate.op}).run();
    return;
  }
  bool isLogits = maps.size() == 1 && (maps[0]->extent == n * n ||
                                       (n <= kMaxPermuted && maps[0]->extent == static_cast<int64_t>(factorial(n))));
  if (same.size() != 2 || !isLogits || same[0]->group.extent != same[1]->group.extent)
    return;
  Gate *first = same[0], *second = same[1];
  if (first->group.weight == second->group.weight && second->group.offset < first->group.offset)
    std::swap(first, second);
  // Rows of one weight are in the usual order where nothing tells otherwise.
  if (isSecondGate(first->op, second->op) && !isSecondGate(second->op, first->op))
    std::swap(first, second);
  GatesBuilder(reading, sites, {first->group, second->group, *maps[0]}, {first->op, second->op}).run();
}

void GatesRaiser::run() {
  collect();
  for (Gate &gate : gates)
    if (!gate.isTaken && sites.mayTake())
      raiseFrom(gate);
}

void mhc::raiseGates(func::FuncOp func, Sites &sites) {
  // Gradients have no gates that are not raised, and need not be read for them.
  if (func.walk([](SigmoidOp) { return WalkResult::interrupt(); }).wasInterrupted())
    GatesRaiser(func, sites).run();
}
