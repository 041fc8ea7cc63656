// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @launch
func.func @launch(%logits: memref<?x4x4xf32>, %mix: memref<?x4x4xf32>) {
  // CHECK: mhc.launch "mhc.sinkhorn" ins(%{{.*}} : memref<?x4x4xf32>) outs(%{{.*}} : memref<?x4x4xf32>)
  // CHECK-SAME: counts = [1, 1] config = {denom = #mhc.denom<none>, eps = 0.000000e+00 : f64,
  mhc.launch "mhc.sinkhorn" ins(%logits : memref<?x4x4xf32>) outs(%mix : memref<?x4x4xf32>)
    counts = [1, 1] config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>,
    eps = 0.0 : f64, iters = 20 : i64}
  return
}

// CHECK-LABEL: @optional_tensors
func.func @optional_tensors(%proj: memref<2x4xf32>, %alpha: memref<1xf32>, %beta: memref<4xf32>, %h: memref<2x4xf32>) {
  // CHECK: counts = [1, 0, 1, 1, 1, 0, 0] config = {{.*}} {note}
  mhc.launch "mhc.gates" ins(%proj, %alpha, %beta : memref<2x4xf32>, memref<1xf32>, memref<4xf32>)
    outs(%h : memref<2x4xf32>) counts = [1, 0, 1, 1, 1, 0, 0]
    config = {stat_form = #mhc.stat<applied>, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0} {note}
  return
}
