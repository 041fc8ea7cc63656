//===- StreamsDropout.cpp - Dropout behind the gate of a combine ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mhc.post numbers the elements of its result in memory order, and so must the dropout that it takes over: one that
// runs over the streams in their layout, whatever its own shape is.
//
//===----------------------------------------------------------------------===//

#include "Streams.h"

using namespace mlir;
using namespace mhc;

/// The factor of a term that is dropped per stream and channel, or null.
static const Factor *findDropout(const FormBuilder &forms, const Term &term, const Mix &mix, Var output) {
  auto found = llvm::find_if(term.factors, [&](const Factor &factor) {
    Vars vars = varsOf(forms, factor);
    return factor.base.getDefiningOp<DropoutOp>() && factor.power == 1 && factor.role == Factor::Value &&
           llvm::is_contained(vars, output) && containsAny(vars, mix.channels);
  });
  return found == term.factors.end() ? nullptr : &*found;
}

bool mhc::takeDropout(MixSite &site, std::vector<Term> &terms, const Mix &mix, Var output, DropoutOp &dropout) {
  FormBuilder &forms = site.forms;
  auto term = llvm::find_if(terms, [&](const Term &t) { return findDropout(forms, t, mix, output); });
  if (term == terms.end())
    return true;
  const Factor *factor = findDropout(forms, *term, mix, output);
  dropout = factor->base.getDefiningOp<DropoutOp>();
  if (terms.size() != 1 || term->factors.size() != 1 || term->coefficient != 1 || !term->sums.empty()) {
    site.decline("post", mix, Reason::dropoutOfPart, dropout, describe(dropout), "one dropout of the whole summand");
    return false;
  }
  if (forms.fullVars(*factor) != joined(mix.groups(output))) {
    site.decline("post", mix, Reason::dropoutOrder, dropout, describe(dropout),
                 mix.layout == Layout::nC ? "[tokens, n, C] as the streams" : "[tokens, C, n] as the streams");
    return false;
  }
  Form form = forms.at(dropout.getX(), factor->index);
  forms.resolve(form);
  terms = std::move(form.terms);
  return true;
}
