// Gates that one sigmoid computes side by side, and parts of it that are no gates.
// RUN: mhc-opt %s --split-input-file -mhc-raise | FileCheck %s

// Two rows of n, each with an alpha of its own behind the product and a factor of its own behind the sigmoid.
// CHECK-LABEL: @rows_of_one_tensor
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<24x64xf32>)
// CHECK: %[[PRE:.*]], %[[POST:.*]], %[[LOGITS:.*]] = mhc.gates({{.*}} alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>) <{{.*}}post_mult = 2.0
// CHECK: return %[[PRE]], %[[POST]],
func.func @rows_of_one_tensor(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %gates = tensor.extract_slice %p[0, 0] [8, 8] [1, 1] : tensor<8x24xf32> to tensor<8x8xf32>
  %both = tensor.expand_shape %gates [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %alphas = tensor.extract_slice %alpha[0] [2] [1] : tensor<3xf32> to tensor<2xf32>
  %each = mhc.broadcast %alphas dims = [1] : tensor<2xf32> -> tensor<8x2x4xf32>
  %scaled = arith.mulf %both, %each : tensor<8x2x4xf32>
  %bias = tensor.extract_slice %beta[0] [8] [1] : tensor<24xf32> to tensor<8xf32>
  %rows = tensor.expand_shape %bias [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %biases = mhc.broadcast %rows dims = [1, 2] : tensor<2x4xf32> -> tensor<8x2x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x2x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x2x4xf32>
  %factors = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %one_two = mhc.broadcast %factors dims = [1] : tensor<2xf32> -> tensor<8x2x4xf32>
  %h = arith.mulf %gate, %one_two : tensor<8x2x4xf32>
  %first = tensor.extract_slice %h[0, 0, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %second = tensor.extract_slice %h[0, 1, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %rest = tensor.extract_slice %p[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %third = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %number = tensor.collapse_shape %third [] : tensor<1xf32> into tensor<f32>
  %numbers = mhc.broadcast %number dims = [] : tensor<f32> -> tensor<8x16xf32>
  %scaled_rest = arith.mulf %rest, %numbers : tensor<8x16xf32>
  %bias_rest = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %biases_rest = mhc.broadcast %bias_rest dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %z_rest = arith.addf %scaled_rest, %biases_rest : tensor<8x16xf32>
  %logits = tensor.expand_shape %z_rest [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<8x4x4xf32>)
  return %first, %second, %res : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Tokens of one gate are no gates: each would be computed by itself, of the same rows of the weight.
// CHECK-LABEL: @tokens_apart
// CHECK: %[[GATE:.*]] = mhc.gates(
// CHECK: tensor.extract_slice %[[GATE]][0, 0] [1, 4]
// CHECK: tensor.extract_slice %[[GATE]][1, 0] [1, 4]
func.func @tokens_apart(%x: tensor<2x4x16xf32>, %phi: tensor<4x64xf32>, %beta: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x4x16xf32> into tensor<2x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<2x64xf32>, tensor<4x64xf32>) -> tensor<2x4xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
  %z = arith.addf %p, %biases : tensor<2x4xf32>
  %gate = mhc.sigmoid %z : tensor<2x4xf32>
  %first = tensor.extract_slice %gate[0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %second = tensor.extract_slice %gate[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  return %first, %second : tensor<4xf32>, tensor<4xf32>
}

// -----

// Streams of one gate are none either.
// CHECK-LABEL: @streams_apart
// CHECK: %[[GATE:.*]] = mhc.gates(
// CHECK: tensor.extract_slice %[[GATE]][0, 0] [8, 1]
// CHECK: tensor.extract_slice %[[GATE]][0, 1] [8, 1]
func.func @streams_apart(%x: tensor<8x2x16xf32>, %phi: tensor<2x32xf32>, %beta: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x2x16xf32> into tensor<8x32xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x32xf32>, tensor<2x32xf32>) -> tensor<8x2xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %z = arith.addf %p, %biases : tensor<8x2xf32>
  %gate = mhc.sigmoid %z : tensor<8x2xf32>
  %first = tensor.extract_slice %gate[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %second = tensor.extract_slice %gate[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  return %first, %second : tensor<8xf32>, tensor<8xf32>
}

// -----

// The sigmoid is written out, and what scales a part of it is no sigmoid of its own.
// CHECK-LABEL: @written_out
// CHECK: %[[PRE:.*]], %[[POST:.*]], %{{.*}} = mhc.gates({{.*}} beta = %arg2 : tensor<24xf32>) <{{.*}}post_mult = 2.0
// CHECK: return %[[PRE]], %[[POST]],
func.func @written_out(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %biases : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %row0 = tensor.expand_shape %z0 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %row1 = tensor.expand_shape %z1 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %both = tensor.concat dim(1) %row0, %row1 : (tensor<8x1x4xf32>, tensor<8x1x4xf32>) -> tensor<8x2x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x2x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %negative = arith.negf %both : tensor<8x2x4xf32>
  %exp = math.exp %negative : tensor<8x2x4xf32>
  %sum = arith.addf %exp, %one : tensor<8x2x4xf32>
  %gate = arith.divf %one, %sum : tensor<8x2x4xf32>
  %pre = tensor.extract_slice %gate[0, 0, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %second = tensor.extract_slice %gate[0, 1, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %post = arith.mulf %second, %two : tensor<8x4xf32>
  %rest = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %logits = tensor.expand_shape %rest [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<8x4x4xf32>)
  return %pre, %post, %res : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}
