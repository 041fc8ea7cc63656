// RUN: mhc-opt %s --mhc-raise --split-input-file | FileCheck %s

// A stored weight plus a product of low rank

// CHECK-LABEL: @low_rank
func.func @low_rank(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %b: tensor<24x2xf32>, %a: tensor<2x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %[[PHI:.*]] = arith.addf %arg1
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
  // CHECK: mhc.gates(
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %added = mhc.matmul %b, %a : (tensor<24x2xf32>, tensor<2x64xf32>) -> tensor<24x64xf32>
  %weight = arith.addf %phi, %added : tensor<24x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %bias : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// One with a scale for each row, as of integers

// CHECK-LABEL: @scaled_rows
func.func @scaled_rows(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %scale: tensor<24xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %[[PHI:.*]] = arith.mulf %arg1
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
  // CHECK: mhc.gates(
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %scales = mhc.broadcast %scale dims = [0] : tensor<24xf32> -> tensor<24x64xf32>
  %weight = arith.mulf %phi, %scales : tensor<24x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %bias : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// A number of all rows is no reason to compute it: it is a part of alpha.

// CHECK-LABEL: @scaled
func.func @scaled(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<24x64xf32>)
  // CHECK: mhc.gates(
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %half = arith.constant dense<0.5> : tensor<24x64xf32>
  %weight = arith.mulf %phi, %half : tensor<24x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %bias : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// A product of the streams is no weight.

// CHECK-LABEL: @of_streams
func.func @of_streams(%x: tensor<8x4x16xf32>, %a: tensor<24x8xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK-NOT: mhc.gates
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %weight = mhc.matmul %a, %flat : (tensor<24x8xf32>, tensor<8x64xf32>) -> tensor<24x64xf32>
  %p = mhc.matmul %flat, %weight transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %bias : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// The gates' rows are rounded to whole numbers, the logits' are not.
// CHECK-LABEL: @rounded_in_part
// CHECK: %[[ROUNDED:.*]] = math.roundeven
// CHECK: %[[W:.*]] = tensor.concat dim(0) %[[ROUNDED]],
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[W]] : tensor<24x64xf32>)
// CHECK: mhc.gates(
func.func @rounded_in_part(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %of_gates = tensor.extract_slice %phi[0, 0] [8, 64] [1, 1] : tensor<24x64xf32> to tensor<8x64xf32>
  %of_logits = tensor.extract_slice %phi[8, 0] [16, 64] [1, 1] : tensor<24x64xf32> to tensor<16x64xf32>
  %rounded = math.roundeven %of_gates : tensor<8x64xf32>
  %w = tensor.concat dim(0) %rounded, %of_logits : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<24x64xf32>
  %p = mhc.matmul %flat, %w transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z_pre = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %p[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %p[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %wide = tensor.expand_shape %logits [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %res = mhc.sinkhorn(logits = %wide : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %pre, %post, %res : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}
