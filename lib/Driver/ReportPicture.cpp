//===- ReportPicture.cpp - One function of a report, as JSON ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportPicture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <set>

using namespace mhc;
using llvm::json::OStream;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Source location of an op: "model.mlir:3:5", or the first and the last of several places.
static std::string placeText(mlir::Location loc, llvm::StringRef file) {
  std::set<std::tuple<llvm::StringRef, unsigned, unsigned>> places;
  loc->walk([&](mlir::Location part) {
    if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(part))
      places.insert({place.getFilename().getValue() == file ? "" : place.getFilename().getValue(), place.getLine(),
                     place.getColumn()});
    return mlir::WalkResult::advance();
  });
  if (places.empty())
    return "";
  auto text = [](const auto &place) {
    return llvm::formatv("{0}:{1}:{2}", std::get<0>(place), std::get<1>(place), std::get<2>(place)).str();
  };
  if (places.size() == 1)
    return text(*places.begin());
  return llvm::formatv("{0} to {1}, {2} places", text(*places.begin()), text(*places.rbegin()), places.size());
}

static std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Text of the user may be any bytes.
static void write(OStream &json, llvm::StringRef key, llvm::StringRef text) {
  json.attribute(key, llvm::json::fixUTF8(text));
}

static void write(OStream &json, llvm::StringRef key, Amount amount) {
  json.attributeArray(key, [&] {
    json.value(amount.perToken);
    json.value(amount.fixed);
  });
}

//===----------------------------------------------------------------------===//
// Picture
//===----------------------------------------------------------------------===//

namespace {
class PictureWriter {
public:
  PictureWriter(OStream &json, const OpGraph &graph, llvm::ArrayRef<CompileRemark> remarks,
                const CostReportOptions &options, llvm::StringRef file)
      : json(json), graph(graph), options(options), file(file) {
    findPlaces();
    findRemarks(remarks);
    for (const GraphGroup &group : graph.groups)
      kinds.insert(group.alike);
  }

  void write() {
    json.object([&] {
      json.attributeArray("kinds", [&] {
        for (unsigned first : kinds)
          writeKind(first);
      });
      json.attributeArray("groups", [&] {
        for (unsigned group = 0; group < graph.groups.size(); ++group)
          writeGroup(group);
      });
      json.attributeArray("arguments", [&] {
        for (unsigned node : arguments)
          json.value(llvm::json::fixUTF8(graph.nodes[node].name));
      });
      json.attributeArray("results", [&] {
        for (const GraphEdge &edge : graph.edges)
          if (graph.nodes[edge.to].kind == GraphNode::result)
            writeCrossing(edge);
      });
    });
  }

private:
  void findPlaces() {
    for (auto [index, node] : llvm::enumerate(graph.nodes))
      if (node.kind == GraphNode::argument || node.kind == GraphNode::constant)
        if (!node.group)
          arguments.insert(index);
    places.resize(graph.nodes.size());
    incoming.resize(graph.groups.size());
    for (const GraphGroup &group : graph.groups)
      for (auto [place, node] : llvm::enumerate(group.nodes))
        places[node] = place;
    for (auto [index, edge] : llvm::enumerate(graph.edges))
      if (std::optional<unsigned> group = graph.nodes[edge.to].group)
        incoming[*group].push_back(index);
  }

  void findRemarks(llvm::ArrayRef<CompileRemark> remarks) {
    NumberedNodes nodes(graph);
    remarksOf.resize(graph.groups.size());
    for (auto [index, remark] : llvm::enumerate(remarks))
      if (std::optional<unsigned> node = nodes.nodeAbout(remark.function, remark.at))
        remarksOf[*graph.nodes[*node].group].push_back({places[*node], unsigned(index)});
  }

  bool isInside(const GraphEdge &edge) const { return graph.nodes[edge.from].group == graph.nodes[edge.to].group; }

