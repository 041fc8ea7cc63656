// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhcc %s --verify

// A matrix of all tokens that is repeated for them before the iteration: the op has the one.
// CHECK-LABEL: @before_iteration(
// CHECK: %[[ONE:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<1x4x4xf32>
// CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %[[ONE]] : tensor<1x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
// CHECK: %[[BACK:.*]] = tensor.collapse_shape %[[MIX]] {{.*}} into tensor<4x4xf32>
// CHECK: %[[ALL:.*]] = mhc.broadcast %[[BACK]] dims = [1, 2] : tensor<4x4xf32> -> tensor<12x4x4xf32>
// CHECK: return %[[ALL]]
func.func @before_iteration(%z: tensor<4x4xf32>) -> tensor<12x4x4xf32> {
  %eps = arith.constant dense<1.0e-06> : tensor<12x4xf32>
  %exp = math.exp %z : tensor<4x4xf32>
  %m = mhc.broadcast %exp dims = [1, 2] : tensor<4x4xf32> -> tensor<12x4x4xf32>
  %s0 = mhc.reduce sum %m dims = [2] : tensor<12x4x4xf32> -> tensor<12x4xf32>
  %e0 = arith.addf %s0, %eps : tensor<12x4xf32>
  %b0 = mhc.broadcast %e0 dims = [0, 1] : tensor<12x4xf32> -> tensor<12x4x4xf32>
  %m0 = arith.divf %m, %b0 : tensor<12x4x4xf32>
  %s1 = mhc.reduce sum %m0 dims = [1] : tensor<12x4x4xf32> -> tensor<12x4xf32>
  %e1 = arith.addf %s1, %eps : tensor<12x4xf32>
  %b1 = mhc.broadcast %e1 dims = [0, 2] : tensor<12x4xf32> -> tensor<12x4x4xf32>
  %m1 = arith.divf %m0, %b1 : tensor<12x4x4xf32>
  return %m1 : tensor<12x4x4xf32>
}

// The number of tokens is read where the iteration is not.
// CHECK-LABEL: @of_open_tokens(
// CHECK: %[[TOKENS:.*]] = tensor.dim %arg1
// CHECK: mhc.sinkhorn(logits = %{{.*}} : tensor<1x4x4xf32>)
// CHECK: mhc.broadcast %{{.*}}[%[[TOKENS]]] dims = [1, 2] : tensor<4x4xf32> -> tensor<?x4x4xf32>
func.func @of_open_tokens(%z: tensor<4x4xf32>, %x: tensor<?x64xf32>) -> (tensor<?x4x4xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x64xf32>
  %exp = math.exp %z : tensor<4x4xf32>
  %m = mhc.broadcast %exp[%tokens] dims = [1, 2] : tensor<4x4xf32> -> tensor<?x4x4xf32>
  %s0 = mhc.reduce sum %m dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b0 = mhc.broadcast %s0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m0 = arith.divf %m, %b0 : tensor<?x4x4xf32>
  %s1 = mhc.reduce sum %m0 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m1 = arith.divf %m0, %b1 : tensor<?x4x4xf32>
  return %m1, %x : tensor<?x4x4xf32>, tensor<?x64xf32>
}

// Logits of each token are no such matrix.
// CHECK-LABEL: @of_each_token(
// CHECK: mhc.sinkhorn(logits = %{{.*}} : tensor<12x4x4xf32>)
// CHECK-NOT: mhc.broadcast
// CHECK: return
func.func @of_each_token(%z: tensor<4x4xf32>, %t: tensor<12x4xf32>) -> tensor<12x4x4xf32> {
  %eps = arith.constant dense<1.0e-06> : tensor<12x4xf32>
  %zs = mhc.broadcast %z dims = [1, 2] : tensor<4x4xf32> -> tensor<12x4x4xf32>
  %ts = mhc.broadcast %t dims = [0, 1] : tensor<12x4xf32> -> tensor<12x4x4xf32>
  %logits = arith.addf %zs, %ts : tensor<12x4x4xf32>
  %m = math.exp %logits : tensor<12x4x4xf32>
  %s0 = mhc.reduce sum %m dims = [1] : tensor<12x4x4xf32> -> tensor<12x4xf32>
  %e0 = arith.addf %s0, %eps : tensor<12x4xf32>
  %b0 = mhc.broadcast %e0 dims = [0, 2] : tensor<12x4xf32> -> tensor<12x4x4xf32>
  %m0 = arith.divf %m, %b0 : tensor<12x4x4xf32>
  %s1 = mhc.reduce sum %m0 dims = [2] : tensor<12x4x4xf32> -> tensor<12x4xf32>
  %e1 = arith.addf %s1, %eps : tensor<12x4xf32>
  %b1 = mhc.broadcast %e1 dims = [0, 1] : tensor<12x4xf32> -> tensor<12x4x4xf32>
  %m1 = arith.divf %m0, %b1 : tensor<12x4x4xf32>
  return %m1 : tensor<12x4x4xf32>
}
