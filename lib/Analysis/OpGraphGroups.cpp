//===- OpGraphGroups.cpp - Layers of a picture ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpGraphGroups.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace mhc;

using Signature = std::vector<const void *>;

/// The number of the last op that a location comes from: the one that makes the result of a chain.
static std::optional<int64_t> lastNumber(Location loc) {
  std::vector<int64_t> numbers = opNumbers(loc);
  if (numbers.empty())
    return std::nullopt;
  return numbers.back();
}

//===----------------------------------------------------------------------===//
// Layers of a module
//===----------------------------------------------------------------------===//

static std::vector<Layer> findSublayers(func::FuncOp func) {
  std::vector<Layer> sublayers;
  func.walk([&](PostOp post) {
    Operation *start = post.getX().getDefiningOp();
    std::optional<int64_t> last = lastNumber(post.getLoc());
    std::optional<int64_t> behind = start ? lastNumber(start->getLoc()) : lastNumber(func.getLoc());
    if (last && behind && *behind < *last)
      sublayers.push_back({*behind, *last});
  });
  llvm::sort(sublayers, [](Layer a, Layer b) { return a.last < b.last; });
  return sublayers;
}

/// Index of the one of the sorted layers that holds an op; the number of layers if none does.
static unsigned layerOf(ArrayRef<Layer> layers, int64_t number) {
  const Layer *found = llvm::lower_bound(layers, number, [](Layer layer, int64_t n) { return layer.last < n; });
  return found != layers.end() && number > found->behind ? found - layers.begin() : layers.size();
}

/// The share of the elements that are followed by an equal one at some distance.
template <typename T>
static double shareAlike(ArrayRef<T> elements, size_t distance) {
  size_t alike = 0, pairs = elements.size() - distance;
  for (size_t i = 0; i < pairs; ++i)
    alike += elements[i] == elements[i + distance];
  return double(alike) / pairs;
}

/// Number of sublayers that repeat: the smallest distance at which most of them are alike.
static size_t findPeriod(ArrayRef<Signature> sublayers) {
  constexpr size_t kMostSublayers = 8;
  size_t best = 1;
  double bestShare = 0;
  for (size_t period = 1; period <= kMostSublayers && 2 * period <= sublayers.size(); ++period)
    if (double share = shareAlike(sublayers, period); share > bestShare) {
      best = period;
      bestShare = share;
    }
  return best;
}

static std::vector<Layer> layersOf(func::FuncOp func, ArrayRef<Layer> sublayers) {
  std::vector<Signature> kinds(sublayers.size());
  func.walk([&](Operation *op) {
    std::optional<int64_t> number = lastNumber(op->getLoc());
    unsigned sublayer = number ? layerOf(sublayers, *number) : kinds.size();
    if (sublayer < kinds.size())
      addSignature(op, kinds[sublayer]);
  });
  size_t period = findPeriod(kinds);
  std::vector<Layer> layers;
  for (size_t i = 0; i < sublayers.size(); i += period)
    layers.push_back({sublayers[i].behind, sublayers[std::min(i + period, sublayers.size()) - 1].last});
  return layers;
}

/// The smallest distance at which nearly all of the ops repeat; none when they do not. An op that is in a layer once
/// comes back after one layer, so that the distances of equal ops are the only ones to try.
static std::optional<size_t> findPeriod(ArrayRef<unsigned> kinds) {
  constexpr size_t kMostTried = 64;
  constexpr double kNearlyAll = 0.9;
  llvm::DenseMap<unsigned, size_t> lastPlace;
  std::map<size_t, size_t> votes;
  for (auto [place, kind] : llvm::enumerate(kinds)) {
    if (auto last = lastPlace.find(kind); last != lastPlace.end())
      ++votes[place - last->second];
    lastPlace[kind] = place;
  }
  std::vector<std::pair<size_t, size_t>> tried; // votes and distance
  for (auto [distance, count] : votes)
    tried.push_back({count, distance});
  llvm::sort(tried, std::greater<>());
  tried.resize(std::min(tried.size(), kMostTried));
  std::optional<size_t> best;
  for (auto [count, distance] : tried)
    if (2 * distance <= kinds.size() && (!best || distance < *best) && shareAlike(kinds, distance) >= kNearlyAll)
      best = distance;
  return best;
}

