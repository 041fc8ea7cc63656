//===- Expand.cpp - Streams that are made ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mix.h"
#include "Readings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;

using Closed = std::optional<Algebra::Closed>;

/// Whether both are the same tensor at some index, but for a number.
static bool isSameElement(const Closed &a, const Closed &b) { return a && b && a->node == b->node; }

/// Whether a batch of several products reads `streams` as a matrix that is the same in all of them, as exporters repeat
/// a weight.
static bool multipliesByOne(algebra::Reading &reading, Operation *op, const Closed &streams) {
  auto isOne = [&](Value matrix) {
    return isSameElement(reading.algebra().close(reading.of(matrix)), streams) &&
           llvm::none_of(reading.of(matrix), [](const algebra::Term &term) { return algebra::dependsOn(term, 0); });
  };
  return isa<BatchMatmulOp>(op) && cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0) != 1 &&
         llvm::any_of(op->getOperands(), isOne);
}

/// A repeated tensor that is only a factor of products (a gate, a bias, a weight, a sublayer's output) is no stream
/// tensor; one that is squared, projected, reduced or returned is. Ops that compute nothing, and parts of it, are read
/// like itself.
static bool isReadAsStreams(algebra::Reading &reading, Value streams) {
  auto closed = [&](Value value) { return reading.algebra().close(reading.of(value)); };
  const Closed all = closed(streams);
  llvm::SmallSetVector<Value, 8> values;
  values.insert(streams);
  for (size_t i = 0; i < values.size(); ++i) {
    SmallVector<Operation *> users;
    usersThroughViews(values[i], users);
    for (Operation *user : users) {
      if (isa<tensor::DimOp>(user) || multipliesByOne(reading, user, all))
        continue;
      bool isElementwise = user->hasTrait<OpTrait::Elementwise>();
      if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(user) ||
          (isElementwise && isSameElement(closed(user->getResult(0)), all)))
        values.insert(user->getResult(0));
      else if (!isElementwise || (isa<arith::MulFOp>(user) && user->getOperand(0) == user->getOperand(1)))
        return true;
    }
  }
  return false;
}

/// Whether the repetition becomes part of the dimension before it, which is not the first: heads, each as often as
/// others need it. Streams stay apart, or are joined with all tokens, or with the one that there is.
static bool repeatsHeads(BroadcastOp op) {
  auto isNew = [&](int64_t dim) { return !llvm::is_contained(op.getDims(), dim); };
  const int64_t rank = op.getOut().getType().getRank();
  auto all = llvm::seq<int64_t>(0, rank);
  auto repeated = llvm::find_if(all, isNew);
  if (repeated == all.end() || llvm::count_if(all, isNew) != 1)
    return false;
  llvm::SmallSetVector<Value, 8> values;
  values.insert(op.getOut());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
        ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
        for (const ReassociationIndices &group : collapse.getReassociationIndices())
          if (group.front() > 0 && group.back() + 1 != rank && llvm::is_contained(group, *repeated) &&
              llvm::any_of(group, [&](int64_t dim) { return dim != *repeated && shape[dim] != 1; }))
            return true;
      } else if (user->hasTrait<OpTrait::Elementwise>()) {
        values.insert(user->getResult(0));
      }
    }
  return false;
}

namespace {
/// Rows x[M,C] that are repeated for each stream. Their variables are those of the result.
struct Repetition {
  algebra::Reading::Found x;
  IndexVars tokens, channels, stream;
  Layout layout = Layout::nC;
  bool isGuess = false; ///< whether some of the channels may be tokens behind the streams, such as pixels
};
} // namespace

/// The value that is repeated, before views show it in another shape or order.
static std::optional<algebra::Reading::Found> findRows(algebra::Reading &reading, BroadcastOp op) {
  std::optional<algebra::Reading::Found> rows;
  std::vector<algebra::Reading::Found> all = reading.find(reading.of(op.getOut()), op);
  for (Value shown = op.getX(); shown;) {
    auto found = llvm::find_if(all, [&](const auto &other) { return other.value == shown; });
    if (found == all.end())
      break;
    rows = *found;
    Operation *maker = shown.getDefiningOp();
    shown = maker && rearranges(maker) ? maker->getOperand(0) : Value();
  }
  return rows;
}

