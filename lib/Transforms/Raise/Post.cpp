//===- Post.cpp - Mixes of streams to which a sublayer's output is added ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Var;

using Extent = IndexVars::value_type;

namespace {
/// The terms beside the mix:  gate[t, o] * (f[t, c] + bias[c]), behind a dropout or not.
class BranchReader {
public:
  BranchReader(MixSite &site, const Mix &mix, const Extent &output, Value x)
      : site(site), algebra(site.algebra), mix(mix), output(output), x(x) {}

  bool read();

  Value gate, f, bias;
  DropoutOp dropout;

private:
  /// The factors of a term by what they run over: streams, channels or what is summed, and tokens at most.
  struct Parts {
    algebra::Term gate, rows, common;
  };

  bool takeDropout(Expr &terms);
  const algebra::Factor *findDropout(const algebra::Term &term);
  bool add(const algebra::Term &term);
  std::optional<Parts> split(const algebra::Term &term);
  Value addGate(const Parts &parts, ArrayRef<IndexVars> rowGroups);
  Value buildGate(const Expr &gates);
  MixSite::Scaled buildRows(const Expr &product, ArrayRef<IndexVars> groups);
  MixSite::Scaled buildPart(const Expr &product, ArrayRef<IndexVars> groups);
  void splitBias();
  void decline(Reason reason, const std::string &found, const std::string &needed) {
    site.decline("post", mix, reason, site.root, found, needed);
  }

  MixSite &site;
  Algebra &algebra;
  const Mix &mix;
  Extent output;
  Value x;
  std::optional<Expr> gateTerm; ///< what the gate is: all terms must mean the same
  std::optional<Expr> rowsTerm; ///< what the values are that it multiplies
};
} // namespace

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

const algebra::Factor *BranchReader::findDropout(const algebra::Term &term) {
  auto found = llvm::find_if(term.factors, [&](const algebra::Factor &factor) {
    Value base = factor.node()->value;
    return base && base.getDefiningOp<DropoutOp>() && factor.halves == 2 && dependsOn(factor, output.first) &&
           dependsOnAny(factor, mix.channels);
  });
  return found == term.factors.end() ? nullptr : &*found;
}

