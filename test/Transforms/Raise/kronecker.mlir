// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhcc %s --verify | FileCheck %s --check-prefix=NUMBERS
// NUMBERS-COUNT-3: verified

// Residual matrices that are Kronecker products of two of 2 x 2, the same for all tokens.
// CHECK-LABEL: @of_all_tokens
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] : tensor<2x2x2x2xf32> into tensor<4x4xf32>
// CHECK: %[[MAP:.*]] = mhc.broadcast %[[ALL]]
// CHECK: mhc.post(f = %arg3 : tensor<?x32xf32>, h_post = %arg4 : tensor<?x4xf32>, x = %arg0 : tensor<?x4x32xf32>, h_res = %[[MAP]] : tensor<?x4x4xf32>) <layout = nC, orient = oi>
func.func @of_all_tokens(%x: tensor<?x4x32xf32> {mhc.dims = ["M", "4", "32"]}, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>,
                         %f: tensor<?x32xf32> {mhc.dims = ["M", "32"]}, %h: tensor<?x4xf32> {mhc.dims = ["M", "4"]})
    -> tensor<?x4x32xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %as = mhc.broadcast %a dims = [0, 2] : tensor<2x2xf32> -> tensor<2x2x2x2xf32>
  %bs = mhc.broadcast %b dims = [1, 3] : tensor<2x2xf32> -> tensor<2x2x2x2xf32>
  %product = arith.mulf %as, %bs : tensor<2x2x2x2xf32>
  %map = tensor.collapse_shape %product [[0, 1], [2, 3]] : tensor<2x2x2x2xf32> into tensor<4x4xf32>
  %maps = mhc.broadcast %map[%M] dims = [1, 2] : tensor<4x4xf32> -> tensor<?x4x4xf32>
  %mixed = mhc.batch_matmul %maps, %x : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<?x32xf32> -> tensor<?x4x32xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x32xf32>
  %branch = arith.mulf %fs, %hs : tensor<?x4x32xf32>
  %out = arith.addf %mixed, %branch : tensor<?x4x32xf32>
  return %out : tensor<?x4x32xf32>
}

// Matrices of each token, of 2 x 2 and of 3 x 3.
// CHECK-LABEL: @of_each_token
// CHECK: %[[MAP:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]] : tensor<?x2x3x2x3xf32> into tensor<?x6x6xf32>
// CHECK: mhc.post(f = %arg3 : tensor<?x32xf32>, h_post = %arg4 : tensor<?x6xf32>, x = %arg0 : tensor<?x6x32xf32>, h_res = %[[MAP]] : tensor<?x6x6xf32>) <layout = nC, orient = oi>
func.func @of_each_token(%x: tensor<?x6x32xf32> {mhc.dims = ["M", "6", "32"]}, %a: tensor<?x2x2xf32> {mhc.dims = ["M", "2", "2"]},
                         %b: tensor<?x3x3xf32> {mhc.dims = ["M", "3", "3"]}, %f: tensor<?x32xf32> {mhc.dims = ["M", "32"]},
                         %h: tensor<?x6xf32> {mhc.dims = ["M", "6"]}) -> tensor<?x6x32xf32> {
  %as = mhc.broadcast %a dims = [0, 1, 3] : tensor<?x2x2xf32> -> tensor<?x2x3x2x3xf32>
  %bs = mhc.broadcast %b dims = [0, 2, 4] : tensor<?x3x3xf32> -> tensor<?x2x3x2x3xf32>
  %product = arith.mulf %as, %bs : tensor<?x2x3x2x3xf32>
  %map = tensor.collapse_shape %product [[0], [1, 2], [3, 4]] : tensor<?x2x3x2x3xf32> into tensor<?x6x6xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x6x6xf32>, tensor<?x6x32xf32>) -> tensor<?x6x32xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<?x32xf32> -> tensor<?x6x32xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<?x6xf32> -> tensor<?x6x32xf32>
  %branch = arith.mulf %fs, %hs : tensor<?x6x32xf32>
  %out = arith.addf %mixed, %branch : tensor<?x6x32xf32>
  return %out : tensor<?x6x32xf32>
}

// The streams are counted in another order than the matrix counts them: neither is there as it would be read.
// CHECK-LABEL: @in_another_order
// CHECK-NOT: mhc.post
func.func @in_another_order(%x: tensor<8x2x2x32xf32>, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %f: tensor<8x32xf32>,
                            %h: tensor<8x4xf32>) -> tensor<8x4x32xf32> {
  %as = mhc.broadcast %a dims = [0, 2] : tensor<2x2xf32> -> tensor<2x2x2x2xf32>
  %bs = mhc.broadcast %b dims = [1, 3] : tensor<2x2xf32> -> tensor<2x2x2x2xf32>
  %product = arith.mulf %as, %bs : tensor<2x2x2x2xf32>
  %map = tensor.collapse_shape %product [[0, 1], [2, 3]] : tensor<2x2x2x2xf32> into tensor<4x4xf32>
  %maps = mhc.broadcast %map dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %swapped = mhc.transpose %x perm = [0, 2, 1, 3] : tensor<8x2x2x32xf32> -> tensor<8x2x2x32xf32>
  %streams = tensor.collapse_shape %swapped [[0], [1, 2], [3]] : tensor<8x2x2x32xf32> into tensor<8x4x32xf32>
  %mixed = mhc.batch_matmul %maps, %streams : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x32xf32> -> tensor<8x4x32xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x32xf32>
  %branch = arith.mulf %fs, %hs : tensor<8x4x32xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x32xf32>
  return %out : tensor<8x4x32xf32>
}
