//===- CoefficientsMiss.cpp - Why a value is no group of gates or logits ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

namespace {
/// x . phi inside a value that is nearly a group.
struct NearProduct {
  const Term *term;
  const Factor *x, *phi;
  Vars tokens, row;
  int64_t rows = 0; ///< of phi
};
} // namespace

bool mhc::looksLikeGroup(const FormBuilder &forms, int64_t extent, int64_t rows, const Vars &sums) {
  for (int64_t n = kMinStreams; n <= kMaxStreams; ++n) {
    bool isHead = rows == n && sums.size() > 1 && forms.extent(sums.front()) == n;
    if (isHead && extent == n)
      return true;
    for (int64_t logits : {n * n, n <= kMaxPermuted ? static_cast<int64_t>(factorial(n)) : n * n})
      if (rows == 2 * n + logits && (extent == n || extent == logits))
        return true;
  }
  return false;
}

/// A term that sums a tensor of tokens times a tensor of rows; `all` are the variables of the value.
static std::optional<NearProduct> findProduct(const FormBuilder &forms, const Term &term, const Vars &all) {
  for (const Factor &x : term.factors)
    for (const Factor &phi : term.factors) {
      Vars ofX = varsOf(forms, x), ofPhi = varsOf(forms, phi);
      bool summed = llvm::all_of(term.sums, [&](Var sum) { return llvm::is_contained(ofX, sum); });
      if (!summed || !containsAny(ofPhi, term.sums))
        continue;
      NearProduct product{&term, &x, &phi, {}, {}};
      for (Var var : all)
        (llvm::is_contained(ofPhi, var) ? product.row : product.tokens).push_back(var);
      Vars inOrder = product.tokens;
      llvm::append_range(inOrder, product.row);
      if (std::optional<Rows> rows = readRows(forms, phi, product.row))
        product.rows = rows->count;
      if (inOrder == all && !product.tokens.empty() && product.rows > 0 && containsAny(ofX, product.tokens) &&
          !containsAny(ofX, product.row) && looksLikeGroup(forms, forms.extent(product.row), product.rows, term.sums))
        return product;
    }
  return std::nullopt;
}

/// (x . phi + beta) * alpha: the sum is one factor.
static std::optional<Miss> explainFactor(FormBuilder &forms, Value root, const Factor &factor, const Vars &all) {
  if (!factor.base.getDefiningOp<arith::AddFOp>())
    return std::nullopt;
  Form sum = forms.at(factor.base, factor.index);
  forms.resolve(sum);
  for (const Term &term : sum.terms)
    if (std::optional<NearProduct> product = findProduct(forms, term, all))
      return Miss{Reason::biasScaled,
                  root.getDefiningOp(),
                  "a factor of " + describe(factor.base),
                  "no factor behind the bias",
                  {product->x->base, product->phi->base}};
  return std::nullopt;
}

/// Whether the gate multiplies all of x: what aggregate is with one stream.
static bool weighsAll(FormBuilder &forms, Value gate, Value x) {
  constexpr size_t kMostValues = 32;
  llvm::SmallSetVector<Value, 8> values; // the gate in other shapes and types, and with an eps
  values.insert(gate);
  auto isProduct = [&](const Term &term) {
    return llvm::any_of(term.factors, [&](const Factor &factor) { return factor.base == x; }) &&
           llvm::any_of(term.factors, [&](const Factor &factor) { return values.contains(factor.base); });
  };
  auto addsNumber = [](arith::AddFOp op) { return constantValue(op.getLhs()) || constantValue(op.getRhs()); };
  for (size_t i = 0; i < values.size() && i < kMostValues; ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<BroadcastOp, TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, arith::ExtFOp,
              arith::TruncFOp>(user) ||
          (isa<arith::AddFOp>(user) && addsNumber(cast<arith::AddFOp>(user))))
        values.insert(user->getResult(0));
      if (!isa<arith::MulFOp, MatmulOp, BatchMatmulOp>(user))
        continue;
      Form product = forms.at(user->getResult(0), forms.freshIndices(user->getResult(0)));
      forms.resolve(product);
      if (llvm::any_of(product.terms, isProduct))
        return true;
    }
  return false;
}

