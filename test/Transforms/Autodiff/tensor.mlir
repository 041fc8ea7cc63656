// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[OUT:.*]]: tensor<?x4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[ONE:.*]] = tensor.splat
// CHECK: %[[REST:.*]] = arith.subf %[[ONE]], %[[OUT]]
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[OUT]], %[[REST]]
// CHECK: %[[DX:.*]] = arith.mulf %[[G]], %[[SLOPE]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = mhc.sigmoid %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[S:.*]] = mhc.sigmoid %[[X]]
// CHECK: %[[ONE:.*]] = tensor.splat
// CHECK: %[[REST:.*]] = arith.subf %[[ONE]], %[[S]]
// CHECK: %[[TERM:.*]] = arith.mulf %[[X]], %[[REST]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ONE]], %[[TERM]]
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[S]], %[[SUM]]
// CHECK: %[[DX:.*]] = arith.mulf %[[G]], %[[SLOPE]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = mhc.silu %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[S:.*]] = mhc.sigmoid %[[X]]
// CHECK: %[[DX:.*]] = arith.mulf %[[G]], %[[S]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = mhc.softplus %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[OUT:.*]]: tensor<?x4xf32> {mhc.name = "result0"}, %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[G]], %[[OUT]]
// CHECK: %[[SUM:.*]] = mhc.reduce{{ *}}sum %[[PRODUCT]] dims = [1]
// CHECK: %[[SUMS:.*]] = mhc.broadcast %[[SUM]] dims = [0]
// CHECK: %[[CENTRED:.*]] = arith.subf %[[G]], %[[SUMS]]
// CHECK: %[[DX:.*]] = arith.mulf %[[OUT]], %[[CENTRED]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = mhc.softmax %x dim = 1 : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// The normalised x is made again from x, with one root a row.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[W:.*]]: tensor<4xf32> {mhc.name = "arg1"}
// CHECK-SAME: %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[ROOT:.*]] = math.sqrt %{{.*}} : tensor<?xf32>
// CHECK: %[[RMS:.*]] = mhc.broadcast %[[ROOT]] dims = [0]
// CHECK: %[[Y:.*]] = arith.divf %[[X]], %[[RMS]]
// CHECK: %[[GY:.*]] = arith.mulf %[[G]], %[[Y]]
// CHECK: %[[DW:.*]] = mhc.reduce{{ *}}sum %[[GY]] dims = [0]
// CHECK: %[[WEIGHTS:.*]] = mhc.broadcast %[[W]][%{{.*}}] dims = [1]
// CHECK: %[[GW:.*]] = arith.mulf %[[G]], %[[WEIGHTS]]
// CHECK: %[[GWY:.*]] = arith.mulf %[[GW]], %[[Y]]
// CHECK: %[[MEAN:.*]] = mhc.reduce{{ *}}mean %[[GWY]] dims = [1]
// CHECK: %[[MEANS:.*]] = mhc.broadcast %[[MEAN]] dims = [0]
// CHECK: %[[ALONG:.*]] = arith.mulf %[[Y]], %[[MEANS]]
// CHECK: %[[ACROSS:.*]] = arith.subf %[[GW]], %[[ALONG]]
// CHECK: %[[DX:.*]] = arith.divf %[[ACROSS]], %[[RMS]]
// CHECK: return %[[DX]], %[[DW]]
func.func @f(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %y = mhc.rms_norm %x, %w eps = 0.125 : tensor<?x4xf32>, tensor<4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// Nothing but the weight's gradient is computed.
// CHECK-LABEL: func.func @f_bwd
// CHECK: %[[DW:.*]] = mhc.reduce{{ *}}sum %{{.*}} dims = [0]
// CHECK-NEXT: return %[[DW]]
func.func @f(%x: tensor<?x4xf32> {mhc.no_grad}, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %y = mhc.rms_norm %x, %w eps = 0.125 : tensor<?x4xf32>, tensor<4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DX:.*]] = mhc.broadcast %[[G]] dims = [0]
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %y = mhc.reduce sum %x dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// The count of a mean over tokens is known at run time only.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK: %[[M:.*]] = tensor.dim %[[X]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[COUNT:.*]] = arith.sitofp %[[NUMBER]] : i64 to f32
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[COUNT]] : f32
// CHECK: %[[FACTOR:.*]] = tensor.splat %[[INVERSE]] : tensor<4xf32>
// CHECK: %[[SHARE:.*]] = arith.mulf %[[G]], %[[FACTOR]]
// CHECK: %[[DX:.*]] = mhc.broadcast %[[SHARE]][%{{.*}}] dims = [1]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %y = mhc.reduce mean %x dims = [0] : tensor<?x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Equal maxima share the cotangent.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32> {mhc.name = "arg0"}, %[[MAX:.*]]: tensor<?xf32> {mhc.name = "result0"},
// CHECK-SAME:  %[[G:.*]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK: %[[MAXIMA:.*]] = mhc.broadcast %[[MAX]] dims = [0]
// CHECK: %[[IS_MAX:.*]] = arith.cmpf oeq, %[[X]], %[[MAXIMA]]
// CHECK: %[[ONES:.*]] = arith.select %[[IS_MAX]], %{{.*}}, %[[ZERO:.*]] :
// CHECK: %[[COUNT:.*]] = mhc.reduce{{ *}}sum %[[ONES]] dims = [1]
// CHECK: %[[SHARE:.*]] = arith.divf %[[G]], %[[COUNT]]
// CHECK: %[[SHARES:.*]] = mhc.broadcast %[[SHARE]] dims = [0]
// CHECK: %[[DX:.*]] = arith.select %[[IS_MAX]], %[[SHARES]], %[[ZERO]]
// CHECK: return %[[DX]]
func.func @f(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %y = mhc.reduce max %x dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<?x3x2x4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[SUM:.*]] = mhc.reduce{{ *}}sum %[[G]] dims = [1, 2] : tensor<?x3x2x4xf32> -> tensor<?x4xf32>
// CHECK-NEXT: %[[DX:.*]] = mhc.broadcast %[[SUM]] dims = [0, 2] : tensor<?x4xf32> -> tensor<?x1x4xf32>
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<?x1x4xf32>) -> tensor<?x3x2x4xf32> {
  %y = mhc.broadcast %x dims = [0, 2, 3] : tensor<?x1x4xf32> -> tensor<?x3x2x4xf32>
  return %y : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<2x4x?xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DX:.*]] = mhc.transpose %[[G]] perm = [2, 0, 1]
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<?x2x4xf32>) -> tensor<2x4x?xf32> {
  %y = mhc.transpose %x perm = [1, 2, 0] : tensor<?x2x4xf32> -> tensor<2x4x?xf32>
  return %y : tensor<2x4x?xf32>
}
