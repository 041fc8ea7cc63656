//===- Streams.cpp - Mixes of streams: post, aggregate, contract ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"
#include "Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// Where a mix may be
//===----------------------------------------------------------------------===//

static unsigned widthOf(Value value) { return getElementTypeOrSelf(value).getIntOrFloatBitWidth(); }

Value MixSite::materialise(ArrayRef<Factor> factors, double coefficient, ArrayRef<Vars> groups, const Vars &sums) {
  Term term;
  term.coefficient = coefficient;
  term.factors.assign(factors.begin(), factors.end());
  term.sums = sums;
  std::optional<Factor> found = forms.findValue(term, forms.flatten(joined(groups)));
  // A factor by itself, but for one that is read rounded.
  bool rounded = found && widthOf(found->base) < widthOf(factors[0].base);
  if (factors.size() == 1 && coefficient == 1 && sums.empty() && !rounded)
    if (Value whole = rebuild(factors[0], groups))
      return whole;
  if (!found)
    return {};
  SmallVector<Vars> from = llvm::map_to_vector(found->index, [](const Index &index) { return index.vars; });
  return forms.relayout(builder, op->getLoc(), found->base, from, groups);
}

bool MixSite::finish(Operation *made, ArrayRef<Vars> groups, ArrayRef<Vars> own, StringRef detail) {
  Value shaped = forms.relayout(builder, op->getLoc(), made->getResult(0), groups, own);
  if (!shaped)
    return false;
  shaped = leaf.cast(shaped, getElementTypeOrSelf(root));
  if (!mayReplace(sites, made, root, shaped))
    return false;
  addPlaces(made, root);
  root.replaceAllUsesWith(shaped);
  takeRaised(sites, made, detail);
  return true;
}

void MixSite::decline(StringRef kind, const Mix &mix, Reason reason, Value at, const std::string &found,
                      const std::string &needed) {
  auto isTold = [&](const Factor &weight) { return sites.hasDeclined("sinkhorn", weight.base); };
  if (llvm::any_of(mix.weights, isTold))
    return; // the matrix lacks its iteration: what the mix lacks comes of that
  Value map = mix.coefficients();
  auto site = map ? std::pair(map, Value()) : std::pair(mix.x.base, mix.weights[0].base);
  sites.decline(kind, {reason, opAtFault(at, op), found, needed, site});
}

void MixSite::declineWidth(StringRef kind, const Mix &mix, Reason reason, Value wider) {
  decline(kind, mix, reason, wider, describe(wider), "elements of " + describe(getElementTypeOrSelf(mix.x.base)));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
class StreamRaiser {
public:
  StreamRaiser(FormBuilder &forms, Sites &sites, Operation *op) : site(forms, sites, op), forms(forms) {}
  bool raiseMix();
  bool raiseSum();

private:
  std::vector<MixReading> readings();
  bool raisePost(const MixReading &reading);
  bool raiseAggregate(const Mix &mix);
  bool raiseContract(const Mix &mix);

  MixSite site;
  FormBuilder &forms;
  SmallVector<Vars> own; ///< the variables of each dimension of the root
  Vars out;              ///< all of them
};
} // namespace

/// A kernel stores its result in the type of the streams; code that keeps it wider would lose bits.
static bool keepsPrecision(Value root, Value x) { return widthOf(root) <= widthOf(x); }

/// The type of what an op makes of all streams of x for each token.
static RankedTensorType rowsOf(Value x, Layout layout) {
  auto type = cast<RankedTensorType>(x.getType());
  return type.clone(ArrayRef<int64_t>{type.getDimSize(0), type.getDimSize(layout == Layout::nC ? 2 : 1)});
}

