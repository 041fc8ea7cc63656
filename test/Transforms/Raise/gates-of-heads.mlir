// RUN: mhc-opt %s --mhc-raise --split-input-file --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// A sigmoid for each head of attention, of what the streams are not: a layer like others.
// CHECK-LABEL: @of_a_vector
// CHECK-NOT: mhc.gates
// CHECK: return
func.func @of_a_vector(%u: tensor<8x64xf32>, %heads: tensor<8x4x16xf32>, %weight: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x64xf32> {
  %p = mhc.matmul %u, %weight transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %b : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  %each = mhc.broadcast %gate dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %gated = arith.mulf %each, %heads : tensor<8x4x16xf32>
  %out = tensor.collapse_shape %gated [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

// -----

// One of all streams, of which there are as many as heads, is found as a gate. It weighs no streams, and nothing is missed.
// CHECK-LABEL: @of_streams
// CHECK: mhc.gates
func.func @of_streams(%x: tensor<8x4x16xf32>, %heads: tensor<8x4x16xf32>, %weight: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x64xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %b : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  %each = mhc.broadcast %gate dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %gated = arith.mulf %each, %heads : tensor<8x4x16xf32>
  %out = tensor.collapse_shape %gated [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

// -----

// Fewer heads than streams are no gate of those.
// CHECK-LABEL: @of_fewer
// CHECK-NOT: mhc.gates
// CHECK: return
func.func @of_fewer(%x: tensor<8x4x16xf32>, %heads: tensor<8x2x8xf32>, %weight: tensor<2x64xf32>, %bias: tensor<2xf32>) -> tensor<8x16xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<2x64xf32>) -> tensor<8x2xf32>
  %b = mhc.broadcast %bias dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %z = arith.addf %p, %b : tensor<8x2xf32>
  %gate = mhc.sigmoid %z : tensor<8x2xf32>
  %each = mhc.broadcast %gate dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x8xf32>
  %gated = arith.mulf %each, %heads : tensor<8x2x8xf32>
  %out = tensor.collapse_shape %gated [[0], [1, 2]] : tensor<8x2x8xf32> into tensor<8x16xf32>
  return %out : tensor<8x16xf32>
}
