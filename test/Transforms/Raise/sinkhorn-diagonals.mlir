// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Vectors u = 1 / (K v + eps) and v = 1 / (K^T u + eps) by products of matrices with vectors, and diag(u) K diag(v) by
// products with diagonal matrices.

#vector = affine_map<(d0, d1, d2) -> (d0, d1)>
#matrix = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

func.func private @vectors(%k: tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %k, %c0 : tensor<?x4x4xf32>
  %one = arith.constant 1.0 : f32
  %small = arith.constant 1.0e-8 : f32
  %ones = tensor.splat %one[%M] : tensor<?x4x1xf32>
  %eps = tensor.splat %small[%M] : tensor<?x4x1xf32>
  %kv1 = mhc.batch_matmul %k, %ones : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %s1 = arith.addf %kv1, %eps : tensor<?x4x1xf32>
  %u1 = arith.divf %ones, %s1 : tensor<?x4x1xf32>
  %ku1 = mhc.batch_matmul %k, %u1 transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %t1 = arith.addf %ku1, %eps : tensor<?x4x1xf32>
  %v1 = arith.divf %ones, %t1 : tensor<?x4x1xf32>
  %kv2 = mhc.batch_matmul %k, %v1 : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %s2 = arith.addf %kv2, %eps : tensor<?x4x1xf32>
  %u2 = arith.divf %ones, %s2 : tensor<?x4x1xf32>
  %ku2 = mhc.batch_matmul %k, %u2 transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %t2 = arith.addf %ku2, %eps : tensor<?x4x1xf32>
  %v2 = arith.divf %ones, %t2 : tensor<?x4x1xf32>
  %u = tensor.collapse_shape %u2 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %v = tensor.collapse_shape %v2 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  return %u, %v : tensor<?x4xf32>, tensor<?x4xf32>
}

func.func private @scaled(%u: tensor<?x4x4xf32>, %k: tensor<?x4x4xf32>, %v: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %uk = mhc.batch_matmul %u, %k : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  %r = mhc.batch_matmul %uk, %v : (tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// An element is chosen where its positions are equal.
func.func private @diagonal_selected(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %other = arith.constant 0.0 : f32
  %empty = tensor.empty(%M) : tensor<?x4x4xf32>
  %r = linalg.generic {indexing_maps = [#vector, #matrix], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is = arith.cmpi eq, %i, %j : index
    %e = arith.select %is, %in, %other : f32
    linalg.yield %e : f32
  } -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @selected(
func.func @selected(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = exp, order = row_col, denom = potentials, eps = 1.0e-08, iters = 2>
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_selected(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_selected(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Multiplied by the identity.
func.func private @diagonal_identity(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %ms = mhc.broadcast %m[%M] dims = [1, 2] : tensor<4x4xf32> -> tensor<?x4x4xf32>
  %b = mhc.broadcast %x dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.mulf %b, %ms : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @identity(
func.func @identity(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = exp, order = row_col, denom = potentials, eps = 1.0e-08, iters = 2>
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_identity(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_identity(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Multiplied by another permutation.
func.func private @diagonal_permutation(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = arith.constant dense<[[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %ms = mhc.broadcast %m[%M] dims = [1, 2] : tensor<4x4xf32> -> tensor<?x4x4xf32>
  %b = mhc.broadcast %x dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.mulf %b, %ms : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @permutation(
func.func @permutation(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_permutation(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_permutation(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// One row beside the diagonal.
func.func private @diagonal_beside(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %other = arith.constant 0.0 : f32
  %empty = tensor.empty(%M) : tensor<?x4x4xf32>
  %r = linalg.generic {indexing_maps = [#vector, #matrix], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %is = arith.cmpi eq, %next, %j : index
    %e = arith.select %is, %in, %other : f32
    linalg.yield %e : f32
  } -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @beside(
func.func @beside(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_beside(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_beside(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// All elements but the diagonal.
func.func private @diagonal_others(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %other = arith.constant 0.0 : f32
  %empty = tensor.empty(%M) : tensor<?x4x4xf32>
  %r = linalg.generic {indexing_maps = [#vector, #matrix], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is = arith.cmpi ne, %i, %j : index
    %e = arith.select %is, %in, %other : f32
    linalg.yield %e : f32
  } -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @others(
func.func @others(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_others(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_others(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Ones beside the diagonal.
func.func private @diagonal_ones(%x: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %other = arith.constant 1.0 : f32
  %empty = tensor.empty(%M) : tensor<?x4x4xf32>
  %r = linalg.generic {indexing_maps = [#vector, #matrix], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%empty : tensor<?x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is = arith.cmpi eq, %i, %j : index
    %e = arith.select %is, %in, %other : f32
    linalg.yield %e : f32
  } -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @ones(
func.func @ones(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %k = math.exp %z : tensor<?x4x4xf32>
  %uv:2 = call @vectors(%k) : (tensor<?x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %u = call @diagonal_ones(%uv#0) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %v = call @diagonal_ones(%uv#1) : (tensor<?x4xf32>) -> tensor<?x4x4xf32>
  %r = call @scaled(%u, %k, %v) : (tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}
