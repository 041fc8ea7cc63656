//===- GatedDeltaBuild.cpp - The op of a gated delta front end ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the values that the operands are made of, concatenates parts that lie apart, and puts the results in place.
//
//===----------------------------------------------------------------------===//

#include "GatedDelta.h"
#include "Places.h"
#include "mhc/IR/Counted.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::gated;
using algebra::DimVars;
using algebra::Expr;
using algebra::Reading;
using algebra::Size;

/// The eps of a norm that is none.
constexpr double kUnusedEps = 1e-6;

static int64_t channelsOf(ArrayRef<Part> parts) {
  int64_t channels = 0;
  for (const Part &part : parts)
    channels += part.second;
  return channels;
}

/// The value that an expression is taken from at `at`: the narrowest, and of those the first.
std::optional<Reading::Found> GatedDeltaRaiser::firstOf(const Expr &expr, Operation *at) {
  std::optional<Reading::Found> best;
  for (const Reading::Found &found : reading.find(expr, at))
    if (found.factor == 1 && (!best || widthOf(found.value) <= widthOf(best->value)))
      best = found;
  return best;
}

/// The first value of which the parts are channels one after the other, with the dimensions `order` around those: as
/// they are, else in another order.
std::optional<Reading::Found> GatedDeltaRaiser::wholeOf(ArrayRef<Part> parts, ArrayRef<VarSize> order, Operation *at) {
  SmallVector<VarSize> whole(order);
  for (auto &[var, size] : whole)
    if (var == gated::channel)
      size = channelsOf(parts);
  auto dims = llvm::to_vector(llvm::seq<size_t>(0, whole.size()));
  do {
    auto permuted = llvm::map_to_vector(dims, [&](size_t dim) { return whole[dim]; });
    for (Value value : values) {
      auto read = reading.isBefore(value, at) ? readAs(value, permuted) : std::nullopt;
      int64_t first = 0;
      bool isWhole = read && llvm::all_of(parts, [&](const Part &own) {
                       Expr there = part(read->first, std::exchange(first, first + own.second), own.second);
                       return isSame(reading, there, own.first);
                     });
      if (isWhole)
        return Reading::Found{value, read->second, 1};
    }
  } while (std::next_permutation(dims.begin(), dims.end()));
  return parts.size() == 1 ? firstOf(parts[0].first, at) : std::nullopt;
}

/// Values of which the parts are the concatenation: one where there is one, else the smallest.
std::optional<Source> GatedDeltaRaiser::sourceOf(ArrayRef<Part> parts, ArrayRef<VarSize> order, Operation *at) {
  if (std::optional<Reading::Found> whole = wholeOf(parts, order, at))
    return Source{{{*whole, channelsOf(parts)}}};
  Source source;
  while (!parts.empty()) {
    size_t count = 0;
    std::optional<Reading::Found> found;
    while (!found && count < parts.size())
      found = wholeOf(parts.take_front(++count), order, at);
    if (!found)
      return std::nullopt;
    source.parts.push_back({*found, channelsOf(parts.take_front(count))});
    parts = parts.drop_front(count);
  }
  return source;
}

/// The source as one value, whose dimensions run over `order`.
Value GatedDeltaRaiser::join(OpBuilder &builder, Location loc, const Source &source, ArrayRef<VarSize> order) {
  LeafBuilder leaf(builder, loc);
  SmallVector<Value> made;
  for (auto &[found, channels] : source.parts) {
    SmallVector<DimVars> dims;
    for (auto [var, size] : order)
      dims.push_back(dimOf(var, var == gated::channel ? Size(channels) : size));
    Value value = arrange(reading, builder, loc, found.value, found.at, dims);
    if (!value)
      return {};
    made.push_back(leaf.cast(value, source.elementType()));
  }
  auto dim = llvm::find_if(order, [](const VarSize &var) { return var.first == gated::channel; }) - order.begin();
  if (source.gateAt) {
    size_t widest = llvm::max_element(source.parts, llvm::less_second()) - source.parts.begin();
    made.insert(made.begin() + *source.gateAt, leaf.slice(made[widest], dim, 0, source.gateChannels));
  }
  return made.size() == 1 ? made[0] : leaf.concat(made, dim);
}

/// The first value of the type `element`, else the widest that is narrower, else the first.
static const Target *chooseTarget(ArrayRef<Target> targets, ArrayRef<Value> order, Type element) {
  auto cost = [&](const Target &target) {
    bool isSame = getElementTypeOrSelf(target.value) == element;
    return std::tuple(!isSame, widthOf(target.value) > element.getIntOrFloatBitWidth(),
                      llvm::find(order, target.value) - order.begin());
  };
  return targets.empty()
             ? nullptr
             : llvm::min_element(targets, [&](const Target &a, const Target &b) { return cost(a) < cost(b); });
}

/// Where the sequences of a convolution end; null where each row is one.
static Value cutsOf(const ActivatedConvolution &conv) {
  const algebra::Factor *start = algebra::singleFactor(conv.starts);
  return start ? start->node()->value.getDefiningOp<SequenceStartsOp>().getCuSeqlens() : Value();
}