/// The gate of one stream: a number per token, sigmoid(alpha * x . phi + beta), that multiplies x. Gates of other
/// networks have no alpha.
static std::optional<Miss> explainSingleStream(FormBuilder &forms, Value root, const Form &form, const Vars &all) {
  const Factor *x = nullptr, *phi = nullptr;
  bool alpha = false, beta = false;
  for (const Term &term : form.terms) {
    for (const Factor &factor : term.factors) {
      Vars vars = varsOf(forms, factor);
      if (containsAny(vars, term.sums))
        (containsAny(vars, all) ? x : phi) = &factor;
      else if (vars.empty())
        (term.sums.empty() ? beta : alpha) = true;
    }
  }
  auto sigmoid = llvm::find_if(root.getUsers(), llvm::IsaPred<SigmoidOp>);
  if (!x || !phi || !alpha || !beta || sigmoid == root.user_end() || !weighsAll(forms, sigmoid->getResult(0), x->base))
    return std::nullopt;
  return Miss{Reason::streamCount,
              opAtFault(x->base, root.getDefiningOp()),
              "1 stream in " + describe(x->base),
              "at least 2 streams",
              {x->base, phi->base}};
}

static bool isMaximum(const Term *term) { return term->factors.size() == 1 && maximumOf(term->factors[0].base); }

std::optional<Miss> mhc::explainLinear(FormBuilder &forms, Value root, const Form &form, const Vars &all) {
  if (std::optional<Miss> miss = explainSingleStream(forms, root, form, all))
    return miss;
  if (form.terms.size() == 1 && form.terms[0].factors.size() > 1)
    for (const Factor &factor : form.terms[0].factors)
      if (std::optional<Miss> miss = explainFactor(forms, root, factor, all))
        return miss;
  std::optional<NearProduct> product;
  std::vector<const Term *> others;
  for (const Term &term : form.terms) {
    std::optional<NearProduct> found = product ? std::nullopt : findProduct(forms, term, all);
    if (found)
      product = found;
    else
      others.push_back(&term);
  }
  if (!product)
    return std::nullopt;
  auto miss = [&](Reason reason, Value at, const std::string &found, const std::string &needed) {
    return Miss{reason, opAtFault(at, root.getDefiningOp()), found, needed, {product->x->base, product->phi->base}};
  };
  // A maximum that is subtracted belongs to the residual map.
  if (llvm::any_of(others, isMaximum))
    return std::nullopt;
  if (others.size() != 1)
    return miss(Reason::biasCount, root, std::to_string(others.size()) + " addends beside the product",
                "one bias, a value for each row of phi");
  const Term &bias = *others[0];
  if (bias.factors.size() != 1 || bias.coefficient != 1 || bias.factors[0].power != 1 || !bias.sums.empty())
    return miss(Reason::biasScaled, root, describeProduct(bias.factors, bias.coefficient), "the bias as it is stored");
  if (varsOf(forms, bias.factors[0]) != product->row)
    return miss(Reason::biasForm, bias.factors[0].base, describe(bias.factors[0].base),
                "one value for each of the " + std::to_string(forms.extent(product->row)) + " rows");
  for (const Factor &factor : product->term->factors)
    if (&factor != product->x && &factor != product->phi && containsAny(varsOf(forms, factor), product->tokens) &&
        containsAny(varsOf(forms, factor), product->term->sums))
      return miss(Reason::normPerStream, factor.base, describe(factor.base), "one factor for each token");
  return miss(Reason::scaleForm, root, describeProduct(product->term->factors, product->term->coefficient),
              "a factor per token * (x . phi) * alpha");
}
