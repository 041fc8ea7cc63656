// RUN: mhc-opt %s -mhc-simplify -split-input-file | FileCheck %s

// CHECK-NOT: @unused
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func @copies
// CHECK-NEXT: %[[sum:.*]] = arith.addf %arg0, %arg1
// CHECK-NEXT: %[[product:.*]] = arith.mulf %[[sum]], %[[sum]]
// CHECK-NEXT: return %[[product]]
func.func @copies(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.addf %x, %y : tensor<4xf32>
  %b = arith.addf %x, %y : tensor<4xf32>
  %c = arith.mulf %a, %b : tensor<4xf32>
  %d = arith.divf %c, %a : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// A block that nothing leads to.
// CHECK-LABEL: func @unreachable
// CHECK-NEXT: return %arg0
// CHECK-NEXT: }
func.func @unreachable(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^never:
  %y = arith.negf %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