namespace {
/// The ops of a function that are in program order, each with a number for what it does.
struct OpSequence {
  std::vector<unsigned> kinds;
  std::vector<int64_t> numbers;
};
} // namespace

static OpSequence opsOf(func::FuncOp func) {
  OpSequence ops;
  std::map<Signature, unsigned> known;
  for (Operation &op : func.getBody().front()) {
    std::optional<int64_t> number = lastNumber(op.getLoc());
    if (!number || op.hasTrait<OpTrait::ConstantLike>() || (!ops.numbers.empty() && *number <= ops.numbers.back()))
      continue;
    Signature signature;
    addSignature(&op, signature);
    ops.kinds.push_back(known.try_emplace(std::move(signature), known.size()).first->second);
    ops.numbers.push_back(*number);
  }
  return ops;
}

/// Layers of a function that has no mhc.post. A short one needs none.
static std::vector<Layer> repeatsIn(const OpSequence &ops) {
  constexpr size_t kFewOps = 100;
  constexpr double kMost = 0.5;
  ArrayRef<unsigned> kinds = ops.kinds;
  std::optional<size_t> period = kinds.size() > kFewOps ? findPeriod(kinds) : std::nullopt;
  std::vector<Layer> layers;
  if (!period)
    return layers;
  size_t first = 0;
  while (first + 2 * *period < kinds.size() && kinds.slice(first, *period) != kinds.slice(first + *period, *period))
    ++first;
  for (; first + *period <= kinds.size(); first += *period) {
    if (!layers.empty() && shareAlike(kinds.slice(first - *period, 2 * *period), *period) < kMost)
      break;
    layers.push_back({ops.numbers[first] - 1, ops.numbers[first + *period - 1]});
  }
  return layers;
}

/// Gradients have the numbers of the function that they are of, whose layers may be known.
static void addLayers(std::vector<Layer> &layers, ArrayRef<Layer> more) {
  size_t known = layers.size();
  for (Layer layer : more)
    if (layerOf(ArrayRef(layers).take_front(known), layer.last) == known)
      layers.push_back(layer);
  llvm::sort(layers, [](Layer a, Layer b) { return a.last < b.last; });
}

std::vector<Layer> mhc::findLayers(ModuleOp fused) {
  std::vector<Layer> layers;
  for (func::FuncOp func : fused.getOps<func::FuncOp>())
    addLayers(layers, layersOf(func, findSublayers(func)));
  for (func::FuncOp func : fused.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    OpSequence ops = opsOf(func);
    if (llvm::none_of(ops.numbers, [&](int64_t number) { return layerOf(layers, number) < layers.size(); }))
      addLayers(layers, repeatsIn(ops));
  }
  return layers;
}

//===----------------------------------------------------------------------===//
// Groups of a graph
//===----------------------------------------------------------------------===//

namespace {
class Grouper {
public:
  Grouper(OpGraph &graph, ArrayRef<Layer> layers) : graph(graph), layers(layers) {}

  void run() {
    for (unsigned i = 0; i < graph.nodes.size() && graph.nodes[i].kind == GraphNode::op; ++i)
      addOp(i);
    addTitles();
    addReadOnce();
    findAlike();
  }

private:
  /// Twice the layer and one; an even number before, between and behind layers.
  unsigned placeOf(int64_t number) const {
    unsigned layer = layerOf(layers, number);
    if (layer < layers.size())
      return 2 * layer + 1;
    return 2 *
           (llvm::lower_bound(layers, number, [](Layer layer, int64_t n) { return layer.last < n; }) - layers.begin());
  }

