// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify --size=d1=40 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 --size=d1=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 --size=d1=40 | FileCheck %s

// CHECK: entry mixed
// CHECK-NEXT: result0: verified
func.func @mixed(%a: tensor<?x24xbf16>, %b: tensor<24x?xf32>) -> tensor<?x?xf32> {
  %out = mhc.matmul %a, %b : (tensor<?x24xbf16>, tensor<24x?xf32>) -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}

// CHECK: entry transposed_rhs
// CHECK-NEXT: result0: verified
func.func @transposed_rhs(%a: tensor<?x129xf32>, %b: tensor<33x129xf32>) -> tensor<?x33xf32> {
  %out = mhc.matmul %a, %b transpose_rhs : (tensor<?x129xf32>, tensor<33x129xf32>) -> tensor<?x33xf32>
  return %out : tensor<?x33xf32>
}

// CHECK: entry sum_over_tokens
// CHECK-NEXT: result0: verified
func.func @sum_over_tokens(%a: tensor<19x8xf16>, %b: tensor<19x33xf16>) -> tensor<8x33xf16> {
  %out = mhc.matmul %a, %b transpose_lhs : (tensor<19x8xf16>, tensor<19x33xf16>) -> tensor<8x33xf16>
  return %out : tensor<8x33xf16>
}

// CHECK: entry batch_mixed
// CHECK-NEXT: result0: verified
func.func @batch_mixed(%a: tensor<?x4x4xf32>, %b: tensor<?x4x33xbf16>) -> tensor<?x4x33xbf16> {
  %out = mhc.batch_matmul %a, %b transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x33xbf16>) -> tensor<?x4x33xbf16>
  return %out : tensor<?x4x33xbf16>
}

// CHECK: entry batch_transposed_rhs
// CHECK-NEXT: result0: verified
func.func @batch_transposed_rhs(%a: tensor<?x33x3xf16>, %b: tensor<?x3x3xf32>) -> tensor<?x33x3xf16> {
  %out = mhc.batch_matmul %a, %b transpose_rhs : (tensor<?x33x3xf16>, tensor<?x3x3xf32>) -> tensor<?x33x3xf16>
  return %out : tensor<?x33x3xf16>
}
