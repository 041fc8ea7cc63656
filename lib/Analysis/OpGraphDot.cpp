//===- OpGraphDot.cpp - Pictures for Graphviz ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphviz lays out a hundred nodes in a moment, and a deep model has tens of thousands: a run of layers that are alike
// is drawn as its first layer, and a group of many ops as one node that counts them. An edge into a later layer is left
// out, and one from a later layer starts at the first. mhcc --report draws all.
//
// The title of a group is a node, above its first ops: edges go around nodes, but through the label of a box.
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/OpGraph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GraphWriter.h"
#include <set>

using namespace mhc;
using llvm::formatv;

static std::string number(double value) {
  return value < 1e15 && value == static_cast<int64_t>(value) ? std::to_string(static_cast<int64_t>(value))
                                                              : formatv("{0:f2}", value).str();
}

/// "640 B/token + 96 B"
static std::string amountText(Amount amount, llvm::StringRef unit) {
  std::string text;
  if (amount.perToken != 0 || amount.fixed == 0)
    text = number(amount.perToken) + " " + unit.str() + "/token";
  if (amount.fixed != 0)
    text += (text.empty() ? "" : " + ") + number(amount.fixed) + " " + unit.str();
  return text;
}

static std::string costText(const Cost &cost) {
  std::string flops = cost.flops == Amount() ? "" : "\n" + amountText(cost.flops, "flops");
  return amountText(cost.bytes(), "B") + flops;
}

static std::string sumText(const Cost &cost) {
  return number(cost.launches) + (cost.launches == 1 ? " kernel, " : " kernels, ") + costText(cost);
}

static std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  for (int64_t size : tensor.getShape())
    stream << (mlir::ShapedType::isDynamic(size) ? "?" : std::to_string(size)) << "x";
  stream << tensor.getElementType();
  return text;
}

static std::string quoted(const std::string &text) { return "\"" + llvm::DOT::EscapeString(text) + "\""; }

/// Groups of more nodes are drawn as one.
static constexpr size_t kMostNodes = 100;

namespace {
/// Writes one function.
class DotFunction {
public:
  DotFunction(llvm::raw_ostream &os, const OpGraph &graph, std::string prefix)
      : os(os), graph(graph), prefix(std::move(prefix)) {}

  void print() {
    findRuns();
    const FunctionCost &cost = graph.cost;
    open("function", "@" + cost.name + ": " + sumText(cost.total));
    for (size_t group = 0; group < graph.groups.size(); ++group)
      if (firstOfRun[group] == group)
        printGroup(group);
    for (size_t node = 0; node < graph.nodes.size(); ++node)
      if (!graph.nodes[node].group)
        printNode(node);
    printEdges();
    os << "}\n";
  }

private:
  void findRuns() {
    for (auto [index, group] : llvm::enumerate(graph.groups)) {
      bool repeats = index > 0 && group.isLayer && group.alike == graph.groups[index - 1].alike &&
                     codesIn(group) == codesIn(graph.groups[index - 1]);
      firstOfRun.push_back(repeats ? firstOfRun.back() : index);
    }
  }

  /// Codes of the remarks about a group.
  std::vector<std::string> codesIn(const GraphGroup &group) const {
    std::vector<std::string> codes;
    for (unsigned node : group.nodes)
      for (const GraphRemark &remark : graph.nodes[node].remarks)
        codes.push_back(remark.code);
    return codes;
  }

  void open(llvm::StringRef name, const std::string &label) {
    os << "subgraph " << quoted("cluster_" + prefix + name.str()) << " {\nlabel=" << quoted(label) << ";\n";
  }

  void printGroup(unsigned index) {
    const GraphGroup &group = graph.groups[index];
    unsigned count = llvm::count(firstOfRun, index);
    std::string title = group.title;
    if (count > 1)
      title += " to " + graph.groups[index + count - 1].title + ": " + std::to_string(count) + " alike, each";
    open("group" + std::to_string(index), "");
    printTitle(index, title + "\n" + sumText(group.cost));
    if (isOneNode(index))
      printOpsOf(index);
    else
      for (unsigned node : group.nodes)
        printNode(node);
    for (unsigned node : group.nodes)
      printRemarks(node);
    os << "}\n";
  }

