// RUN: mhc-opt %s -mhc-raise | FileCheck %s --implicit-check-not=mhc.sinkhorn --implicit-check-not=mhc.softmax

// A sum over a part of the rows or columns is another one than over all of them.

// CHECK-LABEL: @rows_without_the_last_column
// CHECK: arith.divf
func.func @rows_without_the_last_column(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %exp = math.exp %z : tensor<8x4x4xf32>
  %part = tensor.extract_slice %exp[0, 0, 0] [8, 4, 3] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x4x3xf32>
  %s_row = mhc.reduce sum %part dims = [2] : tensor<8x4x3xf32> -> tensor<8x4xf32>
  %b_row = mhc.broadcast %s_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %row = arith.divf %exp, %b_row : tensor<8x4x4xf32>
  %s_col = mhc.reduce sum %row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b_col = mhc.broadcast %s_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %col = arith.divf %row, %b_col : tensor<8x4x4xf32>
  return %col : tensor<8x4x4xf32>
}

// CHECK-LABEL: @columns_without_the_first_row
// CHECK: arith.divf
func.func @columns_without_the_first_row(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %exp = math.exp %z : tensor<8x4x4xf32>
  %s_row = mhc.reduce sum %exp dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e_row = arith.addf %s_row, %eps : tensor<8x4xf32>
  %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %row = arith.divf %exp, %b_row : tensor<8x4x4xf32>
  %part = tensor.extract_slice %row[0, 1, 0] [8, 3, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x3x4xf32>
  %s_col = mhc.reduce sum %part dims = [1] : tensor<8x3x4xf32> -> tensor<8x4xf32>
  %e_col = arith.addf %s_col, %eps : tensor<8x4xf32>
  %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %col = arith.divf %row, %b_col : tensor<8x4x4xf32>
  return %col : tensor<8x4x4xf32>
}

// CHECK-LABEL: @softmax_without_the_last
// CHECK: arith.divf
func.func @softmax_without_the_last(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %exp = math.exp %z : tensor<8x4xf32>
  %part = tensor.extract_slice %exp[0, 0] [8, 3] [1, 1] : tensor<8x4xf32> to tensor<8x3xf32>
  %sum = mhc.reduce sum %part dims = [1] : tensor<8x3xf32> -> tensor<8xf32>
  %all = mhc.broadcast %sum dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %soft = arith.divf %exp, %all : tensor<8x4xf32>
  return %soft : tensor<8x4xf32>
}

// The step over whole columns is a softmax.
// CHECK-LABEL: @log_of_a_part
// CHECK: math.log
// CHECK: mhc.softmax %{{.*}} dim = 1
func.func @log_of_a_part(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %e_row = math.exp %z : tensor<8x4x4xf32>
  %part = tensor.extract_slice %e_row[0, 0, 0] [8, 4, 3] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x4x3xf32>
  %s_row = mhc.reduce sum %part dims = [2] : tensor<8x4x3xf32> -> tensor<8x4xf32>
  %l_row = math.log %s_row : tensor<8x4xf32>
  %b_row = mhc.broadcast %l_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %row = arith.subf %z, %b_row : tensor<8x4x4xf32>
  %e_col = math.exp %row : tensor<8x4x4xf32>
  %s_col = mhc.reduce sum %e_col dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l_col = math.log %s_col : tensor<8x4xf32>
  %b_col = mhc.broadcast %l_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %col = arith.subf %row, %b_col : tensor<8x4x4xf32>
  %mix = math.exp %col : tensor<8x4x4xf32>
  return %mix : tensor<8x4x4xf32>
}

// With an epsilon that is subtracted, entries may be negative, and the sum of their magnitudes is not their sum.
// CHECK-LABEL: @magnitudes_with_a_negative_eps
// CHECK: math.absf
func.func @magnitudes_with_a_negative_eps(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %eps = arith.constant dense<-1.0e-01> : tensor<8x4xf32>
  %exp = math.exp %z : tensor<8x4x4xf32>
  %s_row = mhc.reduce sum %exp dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e_row = arith.addf %s_row, %eps : tensor<8x4xf32>
  %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %row = arith.divf %exp, %b_row : tensor<8x4x4xf32>
  %abs = math.absf %row : tensor<8x4x4xf32>
  %s_col = mhc.reduce sum %abs dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e_col = arith.addf %s_col, %eps : tensor<8x4xf32>
  %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %col = arith.divf %row, %b_col : tensor<8x4x4xf32>
  return %col : tensor<8x4x4xf32>
}
