// RUN: mhc-opt %s -mhc-raise -mhc-fuse --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'
// RUN: mhcc %s --verify

// Two streams of 16 channels become four of 8: the second layer reads the first one's output in another shape.
// CHECK-LABEL: @two_become_four(
// CHECK: %[[OUT:.*]] = mhc.post(f = %arg1 : tensor<8x16xf32>, h_post = %arg2 : tensor<8x2xf32>, x = %arg0 : tensor<8x2x16xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[OUT]] {{\[}}[0], [1, 2]] : tensor<8x2x16xf32> into tensor<8x32xf32>
// CHECK: %[[FOUR:.*]] = tensor.expand_shape %[[FLAT]] {{\[}}[0], [1, 2]] output_shape [8, 4, 8]
// CHECK: %[[U:.*]], %[[POST:.*]], %{{.*}} = mhc.pre(x = %[[FOUR]] : tensor<8x4x8xf32>
// CHECK: return %[[U]], %[[POST]]
func.func @two_become_four(%x: tensor<8x2x16xf32>, %f: tensor<8x16xf32>, %h_post: tensor<8x2xf32>,
                           %h_res: tensor<8x2x2xf32>, %phi: tensor<8x32xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x2x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x2x16xf32>
  %flat = tensor.collapse_shape %out [[0], [1, 2]] : tensor<8x2x16xf32> into tensor<8x32xf32>
  %four = tensor.expand_shape %flat [[0], [1, 2]] output_shape [8, 4, 8] : tensor<8x32xf32> into tensor<8x4x8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %square = arith.mulf %flat, %flat : tensor<8x32xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %shifted = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %shifted : tensor<8xf32>
  %factors = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.mulf %p, %factors : tensor<8x8xf32>
  %g = mhc.sigmoid %z : tensor<8x8xf32>
  %pre = tensor.extract_slice %g[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %post = tensor.extract_slice %g[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %weights = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x8xf32>
  %products = arith.mulf %four, %weights : tensor<8x4x8xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<8x4x8xf32> -> tensor<8x8xf32>
  return %u, %post : tensor<8x8xf32>, tensor<8x4xf32>
}

// A sublayer's output that is computed as three rows of three, and then shown as a column, is no streams: its bias is
// found in it.
// CHECK-LABEL: @bias_in_rows(
// CHECK: mhc.post(f = %{{.*}} : tensor<8x9xf32>, bias = %arg2 : tensor<9xf32>, h_post = %arg3
func.func @bias_in_rows(%x: tensor<8x9x4xf32>, %f: tensor<8x9xf32>, %bias: tensor<9xf32>, %h_post: tensor<8x4xf32>,
                        %h_res: tensor<8x4x4xf32>) -> tensor<8x9x4xf32> {
  %rows = tensor.expand_shape %f [[0], [1, 2]] output_shape [8, 3, 3] : tensor<8x9xf32> into tensor<8x3x3xf32>
  %out = math.tanh %rows : tensor<8x3x3xf32>
  %b = tensor.expand_shape %bias [[0, 1]] output_shape [3, 3] : tensor<9xf32> into tensor<3x3xf32>
  %biases = mhc.broadcast %b dims = [1, 2] : tensor<3x3xf32> -> tensor<8x3x3xf32>
  %biased = arith.addf %out, %biases : tensor<8x3x3xf32>
  %flat = tensor.collapse_shape %biased [[0], [1, 2]] : tensor<8x3x3xf32> into tensor<8x9xf32>
  %column = tensor.expand_shape %flat [[0], [1, 2]] output_shape [8, 9, 1] : tensor<8x9xf32> into tensor<8x9x1xf32>
  %outputs = mhc.broadcast %column dims = [0, 1, 2] : tensor<8x9x1xf32> -> tensor<8x9x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 2] : tensor<8x4xf32> -> tensor<8x9x4xf32>
  %branch = arith.mulf %gate, %outputs : tensor<8x9x4xf32>
  %mixed = mhc.batch_matmul %x, %h_res : (tensor<8x9x4xf32>, tensor<8x4x4xf32>) -> tensor<8x9x4xf32>
  %next = arith.addf %mixed, %branch : tensor<8x9x4xf32>
  return %next : tensor<8x9x4xf32>
}
