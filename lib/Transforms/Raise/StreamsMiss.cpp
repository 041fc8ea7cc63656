//===- StreamsMiss.cpp - Remarks on finds that plain code reads ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clamps.h"
#include "Normalise.h"
#include "Raise.h"
#include "Weighing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

/// Whether a value shows streams whose gates were told to be missing.
static bool lacksGates(const Sites &sites, Value streams) { return sites.hasDeclined("gates", behindViews(streams)); }

/// The ops that read parts, sums and products of a value.
static SetVector<Operation *> readersOf(Value value) {
  SetVector<Operation *> ops;
  ops.insert_range(value.getUsers());
  for (size_t next = 0; next < ops.size(); ++next)
    if (Operation *op = ops[next];
        showsOperand(op) || isa<tensor::ExtractSliceOp, tensor::ConcatOp, BroadcastOp, arith::AddFOp, arith::SubFOp,
                                arith::MulFOp, arith::DivFOp>(op))
      ops.insert_range(op->getUsers());
  return ops;
}

/// Those, and what makes the value.
static SetVector<Operation *> makersOf(Value value) {
  SetVector<Operation *> ops = readersOf(value);
  ops.insert(value.getDefiningOp());
  return ops;
}

/// Whether a product makes several vectors of a token, and not as many as there are streams: mixes, or what is added to
/// the streams of several outputs. One more than streams is the sublayer's vector beside those. Its rows are those of
/// the operand that one of `makers` makes, or the fewest.
static bool isOfFractions(Operation *op, const SetVector<Operation *> &makers = {}) {
  auto product = dyn_cast<BatchMatmulOp>(op);
  if (!product)
    return false;
  const uint64_t left = product.getOut().getType().getDimSize(1), right = product.getOut().getType().getDimSize(2);
  const bool isLeft = makers.contains(behindViews(product.getLhs()).getDefiningOp());
  const bool isRight = makers.contains(behindViews(product.getRhs()).getDefiningOp());
  const int64_t rows = isLeft == isRight ? std::min(left, right) : isLeft ? left : right; // an open size is large
  const int64_t summed = product.getLhs().getType().getDimSize(product.getTransposeLhs() ? 1 : 2);
  return summed >= kMinStreams && summed <= kMaxStreams && rows >= kMinStreams && rows <= 2 * kMaxStreams &&
         std::abs(rows - summed) > 1;
}

/// One remark on a product of several vectors.
static void declineFractions(Sites &sites, Operation *product, Value coefficients) {
  sites.decline("aggregate", {Reason::streamFractions,
                              product,
                              describe(product->getResult(0)),
                              "one sum over the streams of h_pre x, and one output",
                              {coefficients, Value()}});
}

/// The product of several vectors that is added to a product; null for none.
static Operation *fractionsBeside(Operation *product) {
  SmallVector<Operation *> readers;
  usersThroughViews(product->getResult(0), readers);
  for (Operation *sum : readers)
    if (isa<arith::AddFOp>(sum))
      for (Value term : sum->getOperands())
        if (Operation *other = behindViews(term).getDefiningOp(); other && isOfFractions(other))
          return other;
  return nullptr;
}

/// Whether a product is of streams, seen through views.
static bool mixes(Operation *product, Value streams) {
  streams = behindViews(streams);
  return llvm::any_of(product->getOperands(), [&](Value operand) { return behindViews(operand) == streams; });
}

/// Whether a product of coefficients is what streams are weighed by, and not the streams.
static bool weighsStreams(Value product) {
  SmallVector<Operation *> readers;
  usersThroughViews(product, readers);
  auto isStreams = [&](Value x) { return behindViews(x) == product; };
  return llvm::all_of(readers, [&](Operation *reader) {
    if (auto aggregate = dyn_cast<AggregateOp>(reader))
      return !isStreams(aggregate.getX());
    if (auto post = dyn_cast<PostOp>(reader))
      return !isStreams(post.getX());
    return isa<BroadcastOp>(reader) && weighsStreams(reader->getResult(0));
  });
}

/// The argument that a call outside the function makes of a map, such as its diagonal, and that weighs something of
/// more elements; null for none.
static Value weighsOutside(Value map) {
  auto func = map.getDefiningOp()->getParentOfType<func::FuncOp>();
  const int64_t own = knownSize(cast<RankedTensorType>(map.getType()));
  for (BlockArgument argument : func.getArguments()) {
    auto isMap = [&](Value result) { return behindViews(result) == map; };
    auto weighs = [&](Operation *op) {
      return isa<arith::MulFOp, MatmulOp, BatchMatmulOp>(op) &&
             knownSize(cast<RankedTensorType>(op->getResult(0).getType())) > own;
    };
    if (llvm::any_of(madeOf(argument), isMap) && llvm::any_of(readersOf(argument), weighs))
      return argument;
  }
  return {};
}

