// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<?x8xbf16>, %b: tensor<8x?xf32>) -> tensor<?x?xf32> {
  // CHECK: mhc.matmul %{{.*}}, %{{.*}} : (tensor<?x8xbf16>, tensor<8x?xf32>) -> tensor<?x?xf32>
  %out = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x?xf32>) -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}

// CHECK-LABEL: @transposed
func.func @transposed(%a: tensor<8x2xf32>, %b: tensor<24x8xf32>) -> tensor<2x24xf32> {
  // CHECK: mhc.matmul %{{.*}}, %{{.*}} transpose_lhs transpose_rhs : (tensor<8x2xf32>, tensor<24x8xf32>) -> tensor<2x24xf32>
  %out = mhc.matmul %a, %b transpose_lhs transpose_rhs : (tensor<8x2xf32>, tensor<24x8xf32>) -> tensor<2x24xf32>
  return %out : tensor<2x24xf32>
}

// CHECK-LABEL: @batch
func.func @batch(%a: tensor<?x4x4xf32>, %b: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  // CHECK: mhc.batch_matmul %{{.*}}, %{{.*}} transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %out = mhc.batch_matmul %a, %b transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  return %out : tensor<?x4x64xf32>
}