  /// Ops of one place that follow each other are one group. What a pass made from nothing stays with its neighbour.
  void addOp(unsigned index) {
    GraphNode &node = graph.nodes[index];
    std::optional<int64_t> number = lastNumber(node.loc);
    unsigned current = graph.groups.empty() ? 0 : graph.groups.back().place;
    unsigned place = number ? placeOf(*number) : current;
    if (graph.groups.empty() || place != current) {
      graph.groups.emplace_back();
      graph.groups.back().place = place;
      graph.groups.back().isLayer = place % 2 == 1;
    }
    node.group = graph.groups.size() - 1;
    graph.groups.back().nodes.push_back(index);
    graph.groups.back().cost += graph.costOf(node).cost;
  }

  /// Layers count from one in every function. Gradients come back to a layer.
  void addTitles() {
    unsigned first = ~0u, last = 0;
    for (const GraphGroup &group : graph.groups)
      if (group.isLayer) {
        first = std::min(first, group.place);
        last = std::max(last, group.place);
      }
    llvm::SmallDenseSet<unsigned> seen;
    for (GraphGroup &group : graph.groups) {
      if (first > last)
        group.title = "ops";
      else if (group.isLayer)
        group.title = "layer " + std::to_string((group.place - first) / 2 + 1);
      else
        group.title = group.place < first  ? "before the layers"
                      : group.place > last ? "behind the layers"
                                           : "between layers";
      if (!seen.insert(group.place).second)
        group.title += ", again";
    }
  }

  /// Weights and constants of one group are drawn in it.
  void addReadOnce() {
    std::vector<llvm::SmallDenseSet<unsigned, 2>> readers(graph.nodes.size());
    for (const GraphEdge &edge : graph.edges)
      if (std::optional<unsigned> group = graph.nodes[edge.to].group)
        readers[edge.from].insert(*group);
    for (auto [index, node] : llvm::enumerate(graph.nodes))
      if ((node.kind == GraphNode::argument || node.kind == GraphNode::constant) && readers[index].size() == 1) {
        node.group = *readers[index].begin();
        graph.groups[*node.group].nodes.push_back(index);
      }
  }

  void findAlike() {
    std::vector<unsigned> places(graph.nodes.size());
    std::vector<Signature> signatures(graph.groups.size());
    for (auto [group, signature] : llvm::zip(graph.groups, signatures))
      for (auto [place, node] : llvm::enumerate(group.nodes)) {
        places[node] = place;
        signature.insert(signature.end(), graph.nodes[node].signature.begin(), graph.nodes[node].signature.end());
      }
    for (const GraphEdge &edge : graph.edges)
      if (std::optional<unsigned> group = graph.nodes[edge.to].group) {
        bool inside = graph.nodes[edge.from].group == group;
        signatures[*group].push_back(reinterpret_cast<const void *>(uintptr_t(places[edge.to])));
        signatures[*group].push_back(
            reinterpret_cast<const void *>(inside ? uintptr_t(places[edge.from]) : ~uintptr_t(0)));
      }
    // Equal types may have sizes of different names.
    std::map<std::pair<Signature, std::vector<double>>, unsigned> first;
    for (auto [index, group] : llvm::enumerate(graph.groups))
      group.alike = first.try_emplace({std::move(signatures[index]), costsOf(group)}, index).first->second;
  }

  std::vector<double> costsOf(const GraphGroup &group) const {
    std::vector<double> costs;
    for (unsigned node : group.nodes)
      if (graph.nodes[node].kind == GraphNode::op) {
        const OpCost &op = graph.costOf(graph.nodes[node]);
        Amount bytes = op.cost.bytes();
        costs.insert(costs.end(), {op.times, bytes.perToken, bytes.fixed, op.cost.flops.perToken, op.cost.flops.fixed});
      }
    return costs;
  }

  OpGraph &graph;
  ArrayRef<Layer> layers;
};
} // namespace

void mhc::groupNodes(OpGraph &graph, ArrayRef<Layer> layers) { Grouper(graph, layers).run(); }
