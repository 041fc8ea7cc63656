//===- StreamsBranch.cpp - The sublayer's part of a combine ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"

using namespace mlir;
using namespace mhc;

namespace {
class BranchReader {
public:
  BranchReader(MixSite &site, const Mix &mix, Var output) : site(site), mix(mix), output(output) {}

  /// Takes one more term of the branch.
  bool add(const Term &term);
  /// Looks for a bias in a sublayer's output that is a sum.
  void splitBias();

  Branch branch;

private:
  /// The factors of a term by what they run over: streams, channels or what is summed, and tokens at most.
  struct Parts {
    std::vector<Factor> gates, rows, common;
  };

  std::optional<Parts> split(const Term &term);
  Value addGate(const Term &term, const Parts &parts, ArrayRef<Vars> rowGroups);
  void decline(Reason reason, const std::string &found, const std::string &needed) {
    site.decline("post", mix, reason, site.root, found, needed);
  }

  MixSite &site;
  const Mix &mix;
  Var output;
  Term gateTerm;             ///< what the gate is: all terms must mean the same
  std::optional<Factor> row; ///< what the rows of the last term are, where they are one factor and no number
  std::optional<Factor> sum; ///< the sublayer's output, where it is one factor
};
} // namespace

std::optional<BranchReader::Parts> BranchReader::split(const Term &term) {
  Parts parts;
  for (const Factor &factor : term.factors) {
    Vars vars = varsOf(site.forms, factor);
    bool stream = llvm::is_contained(vars, output), channel = containsAny(vars, mix.channels);
    if (stream && channel) {
      site.decline("post", mix, Reason::factorPerChannel, factor.base, describe(factor.base), "one value per stream");
      return std::nullopt;
    }
    bool ofSum = containsAny(vars, term.sums);
    (stream ? parts.gates : channel || ofSum ? parts.rows : parts.common).push_back(factor);
  }
  if (!parts.gates.empty() && !parts.rows.empty())
    return parts;
  if (mix.coefficients() && !(parts.gates.empty() && site.missesGates(mix)))
    decline(parts.gates.empty() ? Reason::gateMissing : Reason::branchForm,
            describeProduct(term.factors, term.coefficient), "h_post [M, n] times the sublayer's output [M, C]");
  return std::nullopt;
}

/// The value of the rows, after that of the gate. A number or a factor per token belongs to the gate or to the
/// sublayer's output, wherever a value has it.
Value BranchReader::addGate(const Term &term, const Parts &parts, ArrayRef<Vars> rowGroups) {
  for (bool toGate : {true, false}) {
    std::vector<Factor> gates = parts.gates, rows = parts.rows;
    llvm::append_range(toGate ? gates : rows, parts.common);
    double ofGate = toGate ? term.coefficient : 1, ofRows = toGate ? 1 : term.coefficient;
    if (branch.gate && (gates != gateTerm.factors || ofGate != gateTerm.coefficient))
      continue;
    Value gate = site.materialise(gates, ofGate, {mix.tokens, {output}});
    Value values = gate ? site.materialise(rows, ofRows, rowGroups, term.sums) : Value();
    if (!values)
      continue;
    branch.gate = branch.gate ? branch.gate : gate;
    gateTerm.factors = gates;
    gateTerm.coefficient = ofGate;
    bool alone = rows.size() == 1 && rows[0].power == 1 && ofRows == 1;
    row = alone ? std::optional(rows[0]) : std::nullopt;
    return values;
  }
  return {};
}

bool BranchReader::add(const Term &term) {
  std::optional<Parts> parts = split(term);
  if (!parts)
    return false;
  bool tokens = llvm::any_of(parts->rows, [&](const Factor &row) { return isPerToken(site.forms, row, mix.tokens); });
  SmallVector<Vars> groups = tokens ? SmallVector<Vars>{mix.tokens, mix.channels} : SmallVector<Vars>{mix.channels};
  Value values = addGate(term, *parts, groups);
  if (!values) {
    // Where the gates were not found, that is what the site misses.
    auto isGate = [](const Factor &gate) { return gate.base.getDefiningOp<SigmoidOp>() != nullptr; };
    if (!site.missesGates(mix) || llvm::none_of(parts->gates, isGate))
      decline(Reason::branchNotAValue, describeProduct(term.factors, term.coefficient),
              "h_post [M, n] and the sublayer's output [M, C]");
    return false;
  }
  Value &slot = tokens ? branch.f : branch.bias;
  if (slot) {
    decline(Reason::branchTwice, describe(slot) + " and " + describe(values),
            "one output of the sublayer, and one bias");
    return false;
  }
  slot = values;
  if (tokens)
    sum = row;
  return true;
}

void BranchReader::splitBias() {
  if (!sum || branch.bias)
    return;
  Form form = site.forms.at(sum->base, sum->index);
  site.forms.resolve(form);
  if (form.terms.size() != 2)
    return;
  for (int b : {0, 1}) {
    const Term &term = form.terms[b], &main = form.terms[1 - b];
    bool perToken =
        llvm::any_of(term.factors, [&](const Factor &factor) { return isPerToken(site.forms, factor, mix.tokens); });
    if (perToken || !term.sums.empty())
      continue;
    Value bias = site.materialise(term.factors, term.coefficient, {mix.channels});
    Value f = site.materialise(main.factors, main.coefficient, {mix.tokens, mix.channels}, main.sums);
    if (f && bias)
      branch = {branch.gate, f, bias, branch.dropout};
    return;
  }
}

std::optional<Branch> mhc::readBranch(MixSite &site, std::vector<Term> terms, const Mix &mix, Var output) {
  BranchReader reader(site, mix, output);
  if (!takeDropout(site, terms, mix, output, reader.branch.dropout) ||
      !llvm::all_of(terms, [&](const Term &term) { return reader.add(term); }) || !reader.branch.f)
    return std::nullopt;
  reader.splitBias();
  return reader.branch;
}
