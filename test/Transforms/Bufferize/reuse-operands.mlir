// RUN: mhc-opt %s -convert-mhc-to-linalg -mhc-reuse-operands | FileCheck %s

// The sum is written over the exponential, and the product over the sum.
// CHECK-LABEL: @chain
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @chain(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%{{.*}} :
  // CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[E]] :
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
  // CHECK-NEXT: arith.subf %[[OUT]], %[[IN]]
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[S]] :
  %e = math.exp %x : tensor<?x4xf32>
  %s = arith.subf %e, %x : tensor<?x4xf32>
  %p = arith.mulf %x, %s : tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}

// A value with another reader, an argument, another type and another place are left alone.
// CHECK-LABEL: @not_reused
func.func @not_reused(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xf32>) {
  // CHECK-COUNT-7: outs(%{{[0-9]+}} : tensor<4x4x{{b?}}f{{[0-9]+}}>)
  // CHECK-NOT: linalg.generic
  %twice = math.exp %x : tensor<4x4xf32>
  %a = math.tanh %twice : tensor<4x4xf32>
  %b = math.absf %twice : tensor<4x4xf32>
  %once = math.exp2 %x : tensor<4x4xf32>
  %c = arith.truncf %once : tensor<4x4xf32> to tensor<4x4xbf16>
  %turned = math.sqrt %x : tensor<4x4xf32>
  %d = mhc.transpose %turned perm = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xf32>
}
