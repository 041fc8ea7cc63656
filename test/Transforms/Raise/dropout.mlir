// RUN: mhc-opt %s -canonicalize -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// Dropout of the branch behind h_post has a mask per stream and channel, which mhc.post does not draw.

// CHECK: dropout.mlir:[[#@LINE+11]]:{{[0-9]+}}: remark: [Missed] factor-per-channel | Category:mhc-raise:post | Function=behind_the_gate | Found="'mhc.dropout', [8, 256] of f32"
// CHECK-LABEL: func.func @behind_the_gate
func.func @behind_the_gate(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: func.func @rate_of_zero
func.func @rate_of_zero(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.dropout
  // CHECK: mhc.post(
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.0, stream = 3>
    -> (out : tensor<8x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: func.func @before_the_gate
func.func @before_the_gate(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  // CHECK: %[[F:.*]] = mhc.dropout(
  // CHECK: mhc.post(f = %[[F]]
  %dropped = mhc.dropout(x = %f : tensor<8x64xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x64xf32>)
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %dropped dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}
