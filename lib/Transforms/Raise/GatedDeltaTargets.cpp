//===- GatedDeltaTargets.cpp - The values of a gated delta front end ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the values that the results of the op replace.
//
//===----------------------------------------------------------------------===//

#include "GatedDelta.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::gated;
using algebra::DimVars;
using algebra::Expr;
using algebra::Index;
using algebra::Indices;
using algebra::Reading;
using algebra::Size;
using algebra::Var;

/// An expression of channels as one of heads of channels.
std::optional<Expr> GatedDeltaRaiser::inHeads(const Expr &expr, int64_t heads, int64_t size) {
  return algebra.substitute(expr, [&](Var var) {
    if (var != gated::channel)
      return sameVar(var);
    Index index;
    if (heads != 1)
      index.pieces.push_back({gated::channel, 1, heads, size});
    if (size != 1)
      index.pieces.push_back({gated::within, 1, size, 1});
    return index;
  });
}

/// All values of an expression, as a result of the dimensions `dims` has their elements.
bool GatedDeltaRaiser::addFound(const std::optional<Expr> &expr, ArrayRef<DimVars> dims, std::vector<Target> &targets) {
  for (const Reading::Found &found : expr ? reading.find(*expr) : std::vector<Reading::Found>()) {
    if (found.factor != 1)
      continue;
    Target target{found.value, {}, ownDims(reading, found.value)};
    for (const DimVars &dim : dims) {
      Index &index = target.from.emplace_back();
      for (auto [own, at] : llvm::enumerate(found.at))
        for (const algebra::Piece &piece : at.pieces)
          if (!dim.empty() && piece.var == dim[0].first)
            index.pieces.push_back({static_cast<Var>(own), piece.multiplier, piece.extent, piece.stride});
      normalise(algebra.sizes, index);
    }
    targets.push_back(target);
  }
  return !targets.empty();
}

/// Extends a digit by the one of `times` values below it, where no index reads that.
static bool addDigitBelow(ArrayRef<Index> at, algebra::Piece &digit, int64_t times) {
  if (!digit.stride.isNumber() || digit.stride.number() % times != 0)
    return false;
  const int64_t end = digit.stride.number(), begin = end / times;
  auto reads = [&](const algebra::Piece &piece) {
    return piece.var == digit.var && piece.stride.isNumber() && piece.extent.isNumber() &&
           piece.stride.number() < end && piece.stride.number() * piece.extent.number() > begin;
  };
  if (llvm::any_of(at, [&](const Index &index) { return llvm::any_of(index.pieces, reads); }))
    return false;
  digit.stride = begin;
  digit.extent = digit.extent.number() * times;
  return true;
}

/// Values that have each of `keyHeads` heads as often as there are heads of v for it, next to each other: repeated the
/// other way round they are other heads.
std::vector<Target> GatedDeltaRaiser::headsIn(const ActivatedConvolution &conv, int64_t keyHeads, int64_t heads) {
  std::vector<Target> targets;
  const int64_t size = conv.channels / keyHeads, times = heads / keyHeads;
  for (auto &[value, opened] : activatedValues) {
    if (opened.node != conv.node)
      continue;
    auto at = [&](std::optional<Var> var) { // none where there is one sequence, or one token
      return var && static_cast<size_t>(*var) < opened.at.size() ? opened.at[*var] : Index();
    };
    Index whole;
    int64_t stride = conv.channels;
    for (auto [var, extent] : conv.channelVars)
      addScaled(algebra.sizes, whole, at(var), stride /= extent);
    normalise(algebra.sizes, whole);
    std::optional<Index> head = extract(algebra.sizes, whole, size, keyHeads);
    std::optional<Index> within = extract(algebra.sizes, whole, 1, size);
    if (!head || !within)
      continue;
    auto isRead = [&](Var var) {
      return llvm::any_of(opened.at, [&](const Index &index) {
        return llvm::any_of(index.pieces, [&](const algebra::Piece &piece) { return piece.var == var; });
      });
    };
    SmallVector<IndexVars> own = ownDims(reading, value);
    auto repeat = llvm::find_if(own, [&](const IndexVars &dim) {
      return !dim.empty() && dim[0].second == Size(times) && !isRead(dim[0].first) &&
             llvm::all_of(head->pieces, [&](const algebra::Piece &piece) { return piece.var < dim[0].first; });
    });
    if (times != 1 && repeat != own.end()) {
      for (algebra::Piece &piece : head->pieces)
        piece.multiplier = *algebra.sizes.multiply(piece.multiplier, times);
      head->pieces.push_back({(*repeat)[0].first, 1, times, 1});
      normalise(algebra.sizes, *head);
    } else if (times != 1) {
      if (head->pieces.size() != 1 || !addDigitBelow(opened.at, head->pieces[0], times))
        continue;
    }
    Indices from = {at(conv.batchVar), at(conv.tokenVar), *head, *within};
    targets.push_back({value, from, own, opened.coefficient / conv.coefficient});
  }
  return targets;
}

/// The heads of q and k; nothing where there are none of which each serves as many as the others. Without a norm, heads
/// are told by how often values have them: the fewest are what the program has last.
std::optional<int64_t> GatedDeltaRaiser::keyHeadsOf(const ActivatedConvolution &q, const ActivatedConvolution &k,
                                                    int64_t heads) {
  if (q.eps)
    return heads % q.heads() == 0 ? std::optional(q.heads()) : std::nullopt;
  for (int64_t keyHeads = 1; keyHeads <= heads; ++keyHeads) {
    if (heads % keyHeads != 0 || q.channels % keyHeads != 0)
      continue;
    if (!headsIn(q, keyHeads, heads).empty() && !headsIn(k, keyHeads, heads).empty())
      return keyHeads;
  }
  return std::nullopt;
}

bool GatedDeltaRaiser::findTargets(Front &front) {
  const int64_t heads = front.heads(), size = front.valueSize();
  SmallVector<DimVars> perHead = {dimOf(gated::batch, front.batch), dimOf(gated::token, front.tokens),
                                  dimOf(gated::channel, heads)};
  SmallVector<DimVars> perChannel = perHead;
  perChannel.push_back(dimOf(gated::within, size));
  auto &targets = front.targets;
  if (!front.source.gateAt)
    addFound(inHeads(front.inputs[kGate].first, heads, size), perChannel, targets[kGate]);
  targets[kQuery] = headsIn(*front.q, front.keyHeads, heads);
  targets[kKey] = headsIn(*front.k, front.keyHeads, heads);
  return !targets[kQuery].empty() && !targets[kKey].empty() &&
         addFound(inHeads(front.v->expr, heads, size), perChannel, targets[kValue]) &&
         addFound(algebra.apply("sigmoid", {front.inputs[kBeta].first}), perHead, targets[kBeta]) &&
         addFound(front.decayed, perHead, targets[kDecay]);
}