  void writeKind(unsigned first) {
    const GraphGroup &group = graph.groups[first];
    json.object([&] {
      json.attributeObject("cost", [&] { writeCost(group.cost); });
      json.attributeArray("nodes", [&] {
        for (unsigned node : group.nodes)
          writeNode(graph.nodes[node]);
      });
      json.attributeArray("edges", [&] {
        for (unsigned index : incoming[first])
          if (const GraphEdge &edge = graph.edges[index]; isInside(edge))
            writeTensor(edge, [&] { json.attribute("from", places[edge.from]); });
      });
    });
  }

  void writeCost(const Cost &cost) {
    ::write(json, "read", cost.bytesRead);
    ::write(json, "written", cost.bytesWritten);
    ::write(json, "flops", cost.flops);
    json.attribute("launches", cost.launches);
  }

  void writeNode(const GraphNode &node) {
    json.object([&] {
      if (node.kind != GraphNode::op)
        return json.attribute("input", node.kind == GraphNode::argument ? "argument" : "constant");
      const OpCost &cost = graph.costOf(node);
      ::write(json, "name", node.name);
      json.attribute("kernel", node.isKernel);
      json.attribute("times", cost.times);
      json.attribute("us", 1e6 * options.machine->seconds(cost.cost, options.tokens));
      if (!cost.unknown.empty())
        ::write(json, "unknown", cost.unknown);
      writeCost(cost.cost);
    });
  }

  /// Writes the differences between layers of one kind.
  void writeGroup(unsigned index) {
    const GraphGroup &group = graph.groups[index];
    json.object([&] {
      json.attribute("kind", llvm::find(kinds, group.alike) - kinds.begin());
      json.attributeArray("at", [&] {
        for (unsigned node : group.nodes)
          if (graph.nodes[node].kind == GraphNode::op)
            json.value(llvm::json::fixUTF8(placeText(graph.nodes[node].loc, file)));
      });
      json.attributeArray("inputs", [&] {
        for (unsigned node : group.nodes)
          if (graph.nodes[node].kind != GraphNode::op)
            json.value(llvm::json::fixUTF8(graph.nodes[node].name));
      });
      json.attributeArray("in", [&] {
        for (unsigned edge : incoming[index])
          if (!isInside(graph.edges[edge]))
            writeCrossing(graph.edges[edge]);
      });
      json.attributeArray("remarks", [&] {
        for (auto [node, remark] : remarksOf[index])
          json.array([&] {
            json.value(node);
            json.value(remark);
          });
      });
    });
  }

  void writeTensor(const GraphEdge &edge, llvm::function_ref<void()> from) {
    json.object([&] {
      from();
      if (graph.nodes[edge.to].kind == GraphNode::result)
        ::write(json, "result", graph.nodes[edge.to].name);
      else
        json.attribute("to", places[edge.to]);
      ::write(json, "name", edge.name);
      json.attribute("type", typeText(edge.type));
      ::write(json, "bytes", edge.bytes);
      if (!edge.unknown.empty())
        ::write(json, "unknown", edge.unknown);
    });
  }

  /// A tensor from another group, or from an argument that several groups read.
  void writeCrossing(const GraphEdge &edge) {
    writeTensor(edge, [&] {
      if (std::optional<unsigned> group = graph.nodes[edge.from].group) {
        json.attribute("group", *group);
        json.attribute("from", places[edge.from]);
      } else {
        json.attribute("argument", llvm::find(arguments, edge.from) - arguments.begin());
      }
    });
  }

  OStream &json;
  const OpGraph &graph;
  const CostReportOptions &options;
  llvm::StringRef file;
  llvm::SetVector<unsigned> kinds;                                   ///< the first group of each
  llvm::SetVector<unsigned> arguments;                               ///< that are in no group
  std::vector<unsigned> places;                                      ///< of nodes, in their groups
  std::vector<std::vector<unsigned>> incoming;                       ///< edges, by group
  std::vector<std::vector<std::pair<unsigned, unsigned>>> remarksOf; ///< node and remark, by group
};
} // namespace

std::string mhc::pictureJson(const OpGraph &graph, llvm::ArrayRef<CompileRemark> remarks,
                             const CostReportOptions &options, llvm::StringRef file) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream);
  PictureWriter(json, graph, remarks, options, file).write();
  return text;
}
