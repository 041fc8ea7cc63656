//===- Streams.cpp - Mixes of streams: post, aggregate, contract ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// Whether a value is a coefficient by what makes it.
static bool isCoefficient(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<GatesOp, SinkhornOp, PermutationMixOp>(op))
      return true;
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, TransposeOp, arith::ExtFOp, arith::TruncFOp,
             arith::SubFOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

namespace {
/// sum_i mix[...] * x[m,i,c] with the variables of each part.
struct Mix {
  Factor x;
  std::vector<Factor> weights; ///< factors that run over the streams but not over the channels
  double coefficient;
  Var stream;
  Vars tokens, channels;
  Layout layout;

  /// The weights, where they are coefficients that were found.
  Value coefficients() const {
    auto found = llvm::find_if(weights, [](const Factor &weight) { return isCoefficient(weight.base); });
    return found == weights.end() ? Value() : found->base;
  }

  /// The variables of each dimension of the streams, in their layout.
  SmallVector<Vars> streamGroups() const {
    if (layout == Layout::nC)
      return {tokens, {stream}, channels};
    return {tokens, channels, {stream}};
  }
};

class StreamRaiser {
public:
  StreamRaiser(FormBuilder &forms, Sites &sites, Operation *op)
      : forms(forms), sites(sites), op(op), root(op->getResult(0)), builder(op) {}
  bool raiseMix();
  bool raiseSum();

private:
  template <typename Raise>
  bool tryMixes(Raise raise);
  bool raisePost(const Mix &mix, ArrayRef<Term> branches);
  bool raiseAggregate(const Mix &mix);
  bool raiseContract(const Mix &mix);

  /// Reads the term as a mix of the streams that factor `candidate` is.
  std::optional<Mix> matchMix(const Term &term, size_t candidate);
  /// A value for a product of factors over `vars`, which become the dimensions of `groups`.
  Value materialise(ArrayRef<Factor> factors, double coefficient, ArrayRef<Vars> groups, const Vars &sums = {});
  bool splitBranches(ArrayRef<Term> branches, const Mix &mix, Var output, Value &gate, Value &f, Value &bias);
  bool digBias(const Factor &factor, const Vars &tokens, const Vars &channels, Value &f, Value &bias);
  bool finish(Operation *made, ArrayRef<Vars> groups, StringRef detail = {});
  void decline(StringRef kind, const Mix &mix, Reason reason, Value at, const std::string &found,
               const std::string &needed) {
    Value map = mix.coefficients();
    auto site = map ? std::pair(map, Value()) : std::pair(mix.x.base, mix.weights[0].base);
    sites.decline(kind, {reason, opAtFault(at, op), found, needed, site});
  }

  /// `wider` has more bits than the streams.
  void declineWidth(StringRef kind, const Mix &mix, Reason reason, Value wider);

  FormBuilder &forms;
  Sites &sites;
  Operation *op;
  Value root;
  OpBuilder builder;
  SmallVector<Vars> own;
  Vars out;
};
} // namespace

static Vars without(ArrayRef<Var> vars, ArrayRef<Var> dropped) {
  Vars rest;
  for (Var var : vars)
    if (!llvm::is_contained(dropped, var))
      rest.push_back(var);
  return rest;
}

