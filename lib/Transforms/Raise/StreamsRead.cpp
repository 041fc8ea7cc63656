//===- StreamsRead.cpp - Sums as mixes of streams ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// Whether a value is a coefficient by what makes it.
static bool isCoefficient(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<GatesOp, SinkhornOp, PermutationMixOp>(op))
      return true;
    if (!showsOperand(op) && !isa<arith::SubFOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

Value Mix::coefficients() const {
  auto found = llvm::find_if(weights, [](const Factor &weight) { return isCoefficient(weight.base); });
  return found == weights.end() ? Value() : found->base;
}

SmallVector<Vars> Mix::groups(Var stream) const {
  if (layout == Layout::nC)
    return {tokens, {stream}, channels};
  return {tokens, channels, {stream}};
}

Vars mhc::without(ArrayRef<Var> vars, ArrayRef<Var> dropped) {
  Vars rest;
  for (Var var : vars)
    if (!llvm::is_contained(dropped, var))
      rest.push_back(var);
  return rest;
}

Vars mhc::joined(ArrayRef<Vars> parts) {
  Vars all;
  for (const Vars &part : parts)
    llvm::append_range(all, part);
  return all;
}

//===----------------------------------------------------------------------===//
// Tokens, streams and channels
//===----------------------------------------------------------------------===//

/// Whether a tensor has rows for a single token: a dimension of size one has no variable.
static bool hasOneToken(const Factor &factor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(factor.base.getType()).getShape();
  return shape.size() >= 2 && shape.front() == 1;
}

bool mhc::isPerToken(const FormBuilder &forms, const Factor &factor, const Vars &tokens) {
  return tokens.empty() ? hasOneToken(factor) : containsAny(varsOf(forms, factor), tokens);
}

/// Tells the variables of the streams apart, which stand in the order `all`. With inner streams the weights' variables
/// are the tokens.
static void splitVars(Mix &mix, ArrayRef<Var> all, ArrayRef<Var> weightVars) {
  size_t position = llvm::find(all, mix.stream) - all.begin();
  if (position + 1 < all.size()) {
    mix.layout = Layout::nC;
    mix.tokens.assign(all.begin(), all.begin() + position);
    mix.channels.assign(all.begin() + position + 1, all.end());
    return;
  }
  mix.layout = Layout::Cn;
  for (Var var : all.drop_back())
    (llvm::is_contained(weightVars, var) ? mix.tokens : mix.channels).push_back(var);
  // Without weights (contract) the channels are the last dimension before the streams.
  if (mix.weights.empty() && mix.tokens.empty() && mix.channels.size() > 1) {
    mix.tokens.assign(mix.channels.begin(), mix.channels.end() - 1);
    mix.channels = {mix.channels.back()};
  }
}

/// Reads the term as a mix of the streams that factor `candidate` is.
static std::optional<Mix> matchMix(FormBuilder &forms, const Term &term, size_t candidate) {
  if (term.sums.size() != 1)
    return std::nullopt;
  Mix mix;
  mix.stream = term.sums[0];
  mix.coefficient = term.coefficient;
  mix.x = term.factors[candidate];
  int64_t n = forms.extent(mix.stream);
  if (n < kMinStreams || n > kMaxStreams || mix.x.role != Factor::Value || mix.x.power != 1 ||
      !llvm::is_contained(varsOf(forms, mix.x), mix.stream))
    return std::nullopt;
  std::optional<Vars> all = forms.fullVars(mix.x);
  if (!all)
    return std::nullopt;
  mix.weights = term.factors;
  mix.weights.erase(mix.weights.begin() + candidate);
  Vars weightVars;
  for (const Factor &weight : mix.weights)
    llvm::append_range(weightVars, varsOf(forms, weight));
  splitVars(mix, *all, weightVars);
  bool inOrder = *all == joined(mix.groups());
  if (!inOrder || (mix.tokens.empty() && !hasOneToken(mix.x)) || mix.channels.empty() ||
      containsAny(weightVars, mix.channels))
    return std::nullopt;
  return mix;
}

//===----------------------------------------------------------------------===//
// Rows that are the same in all streams
//===----------------------------------------------------------------------===//

/// What a factor reads, element by element, of the streams that `expand` makes of it; nothing where it repeats
/// something else.
static std::optional<Factor> readExpanded(FormBuilder &forms, const Factor &rows, ExpandOp expand, Var stream) {
  Indices own = forms.freshIndices(expand.getX());
  Form form = forms.at(expand.getX(), own);
  forms.resolve(form);
  const Term &term = form.terms[0];
  if (form.terms.size() != 1 || term.factors.size() != 1 || term.coefficient != 1 || !term.sums.empty())
    return std::nullopt;
  const Factor &source = term.factors[0];
  Vars first = forms.flatten(own[0].vars), second = forms.flatten(own[1].vars);
  if (source.base != rows.base || source.power != 1 || source.role != Factor::Value ||
      forms.fullVars(source) != joined({first, second}) || !forms.fullVars(rows))
    return std::nullopt;
  // Both cover the base in its order: a dimension of it belongs to the tokens or to the channels.
  Index tokens, channels;
  for (auto [known, read] : llvm::zip(source.index, rows.index)) {
    bool ofToken = containsAny(first, known.vars), ofChannel = containsAny(second, known.vars);
    if (ofToken && ofChannel)
      return std::nullopt;
    llvm::append_range(ofToken ? tokens.vars : channels.vars, read.vars);
  }
  Factor streams{expand.getStreams(), {tokens, {{stream}}, channels}};
  if (expand.getLayout() == Layout::Cn)
    std::swap(streams.index[1], streams.index[2]);
  return streams;
}

/// Rows of which an mhc.expand before `user` makes streams, as those: linalg never makes streams whose only reader
/// repeats the rows itself.
static std::optional<Factor> asStreams(FormBuilder &forms, const Factor &rows, Var stream, Operation *user) {
  if (rows.role != Factor::Value || rows.power != 1)
    return std::nullopt;
  SmallVector<Operation *> readers;
  usersThroughViews(rows.base, readers);
  for (Operation *reader : readers) {
    auto expand = dyn_cast<ExpandOp>(reader);
    Operation *here = expand ? expand->getBlock()->findAncestorOpInBlock(*user) : nullptr;
    if (!here || !expand->isBeforeInBlock(here) ||
        getElementTypeOrSelf(expand.getX()) != getElementTypeOrSelf(rows.base))
      continue;
    if (std::optional<Factor> streams = readExpanded(forms, rows, expand, stream))
      return streams;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Readings
//===----------------------------------------------------------------------===//

/// Whether a value is streams by what makes or projects it.
static bool isProjectedOrMade(Value value) {
  return isa_and_nonnull<PostOp, ExpandOp>(value.getDefiningOp()) ||
         llvm::any_of(value.getUsers(), [](Operation *user) {
           return isa<ProjectionOp>(user) || (isReshape(user) && isProjectedOrMade(user->getResult(0)));
         });
}

/// Whether nothing else says that what the mix takes for streams are weights, or the other way round.
static bool isConsistent(const Mix &mix) {
  return !isCoefficient(mix.x.base) &&
         llvm::none_of(mix.weights, [](const Factor &weight) { return isProjectedOrMade(weight.base); });
}

std::vector<MixReading> mhc::readMixes(FormBuilder &forms, const Form &form, Operation *user) {
  std::vector<MixReading> readings;
  for (auto [t, term] : llvm::enumerate(form.terms)) {
    std::vector<Term> branches = form.terms;
    branches.erase(branches.begin() + t);
    for (size_t candidate = 0; candidate < term.factors.size(); ++candidate) {
      Term read = term;
      Factor &x = read.factors[candidate];
      if (term.sums.size() == 1 && !llvm::is_contained(varsOf(forms, x), term.sums[0]))
        x = asStreams(forms, x, term.sums[0], user).value_or(x);
      if (std::optional<Mix> mix = matchMix(forms, read, candidate); mix && isConsistent(*mix))
        readings.push_back({*mix, branches});
    }
  }
  // With as many channels as streams the residual matrix has the shape of the streams: what the function does with both
  // tells them apart or, where it does not, streams stand before channels.
  llvm::stable_sort(readings, [](const MixReading &a, const MixReading &b) {
    return a.mix.layout == Layout::nC && b.mix.layout == Layout::Cn;
  });
  return readings;
}
