// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @sinkhorn
func.func @sinkhorn(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %mix = mhc.sinkhorn(logits = %{{[a-z0-9]+}} : tensor<?x4x4xf32>)
  // CHECK-SAME: <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK-LABEL: @variants
func.func @variants(%a: tensor<2x1x1xf32>) -> tensor<2x1x1xf32> {
  // CHECK: <init = exp, order = col_row, denom = clamp, eps = 1.0e-12, iters = 0>
  %b = mhc.sinkhorn(logits = %a : tensor<2x1x1xf32>)
    <init = exp, order = col_row, denom = clamp, eps = 1.0e-12, iters = 0> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 3>
  %c = mhc.sinkhorn(logits = %b : tensor<2x1x1xf32>)
    <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 3> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = exp_colmax, order = col_row, denom = add, eps = 0.0, iters = 3>
  %d = mhc.sinkhorn(logits = %c : tensor<2x1x1xf32>)
    <init = exp_colmax, order = col_row, denom = add, eps = 0.0, iters = 3> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = log, order = row_col, denom = none, eps = 0.0, iters = 20>
  %e = mhc.sinkhorn(logits = %d : tensor<2x1x1xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = exp_max, order = col_row, denom = potentials, eps = 1.0e-06, iters = 20>
  %f = mhc.sinkhorn(logits = %e : tensor<2x1x1xf32>)
    <init = exp_max, order = col_row, denom = potentials, eps = 1.0e-06, iters = 20> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = sigmoid, order = row_col, denom = none, eps = 0.0, iters = 1>
  %g = mhc.sinkhorn(logits = %f : tensor<2x1x1xf32>)
    <init = sigmoid, order = row_col, denom = none, eps = 0.0, iters = 1> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = sigmoid_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  %h = mhc.sinkhorn(logits = %g : tensor<2x1x1xf32>)
    <init = sigmoid_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1> -> (mix : tensor<2x1x1xf32>)
  // CHECK: <init = log, order = row_col, denom = none, eps = 0.0, iters = 60, solver = newton>
  %i = mhc.sinkhorn(logits = %h : tensor<2x1x1xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 60, solver = newton> -> (mix : tensor<2x1x1xf32>)
  return %i : tensor<2x1x1xf32>
}

// CHECK-LABEL: @permutation_mix
func.func @permutation_mix(%logits: tensor<?x24xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %mix = mhc.permutation_mix(logits = %{{.*}} : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK-LABEL: @permutation_gradient
func.func @permutation_gradient(%d_mix: tensor<2x3x3xf32>, %logits: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // CHECK: mhc.permutation_mix_bwd(d_mix = %{{.*}}, logits = %{{.*}}) -> (d_logits : tensor<2x6xf32>)
  %d = mhc.permutation_mix_bwd(d_mix = %d_mix : tensor<2x3x3xf32>, logits = %logits : tensor<2x6xf32>)
    -> (d_logits : tensor<2x6xf32>)
  return %d : tensor<2x6xf32>
}