static Vars joined(const Vars &a, const Vars &b) {
  Vars all = a;
  llvm::append_range(all, b);
  return all;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Whether a tensor has rows for a single token: a dimension of size one has no variable.
static bool hasOneToken(const Factor &factor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(factor.base.getType()).getShape();
  return shape.size() >= 2 && shape.front() == 1;
}

/// Whether a factor is a tensor with a row for each token.
static bool isPerToken(const FormBuilder &forms, const Factor &factor, const Vars &tokens) {
  return tokens.empty() ? hasOneToken(factor) : containsAny(varsOf(forms, factor), tokens);
}

std::optional<Mix> StreamRaiser::matchMix(const Term &term, size_t candidate) {
  if (term.sums.size() != 1)
    return std::nullopt;
  Mix mix;
  mix.stream = term.sums[0];
  mix.coefficient = term.coefficient;
  int64_t n = forms.extent(mix.stream);
  const Factor *x = &term.factors[candidate];
  if (n < kMinStreams || n > kMaxStreams || x->role != Factor::Value || x->power != 1 ||
      !llvm::is_contained(varsOf(forms, *x), mix.stream) || !forms.fullVars(*x))
    return std::nullopt;
  Vars weightVars;
  for (const Factor &other : term.factors)
    if (&other != x)
      weightVars = joined(weightVars, varsOf(forms, other));
  mix.x = *x;
  for (const Factor &factor : term.factors)
    if (&factor != x)
      mix.weights.push_back(factor);
  Vars all = *forms.fullVars(mix.x);
  size_t position = llvm::find(all, mix.stream) - all.begin();
  if (position + 1 == all.size()) {
    mix.layout = Layout::Cn;
    for (Var var : ArrayRef(all).drop_back())
      (llvm::is_contained(weightVars, var) ? mix.tokens : mix.channels).push_back(var);
    // Without weights (contract) the channels are the last dimension before the streams.
    if (mix.weights.empty() && mix.tokens.empty() && mix.channels.size() > 1) {
      mix.tokens.assign(mix.channels.begin(), mix.channels.end() - 1);
      mix.channels = {mix.channels.back()};
    }
  } else {
    mix.layout = Layout::nC;
    mix.tokens.assign(all.begin(), all.begin() + position);
    mix.channels.assign(all.begin() + position + 1, all.end());
  }
  Vars expected = mix.layout == Layout::nC ? joined(joined(mix.tokens, {mix.stream}), mix.channels)
                                           : joined(joined(mix.tokens, mix.channels), {mix.stream});
  if ((mix.tokens.empty() && !hasOneToken(mix.x)) || mix.channels.empty() || all != expected)
    return std::nullopt;
  for (const Factor &factor : mix.weights)
    if (containsAny(varsOf(forms, factor), mix.channels))
      return std::nullopt;
  return mix;
}

Value StreamRaiser::materialise(ArrayRef<Factor> factors, double coefficient, ArrayRef<Vars> groups, const Vars &sums) {
  Vars vars;
  for (const Vars &group : groups)
    llvm::append_range(vars, group);
  Location loc = op->getLoc();
  Term term;
  term.coefficient = coefficient;
  term.factors.assign(factors.begin(), factors.end());
  term.sums = sums;
  Value value = forms.findValue(term, vars);
  // A factor by itself, but for one that is read rounded.
  bool rounded = value && getElementTypeOrSelf(value).getIntOrFloatBitWidth() <
                              getElementTypeOrSelf(factors[0].base).getIntOrFloatBitWidth();
  if (factors.size() == 1 && coefficient == 1 && sums.empty() && !rounded)
    if (Value whole = forms.rebuild(builder, loc, factors[0], groups))
      return whole;
  if (!value)
    return {};
  // It is indexed by the same variables in the same order.
  SmallVector<Vars> from;
  size_t next = 0;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t size : type.getShape()) {
    Vars &group = from.emplace_back();
    int64_t have = 1;
    while (size != 1 && next < vars.size() && (group.empty() || (!ShapedType::isDynamic(size) && have < size))) {
      group.push_back(vars[next]);
      have *= forms.extent(vars[next++]);
    }
  }
  return next == vars.size() ? forms.relayout(builder, loc, value, from, groups) : Value();
}

/// f + bias as one base of the branch.
bool StreamRaiser::digBias(const Factor &factor, const Vars &tokens, const Vars &channels, Value &f, Value &bias) {
  Form form = forms.at(factor.base, factor.index);
  forms.resolve(form);
  if (form.terms.size() != 2)
    return false;
  for (int b : {0, 1}) {
    const Term &biasTerm = form.terms[b], &main = form.terms[1 - b];
    bool perToken = llvm::any_of(biasTerm.factors, [&](const Factor &f) { return isPerToken(forms, f, tokens); });
    if (perToken || !biasTerm.sums.empty())
      continue;
    bias = materialise(biasTerm.factors, biasTerm.coefficient, {channels});
    f = materialise(main.factors, main.coefficient, {tokens, channels}, main.sums);
    return f && bias;
  }
  return false;
}

