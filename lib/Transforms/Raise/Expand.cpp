//===- Expand.cpp - Streams that are made ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

void mhc::usersThroughViews(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, arith::ExtFOp, arith::TruncFOp>(user))
      usersThroughViews(user->getResult(0), users);
    else if (!llvm::is_contained(users, user))
      users.push_back(user);
  }
}

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

/// What is repeated, but for reshapes, where arithmetic made it: the sum of embeddings is one tensor, whatever its
/// terms.
static Value madeByArithmetic(BroadcastOp op) {
  Value source = op.getX();
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  Operation *maker = source.getDefiningOp();
  return maker && maker->hasTrait<OpTrait::Elementwise>() ? source : Value();
}

/// broadcast x[M,C] -> [M,n,C] or [M,C,n]
static void raiseBroadcast(FormBuilder &forms, Sites &sites, BroadcastOp op) {
  if (op.getOut().getType().getRank() < 3 || !isReadAsStreams(op.getOut()))
    return;
  forms.reset();
  if (Value sum = madeByArithmetic(op))
    forms.stops.insert(sum);
  Indices index = forms.freshIndices(op.getOut());
  Form form = forms.at(op.getOut(), index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 ||
      !form.terms[0].sums.empty() || form.terms[0].factors[0].power != 1)
    return;
  const Factor &x = form.terms[0].factors[0];
  std::optional<Vars> vars = forms.fullVars(x);
  SmallVector<Vars> own;
  Vars all, added;
  for (const Index &slot : index) {
    own.push_back(forms.flatten(slot.vars));
    llvm::append_range(all, own.back());
  }
  for (Var var : all)
    if (vars && !llvm::is_contained(*vars, var))
      added.push_back(var);
  if (added.size() != 1 || forms.extent(added[0]) < kMinStreams || forms.extent(added[0]) > kMaxStreams)
    return;
  // Tokens are what stands before the streams; with inner streams, all but the dimension before them.
  size_t position = llvm::find(all, added[0]) - all.begin();
  bool inner = position + 1 == all.size();
  if (position < (inner ? 2 : 1))
    return;
  size_t tokens = inner ? position - 1 : position;
  Vars token(all.begin(), all.begin() + tokens), channel;
  for (Var var : ArrayRef(all).drop_front(tokens))
    if (var != added[0])
      channel.push_back(var);
  OpBuilder builder(op);
  Value rows = forms.rebuild(builder, op.getLoc(), x, {token, channel});
  if (!rows)
    return;
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t n = forms.extent(added[0]), M = type.getDimSize(0), C = type.getDimSize(1);
  auto streams = type.clone(inner ? ArrayRef<int64_t>{M, C, n} : ArrayRef<int64_t>{M, n, C});
  auto expand = ExpandOp::create(builder, op.getLoc(), streams, rows, inner ? Layout::Cn : Layout::nC);
  SmallVector<Vars> made = inner ? SmallVector<Vars>{token, channel, added} : SmallVector<Vars>{token, added, channel};
  Value shaped = forms.relayout(builder, op.getLoc(), expand.getStreams(), made, own);
  if (!shaped)
    return;
  shaped = LeafBuilder(builder, op.getLoc()).cast(shaped, getElementTypeOrSelf(op.getOut()));
  if (!mayReplace(sites, expand, Value(op.getOut()), shaped))
    return;
  addPlaces(expand.getOperation(), op.getOut());
  op.getOut().replaceAllUsesWith(shaped);
  takeRaised(sites, expand, Twine(n) + " streams");
}

void mhc::raiseExpand(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  func.walk([&](BroadcastOp op) {
    if (sites.mayTake())
      raiseBroadcast(forms, sites, op);
  });
}
