// The gradient of a weight is a sum over the axes of the mesh that the weight names, and of the same share of it.
// RUN: mhc-opt %s --mhc-autodiff=function=f | FileCheck %s

// CHECK: func.func @f_grad
// CHECK-SAME: , tensor<4xf32> {mhc.name = "d_gain", mhc.partial = "dp,tp"}, tensor<4xf32> {mhc.name = "d_w", mhc.partial = "dp", mhc.split = array<i64: 0, 3, 1>})
// CHECK: func.func @f_bwd
// CHECK-SAME: mhc.name = "d_gain", mhc.partial = "dp,tp"
// CHECK-SAME: mhc.name = "d_w", mhc.partial = "dp", mhc.split = array<i64: 0, 3, 1>
func.func @f(%gain: tensor<4xf32> {mhc.name = "gain", mhc.partial = "dp,tp"},
             %w: tensor<4xf32> {mhc.name = "w", mhc.partial = "dp", mhc.split = array<i64: 0, 3, 1>}) -> tensor<4xf32> {
  %out = arith.mulf %gain, %w : tensor<4xf32>
  return %out : tensor<4xf32>
}