/// Reads the terms gate[m,o] * f[m,c] and gate[m,o] * bias[c].
bool StreamRaiser::splitBranches(ArrayRef<Term> branches, const Mix &mix, Var output, Value &gate, Value &f,
                                 Value &bias) {
  Term gateTerm; ///< what the gate is: both branches must mean the same
  for (const Term &term : branches) {
    std::vector<Factor> gates, rows, common;
    for (const Factor &factor : term.factors) {
      Vars vars = varsOf(forms, factor);
      bool stream = llvm::is_contained(vars, output), channel = containsAny(vars, mix.channels);
      if (stream && channel) {
        decline("post", mix, Reason::factorPerChannel, factor.base, describe(factor.base), "one value per stream");
        return false;
      }
      bool ofSum = containsAny(vars, term.sums);
      (stream ? gates : channel || ofSum ? rows : common).push_back(factor);
    }
    if (gates.empty() || rows.empty()) {
      if (mix.coefficients())
        decline("post", mix, gates.empty() ? Reason::gateMissing : Reason::branchForm, root,
                describeProduct(term.factors, term.coefficient), "h_post [M, n] times the sublayer's output [M, C]");
      return false;
    }
    // A number or a factor per token belongs to the gate or to the sublayer's output, wherever a value has it.
    bool tokens = llvm::any_of(rows, [&](const Factor &r) { return isPerToken(forms, r, mix.tokens); });
    Value newGate, newRows;
    SmallVector<Vars> rowGroups =
        tokens ? SmallVector<Vars>{mix.tokens, mix.channels} : SmallVector<Vars>{mix.channels};
    for (bool toGate : {true, false}) {
      std::vector<Factor> g = gates, r = rows;
      llvm::append_range(toGate ? g : r, common);
      double factor = toGate ? term.coefficient : 1;
      if (gate && (g != gateTerm.factors || factor != gateTerm.coefficient))
        continue;
      newGate = materialise(g, toGate ? term.coefficient : 1, {mix.tokens, {output}});
      newRows = newGate ? materialise(r, toGate ? 1 : term.coefficient, rowGroups, term.sums) : Value();
      if (newRows) {
        gateTerm.factors = g;
        gateTerm.coefficient = factor;
        break;
      }
    }
    if (!newGate || !newRows) {
      decline("post", mix, Reason::branchNotAValue, root, describeProduct(term.factors, term.coefficient),
              "h_post [M, n] and the sublayer's output [M, C]");
      return false;
    }
    gate = gate ? gate : newGate;
    Value &slot = tokens ? f : bias;
    if (slot) {
      decline("post", mix, Reason::branchTwice, root, describe(slot) + " and " + describe(newRows),
              "one output of the sublayer, and one bias");
      return false;
    }
    slot = newRows;
    if (tokens && rows.size() == 1 && branches.size() == 1 && rows[0].power == 1) {
      Value part, vector;
      if (digBias(rows[0], mix.tokens, mix.channels, part, vector)) {
        f = part;
        bias = vector;
      }
    }
  }
  return gate && f;
}

/// Replaces the root by the result of `made`, whose dimensions are indexed by `groups`.
bool StreamRaiser::finish(Operation *made, ArrayRef<Vars> groups, StringRef detail) {
  Value shaped = forms.relayout(builder, op->getLoc(), made->getResult(0), groups, own);
  if (!shaped)
    return false;
  shaped = LeafBuilder(builder, op->getLoc()).cast(shaped, getElementTypeOrSelf(root));
  if (!mayReplace(sites, made, root, shaped))
    return false;
  addPlaces(made, root);
  root.replaceAllUsesWith(shaped);
  takeRaised(sites, made, detail);
  return true;
}

/// A kernel stores its result in the type of the streams; code that keeps it wider would lose bits.
static bool keepsPrecision(Value root, Value x) {
  return getElementTypeOrSelf(root).getIntOrFloatBitWidth() <= getElementTypeOrSelf(x).getIntOrFloatBitWidth();
}

