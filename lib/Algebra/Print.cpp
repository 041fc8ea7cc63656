//===- Print.cpp - Expressions as text ----------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Reading.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

namespace {
/// Writes an expression with the names that values and sizes have in the function. Definitions of nodes are written
/// where they are read, with the variables that they are read at.
class Printer {
public:
  Printer(raw_ostream &os, Algebra &algebra, AsmState &names) : os(os), algebra(algebra), names(names) {}

  void print(const Expr &expr) {
    if (expr.empty())
      os << 0;
    llvm::interleave(expr, [&](const Term &term) { print(term); }, [&] { os << " + "; });
  }

  void print(Size size) {
    os << describe(algebra.sizes.polynomial(size), [](unsigned symbol) { return "s" + std::to_string(symbol); });
  }

private:
  void print(const Term &term) {
    bool isAlone = term.factors.empty() && term.exponent.empty();
    if (term.coefficient != 1 || isAlone)
      os << llvm::format("%.7g", term.coefficient) << (isAlone ? "" : " * ");
    if (!term.exponent.empty()) {
      os << "exp(";
      print(term.exponent);
      os << (term.factors.empty() ? ")" : ") * ");
    }
    llvm::interleave(term.factors, [&](const Factor &factor) { print(factor); }, [&] { os << " * "; });
  }

  void print(const Factor &factor) {
    bool isRaised = factor.halves != 2;
    if (isRaised)
      os << '(';
    print(*factor.node(), factor.at());
    if (!isRaised)
      return;
    os << ")^";
    factor.halves % 2 ? os << factor.halves << "/2" : os << factor.halves / 2;
  }

  /// A definition in place where it reads bases only, so that one line does not hold all lines before it.
  void print(const Node &node, ArrayRef<Index> at) {
    bool isFlat = llvm::all_of(node.parts, [](const Expr &part) { return readsBases(part); });
    if (node.kind == Node::Base || isFlat)
      return define(node, at);
    os << '#' << node.number;
    print(at);
  }

  static bool isPlain(const Node &node) {
    return node.kind == Node::Base || node.kind == Node::Extent || node.kind == Node::Position;
  }

  static bool readsBases(const Expr &expr) {
    return llvm::all_of(expr, [](const Term &term) {
      return readsBases(term.exponent) &&
             llvm::all_of(term.factors, [](const Factor &factor) { return isPlain(*factor.node()); });
    });
  }

  void define(const Node &node, ArrayRef<Index> at) {
    switch (node.kind) {
    case Node::Base:
      if (node.value)
        node.value.printAsOperand(os, names);
      else
        os << "constant";
      return print(at);
    case Node::Extent:
      return print(node.size);
    case Node::Position:
      os << "position";
      return print(at);
    case Node::Apply:
      os << cast<StringAttr>(node.label).getValue();
      break;
    case Node::Reduce:
      os << cast<StringAttr>(node.label).getValue() << '{';
      llvm::interleave(
          llvm::enumerate(node.bound),
          [&](auto bound) {
            os << 'r' << bound.index() << '<';
            print(bound.value());
          },
          [&] { os << ", "; });
      os << '}';
      break;
    case Node::Sum:
      break;
    }
    os << '(';
    Indices all(at);
    for (auto [number, extent] : llvm::enumerate(node.bound))
      all.push_back(wholeVar(kBoundName + number, extent));
    llvm::interleave(
        node.parts,
        [&](const Expr &part) {
          print(replaced(part, all)); // as it is, with the indices put in
        },
        [&] { os << ", "; });
    os << ')';
  }

public:
  /// Writes the definitions that an expression reads and that were not written yet.
  void printDefinitions(const Expr &expr) {
    for (const Term &term : expr) {
      printDefinitions(term.exponent);
      for (const Factor &factor : term.factors) {
        const Node &node = *factor.node();
        if (isPlain(node) || !written.insert(&node).second)
          continue;
        for (const Expr &part : node.parts)
          printDefinitions(part);
        if (llvm::all_of(node.parts, [](const Expr &part) { return readsBases(part); }))
          continue;
        Indices own;
        for (auto [dim, extent] : llvm::enumerate(node.dims))
          own.push_back(wholeVar(dim, extent));
        os << '#' << node.number;
        print(own);
        os << " = ";
        define(node, own);
        os << '\n';
      }
    }
  }

private:
  Expr replaced(Expr expr, ArrayRef<Index> all) {
    algebra.replaceElements(expr, [&](const Element *element) {
      Indices moved;
      for (const Index &index : element->at)
        moved.push_back(substitute(algebra.sizes, index, [&](Var var) { return all[var]; }).value_or(index));
      return algebra.elementAt(element->node, moved);
    });
    return expr;
  }

  void print(ArrayRef<Index> at) {
    os << '[';
    llvm::interleave(at, [&](const Index &index) { print(index); }, [&] { os << ','; });
    os << ']';
  }

  void print(const Index &index) {
    if (index.pieces.empty() || index.offset != 0)
      os << index.offset << (index.pieces.empty() ? "" : "+");
    llvm::interleave(
        index.pieces,
        [&](const Piece &piece) {
          if (piece.multiplier != Size(1)) {
            print(piece.multiplier);
            os << '*';
          }
          piece.var >= kBoundName ? os << 'r' << piece.var - kBoundName : os << 'i' << piece.var;
          if (piece.stride != Size(1)) {
            os << '/';
            print(piece.stride);
          }
          os << '<';
          print(piece.extent);
        },
        [&] { os << '+'; });
  }

  static constexpr Var kBoundName = 1 << 30;
  raw_ostream &os;
  Algebra &algebra;
  AsmState &names;
  llvm::DenseSet<const Node *> written;
};
} // namespace

void Reading::print(raw_ostream &os) {
  AsmState names(func);
  Printer printer(os, theAlgebra, names);
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto known = exprs.find(result);
      if (known == exprs.end())
        continue;
      printer.printDefinitions(known->second.expr);
      result.printAsOperand(os, names);
      os << " = ";
      printer.print(known->second.expr);
      os << '\n';
    }
  });
}

std::string Reading::text(Value value) {
  AsmState names(func);
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer printer(os, theAlgebra, names);
  printer.printDefinitions(of(value));
  printer.print(of(value));
  return text;
}
