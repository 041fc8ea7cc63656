//===- Layout.cpp - Memory order of streams ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that share streams have one layout. It is free where nothing else makes or reads their streams. Changing it
// changes types and attributes, and the order of the weights that multiply a flattened token: they are transposed.
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/LayoutCost.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/EqualStreams.h"
#include "mhc/Transforms/Passes.h"
#include "mhc/Transforms/Sites.h"
#include "mhc/Transforms/TurnLayout.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mhc {
#define GEN_PASS_DEF_SETLAYOUTPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kAuto = "auto";

/// The number in "cuda:sm_90a"; 0 for "cpu".
static unsigned gpuOf(StringRef target) {
  unsigned gpu = 0;
  if (target.consume_front("cuda:sm_"))
    (void)target.take_while(llvm::isDigit).getAsInteger(10, gpu);
  return gpu;
}

/// Ops whose streams have one layout, in the order of the program.
using Family = SetVector<Operation *>;

static SmallVector<Family> familiesOf(func::FuncOp func) {
  llvm::EquivalenceClasses<Operation *> related;
  DenseMap<Value, Operation *> firstWith;
  SmallVector<Operation *> ops;
  func.walk([&](KernelOpInterface op) {
    if (!hasLayout(op))
      return;
    ops.push_back(op);
    related.insert(op);
    for (Value streams : streamsOf(op))
      related.unionSets(firstWith.try_emplace(streams, op).first->second, op);
  });
  llvm::MapVector<Operation *, Family> families;
  for (Operation *op : ops)
    families[related.getLeaderValue(op)].insert(op);
  return llvm::map_to_vector(families, [](auto &family) { return std::move(family.second); });
}

/// Whether the number of tokens is all that an op reads of streams.
static bool readsTokens(Operation *op) {
  auto dim = dyn_cast<tensor::DimOp>(op);
  return dim && dim.getConstantIndex() == 0;
}

static std::string nameOf(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

/// Why other code than the family's ops has to see the order of some streams.
static std::optional<Miss> sharedBy(const Family &family, Operation *op, Value streams) {
  const auto isOther = [&](Operation *at) { return !family.contains(at); };
  Operation *maker = streams.getDefiningOp();
  std::string found;
  if (!maker || isOther(maker))
    found = "streams made by " + describe(streams);
  for (Operation *user : streams.getUsers())
    if (found.empty() && isOther(user) && !readsTokens(user)) {
      found = "streams read by " + nameOf(user);
      op = user;
    }
  if (found.empty())
    return std::nullopt;
  return Miss{Reason::layoutShared, op, found, "ops with a layout alone, such as 'mhc.expand' and 'mhc.contract'", {}};
}

/// The weights that have to be transposed, each once.
static SetVector<Value> weightsOf(const Family &family) {
  SetVector<Value> weights;
  for (auto op : llvm::map_range(family, llvm::CastTo<KernelOpInterface>))
    for (unsigned i = 0; i < op.getKernelInfo().tensors.size(); ++i)
      if (vectorDim(op, i))
        weights.insert_range(op.getTensors(i));
  return weights;
}

/// Why the layout of a family is not free.
static std::optional<Miss> missOf(const Family &family) {
  for (auto op : llvm::map_range(family, llvm::CastTo<KernelOpInterface>)) {
    if (hasDropout(op))
      return Miss{Reason::layoutDropout, op, nameOf(op) + " with a seed", "no dropout", {}};
    for (Value streams : streamsOf(op)) {
      if (llvm::is_contained(cast<RankedTensorType>(streams.getType()).getShape().drop_front(), ShapedType::kDynamic))
        return Miss{Reason::layoutOpenSizes, op, describe(streams), "numbers of streams and channels", {}};
      if (std::optional<Miss> miss = sharedBy(family, op, streams))
        return miss;
    }
  }
  for (Value weight : weightsOf(family))
    if (!cast<RankedTensorType>(weight.getType()).hasStaticShape())
      return Miss{Reason::layoutOpenSizes, opAtFault(weight, family.front()), describe(weight), "sizes of weights", {}};
  return std::nullopt;
}

/// The number of tokens; nothing where it is open.
static std::optional<int64_t> tokensOf(const Family &family) {
  auto type = cast<RankedTensorType>(streamsOf(cast<KernelOpInterface>(family.front())).front().getType());
  return type.isDynamicDim(0) ? std::nullopt : std::optional(type.getDimSize(0));
}

namespace {
/// A family in the layout that it has, and in the other one.
struct Choice {
  Layout from;
  int64_t bytes = 0, otherBytes = 0; ///< per token
  int64_t slow = 0, otherSlow = 0;   ///< ops without a fast kernel
  int64_t weightBytes = 0;           ///< once

  Choice(const Family &family, unsigned gpu) : from(layoutOf(family.front())) {
    for (Value weight : weightsOf(family))
      if (auto type = cast<RankedTensorType>(weight.getType()); type.hasStaticShape())
        weightBytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
    for (auto op : llvm::map_range(family, llvm::CastTo<KernelOpInterface>)) {
      bytes += bytesPerToken(op, from, gpu);
      otherBytes += bytesPerToken(op, other(from), gpu);
      slow += !hasFastKernel(op, from, gpu);
      otherSlow += !hasFastKernel(op, other(from), gpu);
    }
  }

  /// Per token, or in all where the number of tokens is known: weights are read and written once a call.
  bool pays(std::optional<int64_t> tokens) const {
    const int64_t saved = bytes - otherBytes;
    return tokens ? saved * *tokens > 2 * weightBytes : saved > 0;
  }
};

struct SetLayout : mhc::impl::SetLayoutPassBase<SetLayout> {
  using SetLayoutPassBase::SetLayoutPassBase;

  void runOnOperation() override {
    std::optional<Layout> asked = symbolizeLayout(layout);
    if (!asked && layout != kAuto) {
      getOperation().emitError() << "'" << layout << "' is no layout of streams; needed 'nC', 'Cn' or 'auto'";
      return signalPassFailure();
    }
    writeOutEqualStreams(getOperation());
    const unsigned gpu = gpuOf(target);
    Sites sites(getArgument(), /*limit=*/-1);
    for (const Family &family : familiesOf(getOperation())) {
      const Choice choice(family, gpu);
      if (asked ? choice.from == *asked : !choice.pays(tokensOf(family)))
        continue;
      if (std::optional<Miss> miss = missOf(family))
        sites.decline("layout", *miss);
      else
        turn(family, choice, asked ? "as asked" : reasonFor(choice), sites);
    }
  }

private:
  static std::string reasonFor(const Choice &choice) {
    return "slow kernels " + std::to_string(choice.slow) + " before, " + std::to_string(choice.otherSlow) + " now";
  }

  void turn(const Family &family, const Choice &choice, const std::string &reason, Sites &sites) {
    auto first = cast<KernelOpInterface>(family.front());
    auto streams = cast<RankedTensorType>(streamsOf(first).front().getType());
    TurnLayout turned(choice.from, streams.getShape().drop_front());
    for (auto op : llvm::map_range(family, llvm::CastTo<KernelOpInterface>))
      turned.turn(op);
    const std::string transposed =
        choice.weightBytes ? "; " + counted(choice.weightBytes, "byte") + " of weights are transposed in each call"
                           : "";
    sites.take(first, "layout",
               "streams of " + counted(family.size(), "op") + " from " + stringifyLayout(choice.from).str() + " to " +
                   stringifyLayout(other(choice.from)).str() + ": " + reason + transposed);
  }
};
} // namespace
