//===- Node.cpp - Nodes of expressions, one of each -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Facts.h"
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mhc;
using namespace mhc::algebra;

using ProfileFactor = llvm::function_ref<void(llvm::FoldingSetNodeID &id, const Factor &factor)>;

static void profile(llvm::FoldingSetNodeID &id, const Expr &expr, ProfileFactor profileFactor) {
  id.AddInteger(expr.size());
  for (const Term &term : expr) {
    id.AddInteger(numberId(term.coefficient));
    profile(id, term.exponent, profileFactor);
    id.AddInteger(term.factors.size());
    for (const Factor &factor : term.factors) {
      profileFactor(id, factor);
      id.AddInteger(factor.halves);
    }
  }
}

static void profile(llvm::FoldingSetNodeID &id, const Node &node, ProfileFactor profileFactor) {
  id.AddInteger(node.kind);
  for (const auto &extents : {node.dims, node.bound}) {
    id.AddInteger(extents.size());
    for (Size extent : extents)
      id.AddInteger(extent.id());
  }
  id.AddPointer(node.value.getAsOpaquePointer());
  id.AddPointer(node.label.getAsOpaquePointer());
  id.AddInteger(node.size.id());
  for (const Expr &part : node.parts)
    profile(id, part, profileFactor);
}

void Node::profile(llvm::FoldingSetNodeID &id) const {
  ::profile(id, *this, [](auto &id, const Factor &factor) { id.AddInteger(factor.element->number); });
}

void Node::profileShape(llvm::FoldingSetNodeID &id) const {
  ::profile(id, *this, [](auto &id, const Factor &factor) {
    id.AddInteger(factor.node()->shape);
    for (const Index &index : factor.at()) {
      id.AddInteger(index.pieces.size());
      for (const Piece &piece : index.pieces) {
        id.AddInteger(piece.var);
        for (Size size : {piece.stride, piece.extent, piece.multiplier})
          id.AddInteger(size.id());
      }
    }
  });
}

bool Node::isApply(llvm::StringRef name) const {
  return kind == Apply && llvm::cast<mlir::StringAttr>(label).getValue() == name;
}

bool Node::isReduce(llvm::StringRef name) const {
  return kind == Reduce && llvm::cast<mlir::StringAttr>(label).getValue() == name;
}

unsigned Algebra::shapeOf(const Node &node) {
  if (node.parts.empty())
    return node.number;
  llvm::FoldingSetNodeID id;
  node.profileShape(id);
  auto &alike = shapes[id.ComputeHash()];
  for (auto &[other, shape] : alike)
    if (id == other)
      return shape;
  alike.emplace_back(id.Intern(ids), node.number);
  return node.number;
}

const Node *Algebra::unique(Node node) {
  llvm::FoldingSetNodeID id;
  node.profile(id);
  const Node *&first = known[id.ComputeHash()];
  for (const Node *other = first; other; other = other->next)
    if (id == other->id)
      return other;
  node.next = first;
  node.number = nodes.size();
  node.shape = shapeOf(node);
  node.id = id.Intern(ids);
  node.isNonNegative = isNonNegative(node);
  node.fixed = fixedExtents(node);
  nodes.push_back(std::make_unique<Node>(std::move(node)));
  return first = nodes.back().get();
}
