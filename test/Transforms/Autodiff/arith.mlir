// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"}, %[[H:.*]]: tensor<4xf32> {mhc.name = "d_result1"},
// CHECK-SAME:  %[[K:.*]]: tensor<4xf32> {mhc.name = "d_result2"})
// CHECK: %[[NEG:.*]] = arith.negf %[[K]]
// CHECK: %[[DX:.*]] = arith.addf %[[NEG]], %[[H]]
// CHECK: %[[MINUS:.*]] = arith.negf %[[H]]
// CHECK: %[[DX2:.*]] = arith.addf %[[DX]], %[[G]]
// CHECK: %[[DY:.*]] = arith.addf %[[MINUS]], %[[G]]
// CHECK: return %[[DX2]], %[[DY]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %sum = arith.addf %x, %y : tensor<4xf32>
  %difference = arith.subf %x, %y : tensor<4xf32>
  %negative = arith.negf %x : tensor<4xf32>
  return %sum, %difference, %negative : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[Y:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = arith.mulf %[[G]], %[[Y]]
// CHECK: %[[DY:.*]] = arith.mulf %[[G]], %[[X]]
// CHECK: return %[[DX]], %[[DY]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %out = arith.mulf %x, %y : tensor<4xf32>
  return %out : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[Y:.*]]: tensor<4xf32> {mhc.name = "arg1"}, %[[OUT:.*]]: tensor<4xf32> {mhc.name = "result0"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = arith.divf %[[G]], %[[Y]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[DX]], %[[OUT]]
// CHECK: %[[DY:.*]] = arith.negf %[[PRODUCT]]
// CHECK: return %[[DX]], %[[DY]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %out = arith.divf %x, %y : tensor<4xf32>
  return %out : tensor<4xf32>
}

// -----

// Equal sides get half each.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[Y:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32>
// CHECK: %[[HALF:.*]] = arith.mulf %[[G]], %{{.*}} :
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[X]], %[[Y]]
// CHECK: %[[SHARED:.*]] = arith.select %[[EQUAL]], %[[HALF]], %{{.*}} :
// CHECK: %[[X_WINS:.*]] = arith.cmpf ogt, %[[X]], %[[Y]]
// CHECK: %[[Y_WINS:.*]] = arith.cmpf ogt, %[[Y]], %[[X]]
// CHECK: %[[DX:.*]] = arith.select %[[X_WINS]], %[[G]], %[[SHARED]]
// CHECK: %[[DY:.*]] = arith.select %[[Y_WINS]], %[[G]], %[[SHARED]]
// CHECK: return %[[DX]], %[[DY]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %out = arith.maximumf %x, %y : tensor<4xf32>
  return %out : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[Y:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32>
// CHECK: %[[X_WINS:.*]] = arith.cmpf ogt, %[[Y]], %[[X]]
// CHECK: %[[DX:.*]] = arith.select %[[X_WINS]], %[[G]], %{{.*}}
// CHECK: return %[[DX]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32> {mhc.no_grad}) -> tensor<4xf32> {
  %out = arith.minimumf %x, %y : tensor<4xf32>
  return %out : tensor<4xf32>
}

// -----

// A comparison has no gradient; its operands are saved and it is made again.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[Y:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xf32>
// CHECK: %[[GREATER:.*]] = arith.cmpf ogt, %[[X]], %[[Y]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK: %[[DX:.*]] = arith.select %[[GREATER]], %[[G]], %[[ZERO]]
// CHECK: %[[DY:.*]] = arith.select %[[GREATER]], %[[ZERO]], %[[G]]
// CHECK: return %[[DX]], %[[DY]]
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %greater = arith.cmpf ogt, %x, %y : tensor<4xf32>
  %out = arith.select %greater, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %out : tensor<4xf32>
}

// -----

// Shares of a bf16 value are added in f32 and rounded once.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xbf16> {mhc.name = "d_result0"})
// CHECK-DAG: %[[WIDE_G:.*]] = arith.extf %[[G]]
// CHECK-DAG: %[[WIDE_X:.*]] = arith.extf %[[X]]
// CHECK: %[[A:.*]] = arith.mulf %[[WIDE_G]], %[[WIDE_X]] : tensor<4xf32>
// CHECK: %[[B:.*]] = arith.mulf %[[WIDE_G]], %{{.*}} : tensor<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : tensor<4xf32>
// CHECK: %[[DX:.*]] = arith.truncf %[[SUM]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %wide = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
  %square = arith.mulf %wide, %wide : tensor<4xf32>
  %out = arith.truncf %square : tensor<4xf32> to tensor<4xbf16>
  return %out : tensor<4xbf16>
}
