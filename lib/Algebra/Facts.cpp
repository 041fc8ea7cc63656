//===- Facts.cpp - Variables, signs and positions of expressions --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Facts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mhc;
using namespace mhc::algebra;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

bool algebra::dependsOn(const Factor &factor, Var var) {
  return llvm::any_of(factor.at(), [&](const Index &index) {
    return llvm::any_of(index.pieces, [&](const Piece &piece) { return piece.var == var; });
  });
}

bool algebra::dependsOn(const Term &term, Var var) {
  return llvm::any_of(term.factors, [&](const Factor &factor) { return dependsOn(factor, var); }) ||
         llvm::any_of(term.exponent, [&](const Term &part) { return dependsOn(part, var); });
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

bool algebra::isNonNegative(const Factor &factor) {
  return factor.halves % 4 == 0 || factor.halves % 2 != 0 || factor.node()->isNonNegative;
}

bool algebra::isNonNegative(const Term &term) {
  return term.coefficient >= 0 &&
         llvm::all_of(term.factors, [](const Factor &factor) { return isNonNegative(factor); });
}

bool algebra::isNonNegative(const Expr &expr) {
  return llvm::all_of(expr, [](const Term &term) { return isNonNegative(term); });
}

bool algebra::isNonNegative(const Node &node) {
  auto isPartNonNegative = [](const Expr &part) { return isNonNegative(part); };
  switch (node.kind) {
  case Node::Base:
    return false;
  case Node::Extent:
  case Node::Position:
    return true;
  case Node::Apply:
    return node.isApply("abs") || node.isApply("sigmoid") || node.isApply("equal") ||
           (node.isApply("max") && llvm::any_of(node.parts, isPartNonNegative));
  case Node::Reduce:
  case Node::Sum:
    return isPartNonNegative(node.parts[0]);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static void insert(SmallVectorImpl<int64_t> &numbers, int64_t number) {
  auto place = llvm::lower_bound(numbers, number);
  if (place == numbers.end() || *place != number)
    numbers.insert(place, number);
}

static void insertAll(SmallVectorImpl<int64_t> &numbers, llvm::ArrayRef<int64_t> others) {
  for (int64_t number : others)
    insert(numbers, number);
}

/// How many parts a dimension has of the size that an index runs through; 0 where that is open.
static int64_t partsBeside(const Index &index, Size extent) {
  int64_t run = 1;
  for (const Piece &piece : index.pieces)
    run *= piece.extent.isNumber() ? piece.extent.number() : 0;
  return extent.isNumber() && run > 0 && extent.number() % run == 0 ? extent.number() / run : 0;
}

SmallVector<int64_t, 2> algebra::fixedExtents(const Term &term) {
  SmallVector<int64_t, 2> all;
  for (const Term &part : term.exponent)
    insertAll(all, fixedExtents(part));
  for (const Factor &factor : term.factors) {
    const Node &node = *factor.node();
    insertAll(all, node.fixed);
    if (node.kind == Node::Base)
      for (auto [index, extent] : llvm::zip(factor.at(), node.dims))
        if (int64_t parts = partsBeside(index, extent); parts > 1)
          insert(all, parts);
  }
  return all;
}

SmallVector<int64_t, 2> algebra::fixedExtents(const Node &node) {
  SmallVector<int64_t, 2> all;
  for (const Expr &part : node.parts)
    for (const Term &term : part)
      insertAll(all, fixedExtents(term));
  return all;
}
