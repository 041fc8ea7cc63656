// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// A call is replaced by what it calls.
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[SQUARE:.*]]: tensor<4xf32> {mhc.name = "saved0"}
// CHECK-NOT: call
// CHECK: return
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @square(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The user names the derivative. A result that nobody reads has the cotangent zero.
func.func private @attention(tensor<4xbf16>, tensor<i32>) -> (tensor<4xbf16>, tensor<f32>)
    attributes {mhc.vjp = @attention_bwd}
func.func private @attention_bwd(tensor<4xbf16>, tensor<i32>, tensor<4xbf16>, tensor<f32>) -> tensor<4xbf16>

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16> {mhc.name = "arg0"}, %[[K:.*]]: tensor<i32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<4xbf16> {mhc.name = "d_result0"})
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[WIDE:.*]] = arith.extf %[[G]]
// CHECK-DAG: %[[ROUNDED:.*]] = arith.truncf %[[WIDE]]
// CHECK: %[[DX:.*]] = call @attention_bwd(%[[X]], %[[K]], %[[ROUNDED]], %[[ZERO]])
func.func @f(%x: tensor<4xbf16>, %k: tensor<i32>) -> tensor<4xbf16> {
  %0:2 = call @attention(%x, %k) : (tensor<4xbf16>, tensor<i32>) -> (tensor<4xbf16>, tensor<f32>)
  return %0#0 : tensor<4xbf16>
}

// -----

// A call is not repeated, even where its result has a size that nobody else has.
func.func private @select(tensor<?x4xf32>) -> tensor<?x4xf32> attributes {mhc.vjp = @select_bwd}
func.func private @select_bwd(tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[SELECTED:.*]]: tensor<?x4xf32> {mhc.name = "saved0"}
// CHECK-NOT: call @select(
// CHECK: call @select_bwd(
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = call @select(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = arith.mulf %0, %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
