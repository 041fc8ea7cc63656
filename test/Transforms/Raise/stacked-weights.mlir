// Weights of all layers, or of both gates, in one tensor.
// RUN: mhc-opt %s --split-input-file -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// One layer's: the rows are those of the slice that the program takes.
// CHECK-LABEL: @one_layer
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %arg1[1, 0, 0] [1, 64, 24]
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[SLICE]] : tensor<64x24xf32>)
// CHECK: mhc.gates(
func.func @one_layer(%x: tensor<8x4x16xf32>, %phi: tensor<3x64x24xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %slice = tensor.extract_slice %phi[1, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xf32> to tensor<64x24xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %slice : (tensor<8x64xf32>, tensor<64x24xf32>) -> tensor<8x24xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %biases : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %pre, %post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

// Both gates' in one tensor [2, n, n * C] that the program reads whole: its rows are those of a matrix.
// CHECK-LABEL: @both_gates
// CHECK: %[[GATES:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1], [2]] : tensor<2x4x64xf32> into tensor<8x64xf32>
// CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[GATES]], %arg2
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
// CHECK: %[[PRE:.*]], %[[POST:.*]], %{{.*}} = mhc.gates(
// CHECK: return %[[PRE]], %[[POST]],
func.func @both_gates(%x: tensor<8x4x16xf32>, %w: tensor<2x4x64xf32>, %w_res: tensor<16x64xf32>, %beta: tensor<2x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %rows = tensor.collapse_shape %w [[0, 1], [2]] : tensor<2x4x64xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %rows transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %both = tensor.expand_shape %p [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %biases = mhc.broadcast %beta dims = [1, 2] : tensor<2x4xf32> -> tensor<8x2x4xf32>
  %z = arith.addf %both, %biases : tensor<8x2x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x2x4xf32>
  %pre = tensor.extract_slice %gate[0, 0, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %post = tensor.extract_slice %gate[0, 1, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %p_res = mhc.matmul %flat, %w_res transpose_rhs : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  %logits = tensor.expand_shape %p_res [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<8x4x4xf32>)
  return %pre, %post, %res : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// All parameters are one tensor: a matrix of some of them is the weight.
// CHECK-LABEL: @all_parameters
// CHECK: %[[PHI:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [24, 64]
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
// CHECK: mhc.gates(
func.func @all_parameters(%x: tensor<8x4x16xf32>, %all: tensor<1560xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %part = tensor.extract_slice %all[0] [1536] [1] : tensor<1560xf32> to tensor<1536xf32>
  %phi = tensor.expand_shape %part [[0, 1]] output_shape [24, 64] : tensor<1536xf32> into tensor<24x64xf32>
  %beta = tensor.extract_slice %all[1536] [24] [1] : tensor<1560xf32> to tensor<24xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %biases : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %pre, %post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

// The bias is the last column of the weight.
// CHECK-LABEL: @bias_beside
// CHECK: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [24, 64]
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
// CHECK: mhc.gates(
func.func @bias_beside(%x: tensor<8x4x16xf32>, %w: tensor<24x65xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %phi = tensor.extract_slice %w[0, 0] [24, 64] [1, 1] : tensor<24x65xf32> to tensor<24x64xf32>
  %beta = tensor.extract_slice %w[0, 64] [24, 1] [1, 1] : tensor<24x65xf32> to tensor<24xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %biases : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %pre, %post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}