  void printTitle(unsigned index, const std::string &title) {
    const std::string node = quoted(prefix + "title" + std::to_string(index));
    os << node << " [label=" << quoted(title) << ", shape=plaintext, style=\"\"];\n";
    std::set<std::string> below; // all but those that are below another
    for (unsigned member : graph.groups[index].nodes)
      below.insert(id(member));
    for (const GraphEdge &edge : graph.edges)
      if (graph.nodes[edge.from].group == index && graph.nodes[edge.to].group == index && id(edge.from) != id(edge.to))
        below.erase(id(edge.to));
    for (const std::string &first : below)
      os << node << " -> " << first << " [style=invis, weight=0];\n";
  }

  bool isOneNode(unsigned group) const { return graph.groups[group].nodes.size() > kMostNodes; }

  /// "138 linalg.generic"
  void printOpsOf(unsigned group) {
    llvm::MapVector<llvm::StringRef, unsigned> counts;
    for (unsigned node : graph.groups[group].nodes)
      if (graph.nodes[node].kind == GraphNode::op)
        ++counts[graph.nodes[node].name];
    std::string label;
    for (auto [name, count] : counts)
      label += (label.empty() ? "" : "\n") + std::to_string(count) + " " + name.str();
    os << id(graph.groups[group].nodes[0]) << " [label=" << quoted(label) << ", shape=box3d];\n";
  }

  std::string id(unsigned node) const {
    std::optional<unsigned> group = graph.nodes[node].group;
    return quoted(group && isOneNode(*group) ? prefix + "group" + std::to_string(*group)
                                             : prefix + std::to_string(node));
  }

  void printRemarks(unsigned node) {
    for (const GraphRemark &remark : graph.nodes[node].remarks) {
      std::string note = quoted(prefix + "remark" + std::to_string(numRemarks++));
      os << note << " [label=" << quoted(remark.text) << ", shape=note, fillcolor=\""
         << (remark.missed ? "#ffd9d9" : "#e6f4e6") << "\"];\n"
         << id(node) << " -> " << note << " [style=dashed, arrowhead=none];\n";
    }
  }

  void printNode(unsigned index) {
    const GraphNode &node = graph.nodes[index];
    os << id(index) << " [label=";
    if (node.kind != GraphNode::op) {
      os << quoted(node.name) << ", shape=ellipse];\n";
      return;
    }
    const OpCost &cost = graph.costOf(node);
    std::string label = node.name + (cost.times != 1 ? " x " + number(cost.times) : "") + "\n";
    label += cost.unknown.empty() ? costText(cost.cost) : "not counted: depends on " + cost.unknown;
    os << quoted(label) << (node.isKernel ? ", class=kernel, fillcolor=\"#cfe3ff\"" : "") << "];\n";
  }

  void printEdges() {
    std::set<std::string> drawn;
    for (const GraphEdge &edge : graph.edges) {
      std::optional<unsigned> to = graph.nodes[edge.to].group;
      unsigned from = inFirstOfRun(edge.from);
      if ((to && firstOfRun[*to] != *to) || id(from) == id(edge.to))
        continue;
      std::string label = (edge.name.empty() ? "" : edge.name + " ") + typeText(edge.type) + "\n";
      label += edge.unknown.empty() ? amountText(edge.bytes, "B") : "depends on " + edge.unknown;
      std::string line = id(from) + " -> " + id(edge.to) + " [label=" + quoted(label) + "];\n";
      if (drawn.insert(line).second)
        os << line;
    }
  }

  /// The node at the same place in the layer that is drawn.
  unsigned inFirstOfRun(unsigned node) const {
    std::optional<unsigned> group = graph.nodes[node].group;
    if (!group || firstOfRun[*group] == *group)
      return node;
    const std::vector<unsigned> &nodes = graph.groups[*group].nodes;
    return graph.groups[firstOfRun[*group]].nodes[llvm::find(nodes, node) - nodes.begin()];
  }

  llvm::raw_ostream &os;
  const OpGraph &graph;
  std::string prefix;
  std::vector<unsigned> firstOfRun; ///< of every group
  unsigned numRemarks = 0;
};
} // namespace

void mhc::printDot(llvm::raw_ostream &os, llvm::ArrayRef<std::pair<std::string, std::vector<OpGraph>>> pictures) {
  os << "digraph mhc {\nfontname=\"sans-serif\";\nnode [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f4f4\", "
        "fontname=\"sans-serif\"];\nedge [fontname=\"sans-serif\", fontsize=10];\n";
  for (const auto &[title, functions] : pictures) {
    os << "subgraph " << quoted("cluster_" + title) << " {\nlabel=" << quoted(title) << ";\n";
    for (auto [index, function] : llvm::enumerate(functions))
      DotFunction(os, function, title + "_" + std::to_string(index) + "_").print();
    os << "}\n";
  }
  os << "}\n";
}
