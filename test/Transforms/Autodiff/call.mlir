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

// A derivative of zeros adds nothing, and nothing in front of the call is differentiated for it.
func.func private @largest(tensor<4xf32>) -> tensor<f32> attributes {mhc.vjp = @largest_bwd}
func.func private @largest_bwd(%x: tensor<4xf32>, %g: tensor<f32>) -> tensor<4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  return %zeros : tensor<4xf32>
}

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: return %[[G]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %x : tensor<4xf32>
  %1 = call @largest(%0) : (tensor<4xf32>) -> tensor<f32>
  %2 = mhc.broadcast %1 dims = [] : tensor<f32> -> tensor<4xf32>
  %3 = arith.subf %x, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A derivative that takes what the call returned, such as the logarithms of sums of attention: all of it is saved.
func.func private @attention(tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) attributes {mhc.vjp = @attention_bwd}
func.func private @attention_bwd(tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {mhc.name = "arg0"}, %[[Y:.*]]: tensor<4xf32> {mhc.name = "result0"},
// CHECK-SAME: %[[SUM:.*]]: tensor<f32> {mhc.name = "saved0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: call @attention_bwd(%[[X]], %[[Y]], %[[SUM]], %[[G]], %{{.*}})
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = call @attention(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#0 : tensor<4xf32>
}

// -----

// A call is not repeated, even where its result has a size that nobody else has. That is not the size of anything else
// without a name: that of the part is computed again.
func.func private @select(tensor<?xf32>) -> tensor<?xf32> attributes {mhc.vjp = @select_bwd}
func.func private @select_bwd(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32> {mhc.name = "arg0"}, %[[SELECTED:.*]]: tensor<?xf32> {mhc.name = "saved0"}
// CHECK-NOT: call @select(
// CHECK: %[[SIZE:.*]] = arith.divui
// CHECK: mhc.broadcast %{{.*}}[%[[SIZE]]]
// CHECK: call @select_bwd(
func.func @f(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = call @select(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = arith.mulf %0, %0 : tensor<?xf32>
  %2 = mhc.reduce sum %1 dims = [0] : tensor<?xf32> -> tensor<f32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %size = arith.divui %m, %c2 : index
  %half = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %3 = mhc.reduce sum %half dims = [0] : tensor<?xf32> -> tensor<f32>
  return %2, %3 : tensor<f32>, tensor<f32>
}

// -----

// A derivative with a body is written out, so that what it does not read is not saved. It is that of a call: the function
// that names it is called, even where it is the one to differentiate.
// CHECK-LABEL: func.func @f_grad
// CHECK: call @f(
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: return %[[G]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @identity} {
  %y = math.roundeven %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @identity(%x: tensor<4xf32>, %d_y: tensor<4xf32>) -> tensor<4xf32> {
  return %d_y : tensor<4xf32>
}