bool GatedDeltaRaiser::build(const Front &front) {
  Type f32 = Float32Type::get(func.getContext());
  Type element = front.source.elementType();
  auto choose = [&] {
    SmallVector<const Target *> chosen;
    for (auto [i, targets] : llvm::enumerate(front.targets))
      chosen.push_back(chooseTarget(targets, values, i == kDecay ? f32 : element));
    return chosen;
  };
  SmallVector<const Target *> chosen = choose();
  auto isWider = [&](const Target *target) {
    return target && widthOf(target->value) > element.getIntOrFloatBitWidth();
  };
  if (llvm::any_of(ArrayRef(chosen).drop_back(), isWider)) { // which the op would round
    element = f32;
    chosen = choose();
  }
  Operation *last = nullptr;
  for (const Target *target : chosen)
    if (Operation *op = target ? target->value.getDefiningOp() : nullptr)
      if (!last || reading.isBefore(last->getResult(0), op))
        last = op;
  std::vector<Part> weights, biases, boundaries;
  for (const ActivatedConvolution *conv : {front.q, front.k, front.v}) {
    weights.push_back({conv->weight, conv->channels});
    biases.push_back({conv->bias, conv->channels});
    boundaries.push_back({conv->left.tokens, conv->channels});
  }
  const bool hasBias = !front.q->bias.empty(), hasBoundary = front.q->left.rows != 0;
  const VarSize channel = {gated::channel, 0}, tap = {gated::tap, front.q->taps};
  const VarSize head = {gated::channel, front.heads()};
  SmallVector<VarSize> before = {{gated::batch, front.batch}, {gated::row, front.q->left.rows}, channel};
  std::optional<Source> weight = sourceOf(weights, {channel, tap}, last);
  std::optional<Source> bias = hasBias ? sourceOf(biases, {channel}, last) : Source();
  std::optional<Source> aLog = sourceOf({{front.decay->aLog, front.heads()}}, {channel}, last);
  std::optional<Source> dtBias = sourceOf({{front.decay->dtBias, front.heads()}}, {channel}, last);
  std::optional<Source> boundary = hasBoundary ? sourceOf(boundaries, before, last) : Source();
  if (!weight || !bias || !aLog || !dtBias || !boundary)
    return false;
  Value cuts = cutsOf(*front.q);
  SmallVector<Value> inputs;
  for (const Source *source :
       std::initializer_list<const Source *>{&front.source, &*weight, &*bias, &*aLog, &*dtBias, &*boundary})
    for (auto &[found, channels] : source->parts)
      inputs.push_back(found.value);
  if (cuts)
    inputs.push_back(cuts);
  OpBuilder builder(last);
  setAfterInputs(builder, last->getBlock(), inputs);

  Location loc = last->getLoc();
  LeafBuilder leaf(builder, loc);
  auto stored = [&](Value value) {
    return value && getElementTypeOrSelf(value) != element ? leaf.toF32(value) : value;
  };
  SmallVector<VarSize> order = {{gated::batch, front.batch}, {gated::token, front.tokens}, channel};
  if (front.isTokenFirst) {
    std::swap(order[0], order[1]);
    std::swap(before[0], before[1]);
  }
  PreGatedDeltaRuleOp::Fields fields;
  Value x = join(builder, loc, front.source, order);
  fields.qkvzba = x ? leaf.cast(x, element) : x;
  fields.conv_weight = stored(join(builder, loc, *weight, {channel, tap}));
  fields.conv_bias = hasBias ? stored(join(builder, loc, *bias, {channel})) : Value();
  fields.A_log = stored(join(builder, loc, *aLog, {head}));
  fields.dt_bias = stored(join(builder, loc, *dtBias, {head}));
  fields.cu_seqlens = cuts;
  Value left = hasBoundary ? join(builder, loc, *boundary, before) : Value();
  fields.left_boundary = left ? leaf.cast(left, element) : left;
  if (!fields.qkvzba || !fields.conv_weight || (hasBias && !fields.conv_bias) || !fields.A_log || !fields.dt_bias ||
      (hasBoundary && !left))
    return false;
  auto type = cast<RankedTensorType>(fields.qkvzba.getType());
  const int64_t M = type.getDimSize(front.isTokenFirst ? 0 : 1), b = type.getDimSize(front.isTokenFirst ? 1 : 0);
  fields.query = fields.key = type.clone({b, M, front.heads(), front.keySize()});
  fields.value = fields.gate = type.clone({b, M, front.heads(), front.valueSize()});
  fields.beta = type.clone({b, M, front.heads()});
  fields.g = RankedTensorType::get({b, M, front.heads()}, f32);
  fields.num_key_heads = front.keyHeads;
  fields.qk_l2norm = front.q->eps.has_value();
  fields.l2_eps = front.q->eps.value_or(kUnusedEps);
  fields.softplus_threshold = front.decay->threshold;
  fields.seq_layout = front.isTokenFirst ? SeqLayout::MbD : SeqLayout::bMD;
  auto made = fields.create(builder, loc);

  SmallVector<Value> was, becomes;
  for (auto [targets, result] : llvm::zip(front.targets, made->getResults())) {
    for (const Target &target : targets) {
      auto type = cast<RankedTensorType>(target.value.getType());
      if (widthOf(target.value) > widthOf(result))
        continue;
      Value shaped = arrange(reading, builder, loc, result, target.from, target.dims);
      if (!shaped)
        continue;
      shaped = leaf.cast(shaped, type.getElementType());
      if (target.factor != 1)
        shaped = leaf.scale(shaped, target.factor);
      if (shaped.getType() != type) // sizes that one of the types leaves open
        shaped = tensor::CastOp::create(builder, loc, type, shaped);
      was.push_back(target.value);
      becomes.push_back(shaped);
    }
  }
  if (!mayReplace(sites, made, was, becomes))
    return true;
  for (auto [old, shaped] : llvm::zip(was, becomes)) {
    addPlaces(made.getOperation(), old);
    Operation *maker = shaped.getDefiningOp();
    old.replaceUsesWithIf(shaped, [&](OpOperand &use) {
      Operation *user = maker->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && maker->isBeforeInBlock(user);
    });
  }
  takeRaised(sites, made,
             counted(front.heads(), "head") + ", " + Twine(front.keyHeads) + " of q and k, " +
                 counted(front.q->taps, "tap"));
  return true;
}
