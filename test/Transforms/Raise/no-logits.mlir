// RUN: mhc-opt %s -mhc-raise -mhc-fuse -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-raise -split-input-file --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=MISS --implicit-check-not='[Missed]'

// Two gates that are all rows of their projection: the streams stay where they are, as with the identity for a residual
// map. Rows of zeros are in the place of the logits.

// CHECK-LABEL: @identity
func.func @identity(%x: tensor<8x4x16xf32>, %phi: tensor<8x64xf32>, %alpha: tensor<2xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  // CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
  // CHECK: %[[PHI:.*]] = tensor.concat dim(0) %arg1, %[[NONE]]
  // CHECK: %[[U:.*]], %[[POST:.*]], %{{.*}} = mhc.pre(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>, {{.*}} pre_eps = 1.0e-06, post_mult = 2.0, res_map = identity,
  // CHECK: return %[[U]], %[[POST]]
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %a0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<2xf32> to tensor<f32>
  %a1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<2xf32> to tensor<f32>
  %b0 = tensor.extract_slice %beta[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b1 = tensor.extract_slice %beta[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %w0 = mhc.broadcast %a0 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %w1 = mhc.broadcast %a1 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %c0 = mhc.broadcast %b0 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %c1 = mhc.broadcast %b1 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %p0 = arith.mulf %z0, %w0 : tensor<8x4xf32>
  %p1 = arith.mulf %z1, %w1 : tensor<8x4xf32>
  %q0 = arith.addf %p0, %c0 : tensor<8x4xf32>
  %q1 = arith.addf %p1, %c1 : tensor<8x4xf32>
  %g0 = mhc.sigmoid %q0 : tensor<8x4xf32>
  %g1 = mhc.sigmoid %q1 : tensor<8x4xf32>
  %pre = arith.addf %g0, %eps : tensor<8x4xf32>
  %post = arith.mulf %g1, %two : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// The weight of the second gate stands in front, and has its own tensor.
// CHECK-LABEL: @weights_apart
func.func @weights_apart(%x: tensor<8x4x16xf32>, %w_post: tensor<64x4xf32>, %w_pre: tensor<64x4xf32>)
    -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  // CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg2, %arg1, %{{.*}} : (tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x16xf32>)
  // CHECK: mhc.pre(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<64x24xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z1 = mhc.matmul %flat, %w_post : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %z0 = mhc.matmul %flat, %w_pre : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// Two gates of another layer: neither weighs what was projected.
// CHECK-LABEL: @gates_of_another_layer
// CHECK-NOT: mhc.gates
// CHECK-NOT: mhc.pre
func.func @gates_of_another_layer(%x: tensor<8x64xf32>, %w: tensor<8x64xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %z = mhc.matmul %x, %w transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
  return %g0, %g1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Rows are left over, which something reads in a form that is not that of logits.
// CHECK-LABEL: @rows_left_over
// CHECK-NOT: mhc.gates
// MISS: [Missed] logits-missing | {{.*}}Function=rows_left_over | Found="rows 0 to 7 of 24 rows"
func.func @rows_left_over(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x8xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %rest = tensor.extract_slice %z[0, 8] [8, 8] [1, 1] : tensor<8x24xf32> to tensor<8x8xf32>
  %other = math.absf %rest : tensor<8x8xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post, %other : tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x8xf32>
}

// -----

// Rows that nothing reads are left out, whether they are projected or not.
// CHECK-LABEL: @rows_that_nothing_reads
// CHECK: %[[READ:.*]] = tensor.extract_slice %arg1[0, 0] [8, 64]
// CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[READ]], %{{.*}} : (tensor<8x64xf32>, tensor<16x64xf32>)
// CHECK: mhc.pre(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] :
func.func @rows_that_nothing_reads(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// CHECK-LABEL: @first_rows
// CHECK: mhc.pre(x = %arg0 :
func.func @first_rows(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %own = tensor.extract_slice %phi[0, 0] [8, 64] [1, 1] : tensor<24x64xf32> to tensor<8x64xf32>
  %z = mhc.matmul %flat, %own transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// The first rows of a larger weight are those of a head, also where more are projected than it reads.
// CHECK-LABEL: @head_of_first_rows
// CHECK: %[[READ:.*]] = tensor.extract_slice %arg1[0, 0] [4, 64]
// CHECK: mhc.head(x = %arg0 : tensor<8x4x16xf32>, phi = %[[READ]] :
func.func @head_of_first_rows(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<4xf32>) -> tensor<8x16xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %own = tensor.extract_slice %phi[0, 0] [8, 64] [1, 1] : tensor<24x64xf32> to tensor<8x64xf32>
  %z = mhc.matmul %flat, %own transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %logits = arith.addf %z0, %bias : tensor<8x4xf32>
  %pre = mhc.sigmoid %logits : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}

// -----

// Streams that are a sum, as behind a layer of the same kind: no matrix mixes them there.
// CHECK-LABEL: @behind_another_layer
// CHECK: %[[X:.*]] = arith.addf
// CHECK: mhc.pre(x = %[[X]] :
func.func @behind_another_layer(%x0: tensor<8x4x16xf32>, %gate: tensor<8x4xf32>, %f: tensor<8x16xf32>, %phi: tensor<8x64xf32>, %beta: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %gates = mhc.broadcast %gate dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %outs = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %added = arith.mulf %gates, %outs : tensor<8x4x16xf32>
  %x = arith.addf %x0, %added : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %y = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %y, %bias : tensor<8x8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// Another sum is weighed than was projected.
// CHECK-LABEL: @another_sum
// CHECK-NOT: mhc.gates
// CHECK-NOT: mhc.pre
// MISS: [Missed] projection-form | {{.*}}Function=another_sum | Found="'mhc.matmul', [8, 8] of f32"
func.func @another_sum(%x0: tensor<8x4x16xf32>, %x1: tensor<8x4x16xf32>, %x2: tensor<8x4x16xf32>, %phi: tensor<8x64xf32>, %beta: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %x = arith.addf %x0, %x1 : tensor<8x4x16xf32>
  %other = arith.addf %x0, %x2 : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %y = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %y, %bias : tensor<8x8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %each = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %each, %other : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u, %post : tensor<8x16xf32>, tensor<8x4xf32>
}