/// Code that only measures or returns a map is none that mixes streams. What reads several maps is told once, and what
/// lacks its gates when they are there.
static void explainMap(Sites &sites, Value map, llvm::DenseSet<Operation *> &told) {
  auto gates = behindReshapes(map.getDefiningOp()->getOperand(0)).getDefiningOp<GatesOp>();
  if (gates ? sites.hasDeclined("aggregate", gates.getHPre()) : isOfPairs(map))
    return;
  SmallVector<Operation *> readers;
  usersThroughViews(map, readers);
  // Beside h_post in one product, less h_post h_pre^T, or by a size that is computed
  for (size_t i = 0; i < readers.size(); ++i)
    if (isa<tensor::ConcatOp, tensor::CastOp, tensor::ReshapeOp, BroadcastOp, arith::SubFOp>(readers[i]))
      usersThroughViews(readers[i]->getResult(0), readers);
  auto *reader = llvm::find_if(readers, [](Operation *reader) {
    return isa<MatmulOp, BatchMatmulOp>(reader) && !weighsStreams(reader->getResult(0));
  });
  if (Value outside = reader == readers.end() ? weighsOutside(map) : Value())
    return sites.decline("post", {Reason::combineForm,
                                  map.getDefiningOp(),
                                  describe(outside),
                                  "a sum of h_res x and h_post times the sublayer's output",
                                  {map, Value()},
                                  outside.getLoc()});
  if (reader == readers.end() ||
      llvm::any_of((*reader)->getOperands(), [&](Value operand) { return lacksGates(sites, operand); }) ||
      !told.insert(*reader).second)
    return;
  if (auto *post = llvm::find_if(readers, llvm::IsaPred<PostOp>); post != readers.end()) {
    if (mixes(*reader, cast<PostOp>(*post).getX()))
      sites.decline("aggregate", {Reason::aggregateForm,
                                  *reader,
                                  "h_res x, " + describe((*reader)->getResult(0)),
                                  "a sum over the streams of h_pre x, as x was before h_res mixed it",
                                  {map, Value()}});
    return;
  }
  if (Operation *several = isOfFractions(*reader, makersOf(map)) ? *reader : fractionsBeside(*reader))
    return declineFractions(sites, several, map);
  sites.decline("post", {Reason::combineForm,
                         *reader,
                         describe((*reader)->getResult(0)),
                         "a sum of h_res x and h_post times the sublayer's output",
                         {map, Value()}});
}

/// The first op in the code that computes more than parts, sums and products of a value; null where none does.
static Operation *firstFunction(Value value) {
  Operation *first = nullptr;
  for (Operation *op : readersOf(value))
    if ((op->hasTrait<OpTrait::Elementwise>() || isa<SoftmaxOp>(op)) &&
        !isa<SigmoidOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op) &&
        op->getBlock() == value.getParentBlock() && (!first || op->isBeforeInBlock(first)))
      first = op;
  return first;
}

/// Operands of arithmetic, or of a sum over the streams, that makes a value.
static SmallVector<Value> termsOf(Value value) {
  Operation *op = value.getDefiningOp();
  const bool isArithmetic = isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::ExtFOp,
                                            arith::TruncFOp, ContractOp>(op);
  return isArithmetic ? SmallVector<Value>(op->getOperands()) : SmallVector<Value>();
}

/// Whether a call that no op stands for makes a value, such as one that detaches it, or a dropout.
static bool isMadeByCall(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return func && func.getArgAttr(argument.getArgNumber(), kMadeOf);
}

/// A projection of another tensor than the gate weighs: of streams with a vector added, of their mean, or of as many
/// channels, such as what a norm outside the function makes of them. It is found as such, and no part of the site. A
/// gate that weighs the projected streams may weigh others as well. Whether it was told.
static bool explainProjected(Sites &sites, GatesOp gates) {
  auto projection = gates.getProj().getDefiningOp<ProjectionOp>();
  if (!projection || !gates.getHPre())
    return false;
  Value projected = behindViews(projection.getX());
  const int64_t width = streamsWidth(projection.getX());
  bool isOfOther = false, isElsewhere = isa<BlockArgument>(projected);
  const SetVector<Operation *> readers = makersOf(gates.getHPre());
  for (Operation *reader : readers)
    if (auto aggregate = dyn_cast<AggregateOp>(reader)) {
      if (!readers.contains(behindViews(aggregate.getHPre()).getDefiningOp())) // the streams have a product of the gate
        continue;
      Value streams = behindViews(aggregate.getX());
      if (streams == projected)
        return false;
      isOfOther |= isComputedOf(projected, streams, termsOf) || streamsWidth(aggregate.getX()) == width;
      isElsewhere &= isa<BlockArgument>(streams);
    }
  if (!isOfOther)
    return false;
  const Reason reason = isMadeByCall(projected) ? Reason::projectionBehindCall
                        : isElsewhere           ? Reason::normElsewhere
                                                : Reason::projectionOfOtherTensor;
  sites.decline("pre", {reason,
                        projection,
                        describe(projected),
                        "a projection of the streams that h_pre weighs",
                        {gates.getHPre(), Value()},
                        projected.getLoc()});
  return true;
}