void StreamRaiser::declineWidth(StringRef kind, const Mix &mix, Reason reason, Value wider) {
  decline(kind, mix, reason, wider, describe(wider), "elements of " + describe(getElementTypeOrSelf(mix.x.base)));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool StreamRaiser::raisePost(const Mix &mix, ArrayRef<Term> branches) {
  Vars outputs = without(out, joined(mix.tokens, mix.channels));
  if (mix.weights.empty() || outputs.size() != 1 || forms.extent(outputs[0]) != forms.extent(mix.stream))
    return false;
  Var output = outputs[0];
  Vars inOrder = mix.layout == Layout::nC ? joined(joined(mix.tokens, {output}), mix.channels)
                                          : joined(joined(mix.tokens, mix.channels), {output});
  if (out != inOrder) {
    if (mix.coefficients())
      decline("post", mix, Reason::resultOrder, root, describe(root),
              mix.layout == Layout::nC ? "[tokens, n, C] as the streams" : "[tokens, C, n] as the streams");
    return false;
  }
  for (const Factor &factor : mix.weights)
    if (!without(varsOf(forms, factor), joined(mix.tokens, {output, mix.stream})).empty())
      return false;
  if (!keepsPrecision(root, mix.x.base)) {
    declineWidth("post", mix, Reason::resultWider, root);
    return false;
  }
  Location loc = op->getLoc();
  Value gate, f, bias;
  if (!splitBranches(branches, mix, output, gate, f, bias))
    return false;
  Vars weightVars = mix.weights.empty() ? Vars() : varsOf(forms, mix.weights[0]);
  bool outputFirst = llvm::find(weightVars, output) < llvm::find(weightVars, mix.stream);
  SmallVector<Vars> weightGroups = {
      mix.tokens, {outputFirst ? output : mix.stream}, {outputFirst ? mix.stream : output}};
  Value weights = materialise(mix.weights, mix.coefficient, weightGroups);
  SmallVector<Vars> streamGroups = mix.streamGroups();
  Value x = forms.rebuild(builder, loc, mix.x, streamGroups);
  if (!weights || !x) {
    decline("post", mix, Reason::mixNotAValue, root, describeProduct(mix.weights, mix.coefficient),
            "one residual matrix [M, n, n]");
    return false;
  }
  LeafBuilder leaf(builder, loc);
  Type type = getElementTypeOrSelf(x);
  if (!keepsPrecision(f, x)) {
    declineWidth("post", mix, Reason::branchWider, f);
    return false;
  }
  if (bias && getElementTypeOrSelf(bias) != type)
    bias = leaf.toF32(bias);
  auto post = PostOp::create(builder, loc, x.getType(), leaf.cast(f, type), bias, leaf.toF32(gate), x,
                             leaf.toF32(weights), mix.layout, outputFirst ? Orient::oi : Orient::io);
  SmallVector<Vars> groups = streamGroups;
  groups[mix.layout == Layout::nC ? 1 : 2] = {output};
  return finish(post, groups, outputFirst ? "orientation oi" : "orientation io");
}

bool StreamRaiser::raiseAggregate(const Mix &mix) {
  if (mix.weights.empty() || out != joined(mix.tokens, mix.channels))
    return false;
  if (!keepsPrecision(root, mix.x.base)) {
    declineWidth("aggregate", mix, Reason::resultWider, root);
    return false;
  }
  for (const Factor &factor : mix.weights)
    if (!isPerToken(forms, factor, mix.tokens))
      return false;
  Location loc = op->getLoc();
  SmallVector<Vars> streamGroups = mix.streamGroups();
  Value gate = materialise(mix.weights, mix.coefficient, {mix.tokens, {mix.stream}});
  Value x = gate ? forms.rebuild(builder, loc, mix.x, streamGroups) : Value();
  if (!x)
    return false;
  auto type = cast<RankedTensorType>(x.getType());
  int64_t C = type.getDimSize(mix.layout == Layout::nC ? 2 : 1);
  auto aggregate = AggregateOp::create(builder, loc, type.clone(ArrayRef<int64_t>{type.getDimSize(0), C}), x,
                                       LeafBuilder(builder, loc).toF32(gate), mix.layout);
  return finish(aggregate, {mix.tokens, mix.channels});
}

/// Streams are arguments or what an mHC op made, also where a loop carries them: a short sum elsewhere is left alone.
static bool isStreamTensor(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop ? isStreamTensor(loop.getTiedLoopInit(argument)->get()) : isa<func::FuncOp>(parent);
  }
  if (auto loop = base.getDefiningOp<scf::ForOp>())
    return isStreamTensor(loop.getTiedLoopInit(cast<OpResult>(base))->get());
  return isa<PostOp, ExpandOp>(base.getDefiningOp());
}

