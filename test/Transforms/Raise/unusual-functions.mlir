// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s

// Functions that no model has, but that the passes must leave in order.

// CHECK-LABEL: func.func private @no_body
func.func private @no_body(%x: tensor<?x4x64xf32>) -> tensor<?x64xf32>

// CHECK-LABEL: @scalars
func.func @scalars(%a: f32, %b: f32) -> f32 {
  // CHECK: arith.mulf
  // CHECK: math.exp
  // CHECK: return
  %0 = arith.mulf %a, %b : f32
  %1 = math.exp %0 : f32
  %2 = arith.divf %1, %0 : f32
  return %2 : f32
}

// CHECK-LABEL: @several_blocks
func.func @several_blocks(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %c: i1) -> tensor<8x64xf32> {
  // CHECK: cf.cond_br
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = mhc.reduce sum %x dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  cf.br ^bb3(%0 : tensor<8x64xf32>)
^bb2:
  %1 = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %2 = arith.mulf %x, %1 : tensor<8x4x64xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  cf.br ^bb3(%3 : tensor<8x64xf32>)
^bb3(%out: tensor<8x64xf32>):
  return %out : tensor<8x64xf32>
}

// One token, one dimension of size one: neither has a variable.
// CHECK-LABEL: @one_token
func.func @one_token(%x: tensor<1x4x64xf32>, %h: tensor<1x4xf32>) -> tensor<1x64xf32> {
  // CHECK: return
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<1x4xf32> -> tensor<1x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<1x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<1x4x64xf32> -> tensor<1x64xf32>
  return %2 : tensor<1x64xf32>
}

// CHECK-LABEL: @one_channel
func.func @one_channel(%x: tensor<8x4x1xf32>, %h: tensor<8x4xf32>) -> tensor<8x1xf32> {
  // CHECK: return
  %0 = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
  %1 = arith.mulf %x, %0 : tensor<8x4x1xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x1xf32> -> tensor<8x1xf32>
  return %2 : tensor<8x1xf32>
}

// The slices overlap: an index that runs past a dimension is no index into it.
// CHECK-LABEL: @slice_across_a_joined_dimension
func.func @slice_across_a_joined_dimension(%x: tensor<8x4x4xf32>, %y: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  // CHECK: %[[J:.*]] = tensor.collapse_shape %arg0
  // CHECK: tensor.extract_slice %[[J]][0, 2] [8, 8] [1, 1]
  %0 = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x4xf32> into tensor<8x16xf32>
  %1 = tensor.extract_slice %0[0, 2] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %3 = arith.mulf %2, %y : tensor<8x2x4xf32>
  return %3 : tensor<8x2x4xf32>
}

// What is found inside a loop stays inside it.
// CHECK-LABEL: @streams_that_a_loop_carries
func.func @streams_that_a_loop_carries(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                       %beta: tensor<24xf32>) -> tensor<8x4x64xf32> {
  // CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %arg0)
  // CHECK: mhc.projection(x = %[[X]] :
  // CHECK: scf.yield
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %out = scf.for %i = %first to %layers step %step iter_args(%streams = %x) -> (tensor<8x4x64xf32>) {
    %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
    %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
    %square = arith.mulf %flat, %flat : tensor<8x256xf32>
    %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
    %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
    %s = math.rsqrt %ms_eps : tensor<8xf32>
    %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
    %p = arith.mulf %proj, %sb : tensor<8x24xf32>
    %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
    %b1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %bw = mhc.broadcast %b1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
    %c1 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %cw = mhc.broadcast %c1 dims = [0] : tensor<1xf32> -> tensor<16xf32>
    %aw_all = tensor.concat dim(0) %aw, %bw, %cw : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
    %ab = mhc.broadcast %aw_all dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
    %pa = arith.mulf %p, %ab : tensor<8x24xf32>
    %bb = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
    %z = arith.addf %pa, %bb : tensor<8x24xf32>
    %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
    %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
    %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
    %h_post = arith.mulf %g1, %two : tensor<8x4xf32>
    %pb = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %pw = arith.mulf %streams, %pb : tensor<8x4x64xf32>
    %u = mhc.reduce sum %pw dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
    %f = math.tanh %u : tensor<8x64xf32>
    %hb = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
    %e = arith.mulf %hb, %fb : tensor<8x4x64xf32>
    %res = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %mix = mhc.batch_matmul %res, %streams : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
    %next = arith.addf %e, %mix : tensor<8x4x64xf32>
    scf.yield %next : tensor<8x4x64xf32>
  }
  return %out : tensor<8x4x64xf32>
}
