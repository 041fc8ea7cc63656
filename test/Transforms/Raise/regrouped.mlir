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
