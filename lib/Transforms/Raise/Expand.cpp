//===- Expand.cpp - Streams that are made ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "RaiseForms.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// A repeated tensor that is only a factor of products (a gate, a bias, a sublayer's output) is no stream tensor; one
/// that is squared, projected, reduced or returned is.
static bool isReadAsStreams(Value value) {
  SmallVector<Operation *> users;
  usersThroughViews(value, users);
  return llvm::any_of(users, [](Operation *user) {
    if (!user->hasTrait<OpTrait::Elementwise>())
      return !isa<tensor::DimOp>(user);
    return isa<arith::MulFOp>(user) && user->getOperand(0) == user->getOperand(1);
  });
}

/// The repeated value behind reshapes, where arithmetic made it: the sum of embeddings is one tensor, whatever its
/// terms.
static Value madeByArithmetic(BroadcastOp op) {
  Value source = behindReshapes(op.getX());
  Operation *maker = source.getDefiningOp();
  return maker && maker->hasTrait<OpTrait::Elementwise>() ? source : Value();
}

namespace {
/// Rows x[M,C] that are repeated for each stream.
struct Repetition {
  Factor x;
  Vars tokens, channels, stream;
  Layout layout;
  SmallVector<Vars> own; ///< the variables of each dimension of the result
};
} // namespace

/// Tells tokens from channels by the order of all variables of the result, those of x in the same order. Tokens are
/// what stands before the streams; with inner streams, all but the dimension before them.
static bool splitInOrder(Repetition &rows, ArrayRef<Var> all) {
  size_t position = llvm::find(all, rows.stream[0]) - all.begin();
  bool inner = position + 1 == all.size();
  if (position < (inner ? 2 : 1))
    return false;
  size_t tokens = inner ? position - 1 : position;
  rows.tokens.assign(all.begin(), all.begin() + tokens);
  for (Var var : all.drop_front(tokens))
    if (var != rows.stream[0])
      rows.channels.push_back(var);
  rows.layout = inner ? Layout::Cn : Layout::nC;
  return true;
}

/// The same for a result whose dimensions were transposed: the channels are the last dimension of x.
static bool splitTransposed(FormBuilder &forms, Repetition &rows, ArrayRef<Var> all) {
  for (const Index &index : ArrayRef(rows.x.index).drop_back())
    llvm::append_range(rows.tokens, forms.flatten(index.vars));
  rows.channels = forms.flatten(rows.x.index.back().vars);
  if (rows.tokens.empty() || rows.channels.empty())
    return false;
  bool before = llvm::find(all, rows.stream[0]) < llvm::find(all, rows.channels[0]);
  rows.layout = before ? Layout::nC : Layout::Cn;
  return true;
}

static std::optional<Repetition> matchRepetition(FormBuilder &forms, BroadcastOp op) {
  Indices index = forms.freshIndices(op.getOut());
  Form form = forms.at(op.getOut(), index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 ||
      !form.terms[0].sums.empty() || form.terms[0].factors[0].power != 1)
    return std::nullopt;
  Repetition rows{form.terms[0].factors[0], {}, {}, {}, Layout::nC, {}};
  std::optional<Vars> vars = forms.fullVars(rows.x);
  Vars all, kept;
  for (const Index &slot : index) {
    rows.own.push_back(forms.flatten(slot.vars));
    llvm::append_range(all, rows.own.back());
  }
  for (Var var : all)
    (vars && !llvm::is_contained(*vars, var) ? rows.stream : kept).push_back(var);
  if (rows.stream.size() != 1 || forms.extent(rows.stream[0]) < kMinStreams ||
      forms.extent(rows.stream[0]) > kMaxStreams)
    return std::nullopt;
  bool split = kept == *vars ? splitInOrder(rows, all) : splitTransposed(forms, rows, all);
  return split ? std::optional(rows) : std::nullopt;
}

/// The same rows, repeated before: streams in two layouts are one tensor.
static ExpandOp repeatedBefore(Value x, int64_t n, Operation *op) {
  Value source = behindReshapes(x);
  SmallVector<Operation *> users;
  usersThroughViews(source, users);
  for (Operation *user : users) {
    auto expand = dyn_cast<ExpandOp>(user);
    if (!expand || behindReshapes(expand.getX()) != source || expand.getX().getType() != x.getType())
      continue;
    int64_t streams = expand.getStreams().getType().getDimSize(expand.getLayout() == Layout::nC ? 1 : 2);
    if (streams == n && expand->getBlock() == op->getBlock() && expand->isBeforeInBlock(op))
      return expand;
  }
  return {};
}

/// broadcast x[M,C] -> [M,n,C] or [M,C,n]
static void raiseBroadcast(FormBuilder &forms, Sites &sites, BroadcastOp op) {
  if (op.getOut().getType().getRank() < 3 || !isReadAsStreams(op.getOut()))
    return;
  forms.reset();
  if (Value sum = madeByArithmetic(op))
    forms.stops.insert(sum);
  std::optional<Repetition> rows = matchRepetition(forms, op);
  OpBuilder builder(op);
  Value x = rows ? forms.rebuild(builder, op.getLoc(), rows->x, {rows->tokens, rows->channels}) : Value();
  if (!x)
    return;
  auto type = cast<RankedTensorType>(x.getType());
  int64_t n = forms.extent(rows->stream[0]), M = type.getDimSize(0), C = type.getDimSize(1);
  ExpandOp known = repeatedBefore(x, n, op);
  bool inner = (known ? known.getLayout() : rows->layout) == Layout::Cn;
  auto streams = type.clone(inner ? ArrayRef<int64_t>{M, C, n} : ArrayRef<int64_t>{M, n, C});
  auto expand = known ? known : ExpandOp::create(builder, op.getLoc(), streams, x, rows->layout);
  SmallVector<Vars> made = {rows->tokens, rows->stream, rows->channels};
  if (inner)
    std::swap(made[1], made[2]);
  Value shaped = forms.relayout(builder, op.getLoc(), expand.getStreams(), made, rows->own);
  if (!shaped)
    return;
  shaped = LeafBuilder(builder, op.getLoc()).cast(shaped, getElementTypeOrSelf(op.getOut()));
  if (!mayReplace(sites, expand, Value(op.getOut()), shaped))
    return;
  addPlaces(expand.getOperation(), op.getOut());
  op.getOut().replaceAllUsesWith(shaped);
  if (!known)
    takeRaised(sites, expand, Twine(n) + " streams");
}

void mhc::raiseExpand(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  func.walk([&](BroadcastOp op) {
    if (sites.mayTake())
      raiseBroadcast(forms, sites, op);
  });
}