bool StreamRaiser::raiseContract(const Mix &mix) {
  if (!mix.weights.empty() || out != joined(mix.tokens, mix.channels) || !isStreamTensor(mix.x.base) ||
      !keepsPrecision(root, mix.x.base))
    return false;
  double n = forms.extent(mix.stream);
  bool mean = std::abs(mix.coefficient * n - 1) < 1e-6;
  if (!mean && mix.coefficient != 1)
    return false;
  Location loc = op->getLoc();
  SmallVector<Vars> groups = mix.streamGroups();
  Value x = forms.rebuild(builder, loc, mix.x, groups);
  if (!x)
    return false;
  auto type = cast<RankedTensorType>(x.getType());
  int64_t C = type.getDimSize(mix.layout == Layout::nC ? 2 : 1);
  auto contract = ContractOp::create(builder, loc, type.clone(ArrayRef<int64_t>{type.getDimSize(0), C}), x, mix.layout,
                                     mean ? ContractMode::mean : ContractMode::sum);
  return finish(contract, {mix.tokens, mix.channels}, mean ? "mean" : "sum");
}

/// Whether a value is streams by what makes or projects it.
static bool isProjectedOrMade(Value value) {
  return isa_and_nonnull<PostOp, ExpandOp>(value.getDefiningOp()) ||
         llvm::any_of(value.getUsers(), [](Operation *user) {
           return isa<ProjectionOp>(user) ||
                  (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user) && isProjectedOrMade(user->getResult(0)));
         });
}

/// Whether nothing else says that what the mix takes for streams are weights, or the other way round.
static bool isConsistent(const Mix &mix) {
  return !isCoefficient(mix.x.base) &&
         llvm::none_of(mix.weights, [](const Factor &weight) { return isProjectedOrMade(weight.base); });
}

/// Calls `raise` with every reading of the root as a mix of streams and other terms. With as many channels as streams
/// the residual matrix has the shape of the streams: what the function does with both tells them apart or, where it
/// does not, streams stand before channels.
template <typename Raise>
bool StreamRaiser::tryMixes(Raise raise) {
  forms.reset();
  Indices index = forms.freshIndices(root);
  Form form = forms.at(root, index);
  forms.resolve(form);
  for (const Index &slot : index) {
    own.push_back(forms.flatten(slot.vars));
    llvm::append_range(out, own.back());
  }
  if (form.terms.size() > 3)
    return false;
  std::vector<std::pair<Mix, std::vector<Term>>> readings;
  for (auto [t, term] : llvm::enumerate(form.terms)) {
    std::vector<Term> branches = form.terms;
    branches.erase(branches.begin() + t);
    for (size_t candidate = 0; candidate < term.factors.size(); ++candidate)
      if (std::optional<Mix> mix = matchMix(term, candidate); mix && isConsistent(*mix))
        readings.emplace_back(*mix, branches);
  }
  llvm::stable_sort(readings, [](const auto &a, const auto &b) {
    return a.first.layout == Layout::nC && b.first.layout == Layout::Cn;
  });
  return llvm::any_of(readings, [&](const auto &reading) { return raise(reading.first, reading.second); });
}

bool StreamRaiser::raiseMix() {
  return tryMixes([&](const Mix &mix, ArrayRef<Term> branches) {
    return branches.empty() ? raiseAggregate(mix) : raisePost(mix, branches);
  });
}

bool StreamRaiser::raiseSum() {
  return tryMixes([&](const Mix &mix, ArrayRef<Term> branches) { return branches.empty() && raiseContract(mix); });
}

/// Ops whose result may be a whole mix: not views, except rows of a product that mixes several things at once.
static bool isCandidate(Operation &op) {
  if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()) || isWide(op.getResult(0)))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSource().getDefiningOp<BatchMatmulOp>() != nullptr;
  if (auto cast = dyn_cast<arith::TruncFOp>(op))
    return cast.getIn().hasOneUse();
  return isa<ReduceOp, BatchMatmulOp, MatmulOp, arith::AddFOp, arith::MulFOp, arith::DivFOp>(op);
}

void mhc::raiseStreams(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  // From the end, so that the whole of a sum is met before its parts. Plain sums come last: what they sum must by then
  // be known for streams.
  forms.recordsValues = true;
  for (bool sums : {false, true}) {
    for (Operation *op : opsFromTheEnd(func)) {
      bool done = isOpTriviallyDead(op);
      if (!done && sites.mayTake() && isCandidate(*op)) {
        StreamRaiser raiser(forms, sites, op);
        done = sums ? raiser.raiseSum() : raiser.raiseMix();
      }
      if (done)
        forms.erase(op);
    }
  }
}