/// Tells tokens from channels by the order of the result, where that is the order of x. Tokens are what stands before
/// the streams; with inner streams, all but the dimension before them. One token has no variable, but a dimension.
static bool splitInOrder(Repetition &rows, ArrayRef<IndexVars::value_type> all) {
  size_t position = llvm::find(all, rows.stream[0]) - all.begin();
  bool inner = position + 1 == all.size();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(rows.x.value.getType()).getShape();
  const bool hasOneToken = shape.size() > 1 && shape.front() == 1;
  if (all.size() < 2 || position + hasOneToken < (inner ? 2 : 1))
    return false;
  size_t tokens = inner ? position - 1 : position;
  rows.tokens.assign(all.begin(), all.begin() + tokens);
  for (const auto &var : all.drop_front(tokens))
    if (var != rows.stream[0])
      rows.channels.push_back(var);
  rows.layout = inner ? Layout::Cn : Layout::nC;
  rows.isGuess = !inner && rows.channels.size() > 1;
  return true;
}

/// Whether the result ends with streams and one dimension of known size, in either order.
static bool endsWithToken(const Repetition &rows, ArrayRef<IndexVars::value_type> all) {
  if (all.size() < 3)
    return false;
  auto last = all.take_back(2);
  return (last[1] == rows.stream[0] || last[0] == rows.stream[0]) &&
         llvm::all_of(last, [](const auto &var) { return var.second.isNumber(); });
}

/// The same for a result whose dimensions were transposed: the channels are the last dimension of x. Tokens keep the
/// order of the result, as all that is computed of them has it.
static bool splitTransposed(Repetition &rows, ArrayRef<IndexVars::value_type> all) {
  auto last = varsOf(rows.x.at.back());
  for (algebra::Var var : last)
    rows.channels.push_back(*llvm::find_if(all, [&](const auto &own) { return own.first == var; }));
  llvm::copy_if(all, std::back_inserter(rows.tokens),
                [&](const auto &own) { return own != rows.stream[0] && !last.contains(own.first); });
  if (rows.tokens.empty() || rows.channels.empty())
    return false;
  bool before = llvm::find(all, rows.stream[0]) < llvm::find(all, rows.channels[0]);
  rows.layout = before ? Layout::nC : Layout::Cn;
  return true;
}

/// The dimensions over which a norm adds up squares, as they are or in another type. Empty for none.
static ArrayRef<int64_t> dimsOfNorm(Value streams) {
  for (Operation *user : streams.getUsers()) {
    if (isa<arith::ExtFOp>(user))
      if (ArrayRef<int64_t> dims = dimsOfNorm(user->getResult(0)); !dims.empty())
        return dims;
    if (!isa<arith::MulFOp>(user) || user->getOperand(0) != user->getOperand(1))
      continue;
    for (Operation *reader : user->getUsers())
      if (auto reduce = dyn_cast<ReduceOp>(reader))
        return reduce.getDims();
  }
  return {};
}

/// Streams in front of all tokens, as copies of heads or experts may be as well: a norm over them and the channels of a
/// token tells them apart.
static bool splitStreamsFirst(Repetition &rows, ArrayRef<IndexVars> own, ArrayRef<int64_t> normed) {
  if (own.front() != rows.stream || normed.size() < 2 || !llvm::is_contained(normed, 0))
    return false;
  for (auto [dim, vars] : llvm::enumerate(own.drop_front()))
    (llvm::is_contained(normed, static_cast<int64_t>(dim) + 1) ? rows.channels : rows.tokens).append(vars);
  return !rows.tokens.empty() && !rows.channels.empty();
}

static std::optional<Repetition> matchRepetition(algebra::Reading &reading, BroadcastOp op) {
  std::optional<algebra::Reading::Found> x = findRows(reading, op);
  if (!x)
    return std::nullopt;
  Repetition rows{*x, {}, {}, {}};
  auto read = varsOf(rows.x.at);
  IndexVars all;
  SmallVector<algebra::Var> kept;
  SmallVector<IndexVars> own = ownDims(reading, op.getOut());
  for (const IndexVars &dim : own)
    for (const auto &var : dim) {
      all.push_back(var);
      if (read.contains(var.first))
        kept.push_back(var.first);
      else
        rows.stream.push_back(var);
    }
  if (rows.stream.size() != 1 || rows.stream[0].second < kMinStreams ||
      algebra::Size(kMaxStreams) < rows.stream[0].second)
    return std::nullopt;
  const bool isInOrder = ArrayRef(kept) == read.getArrayRef() || endsWithToken(rows, all);
  bool split = splitStreamsFirst(rows, own, dimsOfNorm(op.getOut())) ||
               (isInOrder ? splitInOrder(rows, all) : splitTransposed(rows, all));
  return split ? std::optional(rows) : std::nullopt;
}

