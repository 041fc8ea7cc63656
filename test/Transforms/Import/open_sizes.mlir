// RUN: mhc-opt %s --mhc-import | FileCheck %s
// RUN: mhcc %s --grad=loss --compile-to=fuse | FileCheck %s --check-prefix=GRAD

// An op may state a size in one type and leave it open in another: gradients are made of ops that may not.
// CHECK-LABEL: func @loss
// CHECK: %[[K:.*]] = tensor.cast %arg1 : tensor<?xi32> to tensor<4xi32>
// CHECK: math.fpowi %arg0, %[[K]] : tensor<4xf32>, tensor<4xi32>
// GRAD-LABEL: func.func @loss_bwd
// GRAD: arith.sitofp {{.*}} : tensor<4xi32> to tensor<4xf32>
func.func @loss(%a: tensor<4xf32>, %k: tensor<?xi32>) -> f32 {
  %power = math.fpowi %a, %k : tensor<4xf32>, tensor<?xi32>
  %sum = mhc.reduce sum %power dims = [0] : tensor<4xf32> -> tensor<f32>
  %out = tensor.extract %sum[] : tensor<f32>
  return %out : f32
}

// The type of the result stays that which its users expect.
// CHECK-LABEL: func @open_result
// CHECK: %[[A:.*]] = tensor.cast %arg0 : tensor<?xf32> to tensor<4xf32>
// CHECK: %[[POWER:.*]] = math.fpowi %[[A]], %arg1 : tensor<4xf32>, tensor<4xi32>
// CHECK: %[[OPEN:.*]] = tensor.cast %[[POWER]] : tensor<4xf32> to tensor<?xf32>
// CHECK: return %[[OPEN]]
func.func @open_result(%a: tensor<?xf32>, %k: tensor<4xi32>) -> tensor<?xf32> {
  %power = math.fpowi %a, %k : tensor<?xf32>, tensor<4xi32>
  return %power : tensor<?xf32>
}