bool StreamRaiser::raisePost(const MixReading &reading) {
  const Mix &mix = reading.mix;
  Vars outputs = without(out, joined({mix.tokens, mix.channels}));
  if (mix.weights.empty() || outputs.size() != 1 || forms.extent(outputs[0]) != forms.extent(mix.stream))
    return false;
  Var output = outputs[0];
  SmallVector<Vars> groups = mix.groups(output);
  if (out != joined(groups)) {
    if (mix.coefficients())
      site.decline("post", mix, Reason::resultOrder, site.root, describe(site.root),
                   mix.layout == Layout::nC ? "[tokens, n, C] as the streams" : "[tokens, C, n] as the streams");
    return false;
  }
  for (const Factor &factor : mix.weights)
    if (!without(varsOf(forms, factor), joined({mix.tokens, {output, mix.stream}})).empty())
      return false;
  if (!keepsPrecision(site.root, mix.x.base)) {
    site.declineWidth("post", mix, Reason::resultWider, site.root);
    return false;
  }
  std::optional<Branch> branch = readBranch(site, reading.branches, mix, output);
  if (!branch)
    return false;
  Vars weightVars = varsOf(forms, mix.weights[0]);
  bool outputFirst = llvm::find(weightVars, output) < llvm::find(weightVars, mix.stream);
  Vars first = {outputFirst ? output : mix.stream}, second = {outputFirst ? mix.stream : output};
  Value weights = site.materialise(mix.weights, mix.coefficient, {mix.tokens, first, second});
  Value x = site.rebuild(mix.x, mix.groups());
  if (!weights || !x) {
    site.decline("post", mix, Reason::mixNotAValue, site.root, describeProduct(mix.weights, mix.coefficient),
                 "one residual matrix [M, n, n]");
    return false;
  }
  if (!keepsPrecision(branch->f, x)) {
    site.declineWidth("post", mix, Reason::branchWider, branch->f);
    return false;
  }
  Type type = getElementTypeOrSelf(x);
  Value f = site.leaf.cast(branch->f, type), bias = branch->bias;
  if (bias && getElementTypeOrSelf(bias) != type)
    bias = site.leaf.toF32(bias);
  Value gate = site.leaf.toF32(branch->gate), matrix = site.leaf.toF32(weights);
  DropoutOp dropout = branch->dropout;
  auto post =
      PostOp::create(site.builder, site.op->getLoc(), x.getType(), f, bias, gate, x, matrix,
                     dropout ? dropout.getSeed() : Value(), mix.layout, outputFirst ? Orient::oi : Orient::io,
                     dropout ? dropout.getRateAttr() : FloatAttr(), dropout ? dropout.getStreamAttr() : IntegerAttr());
  return site.finish(post, groups, own, outputFirst ? "orientation oi" : "orientation io");
}

bool StreamRaiser::raiseAggregate(const Mix &mix) {
  if (mix.weights.empty() || out != joined({mix.tokens, mix.channels}))
    return false;
  if (!keepsPrecision(site.root, mix.x.base)) {
    site.declineWidth("aggregate", mix, Reason::resultWider, site.root);
    return false;
  }
  for (const Factor &factor : mix.weights)
    if (!isPerToken(forms, factor, mix.tokens))
      return false;
  Value gate = site.materialise(mix.weights, mix.coefficient, {mix.tokens, {mix.stream}});
  Value x = gate ? site.rebuild(mix.x, mix.groups()) : Value();
  if (!x)
    return false;
  auto aggregate =
      AggregateOp::create(site.builder, site.op->getLoc(), rowsOf(x, mix.layout), x, site.leaf.toF32(gate), mix.layout);
  return site.finish(aggregate, {mix.tokens, mix.channels}, own);
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
  if (!mix.weights.empty() || out != joined({mix.tokens, mix.channels}) || !isStreamTensor(mix.x.base) ||
      !keepsPrecision(site.root, mix.x.base))
    return false;
  double n = forms.extent(mix.stream);
  bool mean = std::abs(mix.coefficient * n - 1) < 1e-6;
  if (!mean && mix.coefficient != 1)
    return false;
  Value x = site.rebuild(mix.x, mix.groups());
  if (!x)
    return false;
  auto contract = ContractOp::create(site.builder, site.op->getLoc(), rowsOf(x, mix.layout), x, mix.layout,
                                     mean ? ContractMode::mean : ContractMode::sum);
  return site.finish(contract, {mix.tokens, mix.channels}, own, mean ? "mean" : "sum");
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

std::vector<MixReading> StreamRaiser::readings() {
  forms.reset();
  Indices index = forms.freshIndices(site.root);
  Form form = forms.at(site.root, index);
  forms.resolve(form);
  for (const Index &slot : index)
    own.push_back(forms.flatten(slot.vars));
  out = joined(own);
  // A mix, a sublayer's output and a bias
  return form.terms.size() <= 3 ? readMixes(forms, form, site.op) : std::vector<MixReading>();
}

bool StreamRaiser::raiseMix() {
  return llvm::any_of(readings(), [&](const MixReading &reading) {
    return reading.branches.empty() ? raiseAggregate(reading.mix) : raisePost(reading);
  });
}

bool StreamRaiser::raiseSum() {
  return llvm::any_of(
      readings(), [&](const MixReading &reading) { return reading.branches.empty() && raiseContract(reading.mix); });
}

/// Streams that may have been computed one by one.
static bool joinsStreams(tensor::ConcatOp op) {
  int64_t count = op.getInputs().size();
  return op.getDim() != 0 && count >= kMinStreams && count <= kMaxStreams && llvm::all_equal(op.getOperandTypes());
}

/// Ops whose result may be a whole mix: not views, except rows of a product that mixes several things at once, streams
/// side by side, and what was computed transposed.
static bool isCandidate(Operation &op) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Operation *inner = transpose.getX().getDefiningOp();
    return inner && singleUser(inner->getResult(0)) && isCandidate(*inner);
  }
  if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()) || isWide(op.getResult(0)))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSource().getDefiningOp<BatchMatmulOp>() != nullptr;
  if (auto cast = dyn_cast<arith::TruncFOp>(op))
    return singleUser(cast.getIn());
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return joinsStreams(concat);
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
