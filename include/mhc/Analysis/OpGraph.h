//===- OpGraph.h - A function as a picture ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data behind pictures of programs. Nodes are the rows of the cost model, so that a picture says what --explain
// says; edges are the tensors between them; groups are the layers of a model.
//
// Ops are numbered so that they can be followed through fusion: numberOps writes a number into the location of every
// op, and passes carry locations along. So a remark, an op before and an op after fusion belong together when they
// share a number, even where the user's own locations are unknown or name one line of a script for a hundred layers.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_OPGRAPH_H
#define MHC_ANALYSIS_OPGRAPH_H

#include "mhc/Analysis/CostModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mhc {

/// Numbers the ops of a module, in program order, in their locations.
void numberOps(mlir::ModuleOp module);
/// The numbers of the ops that a location comes from, ascending.
std::vector<int64_t> opNumbers(mlir::Location loc);

/// A remark of a pass about an op.
struct GraphRemark {
  std::string code; ///< what was found, or the reason why not
  bool missed;
  std::string text;
};

struct GraphNode {
  enum Kind { argument, constant, op, result } kind;
  std::string name;
  mlir::Location loc;
  /// For an op: its row in the cost of the function.
  unsigned row = 0;
  /// For an op: whether it has a kernel of its own.
  bool isKernel = false;
  /// Equal for nodes that do the same with tensors of the same types.
  std::vector<const void *> signature;
  /// The group that it is drawn in; nullopt for arguments that several groups read, and for results.
  std::optional<unsigned> group;
  std::vector<GraphRemark> remarks;
};

/// A tensor that one node makes and another reads.
struct GraphEdge {
  unsigned from, to;
  std::string name; ///< of the tensor, where it has one
  mlir::Type type;
  Amount bytes;
  std::string unknown; ///< as in OpCost
};

/// Neighbouring ops: those of one layer, or of what is before, between and behind layers.
struct GraphGroup {
  std::string title;
  /// The same before and after fusion. Gradients come back to the places of their function.
  unsigned place = 0;
  bool isLayer = false;
  std::vector<unsigned> nodes;
  Cost cost;
  /// The first group of the function that has the same nodes and edges.
  unsigned alike = 0;
};

struct OpGraph {
  FunctionCost cost;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::vector<GraphGroup> groups;
  /// The nodes of ops that are not drawn, by the numbers of those: of the op around them, or of the one whose result
  /// they show or end a loop with.
  std::map<int64_t, unsigned> undrawn;

  const OpCost &costOf(const GraphNode &node) const { return cost.ops[node.row]; }
};

/// Ops of one layer have numbers behind `behind`, up to `last`.
struct Layer {
  int64_t behind, last;
};

/// The layers of a numbered and fused module: an mhc.post ends a sublayer, the streams that it reads come from before
/// it, and a layer is the shortest sequence of sublayers that repeats. In a function without mhc.post, where perhaps
/// nothing was found, it is the shortest sequence of ops that does.
std::vector<Layer> findLayers(mlir::ModuleOp fused);

OpGraph graphOf(mlir::func::FuncOp func, llvm::ArrayRef<Layer> layers);

/// The ops of a graph by the numbers in their locations.
class NumberedNodes {
public:
  explicit NumberedNodes(const OpGraph &graph);
  /// The op that a remark at `at` in `function` is about: of a chain it is the last one, or what stands for it where it
  /// is not drawn, or else the next one.
  std::optional<unsigned> nodeAbout(llvm::StringRef function, mlir::LocationAttr at) const;

private:
  const OpGraph &graph;
  std::map<int64_t, unsigned> nodes;
};

/// Writes pictures as one graph for Graphviz, with layers that are alike drawn once and large groups as one node.
void printDot(llvm::raw_ostream &os, llvm::ArrayRef<std::pair<std::string, std::vector<OpGraph>>> pictures);

} // namespace mhc

#endif // MHC_ANALYSIS_OPGRAPH_H
