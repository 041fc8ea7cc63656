// RUN: mhc-opt %s --mhc-dump-graph=before,after | FileCheck %s
// RUN: mhc-opt %s --mhc-dump-graph=pictures=before | FileCheck %s --check-prefix=BEFORE --implicit-check-not=cluster_after
// RUN: mhc-opt %s --mhc-dump-graph=after | FileCheck %s --check-prefix=AFTER --implicit-check-not=cluster_before
// RUN: mhc-opt %s --mhc-dump-graph | FileCheck %s
// RUN: not mhc-opt %s --mhc-dump-graph=before,later 2>&1 | FileCheck %s --check-prefix=ERROR --implicit-check-not=error:
// ERROR: error: 'mhc-dump-graph' cannot draw 'later'; needed 'before' or 'after'

// The program is as it was, and goes where -o says.
// RUN: mhc-opt %s --mhc-dump-graph -o %t.mlir | FileCheck %s
// RUN: mhc-opt %s | diff - %t.mlir
// RUN: mhc-opt %s --mhc-raise -o - | FileCheck %s --check-prefix=RAISED
// RAISED: mhc.aggregate

// Bytes and flops are those of --explain.
// RUN: sed 's/@"weigh[^(]*/@weigh/' %s | mhcc - --explain | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: bytes per token{{ +}}5392{{ +}}1296
// EXPLAIN: flops per token{{ +}}512{{ +}}512

// CHECK: digraph mhc {
// CHECK: subgraph "cluster_before" {
// CHECK: label="@weigh\"x\": 3 kernels, 5392 B/token\n512 flops/token";
// CHECK: [[REDUCE:"before_[^"]*"]] [label="mhc.reduce\n1280 B/token\n256 flops/token"];
// CHECK: [[REDUCE]] -> {{.*}} [label="?x64xf32\n256 B/token"];
// CHECK: subgraph "cluster_after" {
// CHECK: [[OP:"after_[^"]*"]] [label="mhc.aggregate\n1296 B/token\n512 flops/token", class=kernel,
// CHECK: [[X:"after_[^"]*"]] [label="\"x\"\<1\>", shape=ellipse];
// CHECK: [[X]] -> [[OP]] [label="?x4x64xf32\n1024 B/token"];
// CHECK: }
// CHECK-NOT: module

// BEFORE: cluster_before
// AFTER: cluster_after
func.func @"weigh\22x\22"(%x: tensor<?x4x64xf32> {mhc.name = "\"x\"<1>"},
                           %h: tensor<?x4xf32> {mhc.name = "h"}) -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %weights = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}