/// The tensor that a gate weighs where arithmetic makes it of the projected streams, such as those behind the norm;
/// null for other code.
static Value weighedInstead(GatesOp gates) {
  auto projection = gates.getProj().getDefiningOp<ProjectionOp>();
  Value streams = projection ? behindViews(projection.getX()) : Value();
  for (Operation *reader : readersOf(gates.getHPre()))
    if (streams && isa<arith::MulFOp, BatchMatmulOp>(reader))
      for (Value operand : reader->getOperands())
        if (Value made = behindViews(operand); made != streams && isComputedOf(made, streams, termsOf))
          return made;
  return {};
}

/// Whether what a gate weighs is added up over some dimension, and not read as it is, as heads of attention are.
static bool isAddedUp(Operation *product) {
  return !isa<arith::MulFOp>(product) ||
         llvm::any_of(readersOf(product->getResult(0)), llvm::IsaPred<ReduceOp, ContractOp, BatchMatmulOp>);
}

/// Whether a gate multiplies the projected streams, or what arithmetic makes of them: one that is alone may be of heads
/// of attention, or of another layer.
static bool isOfStreams(GatesOp gates) {
  auto projection = gates.getProj().getDefiningOp<ProjectionOp>();
  Value streams = projection ? behindViews(projection.getX()) : Value();
  auto isProjected = [&](Value operand) { return behindViews(operand) == streams; };
  return weighedInstead(gates) || llvm::any_of(readersOf(gates.getHPre()), [&](Operation *reader) {
           return !isMhcOp(reader) && !isa<arith::AddFOp, arith::SubFOp>(reader) && isAddedUp(reader) &&
                  llvm::any_of(reader->getOperands(), isProjected);
         });
}

/// One remark, on what the site lacks first.
static void explainGates(Sites &sites, GatesOp gates) {
  const bool isAlone = !gates.getHPost() && !gates.getLogits();
  if (explainProjected(sites, gates) || (isAlone && !isOfStreams(gates)))
    return;
  for (Value result : gates->getResults())
    if (Operation *user = plainUser(result); user && isClamp(user))
      return sites.decline(
          "gates",
          {Reason::gateClamp, user, describe(user->getResult(0)), "gates and logits as they are", {result, Value()}});
  SetVector<Operation *> readers = makersOf(gates.getHPre());
  auto isSeveral = [&](Operation *reader) { return isOfFractions(reader, readers); };
  if (auto *several = llvm::find_if(readers, isSeveral); several != readers.end())
    return declineFractions(sites, *several, gates.getHPre());
  if (Operation *user = plainUser(gates.getHPre())) {
    Value weighed = weighedInstead(gates);
    return sites.decline("aggregate",
                         {Reason::aggregateForm,
                          user,
                          weighed ? "h_pre times " + describe(weighed) : describe(user->getResult(0)),
                          std::string("a sum over the streams of h_pre x") + (weighed ? ", as x is projected" : ""),
                          {gates.getHPre(), Value()}});
  }
  Value logits = gates.getLogits();
  Operation *user = logits ? plainMapOf(logits) : nullptr;
  if (!user)
    return;
  // Normalisations are told by what they start from.
  Operation *function = firstFunction(logits);
  Value other = isa<arith::SubFOp>(user) ? behindViews(user->getOperand(1)) : Value();
  while (other && isa_and_nonnull<BroadcastOp, ReduceOp>(other.getDefiningOp()))
    other = behindViews(other.getDefiningOp()->getOperand(0));
  const bool isOfOutside = isa_and_nonnull<BlockArgument>(other); // such as a detached maximum
  sites.decline("pre", {Reason::residualForm,
                        user,
                        isOfOutside ? "logits less " + describe(other) : describe(user->getResult(0)),
                        "one residual map of the logits",
                        {(function ? function : user)->getResult(0), Value()}});
}

