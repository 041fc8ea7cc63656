//===- PermutationMix.cpp - Mixtures of permutations written out --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mixture is
//
//   sum over p of  softmax(z)[t, p] * table[p, i, j]
//
// with tokens t and a constant table of the n! permutation matrices.
//
//===------------------------------------------------------------------------===//
#include "Mix.h"
#include "Places.h"
#include "ResidualMaps.h"
#include "mhc/Algebra/Build.h"
#include "mhc/IR/Constants.h"
#include <numeric>

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Size;
using algebra::Var;

namespace {
struct Mixture {
  Expr logits;
  Var permutation; ///< of the logits
  int64_t n;
  IndexVars tokens, entries; ///< the dimensions of the value, but for those of size one
  bool isTransposed;
};

class MixtureMatcher {
public:
  MixtureMatcher(algebra::Reading &reading, Value value) : reading(reading), algebra(reading.algebra()), value(value) {}
  std::optional<Mixture> match();
  /// A table of the right size that lists other matrices, or unknown ones; zero where there is none.
  const Expr &otherTable() const { return table; }
  /// The softmax of that.
  const Expr &softmax() const { return weights; }

private:
  bool matchWeights(const algebra::Term &weighted, const algebra::Factor &sums, Size count);
  bool splitDims(const algebra::Factor &entry);
  bool isArgument(const algebra::Node &table, Size count) const;
  bool isTable(const algebra::Factor &entry, bool isTransposed) const;

  algebra::Reading &reading;
  Algebra &algebra;
  Value value;
  Mixture mixture;
  Expr table, weights;
};
} // namespace

/// The n with n! permutations.
static std::optional<int64_t> streamsOf(Size permutations) {
  for (int64_t n = kMinStreams; n <= kMaxPermuted; ++n)
    if (permutations == Size(static_cast<int64_t>(factorial(n))))
      return n;
  return std::nullopt;
}

/// The position that an index has where its variables have these values.
static std::optional<int64_t> positionOf(const algebra::Index &index, llvm::function_ref<int64_t(Var)> valueOf) {
  int64_t position = index.offset;
  for (const algebra::Piece &piece : index.pieces) {
    if (!piece.stride.isNumber() || !piece.extent.isNumber() || !piece.multiplier.isNumber())
      return std::nullopt;
    position += valueOf(piece.var) / piece.stride.number() % piece.extent.number() * piece.multiplier.number();
  }
  return position;
}

/// Each dimension of the value is one of tokens or one of entries of the matrices, of which there are n * n.
bool MixtureMatcher::splitDims(const algebra::Factor &entry) {
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(reading.sizes(value))) {
    if (size == Size(1))
      continue;
    bool isEntry = dependsOn(entry, dim), isToken = dependsOn(algebra::Term{1, mixture.logits, {}}, dim);
    if (isEntry == isToken)
      return false;
    if (isEntry && !size.isNumber())
      return false;
    count *= isEntry ? size.number() : 1;
    (isEntry ? mixture.entries : mixture.tokens).push_back({static_cast<Var>(dim), size});
  }
  return count == mixture.n * mixture.n &&
         (mixture.entries.size() == 1 || mixture.entries[0].second == Size(mixture.n));
}

/// Whether entry (i, j) at p is that of permutation p, in lexicographic order; or entry (j, i).
bool MixtureMatcher::isTable(const algebra::Factor &entry, bool isTransposed) const {
  DenseElementsAttr numbers = denseElements(entry.node()->label);
  SmallVector<int64_t> perm(mixture.n);
  std::iota(perm.begin(), perm.end(), 0);
  int64_t p = 0;
  do {
    for (int64_t place = 0; place < mixture.n * mixture.n; ++place) {
      auto valueOf = [&](Var var) {
        if (var == mixture.permutation)
          return p;
        if (mixture.entries.size() == 1)
          return place;
        return var == mixture.entries[0].first ? place / mixture.n : place % mixture.n;
      };
      int64_t element = 0;
      for (auto [index, size] : llvm::zip(entry.at(), entry.node()->dims)) {
        std::optional<int64_t> position = positionOf(index, valueOf);
        if (!position || !size.isNumber())
          return false;
        element = element * size.number() + *position;
      }
      int64_t row = place / mixture.n, column = place % mixture.n;
      double expected = (isTransposed ? perm[column] == row : perm[row] == column) ? 1 : 0;
      if (numbers.getValues<APFloat>()[element].convertToDouble() != expected)
        return false;
    }
    ++p;
  } while (std::next_permutation(perm.begin(), perm.end()));
  return true;
}

/// Whether a table [n!, n, n] is an argument, such as a buffer of a module: its numbers are not known.
bool MixtureMatcher::isArgument(const algebra::Node &table, Size count) const {
  const Size n(mixture.n);
  return isa_and_nonnull<BlockArgument>(table.value) && ArrayRef<Size>(table.dims) == ArrayRef<Size>{count, n, n};
}

