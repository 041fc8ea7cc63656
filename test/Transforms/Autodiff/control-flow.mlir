// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// A loop of two iterations: each iteration saves its own tanh, the last one is the result.
// CHECK-LABEL: func.func @f_fwd
// CHECK: %[[FIRST:.*]] = math.tanh
// CHECK: %[[SECOND:.*]] = math.tanh
// CHECK: return %[[SECOND]], %[[FIRST]]
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[SECOND:.*]]: tensor<4xf32> {mhc.name = "result0"}, %[[FIRST:.*]]: tensor<4xf32> {mhc.name = "saved0"}
// CHECK: arith.mulf %[[SECOND]], %[[SECOND]]
// CHECK: arith.mulf %[[FIRST]], %[[FIRST]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A loop of no iterations hands on what it starts with; the number of an iteration is a constant in it.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"}, %[[H:.*]]: f32
// CHECK: return %[[G]]
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %y = scf.for %i = %c5 to %c5 step %c5 iter_args(%carried = %x) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y, %zero : tensor<4xf32>, f32
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[C:.*]]: i1 {mhc.name = "arg0"}, %[[EXP:.*]]: tensor<4xf32> {mhc.name = "saved0"}, %[[G:.*]]: tensor<4xf32>
// CHECK: %[[THEN:.*]] = arith.select %[[C]], %[[G]], %[[ZERO:.*]] :
// CHECK: %[[ELSE:.*]] = arith.select %[[C]], %[[ZERO]], %[[G]]
// CHECK: %[[D_ELSE:.*]] = arith.negf %[[ELSE]]
// CHECK: %[[D_THEN:.*]] = arith.mulf %[[THEN]], %[[EXP]]
// CHECK: %[[DX:.*]] = arith.addf %[[D_ELSE]], %[[D_THEN]]
// CHECK: return %[[DX]]
func.func @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = scf.if %c -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  } else {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A loop that no gradient goes through stays a loop.
// CHECK-LABEL: func.func @f_fwd
// CHECK: scf.for
// CHECK-LABEL: func.func @f_bwd
// CHECK-NOT: scf.for
// CHECK: return
func.func @f(%x: tensor<4xf32>, %k: tensor<4xf32> {mhc.no_grad}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %t = scf.for %i = %c0 to %c9 step %c1 iter_args(%carried = %k) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  %y = arith.addf %x, %t : tensor<4xf32>
  return %y : tensor<4xf32>
}