llvm::SmallSetVector<int64_t, 2> mhc::widthsOfStreams(func::FuncOp func) {
  llvm::SmallSetVector<int64_t, 2> ofSites, ofOthers;
  func.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case([&](PostOp post) { ofSites.insert(streamsWidth(post.getX())); })
        .Case([&](AggregateOp aggregate) {
          const bool isOfSite = behindReshapes(aggregate.getHPre()).getDefiningOp<GatesOp>();
          (isOfSite ? ofSites : ofOthers).insert(streamsWidth(aggregate.getX()));
        })
        .Case([&](ContractOp contract) { ofOthers.insert(streamsWidth(contract.getX())); })
        .Case([&](ExpandOp expand) { ofOthers.insert(streamsWidth(expand.getStreams())); });
  });
  return ofSites.empty() ? ofOthers : ofSites;
}

/// Whether the program has a projection's streams apart: where they are apart for its rows alone, one vector is
/// projected, as by a layer behind a norm.
static bool hasStreamsApart(ProjectionOp projection) {
  const ArrayRef<int64_t> streams = projection.getX().getType().getShape().take_back(2);
  auto isApart = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape().take_back(2) == streams;
  };
  Value source = behindReshapes(projection.getX());
  while (auto cast = source.getDefiningOp<arith::ExtFOp>())
    source = behindReshapes(cast.getIn());
  if (isApart(source))
    return true;
  SmallVector<Value> views = {source};
  for (size_t next = 0; next < views.size(); ++next)
    for (Operation *user : views[next].getUsers()) {
      if (isa<tensor::ExtractSliceOp>(user) || (isApart(views[next]) && !isa<ProjectionOp>(user)))
        return true;
      if (showsOperand(user) || isa<arith::ExtFOp>(user))
        views.push_back(user->getResult(0));
    }
  return false;
}

/// Whether gates were found of a projection: other readers of it, such as a loss, are no part of the site.
static bool hasGates(ProjectionOp projection) {
  auto isSame = [&](GatesOp gates) {
    auto own = gates.getProj().getDefiningOp<ProjectionOp>();
    return own && behindViews(own.getX()) == behindViews(projection.getX()) &&
           behindViews(own.getPhi()) == behindViews(projection.getPhi());
  };
  bool isFound = false;
  projection->getParentOfType<func::FuncOp>().walk([&](GatesOp gates) { isFound |= isSame(gates); });
  return isFound;
}

/// Whether a function of a projection may make gates of it. One of all rows is of another layer, such as a classifier,
/// where nothing is weighed by what it makes.
static bool mayMakeGates(Operation *function, ProjectionOp projection) {
  const MayWeigh weighs = mayWeigh(function->getResult(0));
  const bool isOfPart =
      knownSize(cast<RankedTensorType>(function->getResult(0).getType())) < knownSize(projection.getProj().getType());
  return weighs == MayWeigh::yes || (weighs == MayWeigh::unknown && isOfPart);
}

/// A projection for gates that is read by plain code only. Where streams were found, it is one of all their channels:
/// others are layers behind a norm. So are those that no sigmoid reads.
static void explainProjection(Sites &sites, ProjectionOp projection, ArrayRef<int64_t> widths) {
  const int64_t width = streamsWidth(projection.getX());
  if (!widths.empty() && !llvm::is_contained(widths, width) && !llvm::is_contained(widths, 0))
    return;
  if (!hasStreamsApart(projection) || hasGates(projection))
    return;
  Operation *user = plainUser(projection.getProj());
  if (!user)
    return;
  Operation *function = firstFunction(projection.getProj());
  std::pair<Value, Value> site(behindReshapes(projection.getX()), behindReshapes(projection.getPhi()));
  auto isGate = [&](Operation *reader) { return isa<SigmoidOp>(reader) && mayMakeGates(reader, projection); };
  if (function && mayMakeGates(function, projection))
    sites.decline("gates", {Reason::gateFunction, function, describe(function->getResult(0)),
                            "sigmoids of two groups of rows", site});
  else if (!function && llvm::any_of(readersOf(projection.getProj()), isGate) &&
           !sites.hasDeclined("gates", site.first))
    sites.decline("gates", {Reason::gateRows, user, describe(user->getResult(0)),
                            "rows of h_pre, of h_post and of the logits, each in one piece", site});
}

void mhc::explainStreams(func::FuncOp func, Sites &sites) {
  llvm::DenseSet<Operation *> told;
  const llvm::SmallSetVector<int64_t, 2> widths = widthsOfStreams(func);
  func.walk([&](Operation *op) {
    if (isa<SinkhornOp, PermutationMixOp>(op))
      explainMap(sites, op->getResult(0), told);
    else if (auto gates = dyn_cast<GatesOp>(op))
      explainGates(sites, gates);
    else if (auto projection = dyn_cast<ProjectionOp>(op))
      explainProjection(sites, projection, widths.getArrayRef());
  });
}