/// exp(z) * table entry, and what divides the sum of that: the sum of exp(z).
bool MixtureMatcher::matchWeights(const algebra::Term &weighted, const algebra::Factor &sums, Size count) {
  if (weighted.factors.size() != 1 || weighted.factors[0].halves != 2 || weighted.coefficient != 1)
    return false;
  const algebra::Factor &entry = weighted.factors[0];
  Attribute constant = entry.node()->kind == algebra::Node::Base ? entry.node()->label : Attribute();
  const bool isConstant =
      constant && isa<FloatType>(cast<ElementsAttr>(constant).getElementType()) && denseElements(constant);
  if (!isConstant && !isArgument(*entry.node(), count))
    return false;
  mixture.logits = weighted.exponent;
  std::optional<Expr> weight = algebra.exp(mixture.logits);
  std::optional<Expr> expected = weight ? algebra.reduce("sum", *weight, {{mixture.permutation, count}}) : std::nullopt;
  const algebra::Factor *divisor = expected ? algebra::singleFactor(*expected) : nullptr;
  if (!divisor || divisor->element != sums.element || (*expected)[0].coefficient != 1 || !splitDims(entry))
    return false;
  for (bool isTransposed : {false, true}) {
    mixture.isTransposed = isTransposed;
    if (isConstant && isTable(entry, isTransposed))
      return true;
  }
  std::optional<Expr> softmax = algebra.divide(*weight, *expected);
  if (softmax && mixture.n > kMinStreams) { // with two streams a table is too small to tell anything
    table = Algebra::of(entry.element);
    weights = *softmax;
  }
  return false;
}

std::optional<Mixture> MixtureMatcher::match() {
  const Expr &expr = reading.of(value);
  if (expr.size() != 1 || expr[0].coefficient != 1 || !expr[0].exponent.empty() || expr[0].factors.size() != 2)
    return std::nullopt;
  const algebra::Factor &a = expr[0].factors[0], &b = expr[0].factors[1];
  const algebra::Factor &sum = a.halves == 2 ? a : b, &sums = a.halves == 2 ? b : a;
  if (sum.halves != 2 || sums.halves != -2 || !sum.node()->isReduce("sum") || sum.node()->bound.size() != 1)
    return std::nullopt;
  Size count = sum.node()->bound[0];
  std::optional<int64_t> n = streamsOf(count);
  if (!n)
    return std::nullopt;
  mixture.n = *n;
  mixture.permutation = algebra.freshVar();
  std::optional<Expr> weighted = algebra.part(sum.element, {algebra::wholeVar(mixture.permutation, count)});
  if (!weighted || weighted->size() != 1 || !matchWeights(weighted->front(), sums, count))
    return std::nullopt;
  return mixture;
}

/// The mixture of logits that are there, in the dimensions of `value`.
static bool replaceMixture(algebra::Reading &reading, Sites &sites, Operation *op, const Mixture &mixture) {
  Value value = op->getResult(0);
  OpBuilder builder(op);
  algebra::Sizes &sizes = reading.algebra().sizes;
  const Size count(static_cast<int64_t>(factorial(mixture.n))), n(mixture.n);
  const SmallVector<IndexVars> dims = {mixture.tokens, IndexVars{{mixture.permutation, count}}};
  Value logits = build(reading, builder, op, mixture.logits, dims, builder.getF32Type());
  if (!logits) // a graph may compute in a narrow type throughout
    logits = build(reading, builder, op, mixture.logits, dims);
  if (!logits || isWide(logits))
    return false;
  logits = LeafBuilder(builder, op->getLoc()).toF32(logits);
  auto type = cast<RankedTensorType>(logits.getType());
  auto mix =
      PermutationMixOp::create(builder, op->getLoc(), type.clone({type.getDimSize(0), mixture.n, mixture.n}), logits);
  algebra::Index entry = indicesOf(sizes, {mixture.entries})[0];
  std::optional<algebra::Index> row = extract(sizes, entry, n, n), column = extract(sizes, entry, 1, n);
  if (!row || !column)
    return false;
  if (mixture.isTransposed)
    std::swap(row, column);
  return finishMix(reading, sites, builder, mix, {indicesOf(sizes, {mixture.tokens})[0], *row, *column},
                   ownDims(reading, value), value) != nullptr;
}

bool mhc::raisePermutationMix(algebra::Reading &reading, Sites &sites, Operation *op) {
  if (!isa<MatmulOp, BatchMatmulOp, ReduceOp, tensor::ConcatOp>(op) ||
      !isa<Float32Type, BFloat16Type, Float16Type>(getElementTypeOrSelf(op->getResult(0))))
    return false;
  MixtureMatcher matcher(reading, op->getResult(0));
  if (std::optional<Mixture> mixture = matcher.match())
    return replaceMixture(reading, sites, op, *mixture);
  if (matcher.otherTable().empty())
    return false;
  std::optional<algebra::Reading::Found> table = nearest(reading, matcher.otherTable(), op);
  std::optional<algebra::Reading::Found> weights = nearest(reading, matcher.softmax(), op);
  if (table && weights)
    sites.decline("permutation_mix", {Reason::permutationOrder,
                                      opAtFault(table->value, op),
                                      describe(behindReshapes(table->value)),
                                      "a constant with row p for permutation p",
                                      {weights->value, Value()}});
  return false;
}
