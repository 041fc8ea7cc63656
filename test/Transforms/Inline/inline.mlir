// RUN: mhc-opt %s -mhc-inline -symbol-dce | FileCheck %s
// RUN: mhc-opt %s -mhc-inline=keep-for-gradients -symbol-dce | FileCheck %s --check-prefix=KEPT

// Before differentiation, a call stays whose derivative the user names, with that derivative, and one that the user wants
// to stay. Later no call stays that has a body to replace it.

// CHECK-NOT: func private
// KEPT-DAG: func private @round(%{{.*}}) -> tensor<4xf32> attributes {mhc.vjp = @round_bwd}
// KEPT-DAG: func private @round_bwd
// KEPT-DAG: func private @apart(%{{.*}}) -> tensor<4xf32> attributes {no_inline}
// KEPT-NOT: func private @negate
func.func private @round(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @round_bwd} {
  %y = math.roundeven %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @round_bwd(%x: tensor<4xf32>, %d_y: tensor<4xf32>) -> tensor<4xf32> {
  return %d_y : tensor<4xf32>
}
func.func private @apart(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.negf %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NEXT: return
// KEPT-LABEL: func.func @f(
// KEPT-NEXT: call @round
// KEPT-NEXT: call @apart
// KEPT-NEXT: arith.negf
// KEPT-NEXT: return
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @round(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @apart(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @negate(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
