// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// What looks like mHC and is not raised: one remark per site, at the op at fault.

// CHECK: near-misses.mlir:[[#@LINE+8]]:8: remark: [Missed] x-not-whole | Category:mhc-raise:gates | Function=gates_of_three_streams_of_four |
// CHECK-SAME: Found="a part of argument 0, [8, 4, 64] of f32, or another order", Needed="all values of a token, behind the tokens"
func.func @gates_of_three_streams_of_four(%x: tensor<8x4x64xf32>, %phi: tensor<4x192xf32>, %beta: tensor<4xf32>)
    -> tensor<8x4xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [8, 3, 64] [1, 1, 1] : tensor<8x4x64xf32> to tensor<8x3x64xf32>
  %flat = tensor.collapse_shape %part [[0], [1, 2]] : tensor<8x3x64xf32> into tensor<8x192xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x192xf32>, tensor<4x192xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %proj, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: [Missed] projection-width | {{.*}}Found="a sum over 1280 values", Needed="a sum over n*C = 256"
func.func @gates_by_a_phi_that_is_summed(%x: tensor<8x4x64xf32>, %phis: tensor<4x256x5xf32>, %beta: tensor<4xf32>)
    -> tensor<8x4xf32> {
  %phi = mhc.reduce sum %phis dims = [2] : tensor<4x256x5xf32> -> tensor<4x256xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %proj, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}
