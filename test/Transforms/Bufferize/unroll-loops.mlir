// RUN: mhc-opt %s -mhc-unroll-loops | FileCheck %s

// CHECK-LABEL: @nested
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK-NOT: scf.for
  // CHECK-COUNT-4: arith.addf
  // CHECK-NOT: arith.addf
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %2 = arith.addf %b, %x : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @no_turns
// CHECK-SAME: %[[X:.*]]: tensor
func.func @no_turns(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: return %[[X]]
  %0 = scf.for %i = %c0 to %c0 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = arith.addf %a, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
