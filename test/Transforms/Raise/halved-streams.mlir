// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhcc %s --verify

// Streams that are a number times others, which are read without it, too: they are mixed as halves.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[HALF:.*]] = arith.mulf %arg0, %{{.*}} : tensor<2x4x4x16xf32>
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[HALF]] {{.*}} into tensor<8x4x16xf32>
// CHECK: mhc.aggregate(x = %[[X]] :
// CHECK: mhc.post({{.*}}x = %[[X]] :
func.func @halves(%x: tensor<2x4x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) {
  %other = math.tanh %x : tensor<2x4x4x16xf32>
  %number = arith.constant dense<0.5> : tensor<2x4x4x16xf32>
  %half = arith.mulf %x, %number : tensor<2x4x4x16xf32>
  %flat = tensor.collapse_shape %half [[0, 1], [2, 3]] : tensor<2x4x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %shifted = arith.addf %mean, %eps : tensor<8xf32>
  %inv = math.rsqrt %shifted : tensor<8xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %scale = mhc.broadcast %inv dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %scale : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %pres = tensor.expand_shape %pre [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
  %prew = mhc.broadcast %pres dims = [0, 1, 2] : tensor<2x4x4xf32> -> tensor<2x4x4x16xf32>
  %weighed = arith.mulf %prew, %half : tensor<2x4x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [2] : tensor<2x4x4x16xf32> -> tensor<2x4x16xf32>
  %f = math.tanh %u : tensor<2x4x16xf32>
  %rows = tensor.collapse_shape %half [[0, 1], [2], [3]] : tensor<2x4x4x16xf32> into tensor<8x4x16xf32>
  %product = mhc.batch_matmul %map, %rows : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %mixed = tensor.expand_shape %product [[0, 1], [2], [3]] output_shape [2, 4, 4, 16] : tensor<8x4x16xf32> into tensor<2x4x4x16xf32>
  %posts = tensor.expand_shape %post [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
  %hw = mhc.broadcast %posts dims = [0, 1, 2] : tensor<2x4x4xf32> -> tensor<2x4x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 1, 3] : tensor<2x4x16xf32> -> tensor<2x4x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<2x4x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<2x4x4x16xf32>
  return %out, %other : tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>
}

// Beside the mix, the halves are a part of its matrix.
// CHECK-LABEL: func.func @halves_beside_their_mix(
// CHECK: %[[IDENTITY:.*]] = arith.constant dense<{{.*}}1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
// CHECK: %[[DIAGONAL:.*]] = mhc.broadcast %[[IDENTITY]]
// CHECK: %[[SUM:.*]] = arith.addf %mix, %[[DIAGONAL]]
// CHECK: mhc.post({{.*}}h_res = %[[SUM]] :
func.func @halves_beside_their_mix(%z: tensor<8x4x4xf32>, %x: tensor<8x4x16xf32>, %h: tensor<8x4xf32>, %f: tensor<8x16xf32>)
    -> tensor<8x4x16xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %number = arith.constant dense<0.5> : tensor<8x4x16xf32>
  %half = arith.mulf %x, %number : tensor<8x4x16xf32>
  %mixed = mhc.batch_matmul %map, %half : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %sum = arith.addf %half, %mixed : tensor<8x4x16xf32>
  %out = arith.addf %sum, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}
