//===- Experts.cpp - Experts behind a router as unfused IR ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An expert has `capacity` slots, so that all sizes are known: slot e*capacity + p has the token that is number p of
// those that chose expert e. Tokens are gathered to slots and back by mhc.take, whose gradient adds in a fixed order.
// Numbers of tokens and slots are whole ones in f32, exact up to 2^24. Where they are compared or become integers, a
// half keeps them away from the edge: --verify moves all numbers by their rounding.
//
//===----------------------------------------------------------------------===//

#include "Experts.h"
#include <algorithm>
#include <cmath>

using namespace mhc;
using namespace mhc::model;
using namespace mhc::spelling;

/// 0 to count-1 along dimension `dim` of a tensor of f32.
static Value numbers(IrWriter &w, const Dims &shape, int64_t dim) {
  return w.broadcast(w.convert(w.iota(shape[dim]), Element::F32), shape, {dim});
}

static Value oneWhere(IrWriter &w, Value condition) {
  const Type type{condition.type.dims, Element::F32};
  return w.select(condition, w.splat(1, type), w.splat(0, type));
}

/// Shares that differ by no more, relatively, count as one: a few roundings of f32.
static constexpr double kRoundings = 1e-6;

static Value wholeNumbers(IrWriter &w, Value values) { return w.convert(w.add(values, 0.5), Element::I32); }

Routing mhc::model::writeRouting(IrWriter &w, Value scores, int64_t perToken) {
  const Dims dims = scores.type.dims;
  Routing routing;
  routing.shares = w.softmax(scores, 1);
  Value rest = routing.shares, number = numbers(w, dims, 1);
  for (int64_t k = 0; k < perToken; ++k) {
    Value most = w.broadcast(w.reduce("max", rest, {1}), dims, {0});
    Value isBest = w.compareFloat("oge", rest, w.mul(most, 1 - kRoundings));
    Value candidate = w.select(isBest, number, w.splat(-1, number.type));
    Value last = w.broadcast(w.reduce("max", candidate, {1}), dims, {0});
    Value apart = w.sub(number, last);
    Value isChosen = w.compareFloat("olt", w.mul(apart, apart), w.splat(0.5, number.type));
    rest = w.select(isChosen, w.splat(-1, rest.type), rest);
    Value choice = oneWhere(w, isChosen);
    routing.choices.push_back(choice);
    routing.chosen = k == 0 ? choice : w.add(routing.chosen, choice);
  }
  Value kept = w.mul(routing.chosen, routing.shares);
  routing.gates = w.as("expert_gates").div(kept, w.broadcast(w.reduce("sum", kept, {1}), dims, {0}));
  return routing;
}

Value mhc::model::writeImbalance(IrWriter &w, const Routing &routing) {
  const double E = static_cast<double>(routing.chosen.dim(1)), k = static_cast<double>(routing.choices.size());
  Value products = w.mul(w.reduce("mean", routing.chosen, {0}), w.reduce("mean", routing.shares, {0}));
  return w.as("imbalance").mul(w.reduce("sum", products, {0}), E / k);
}

int64_t mhc::model::capacityOf(int64_t tokens, int64_t experts, int64_t perToken, double factor) {
  const double mean = static_cast<double>(tokens * perToken) / static_cast<double>(experts);
  const double wanted = std::min(std::ceil(mean * factor), static_cast<double>(tokens));
  return std::max<int64_t>(static_cast<int64_t>(wanted), 1);
}

/// 1 below the diagonal of a square, so that the product with it sums what is in front.
static Value belowDiagonal(IrWriter &w, int64_t size) {
  Value number = w.iota(size);
  return oneWhere(w, w.compare("sgt", w.broadcast(number, {size, size}, {0}), w.broadcast(number, {size, size}, {1})));
}

/// Sums over the rows in front of each: within groups of rows, and of the groups in front.
static Value sumsInFront(IrWriter &w, Value rows) {
  const int64_t M = rows.dim(0), E = rows.dim(1);
  int64_t size = static_cast<int64_t>(std::sqrt(static_cast<double>(M)));
  while (M % size != 0)
    --size;
  const int64_t groups = M / size;
  Value grouped = w.reshape(rows, {groups, size, E});
  Value sideBySide = w.reshape(w.transpose(grouped, {1, 0, 2}), {size, groups * E});
  Value own = w.reshape(w.matmul(belowDiagonal(w, size), sideBySide), {size, groups, E});
  Value others = w.matmul(belowDiagonal(w, groups), w.reduce("sum", grouped, {1}));
  Value sums = w.add(w.transpose(own, {1, 0, 2}), w.broadcast(others, {groups, size, E}, {0, 2}));
  return w.reshape(sums, {M, E});
}

namespace {
/// The slot of each token for one of its choices, and whether it has it: 1, or 0 where it is dropped.
struct Place {
  Value slot, kept;
};
} // namespace

static Place placeOf(IrWriter &w, Value choice, Value inFront, int64_t capacity) {
  auto ofChoice = [&](Value values) { return w.reduce("sum", w.mul(choice, values), {1}); };
  Value fits = oneWhere(w, w.compareFloat("olt", inFront, w.splat(static_cast<double>(capacity) - 0.5, inFront.type)));
  Value slots = w.add(w.mul(numbers(w, choice.type.dims, 1), static_cast<double>(capacity)), w.mul(inFront, fits));
  return {wholeNumbers(w, ofChoice(slots)), ofChoice(fits)};
}

Value mhc::model::writeExperts(IrWriter &w, const Routing &routing, Value tokens, Value inner, Value outer,
                               int64_t capacity) {
  const int64_t M = tokens.dim(0), C = tokens.dim(1), E = routing.chosen.dim(1), F = inner.dim(0) / E;
  Value inFront = sumsInFront(w, routing.chosen), number = numbers(w, {M}, 0);
  std::vector<Place> places;
  Values slots, owners;
  for (const Value &choice : routing.choices) {
    places.push_back(placeOf(w, choice, inFront, capacity));
    slots.push_back(places.back().slot);
    owners.push_back(w.mul(number, places.back().kept));
  }
  // Each slot has one owner, and a token that is dropped adds a zero to the first slot of its expert; a slot without an
  // owner has token 0, which takes nothing of it.
  const int64_t count = M * static_cast<int64_t>(places.size());
  Value empty = w.splat(0, {{E * capacity, 1}, Element::F32});
  Value owner = w.named(
      "take_bwd",
      {{"d_out", w.reshape(w.concat(owners, 0), {count, 1})}, {"ids", w.concat(slots, 0)}, {"d_table_in", empty}}, "",
      {{"d_table", empty.type}})[0];
  Value rows = w.take(tokens, wholeNumbers(w, w.reshape(owner, {E * capacity})));
  Value hidden = w.batchMatmul(w.reshape(rows, {E, capacity, C}), w.reshape(inner, {E, F, C}), false, true);
  Value back = w.transpose(w.reshape(outer, {C, E, F}), {1, 0, 2});
  Value results = w.reshape(w.batchMatmul(w.unary("mhc.silu", hidden), back, false, true), {E * capacity, C});
  Value sum;
  for (size_t k = 0; k < places.size(); ++k) {
    Value gate = w.mul(w.reduce("sum", w.mul(routing.choices[k], routing.gates), {1}), places[k].kept);
    Value factor = w.broadcast(w.convert(gate, tokens.type.element), {M, C}, {0});
    Value share = w.mul(w.take(results, places[k].slot), factor);
    sum = k == 0 ? share : w.add(sum, share);
  }
  return sum;
}
