// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Sinkhorn by factors: u = 1 / (K v) and v = 1 / (K^T u) in turn from ones, and u K v with K = exp(z).

// Two turns, by sums of products.
// CHECK-LABEL: @written_out
func.func @written_out(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NEXT: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2>
  // CHECK-NEXT: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %number = arith.constant 1.0 : f32
  %ones = tensor.splat %number[%M] : tensor<?x4xf32>
  %k = math.exp %z : tensor<?x4x4xf32>
  %s1 = mhc.reduce sum %k dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %u1 = arith.divf %ones, %s1 : tensor<?x4xf32>
  %ub1 = mhc.broadcast %u1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %uk1 = arith.mulf %k, %ub1 : tensor<?x4x4xf32>
  %t1 = mhc.reduce sum %uk1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %v1 = arith.divf %ones, %t1 : tensor<?x4xf32>
  %vb1 = mhc.broadcast %v1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %kv1 = arith.mulf %k, %vb1 : tensor<?x4x4xf32>
  %s2 = mhc.reduce sum %kv1 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %u2 = arith.divf %ones, %s2 : tensor<?x4xf32>
  %ub2 = mhc.broadcast %u2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %uk2 = arith.mulf %ub2, %k : tensor<?x4x4xf32>
  %t2 = mhc.reduce sum %uk2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %v2 = arith.divf %ones, %t2 : tensor<?x4xf32>
  %vb2 = mhc.broadcast %v2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.mulf %uk2, %vb2 : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// By products of matrices in a loop that carries both, columns first. The maximum of each column has no effect.
// CHECK-LABEL: @in_a_loop
func.func @in_a_loop(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_colmax, order = col_row, denom = none, eps = 0.0, iters = 20>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 20 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %number = arith.constant 1.0 : f32
  %ones = tensor.splat %number[%M] : tensor<?x4x1xf32>
  %max = mhc.reduce max %z dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %maxb = mhc.broadcast %max dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %shifted = arith.subf %z, %maxb : tensor<?x4x4xf32>
  %k = math.exp %shifted : tensor<?x4x4xf32>
  %uv:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%u = %ones, %v = %ones) -> (tensor<?x4x1xf32>, tensor<?x4x1xf32>) {
    %t = mhc.batch_matmul %k, %u transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %v1 = arith.divf %ones, %t : tensor<?x4x1xf32>
    %s = mhc.batch_matmul %k, %v1 : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %u1 = arith.divf %ones, %s : tensor<?x4x1xf32>
    scf.yield %u1, %v1 : tensor<?x4x1xf32>, tensor<?x4x1xf32>
  }
  %us = tensor.collapse_shape %uv#0 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %vs = tensor.collapse_shape %uv#1 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %ub = mhc.broadcast %us dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %vb = mhc.broadcast %vs dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %uk = arith.mulf %ub, %k : tensor<?x4x4xf32>
  %r = arith.mulf %uk, %vb : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The factors of the rows are those of the turn before: neither sums are one.
// CHECK-LABEL: @older_factors
func.func @older_factors(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 20 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %number = arith.constant 1.0 : f32
  %ones = tensor.splat %number[%M] : tensor<?x4x1xf32>
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%u = %ones, %v = %ones) -> (tensor<?x4x1xf32>, tensor<?x4x1xf32>) {
    %t = mhc.batch_matmul %k, %u transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %v1 = arith.divf %ones, %t : tensor<?x4x1xf32>
    %s = mhc.batch_matmul %k, %v : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %u1 = arith.divf %ones, %s : tensor<?x4x1xf32>
    scf.yield %u1, %v1 : tensor<?x4x1xf32>, tensor<?x4x1xf32>
  }
  %us = tensor.collapse_shape %uv#0 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %vs = tensor.collapse_shape %uv#1 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %ub = mhc.broadcast %us dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %vb = mhc.broadcast %vs dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %uk = arith.mulf %ub, %k : tensor<?x4x4xf32>
  %r = arith.mulf %uk, %vb : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}
