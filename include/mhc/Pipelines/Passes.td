//===- Passes.td - Passes that show what pipelines do ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_PIPELINES_PASSES
#define MHC_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def DumpGraphPass : Pass<"mhc-dump-graph", "::mlir::ModuleOp"> {
  let summary = "Print the program before and after fusion as a graph for Graphviz";
  let description = [{
    Prints one DOT graph to the standard output: every function with its calls inlined (`before`), as raising
    and fusing make it (`after`), or both, next to each other. Nodes are ops with their bytes and flops, edges are tensors with their
    bytes, boxes are layers; of layers that are alike, the first one is drawn, and one of more than a hundred ops as a
    count of them. What passes found and missed is beside the ops; `--remarks-filter` prints nothing of it. The program stays as it is, and mhc-opt
    prints it only where `-o` says, so that this is a whole command:
    ```
    mhc-opt model.mlir --mhc-dump-graph=before,after | dot -Tsvg > graph.svg
    ```
  }];
  let options = [ListOption<"pictures", "pictures", "std::string", "What to draw: before, after; default both">];
}

def RewriteAtenPass : Pass<"mhc-rewrite-aten", "::mlir::ModuleOp"> {
  let summary = "Print the calls that replace the mHC chains of captured PyTorch graphs";
  let description = [{
    Runs mhc-read-aten, raising and fusion twice. The first time says which nodes are part of a site; the second time
    reads only those, so that all other nodes are kept as they are. What mhc-write-aten prints of that goes to the
    standard output. Repeating streams and adding them up are replaced beside a site only: attention repeats its heads
    by the same op; in a function with `mhc.streams` they are replaced anyway. `missed` is why other sites that look like mHC are not replaced. `bytes` is what the nodes that go read
    and write, and what the calls do, each of which reads its operands once and writes its results once; it is left out where
    that depends on open sizes.
  }];
  let options = [
    Option<"fuse", "fuse", "::mhc::FuseLevel", /*default=*/"::mhc::FuseLevel::layer", "What one kernel may span",
           [{::llvm::cl::values(
             clEnumValN(::mhc::FuseLevel::chain, "chain", "each mHC op"),
             clEnumValN(::mhc::FuseLevel::layer, "layer", "one pre and one post per sublayer"))}]>,
    Option<"differentiate", "differentiate", "bool", /*default=*/"false",
           "PyTorch differentiates the calls: each has a derivative there">
  ];
}

def JoinAtenPass : Pass<"mhc-join-aten", "::mlir::ModuleOp"> {
  let summary = "Print the calls that join neighbouring mHC calls of PyTorch graphs";
  let description = [{
    For graphs behind AOTAutograd, forward and backward, that have calls of `mhc` ops already. Runs mhc-read-aten with
    `in-place` and mhc-fuse twice. The first time says which nodes were joined; the second time reads only those and the
    views between them, so that all other nodes are kept as they are. What mhc-write-aten prints of that goes to the
    standard output: it has no `calls` where nothing can be joined. An op that is fused has the locations of all that it
    was made of, which is how their nodes are known. Where a backward graph may make u again, `norms=false`.
  }];
  let options = [
    Option<"level", "level", "::mhc::FuseLevel", /*default=*/"::mhc::FuseLevel::model", "What one kernel may span",
           [{::llvm::cl::values(
             clEnumValN(::mhc::FuseLevel::layer, "layer", "one sublayer: gradients of its streams are joined"),
             clEnumValN(::mhc::FuseLevel::model, "model", "the post of one sublayer and the pre of the next"))}]>,
    Option<"norms", "norms", "bool", /*default=*/"true", "Join the norm of u with the boundary in front of it">
  ];
}

#endif // MHC_PIPELINES_PASSES
