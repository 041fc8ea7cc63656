//===- OpGraph.cpp - A function as a picture ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpGraphGroups.h"
#include "TensorSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mhc;

void mhc::numberOps(ModuleOp module) {
  Builder builder(module.getContext());
  int64_t number = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->setLoc(FusedLoc::get(module.getContext(), op->getLoc(), builder.getI64IntegerAttr(number++)));
  });
}

std::vector<int64_t> mhc::opNumbers(Location loc) {
  std::vector<int64_t> numbers;
  loc->walk([&](Location part) {
    if (auto numbered = dyn_cast<FusedLocWith<IntegerAttr>>(part))
      numbers.push_back(numbered.getMetadata().getInt());
    return WalkResult::advance();
  });
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

void mhc::addSignature(Operation *op, std::vector<const void *> &signature) {
  signature.push_back(op->getName().getAsOpaquePointer());
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (attribute.getName() != "stream") // the number of a random sequence, which is another one in every layer
      signature.insert(signature.end(),
                       {attribute.getName().getAsOpaquePointer(), attribute.getValue().getAsOpaquePointer()});
  for (Type type : op->getOperandTypes())
    signature.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    signature.push_back(type.getAsOpaquePointer());
}

/// The name that its op gives to a value, with those of upstream ops, such as "expanded", left out.
static std::string nameOf(Value value) {
  std::string name;
  auto named = value.getDefiningOp<OpAsmOpInterface>();
  if (named && isa<KernelOpInterface>(*named))
    named.getAsmResultNames([&](Value result, StringRef text) {
      if (result == value)
        name = text.str();
    });
  return name;
}

namespace {
class GraphBuilder {
public:
  GraphBuilder(func::FuncOp func, OpGraph &out) : func(func), out(out), dims(func), sizes(dims) {}

  void build() {
    for (auto [row, op] : llvm::enumerate(out.cost.ops))
      addOp(op.op, row);
    for (auto [index, op] : llvm::enumerate(out.cost.ops))
      addEdges(op.op, index);
    addResults();
    addUndrawn();
  }

private:
  unsigned add(GraphNode::Kind kind, StringRef name, Location loc) {
    out.nodes.push_back({kind, name.str(), loc});
    return out.nodes.size() - 1;
  }

  void addOp(Operation *op, unsigned row) {
    GraphNode &node = out.nodes[add(GraphNode::op, op->getName().getStringRef(), op->getLoc())];
    node.row = row;
    node.isKernel = isa<KernelOpInterface>(op);
    addSignature(op, node.signature);
    numbers[op] = row;
  }

  /// The value that a view shows, or that a loop starts from or ends with.
  Value rootOf(Value value) const {
    while (true) {
      Operation *op = value.getDefiningOp();
      auto argument = dyn_cast<BlockArgument>(value);
      auto loop = dyn_cast<scf::ForOp>(argument ? argument.getOwner()->getParentOp() : op);
      if (loop && !numbers.contains(loop))
        value = argument ? loop.getTiedLoopInit(argument)->get()
                         : loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
      else if (Value source = op ? sizes.viewSource(op) : Value())
        value = source;
      else
        return value;
    }
  }

  /// The node that makes a value; none for one that is part of the instructions.
  std::optional<unsigned> sourceOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return sourceOf(argument);
    auto found = numbers.find(value.getDefiningOp());
    return found != numbers.end() ? found->second : sourceOf(value.getDefiningOp());
  }

  std::optional<unsigned> sourceOf(BlockArgument argument) {
    if (argument.getOwner() != &func.getBody().front())
      return std::nullopt;
    auto [place, isNew] = arguments.try_emplace(argument, 0);
    if (isNew) {
      auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mhc.name");
      place->second = add(GraphNode::argument, name ? name.getValue() : StringRef(), argument.getLoc());
      out.nodes.back().signature = {argument.getType().getAsOpaquePointer()};
    }
    return place->second;
  }

  /// A constant with different elements is read from memory.
  std::optional<unsigned> sourceOf(Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto elements = constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
    if (!elements || elements.isSplat())
      return std::nullopt;
    numbers[op] = add(GraphNode::constant, "constant", op->getLoc());
    addSignature(op, out.nodes.back().signature);
    return numbers[op];
  }

  void addEdge(Value value, unsigned to) {
    Value root = rootOf(value);
    std::optional<unsigned> from = sourceOf(root);
    if (!from || *from == to)
      return;
    GraphEdge edge{*from, to, nameOf(root), value.getType(), {}, {}};
    edge.bytes = sizes.bytes(value, edge.unknown);
    out.edges.push_back(std::move(edge));
  }

  /// Adds edges from the operands of an op and from the values that its regions capture.
  void addEdges(Operation *op, unsigned to) {
    llvm::SmallPtrSet<Value, 8> read;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()) && !op->isAncestor(operand.getParentBlock()->getParentOp()) &&
            read.insert(operand).second)
          addEdge(operand, to);
    });
  }

  void addResults() {
    Operation *end = func.getBody().back().getTerminator();
    for (auto [number, value] : llvm::enumerate(end->getOperands())) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      auto name = func.getResultAttrOfType<StringAttr>(number, "mhc.name");
      addEdge(value, add(GraphNode::result, name ? name.getValue() : StringRef(), end->getLoc()));
    }
  }

  void addUndrawn() {
    func.getBody().walk([&](Operation *op) {
      Operation *drawn = op;
      while (drawn != func && !numbers.contains(drawn))
        drawn = drawn->getParentOp();
      if (drawn == op)
        return;
      ValueRange values = op->getNumResults() ? ValueRange(op->getResults()) : ValueRange(op->getOperands());
      if (drawn == func && !values.empty())
        drawn = rootOf(values.front()).getDefiningOp();
      if (auto node = numbers.find(drawn); node != numbers.end())
        for (int64_t number : opNumbers(op->getLoc()))
          out.undrawn.try_emplace(number, node->second);
    });
  }

  func::FuncOp func;
  OpGraph &out;
  DimAnalysis dims;
  TensorSizes sizes;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<BlockArgument, unsigned> arguments;
};
} // namespace

NumberedNodes::NumberedNodes(const OpGraph &graph) : graph(graph) {
  for (auto [index, node] : llvm::enumerate(graph.nodes))
    if (node.kind == GraphNode::op)
      for (int64_t number : opNumbers(node.loc))
        nodes.try_emplace(number, index);
  for (auto [number, node] : graph.undrawn)
    if (graph.nodes[node].kind == GraphNode::op)
      nodes.try_emplace(number, node);
}

std::optional<unsigned> NumberedNodes::nodeAbout(StringRef function, LocationAttr at) const {
  // Remarks on a function hold for its gradients NAME_grad, NAME_fwd and NAME_bwd, too.
  StringRef name = graph.cost.name;
  bool isAbout = function.empty() || name == function || name.starts_with((function + "_").str());
  std::vector<int64_t> ops = isAbout ? opNumbers(at) : std::vector<int64_t>();
  if (ops.empty() || nodes.empty() || ops.back() < nodes.begin()->first)
    return std::nullopt;
  auto node = nodes.lower_bound(ops.back());
  return node == nodes.end() ? std::nullopt : std::optional(node->second);
}

OpGraph mhc::graphOf(func::FuncOp func, ArrayRef<Layer> layers) {
  OpGraph out;
  out.cost = costOf(func);
  if (func.isExternal())
    return out;
  GraphBuilder(func, out).build();
  groupNodes(out, layers);
  return out;
}
