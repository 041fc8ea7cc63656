// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// A bias inside of alpha, and one number that divides all logits: both go into alpha and beta.
// CHECK-LABEL: @bias_inside_of_alpha_over_a_temperature
// CHECK-DAG: %[[FIFTH:.*]] = arith.constant dense<2.000000e-01> : tensor<1xf32>
// CHECK-DAG: %[[ALPHA:.*]] = arith.mulf %arg2, %[[FIFTH]] : tensor<1xf32>
// CHECK: mhc.projection(x = %arg0 : tensor<?x4x16xf32>, phi = %arg1 : tensor<4x64xf32>)
// CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
func.func @bias_inside_of_alpha_over_a_temperature(%x: tensor<?x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                                   %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %five = arith.constant 5.0 : f32
  %tau = tensor.splat %five[%M] : tensor<?x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<4x64xf32>) -> tensor<?x4xf32>
  %biases = mhc.broadcast %bias[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %sum = arith.addf %p, %biases : tensor<?x4xf32>
  %alphas = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x4xf32>
  %scaled = arith.mulf %sum, %alphas : tensor<?x4xf32>
  %z = arith.divf %scaled, %tau : tensor<?x4xf32>
  %gate = mhc.sigmoid %z : tensor<?x4xf32>
  return %gate : tensor<?x4xf32>
}

// A gate without a bias, of streams that show their number.
// CHECK-LABEL: @no_bias
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: mhc.gates({{.*}} beta = %[[ZEROS]] : tensor<4xf32>)
func.func @no_bias(%x: tensor<8x4x16xf32>, %phi: tensor<4x4x16xf32>) -> tensor<8x4xf32> {
  %xs = mhc.broadcast %x dims = [0, 2, 3] : tensor<8x4x16xf32> -> tensor<8x4x4x16xf32>
  %phis = mhc.broadcast %phi dims = [1, 2, 3] : tensor<4x4x16xf32> -> tensor<8x4x4x16xf32>
  %products = arith.mulf %xs, %phis : tensor<8x4x4x16xf32>
  %z = mhc.reduce sum %products dims = [2, 3] : tensor<8x4x4x16xf32> -> tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// Rows of a weight that lie apart are no group of rows.
// CHECK-LABEL: @rows_apart
// CHECK-NOT: mhc.gates
// CHECK: return
func.func @rows_apart(%x: tensor<?x4x16xf32>, %phi: tensor<8x64xf32>, %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
  %pairs = tensor.expand_shape %p [[0], [1, 2]] output_shape [%M, 4, 2] : tensor<?x8xf32> into tensor<?x4x2xf32>
  %even = tensor.extract_slice %pairs[0, 0, 0] [%M, 4, 1] [1, 1, 1] : tensor<?x4x2xf32> to tensor<?x4xf32>
  %biases = mhc.broadcast %bias[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %even, %biases : tensor<?x4xf32>
  %gate = mhc.sigmoid %z : tensor<?x4xf32>
  return %gate : tensor<?x4xf32>
}

// Streams in front of their tokens: a transpose before and behind.
// CHECK-LABEL: @streams_first
// CHECK: mhc.post({{.*}} x = %{{.*}} : tensor<6x4x16xf32>, h_res = %{{.*}} : tensor<6x4x4xf32>) <layout = nC, orient = oi>
func.func @streams_first(%x: tensor<4x6x16xf32>, %logits: tensor<6x4x4xf32>, %h: tensor<6x4xf32>, %f: tensor<6x16xf32>)
    -> tensor<4x6x16xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<6x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<6x4x4xf32>)
  %xt = mhc.transpose %x perm = [1, 0, 2] : tensor<4x6x16xf32> -> tensor<6x4x16xf32>
  %mixed = mhc.batch_matmul %mix, %xt : (tensor<6x4x4xf32>, tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<6x4xf32> -> tensor<6x4x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<6x16xf32> -> tensor<6x4x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<6x4x16xf32>
  %sum = arith.addf %mixed, %branch : tensor<6x4x16xf32>
  %out = mhc.transpose %sum perm = [1, 0, 2] : tensor<6x4x16xf32> -> tensor<4x6x16xf32>
  return %out : tensor<4x6x16xf32>
}
