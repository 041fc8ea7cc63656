// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhc-opt %s --mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=Missed
// RUN: mhcc %s --verify

// All streams may take the sublayer's output alike.
// CHECK-LABEL: @no_gate(
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
// CHECK: mhc.post(f = %arg2 : tensor<8x64xf32>, h_post = %[[ONE]] : tensor<8x4xf32>
func.func @no_gate(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %out = arith.addf %mixed, %fw : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// A gate of the token, such as the sum of its gates, beside a bias.
// CHECK-LABEL: @sum_of_gates(
// CHECK: %[[SUM:.*]] = mhc.reduce sum %arg2 dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
// CHECK: %[[GATE:.*]] = mhc.broadcast %[[SUM]] dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
// CHECK: mhc.post(f = %arg3 : tensor<?x64xf32>, bias = %arg4 : tensor<64xf32>, h_post = %[[GATE]] : tensor<?x4xf32>
func.func @sum_of_gates(%z: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>, %h: tensor<?x4xf32>, %f: tensor<?x64xf32>,
                        %b: tensor<64xf32>) -> tensor<?x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %sum = mhc.reduce sum %h dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  %bs = mhc.broadcast %b[%M] dims = [1] : tensor<64xf32> -> tensor<?x64xf32>
  %fb = arith.addf %f, %bs : tensor<?x64xf32>
  %sums = mhc.broadcast %sum dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %fs = arith.mulf %fb, %sums : tensor<?x64xf32>
  %fw = mhc.broadcast %fs dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %out = arith.addf %mixed, %fw : tensor<?x4x64xf32>
  return %out : tensor<?x4x64xf32>
}

// A matrix that nothing shows to be a residual map may be any layer's.
// CHECK-LABEL: @any_layer(
// CHECK-NOT: mhc.post
// CHECK: return
// REMARK-NOT: Missed
func.func @any_layer(%map: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %f: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %out = arith.addf %mixed, %fw : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}