/// Where the terms are one dropout in the order of the streams, puts in their place what it drops from. False where
/// they are a dropout otherwise; says why.
bool BranchReader::takeDropout(Expr &terms) {
  auto term = llvm::find_if(terms, [&](const algebra::Term &term) { return findDropout(term); });
  if (term == terms.end())
    return true;
  const algebra::Factor factor = *findDropout(*term);
  dropout = factor.node()->value.getDefiningOp<DropoutOp>();
  if (terms.size() != 1 || !algebra::singleFactor(terms) || term->coefficient != 1) {
    site.decline("post", mix, Reason::dropoutOfPart, dropout, describe(dropout), "one dropout of the whole summand");
    return false;
  }
  algebra::Indices flat, groups = indicesOf(algebra.sizes, mix.groups(output.first));
  auto append = [&](ArrayRef<algebra::Index> indices) {
    algebra::Index whole;
    for (const algebra::Index &index : indices)
      whole.pieces.append(index.pieces);
    return whole;
  };
  // The elements are numbered in row-major order, however the dimensions are cut.
  auto inOrder = [&](const algebra::Index &index) {
    SmallVector<Var> vars;
    for (const algebra::Piece &piece : index.pieces)
      if (vars.empty() || vars.back() != piece.var)
        vars.push_back(piece.var);
    return vars;
  };
  if (inOrder(append(factor.at())) != inOrder(append(groups))) {
    site.decline("post", mix, Reason::dropoutOrder, dropout, describe(dropout),
                 mix.layout == Layout::nC ? "[tokens, n, C] as the streams" : "[tokens, C, n] as the streams");
    return false;
  }
  std::optional<Expr> dropped =
      algebra.substitute(site.reading.of(dropout.getX()), [&](Var var) { return factor.at()[var]; });
  if (!dropped)
    return false;
  terms = *dropped;
  return true;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Whether a factor weighs several outputs of a sublayer, each with a gate of its own.
static bool sumsOutputs(const algebra::Factor &factor) {
  const algebra::Node *node = factor.node();
  return node->isReduce("sum") && node->bound.size() == 1 && isStreamCount(node->bound[0]);
}

std::optional<BranchReader::Parts> BranchReader::split(const algebra::Term &term) {
  Parts parts;
  parts.common.coefficient = term.coefficient;
  auto partOf = [&](bool hasStream, bool hasChannel) -> algebra::Term & {
    return hasStream ? parts.gate : hasChannel ? parts.rows : parts.common;
  };
  for (const algebra::Factor &factor : term.factors) {
    bool hasStream = dependsOn(factor, output.first), hasChannel = dependsOnAny(factor, mix.channels);
    if (hasStream && hasChannel) {
      // Without a gate it may be any sum of two products, such as the gradient of a recurrence.
      if (!site.coefficients(mix) && llvm::none_of(term.factors, [&](const algebra::Factor &other) {
            return dependsOn(other, output.first) && !dependsOnAny(other, mix.channels);
          }))
        return std::nullopt;
      Value value = site.valueOf(factor);
      site.decline("post", mix, sumsOutputs(factor) ? Reason::streamFractions : Reason::factorPerChannel,
                   value ? value : site.root, value ? describe(value) : site.describeTerm(term),
                   "one value per stream");
      return std::nullopt;
    }
    partOf(hasStream, hasChannel).factors.push_back(factor);
  }
  for (const algebra::Term &part : term.exponent) {
    bool hasChannel = llvm::any_of(mix.channels, [&](const Extent &var) { return dependsOn(part, var.first); });
    partOf(dependsOn(part, output.first), hasChannel).exponent.push_back(part);
  }
  auto isOne = [](const algebra::Term &term) { return term.factors.empty() && term.exponent.empty(); };
  const bool hasMap = site.coefficients(mix) != nullptr;
  // The streams may share a gate, or have none; what no map mixes may be any sum of two products.
  if (!isOne(parts.rows) && (!isOne(parts.gate) || (hasMap && !site.missesGates(mix))))
    return parts;
  if (hasMap && isOne(parts.rows))
    decline(Reason::branchForm, site.describeTerm(term), "h_post [M, n] times the sublayer's output [M, C]");
  return std::nullopt;
}

/// Within what f32 leaves of a number.
static bool isOne(double number) { return std::abs(number - 1) < 1e-6; }

/// A value in f32 that is a number times a product.
MixSite::Scaled BranchReader::buildPart(const Expr &product, ArrayRef<IndexVars> groups) {
  SmallVector<OpFoldResult> sizes;
  for (size_t dim : llvm::seq(groups.size()))
    sizes.push_back(site.leaf.size(x, dim + 1 < groups.size() ? 0 : mix.layout == Layout::nC ? 2 : 1));
  MixSite::Scaled part = site.buildPart(product, groups, sizes);
  return part.value && getElementTypeOrSelf(part.value).isF32() ? part : MixSite::Scaled();
}

/// The value that is a number times a product, or the product of two: the program may have multiplied the gate by one
/// of them first.
MixSite::Scaled BranchReader::buildRows(const Expr &product, ArrayRef<IndexVars> groups) {
  if (auto found = nearest(site.reading, product, site.op, /*anyFactor=*/true))
    return {site.arrange(*found, groups), found->factor};
  for (const algebra::Factor &factor : product[0].factors) {
    Expr rest = product;
    llvm::erase_if(rest[0].factors, [&](const algebra::Factor &other) { return other.element == factor.element; });
    if (rest[0].factors.empty())
      break;
    MixSite::Scaled one = buildPart(Algebra::of(factor.element, factor.halves), groups);
    if (MixSite::Scaled others = one.value ? buildPart(rest, groups) : MixSite::Scaled(); others.value)
      return {site.leaf.mul(others.value, one.value), one.factor * others.factor};
  }
  return {};
}

/// Values for each stream; those that all streams share are repeated.
Value BranchReader::buildGate(const Expr &gates) {
  if (dependsOn(gates[0], output.first))
    return site.buildWeights(gates, mix, {{output}}, x);
  SmallVector<OpFoldResult> sizes = {site.leaf.size(x, 0), site.leaf.constant(mix.stream.second.number())};
  if (std::optional<double> number = algebra::numberOf(gates)) {
    Value scalar = arith::ConstantOp::create(site.builder, site.op->getLoc(), site.builder.getF32FloatAttr(*number));
    Value one = tensor::FromElementsOp::create(site.builder, site.op->getLoc(),
                                               RankedTensorType::get({}, scalar.getType()), scalar);
    return site.leaf.broadcast(one, sizes, {});
  }
  Value shared = site.buildWeights(gates, mix, {}, x);
  return shared ? site.leaf.broadcast(shared, sizes, {0}) : shared;
}

/// A factor of the tokens, or of none, belongs to the gate or to what it multiplies: where the program has values.
Value BranchReader::addGate(const Parts &parts, ArrayRef<IndexVars> rowGroups) {
  constexpr size_t kMostShared = 4;
  SmallVector<Expr> shared;
  for (const algebra::Factor &factor : parts.common.factors)
    shared.push_back(Algebra::of(factor.element, factor.halves));
  if (!parts.common.exponent.empty())
    shared.push_back({algebra::Term{1, parts.common.exponent, {}}});
  if (shared.size() > kMostShared)
    return {};
  for (unsigned toGate = 1u << shared.size(); toGate-- > 0;) {
    std::optional<Expr> gates = Expr{parts.gate}, rows = Expr{parts.rows};
    for (auto [number, part] : llvm::enumerate(shared)) {
      std::optional<Expr> &with = toGate >> number & 1 ? gates : rows;
      with = with ? algebra.multiply(*with, part) : std::nullopt;
    }
    std::optional<Expr> same = gates && gateTerm ? algebra.divide(*gates, *gateTerm) : std::nullopt;
    if (!gates || !rows || (gateTerm && (!same || !isOne(algebra::numberOf(*same).value_or(0)))))
      continue;
    auto weights = nearest(site.reading, *gates, site.op, /*anyFactor=*/true);
    const double factor = weights ? weights->factor : 1;
    const bool isKnown = weights || algebra::numberOf(*gates) || site.findProduct(*gates, {output});
    MixSite::Scaled found = isKnown ? buildRows(*rows, rowGroups) : MixSite::Scaled();
    if (!found.value || !isOne(parts.common.coefficient * factor * found.factor))
      continue;
    if (!gate)
      gate = buildGate(Algebra::scale(*gates, 1 / factor));
    if (!gate)
      continue;
    gateTerm = gates;
    rowsTerm = Algebra::scale(*rows, 1 / found.factor);
    return found.value;
  }
  return {};
}

bool BranchReader::add(const algebra::Term &term) {
  std::optional<Parts> parts = split(term);
  if (!parts)
    return false;
  bool hasTokens =
      llvm::any_of(parts->rows.factors, [&](const algebra::Factor &row) { return site.isPerToken(mix, row); });
  SmallVector<IndexVars> groups = {mix.channels};
  if (hasTokens)
    groups.insert(groups.begin(), mix.tokens);
  Value values = addGate(*parts, groups);
  if (!values) {
    // Where the gates were not found, that is what the site misses.
    auto isGate = [](const algebra::Factor &factor) { return factor.node()->isApply("sigmoid"); };
    if (!site.missesGates(mix) || llvm::none_of(parts->gate.factors, isGate))
      decline(Reason::branchNotAValue, site.describeTerm(term), "h_post [M, n] and the sublayer's output [M, C]");
    return false;
  }
  Value &slot = hasTokens ? f : bias;
  if (slot) {
    decline(Reason::branchTwice, describe(slot) + " and " + describe(values),
            "one output of the sublayer, and one bias");
    return false;
  }
  slot = values;
  return true;
}

/// f[t, c] + bias[c], which is one factor, in two; not where the program rounds only their sum.
void BranchReader::splitBias() {
  const algebra::Factor *sum = rowsTerm && !bias ? algebra::singleFactor(*rowsTerm) : nullptr;
  std::optional<Expr> terms =
      sum && sum->node()->kind == algebra::Node::Sum ? algebra.part(sum->element) : std::nullopt;
  if (!terms)
    return;
  terms = Algebra::scale(*terms, (*rowsTerm)[0].coefficient);
  auto isPerToken = [&](const algebra::Factor &factor) { return site.isPerToken(mix, factor); };
  for (size_t number = 0; number < terms->size(); ++number) {
    Expr row = {(*terms)[number]}, rest = *terms;
    rest.erase(rest.begin() + number);
    if (row[0].factors.empty() || !row[0].exponent.empty() || llvm::any_of(row[0].factors, isPerToken) ||
        !site.valueOf(row) || !site.valueOf(rest))
      continue;
    Value ofRow = site.build(row, {mix.channels});
    if (Value ofRest = ofRow ? site.build(rest, {mix.tokens, mix.channels}) : Value();
        ofRest && (keepsPrecision(ofRest, x) || !keepsPrecision(f, x))) {
      bias = ofRow;
      f = ofRest;
      return;
    }
  }
}

bool BranchReader::read() {
  Expr terms = mix.branches;
  if (!takeDropout(terms) || !llvm::all_of(terms, [&](const algebra::Term &term) { return add(term); }) || !f)
    return false;
  splitBias();
  return true;
}

//===----------------------------------------------------------------------===//
// Post
//===----------------------------------------------------------------------===//

/// The terms of the streams themselves leave the branches: what they are multiplied by.
static Expr takeOwn(MixSite &site, Mix &mix, const Extent &output) {
  Expr own, branches;
  std::optional<Expr> x = site.algebra.substitute(mix.x, [&](Var var) {
    auto extent = llvm::find_if(site.vars, [&](const Extent &known) { return known.first == var; });
    return var == mix.stream.first ? algebra::wholeVar(output.first, output.second)
                                   : algebra::wholeVar(var, extent->second);
  });
  const algebra::Factor *streams = x ? algebra::singleFactor(*x) : nullptr;
  for (const algebra::Term &term : mix.branches) {
    algebra::Term rest = term;
    if (streams)
      llvm::erase_if(rest.factors, [&](const algebra::Factor &factor) {
        return factor.element == streams->element && factor.halves == 2;
      });
    const bool isOwn = rest.factors.size() + 1 == term.factors.size() && !dependsOnAny(rest, mix.channels);
    if (isOwn)
      rest.coefficient /= (*x)[0].coefficient;
    (isOwn ? own : branches).push_back(isOwn ? rest : term);
  }
  if (!own.empty() && (site.coefficients(mix) || areStreams(mix.streams)))
    mix.branches = branches;
  else
    own.clear();
  return own;
}

/// h[t, o, i] + (o == i) own[t, o]: what a mix and the streams themselves are multiplied by is one matrix.
static Value addOwn(MixSite &site, const Mix &mix, const Expr &own, ArrayRef<IndexVars> dims, Value x) {
  const int64_t n = mix.stream.second.number();
  SmallVector<OpFoldResult> sizes = {site.leaf.size(x, 0), site.leaf.constant(n), site.leaf.constant(n)};
  Value weights = site.buildSum(mix.weights, dims, sizes),
        diagonal = weights ? site.buildSum(own, dims, sizes) : Value();
  if (!diagonal)
    return {};
  SmallVector<float> elements(n * n);
  for (int64_t i : llvm::seq(n))
    elements[i * n + i] = 1;
  auto type = RankedTensorType::get({n, n}, site.builder.getF32Type());
  Value one = arith::ConstantOp::create(site.builder, site.op->getLoc(),
                                        DenseElementsAttr::get(type, ArrayRef<float>(elements)));
  Value identity = site.leaf.broadcast(one, sizes, {1, 2});
  return site.leaf.add(weights, site.leaf.mul(diagonal, identity));
}

/// Takes the streams as they are before the program rounds them for its products, such as autocast does.
static void takeUnrounded(MixSite &site, Mix &mix) {
  auto round = behindReshapes(mix.streams).getDefiningOp<arith::TruncFOp>();
  if (!round)
    return;
  for (const algebra::Reading::Found &found : site.reading.find(mix.x, site.op))
    if (found.value == round.getIn() && found.factor == 1) {
      mix.streams = found.value;
      mix.at = found.at;
    }
}

bool mhc::raisePost(MixSite &site, Mix mix) {
  IndexVars outputs;
  for (const Extent &var : site.vars)
    if (!llvm::is_contained(mix.tokens, var) && !llvm::is_contained(mix.channels, var))
      outputs.push_back(var);
  if (outputs.size() != 1 || outputs[0].second != mix.stream.second || !dependsOn(mix.weights[0], outputs[0].first))
    return false;
  Extent output = outputs[0];
  SmallVector<IndexVars> groups = mix.groups(output.first);
  // Another order takes a transpose behind; what a transpose reads comes next.
  SmallVector<Var> own, order;
  for (const Extent &var : site.vars)
    own.push_back(var.first);
  for (const IndexVars &group : groups)
    for (const Extent &var : group)
      order.push_back(var.first);
  if (own != order && isa<TransposeOp>(site.op))
    return false;
  if (!keepsPrecision(site.root, mix.streams))
    takeUnrounded(site, mix);
  if (!keepsPrecision(site.root, mix.streams)) {
    site.declineWidth("post", mix, Reason::resultWider, site.root);
    return false;
  }
  Value x = site.buildStreams(mix);
  if (!x)
    return false;
  const Expr unmixed = takeOwn(site, mix, output);
  BranchReader branch(site, mix, output, x);
  if (!branch.read())
    return false;
  std::vector<algebra::Reading::Found> stored = site.reading.find(mix.weights, site.op);
  Orient orient = Orient::oi;
  if (!stored.empty()) // as it was made
    for (const algebra::Index &index : llvm::reverse(stored.back().at))
      for (const algebra::Piece &piece : llvm::reverse(index.pieces))
        if (piece.var == output.first || piece.var == mix.stream.first)
          orient = piece.var == output.first ? Orient::oi : Orient::io;
  IndexVars first = {output}, second = {mix.stream};
  if (orient == Orient::io)
    std::swap(first, second);
  Value weights = unmixed.empty() ? site.buildWeights(mix.weights, mix, {first, second}, x)
                                  : addOwn(site, mix, unmixed, {mix.tokens, first, second}, x);
  if (!weights) {
    site.decline("post", mix, Reason::mixNotAValue, site.root, site.describeTerm(mix.weights[0]),
                 "one residual matrix [M, n, n]");
    return false;
  }
  if (!keepsPrecision(branch.f, x)) {
    site.declineWidth("post", mix, Reason::branchWider, branch.f);
    return false;
  }
  Type type = getElementTypeOrSelf(x);
  PostOp::Fields fields(branch.dropout); // its seed, rate and stream
  fields.out = x.getType();
  fields.x = x;
  fields.f = site.leaf.cast(branch.f, type);
  fields.bias = branch.bias;
  if (fields.bias && getElementTypeOrSelf(fields.bias) != type)
    fields.bias = site.leaf.toF32(fields.bias);
  fields.h_post = site.leaf.toF32(branch.gate);
  fields.h_res = site.leaf.toF32(weights);
  fields.layout = mix.layout;
  fields.orient = orient;
  PostOp post = fields.create(site.builder, site.op->getLoc());
  return site.finish(post, groups, orient == Orient::oi ? "orientation oi" : "orientation io");
}
