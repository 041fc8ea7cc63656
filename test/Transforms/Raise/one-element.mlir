// RUN: mhc-opt %s --mhc-raise | FileCheck %s

// Values of rank 0: one element, whose dimensions are all added ones.

// CHECK-LABEL: func.func @mean_of_one(
// CHECK-SAME: -> tensor<1xf32>
// CHECK: return %{{.*}} : tensor<1xf32>
func.func @mean_of_one(%x: tensor<f32>) -> tensor<1xf32> {
  %wide = tensor.expand_shape %x [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %mean = mhc.reduce mean %wide dims = [0] : tensor<1x1xf32> -> tensor<1xf32>
  return %mean : tensor<1xf32>
}

// A gate of one element has no tokens.

// CHECK-LABEL: func.func @gate_of_one(
// CHECK: mhc.sigmoid
func.func @gate_of_one(%x: tensor<f32>, %alpha: tensor<f32>, %beta: tensor<f32>) -> tensor<f32> {
  %scaled = arith.mulf %x, %alpha : tensor<f32>
  %sum = arith.addf %scaled, %beta : tensor<f32>
  %gate = mhc.sigmoid %sum : tensor<f32>
  return %gate : tensor<f32>
}
