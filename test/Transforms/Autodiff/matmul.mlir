// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<?x8xf32> {mhc.name = "arg0"}, %[[B:.*]]: tensor<8x3xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<?x3xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DA:.*]] = mhc.matmul %[[G]], %[[B]] transpose_rhs :
// CHECK-NEXT: %[[DB:.*]] = mhc.matmul %[[A]], %[[G]] transpose_lhs :
// CHECK-NEXT: return %[[DA]], %[[DB]]
func.func @f(%a: tensor<?x8xf32>, %b: tensor<8x3xf32>) -> tensor<?x3xf32> {
  %out = mhc.matmul %a, %b : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  return %out : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<8x?xf32> {mhc.name = "arg0"}, %[[B:.*]]: tensor<3x8xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<?x3xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DA:.*]] = mhc.matmul %[[B]], %[[G]] transpose_lhs transpose_rhs :
// CHECK-NEXT: %[[DB:.*]] = mhc.matmul %[[G]], %[[A]] transpose_lhs transpose_rhs :
// CHECK-NEXT: return %[[DA]], %[[DB]]
func.func @f(%a: tensor<8x?xf32>, %b: tensor<3x8xf32>) -> tensor<?x3xf32> {
  %out = mhc.matmul %a, %b transpose_lhs transpose_rhs : (tensor<8x?xf32>, tensor<3x8xf32>) -> tensor<?x3xf32>
  return %out : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<?x4x4xf32> {mhc.name = "arg0"}, %[[B:.*]]: tensor<?x4x8xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<?x4x8xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DA:.*]] = mhc.batch_matmul %[[B]], %[[G]] transpose_rhs :
// CHECK-NEXT: %[[DB:.*]] = mhc.batch_matmul %[[A]], %[[G]] :
// CHECK-NEXT: return %[[DA]], %[[DB]]
func.func @f(%a: tensor<?x4x4xf32>, %b: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %out = mhc.batch_matmul %a, %b transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  return %out : tensor<?x4x8xf32>
}

// -----

// Only what is wanted; factors of 16 bits, sums in f32, one rounding at the end.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<?x8xbf16> {mhc.name = "arg0"}, %[[G:.*]]: tensor<?x3xbf16> {mhc.name = "d_result0"})
// CHECK-NOT: mhc.matmul
// CHECK: %[[DB:.*]] = mhc.matmul %[[A]], %{{.*}} transpose_lhs : (tensor<?x8xbf16>, tensor<?x3xbf16>) -> tensor<8x3xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[DB]]
// CHECK-NEXT: return %[[ROUNDED]]
func.func @f(%a: tensor<?x8xbf16> {mhc.no_grad}, %b: tensor<8x3xbf16>) -> tensor<?x3xbf16> {
  %out = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x3xbf16>) -> tensor<?x3xbf16>
  return %out : tensor<?x3xbf16>
}
