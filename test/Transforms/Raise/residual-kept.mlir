// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhcc %s --verify

// A residual matrix that is kept as what it adds to the identity: x + (H - 1) x is H x.

// CHECK-LABEL: @kept(
// CHECK: %[[H:.*]] = mhc.sinkhorn(
// CHECK: mhc.post(f = %arg1 : {{.*}}, h_post = %arg2 : {{.*}}, x = %arg0 : {{.*}}, h_res = %[[H]]
// CHECK-NOT: arith.addf
// CHECK: return
func.func @kept(%x: tensor<8x2x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %r: tensor<8x2x2xf32>) -> tensor<8x2x16xf32> {
  %eye = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %eyes = mhc.broadcast %eye dims = [1, 2] : tensor<2x2xf32> -> tensor<8x2x2xf32>
  %less = arith.subf %mix, %eyes : tensor<8x2x2xf32>
  %mixed = mhc.batch_matmul %less, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %all = arith.addf %x, %mixed : tensor<8x2x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<8x2x16xf32>
  %out = arith.addf %all, %branch : tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// The matrix less half the identity, beside the streams: half of them are left over.
// CHECK-LABEL: @half_kept(
// CHECK-NOT: mhc.post
// CHECK: return
func.func @half_kept(%x: tensor<8x2x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %r: tensor<8x2x2xf32>) -> tensor<8x2x16xf32> {
  %eye = arith.constant dense<[[0.5, 0.0], [0.0, 0.5]]> : tensor<2x2xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %eyes = mhc.broadcast %eye dims = [1, 2] : tensor<2x2xf32> -> tensor<8x2x2xf32>
  %less = arith.subf %mix, %eyes : tensor<8x2x2xf32>
  %mixed = mhc.batch_matmul %less, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %all = arith.addf %x, %mixed : tensor<8x2x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<8x2x16xf32>
  %out = arith.addf %all, %branch : tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// Less a matrix that is not the identity.
// CHECK-LABEL: @swapped(
// CHECK-NOT: mhc.post
// CHECK: return
func.func @swapped(%x: tensor<8x2x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %r: tensor<8x2x2xf32>) -> tensor<8x2x16xf32> {
  %eye = arith.constant dense<[[0.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %eyes = mhc.broadcast %eye dims = [1, 2] : tensor<2x2xf32> -> tensor<8x2x2xf32>
  %less = arith.subf %mix, %eyes : tensor<8x2x2xf32>
  %mixed = mhc.batch_matmul %less, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %all = arith.addf %x, %mixed : tensor<8x2x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<8x2x16xf32>
  %out = arith.addf %all, %branch : tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}
