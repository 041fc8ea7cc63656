// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// As many channels as streams: the residual matrix has the shape of the streams, and each could be the other. What the
// function does with them decides.

// CHECK-LABEL: @map_by_what_makes_it
func.func @map_by_what_makes_it(%x: tensor<8x4x4xf32>, %logits: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                %f: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(
  // CHECK: mhc.post(f = %arg3 : {{.*}} h_post = %arg2 : {{.*}} x = %arg0 : {{.*}} h_res = %[[MIX]] : tensor<8x4x4xf32>) <layout = nC, orient = oi>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}

// CHECK-LABEL: @map_of_inner_streams
func.func @map_of_inner_streams(%x: tensor<8x4x4xf32>, %logits: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                %f: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(
  // CHECK: mhc.post(f = %arg3 : {{.*}} h_post = %arg2 : {{.*}} x = %arg0 : {{.*}} h_res = %[[MIX]] : tensor<8x4x4xf32>) <layout = Cn, orient = io>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %x, %h_res : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}

// CHECK-LABEL: @streams_by_what_projects_them
func.func @streams_by_what_projects_them(%x: tensor<8x4x4xf32>, %h_res: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                         %f: tensor<8x4xf32>, %phi: tensor<24x16xf32>)
    -> (tensor<8x4x4xf32>, tensor<8x24xf32>) {
  // CHECK: mhc.projection(x = %arg0
  // CHECK: mhc.post(f = %arg3 : {{.*}} h_post = %arg2 : {{.*}} x = %arg0 : {{.*}} h_res = %arg1 : tensor<8x4x4xf32>) <layout = Cn, orient = io>
  %proj = mhc.projection(x = %x : tensor<8x4x4xf32>, phi = %phi : tensor<24x16xf32>)
    <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = applied> -> (proj : tensor<8x24xf32>)
  %mixed = mhc.batch_matmul %x, %h_res : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out, %proj : tensor<8x4x4xf32>, tensor<8x24xf32>
}

// Nothing tells: streams stand before channels.
// CHECK-LABEL: @layout_when_nothing_tells
func.func @layout_when_nothing_tells(%x: tensor<8x4x4xf32>, %h_res: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                     %f: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.post(f = %arg3 : {{.*}} h_post = %arg2 : {{.*}} x = %arg0 : {{.*}} h_res = %arg1 : tensor<8x4x4xf32>) <layout = nC, orient = oi>
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}

// A residual map that is mixed by another one is no streams, whatever its shape.
// CHECK-LABEL: @no_post_of_two_maps
func.func @no_post_of_two_maps(%a: tensor<8x4x4xf32>, %b: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                               %f: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %first = mhc.sinkhorn(logits = %a : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %second = mhc.sinkhorn(logits = %b : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %first, %second : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}