/// Tells the channels of streams that are repeated in front of some of their tokens, as in [B, n, C, H, W]: those that
/// another repetition of the same rows has.
static void splitLikeOthers(algebra::Reading &reading, Repetition &rows, BroadcastOp op, ArrayRef<BroadcastOp> all) {
  for (BroadcastOp other : all) {
    if (other == op || behindViews(other.getX()) != behindViews(op.getX()))
      continue;
    std::optional<Repetition> like = matchRepetition(reading, other);
    if (!like || like->isGuess || like->x.value != rows.x.value || like->stream[0].second != rows.stream[0].second)
      continue;
    llvm::SmallSetVector<algebra::Var, 4> channels;
    for (auto [index, own] : llvm::zip(like->x.at, rows.x.at))
      if (llvm::all_of(index.pieces, [&](const algebra::Piece &piece) {
            return llvm::any_of(like->channels, [&](const auto &var) { return var.first == piece.var; });
          }))
        for (const algebra::Piece &piece : own.pieces)
          channels.insert(piece.var);
    IndexVars rest = rows.tokens;
    rest.append(rows.channels);
    auto isChannel = [&](const auto &var) { return channels.contains(var.first); };
    if (llvm::none_of(rest, isChannel) || llvm::all_of(rest, isChannel))
      continue;
    rows.tokens.clear();
    rows.channels.clear();
    for (const auto &var : rest)
      (isChannel(var) ? rows.channels : rows.tokens).push_back(var);
    return;
  }
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

/// Whether it is a term of sums, and its rows are streams elsewhere, as in x + (h - I) x.
static bool isStreamsOfOthers(BroadcastOp op) {
  SmallVector<Operation *> users, others;
  usersThroughViews(op.getOut(), users);
  usersThroughViews(behindViews(op.getX()), others);
  return llvm::all_of(users, llvm::IsaPred<arith::AddFOp, arith::SubFOp, tensor::DimOp>) &&
         llvm::any_of(others, llvm::IsaPred<ExpandOp>);
}

/// broadcast x[M,C] -> [M,n,C] or [M,C,n], one of those that are streams. With `onlyKnown`, of rows that were repeated
/// before.
static void raiseBroadcast(algebra::Reading &reading, Sites &sites, BroadcastOp op, ArrayRef<BroadcastOp> all,
                           bool onlyKnown) {
  std::optional<Repetition> rows = matchRepetition(reading, op);
  if (rows && rows->isGuess)
    splitLikeOthers(reading, *rows, op, all);
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value x = rows ? arrange(reading, builder, loc, rows->x.value, rows->x.at, {rows->tokens, rows->channels}) : Value();
  if (!x)
    return;
  auto type = cast<RankedTensorType>(x.getType());
  int64_t n = rows->stream[0].second.number(), M = type.getDimSize(0), C = type.getDimSize(1);
  ExpandOp known = repeatedBefore(x, n, op);
  if (onlyKnown && !known)
    return;
  bool inner = (known ? known.getLayout() : rows->layout) == Layout::Cn;
  auto streams = type.clone(inner ? ArrayRef<int64_t>{M, C, n} : ArrayRef<int64_t>{M, n, C});
  auto expand = known ? known : ExpandOp::create(builder, loc, streams, x, rows->layout);
  SmallVector<IndexVars> made = {rows->tokens, rows->stream, rows->channels};
  if (inner)
    std::swap(made[1], made[2]);
  algebra::Indices from = indicesOf(reading.algebra().sizes, made);
  if (replaceRoot(reading, sites, builder, expand, from, ownDims(reading, op.getOut()), op.getOut()) && !known)
    takeRaised(sites, expand, Twine(n) + " streams");
}

void mhc::raiseExpand(func::FuncOp func, Readings &readings, Sites &sites) {
  SmallVector<BroadcastOp> repeated;
  func.walk([&](BroadcastOp op) {
    if (op.getOut().getType().getRank() >= 3 && !isWide(op.getOut()))
      repeated.push_back(op);
  });
  if (repeated.empty())
    return;
  algebra::Reading &reading = readings.unrounded();
  llvm::erase_if(repeated, repeatsHeads);
  auto others = std::stable_partition(repeated.begin(), repeated.end(),
                                      [&](BroadcastOp op) { return isReadAsStreams(reading, op.getOut()); });
  const ArrayRef<BroadcastOp> streams(repeated.begin(), others), rest = ArrayRef(repeated).drop_front(streams.size());
  for (BroadcastOp op : streams)
    if (sites.mayTake())
      raiseBroadcast(reading, sites, op, streams, /*onlyKnown=*/false);
  for (BroadcastOp op : rest)
    if (sites.mayTake() && isStreamsOfOthers(op))
      raiseBroadcast(reading, sites, op, streams, /*onlyKnown=*/true);
}
