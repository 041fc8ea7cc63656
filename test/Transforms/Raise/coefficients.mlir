// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Gates and residual logits of s * (x . phi) * alpha + beta, with their projection.

// CHECK-LABEL: @norm_with_eps_inside_the_root
func.func @norm_with_eps_inside_the_root(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                         %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @norm_with_eps_outside_the_root
func.func @norm_with_eps_outside_the_root(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                          %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %rms = math.sqrt %ms : tensor<8xf32>
  %rms_eps = arith.addf %rms, %eps : tensor<8xf32>
  %s = arith.divf %one, %rms_eps : tensor<8xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @no_norm
func.func @no_norm(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// Without a norm, and with three weights of which each comes before the streams: a bias of the rows tells which is which.
// CHECK-LABEL: @no_norm_of_computed_streams
func.func @no_norm_of_computed_streams(%pre: tensor<4x256xf32>, %post: tensor<4x256xf32>, %res: tensor<16x256xf32>,
                                       %alpha: tensor<f32>, %b_pre: tensor<4xf32>, %b_post: tensor<4xf32>,
                                       %b_res: tensor<16xf32>, %a: tensor<8x4x64xf32>, %b: tensor<8x4x64xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x64xf32>) {
  // CHECK: %[[X:.*]] = arith.addf %arg7, %arg8
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %[[X]] : tensor<8x4x64xf32>, phi = %{{.*}} : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = inv_rms>
  // CHECK: mhc.gates(proj = %[[P]] : tensor<8x24xf32>
  // CHECK: mhc.sinkhorn
  %x = arith.addf %a, %b : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %p0 = mhc.matmul %flat, %pre transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %p1 = mhc.matmul %flat, %post transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %flat, %res transpose_rhs : (tensor<8x256xf32>, tensor<16x256xf32>) -> tensor<8x16xf32>
  %a4 = mhc.broadcast %alpha dims = [] : tensor<f32> -> tensor<8x4xf32>
  %a16 = mhc.broadcast %alpha dims = [] : tensor<f32> -> tensor<8x16xf32>
  %b0 = mhc.broadcast %b_pre dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %b_post dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %b2 = mhc.broadcast %b_res dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %s0 = arith.mulf %p0, %a4 : tensor<8x4xf32>
  %s1 = arith.mulf %p1, %a4 : tensor<8x4xf32>
  %s2 = arith.mulf %p2, %a16 : tensor<8x16xf32>
  %z0 = arith.addf %s0, %b0 : tensor<8x4xf32>
  %z1 = arith.addf %s1, %b1 : tensor<8x4xf32>
  %z2 = arith.addf %s2, %b2 : tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 5> -> (mix : tensor<8x4x4xf32>)
  return %h_pre, %h_post, %h_res, %x : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x64xf32>
}

// The product is linear: the multiplier moves behind it.
// CHECK-LABEL: @norm_by_an_op_before_the_product
func.func @norm_by_an_op_before_the_product(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                            %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %n = mhc.rms_norm %flat eps = 1.0e-06 : tensor<8x256xf32>
  %p = mhc.matmul %n, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// Streams are a sum until their layer is found.
// CHECK-LABEL: @norm_of_a_sum
func.func @norm_of_a_sum(%mixed: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                         %beta: tensor<24xf32>, %branch: tensor<8x4x64xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[X:.*]] = arith.addf
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %[[X]] : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %x = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %n = mhc.rms_norm %flat eps = 1.0e-06 : tensor<8x256xf32>
  %p = mhc.matmul %n, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @norm_with_a_weight
func.func @norm_with_a_weight(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                              %beta: tensor<24xf32>, %gamma: tensor<256xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>, norm_weight = %arg4 : tensor<256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %n = mhc.rms_norm %flat, %gamma eps = 1.0e-06 : tensor<8x256xf32>, tensor<256xf32>
  %p = mhc.matmul %n, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @weight_that_is_multiplied_into_phi
func.func @weight_that_is_multiplied_into_phi(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                              %beta: tensor<24xf32>, %gamma: tensor<256xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>, norm_weight = %arg4 : tensor<256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %gb = mhc.broadcast %gamma dims = [1] : tensor<256xf32> -> tensor<24x256xf32>
  %w = arith.mulf %phi, %gb : tensor<24x256xf32>
  %proj = mhc.matmul %flat, %w transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @phi_stored_in_by_out
func.func @phi_stored_in_by_out(%x: tensor<8x4x64xf32>, %phi: tensor<256x24xf32>, %alpha: tensor<3xf32>,
                                %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<256x24xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi : (tensor<8x256xf32>, tensor<256x24xf32>) -> tensor<8x24xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// One projection, though the code has three.
// CHECK-LABEL: @three_products_with_slices_of_phi
func.func @three_products_with_slices_of_phi(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                             %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.gates(proj = %[[P]] : tensor<8x24xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = {{.*}}, pre_eps = 1.0e-03, post_mult = 2.0>
  // CHECK: return %[[PRE]], %[[POST]], %[[Z]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %phi0 = tensor.extract_slice %phi[0, 0] [4, 256] [1, 1] : tensor<24x256xf32> to tensor<4x256xf32>
  %proj0 = mhc.matmul %flat, %phi0 transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %sb0 = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %p0 = arith.mulf %proj0, %sb0 : tensor<8x4xf32>
  %al0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw0 = mhc.broadcast %al0 dims = [1] : tensor<1xf32> -> tensor<8x4xf32>
  %pa0 = arith.mulf %aw0, %p0 : tensor<8x4xf32>
  %be0 = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %bw0 = mhc.broadcast %be0 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z0 = arith.addf %pa0, %bw0 : tensor<8x4xf32>
  %phi1 = tensor.extract_slice %phi[4, 0] [4, 256] [1, 1] : tensor<24x256xf32> to tensor<4x256xf32>
  %proj1 = mhc.matmul %flat, %phi1 transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %sb1 = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %p1 = arith.mulf %proj1, %sb1 : tensor<8x4xf32>
  %al1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw1 = mhc.broadcast %al1 dims = [1] : tensor<1xf32> -> tensor<8x4xf32>
  %pa1 = arith.mulf %aw1, %p1 : tensor<8x4xf32>
  %be1 = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %bw1 = mhc.broadcast %be1 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z1 = arith.addf %pa1, %bw1 : tensor<8x4xf32>
  %phi2 = tensor.extract_slice %phi[8, 0] [16, 256] [1, 1] : tensor<24x256xf32> to tensor<16x256xf32>
  %proj2 = mhc.matmul %flat, %phi2 transpose_rhs : (tensor<8x256xf32>, tensor<16x256xf32>) -> tensor<8x16xf32>
  %sb2 = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %p2 = arith.mulf %proj2, %sb2 : tensor<8x16xf32>
  %al2 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw2 = mhc.broadcast %al2 dims = [1] : tensor<1xf32> -> tensor<8x16xf32>
  %pa2 = arith.mulf %aw2, %p2 : tensor<8x16xf32>
  %be2 = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %bw2 = mhc.broadcast %be2 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %z2 = arith.addf %pa2, %bw2 : tensor<8x16xf32>
  %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_post = arith.mulf %g1, %two : tensor<8x4xf32>
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// P and the multiplier are arguments.
// CHECK-LABEL: @gates_of_a_given_projection
func.func @gates_of_a_given_projection(%proj: tensor<8x24xf32>, %s: tensor<8xf32>, %alpha: tensor<3xf32>,
                                       %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: mhc.gates(proj = %arg0 : tensor<8x24xf32>, stat = %arg1 : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// The maximum of all logits is subtracted: it needs the logits first, and is no bias of them.
// CHECK-LABEL: @less_the_maximum_of_all_tokens
func.func @less_the_maximum_of_all_tokens(%proj: tensor<8x24xf32>, %s: tensor<8xf32>, %alpha: tensor<3xf32>,
                                          %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %{{.*}}, %{{.*}}, %[[LOGITS:.*]] = mhc.gates(proj = %arg0 : tensor<8x24xf32>, stat = %arg1 : tensor<8xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK: mhc.reduce max %[[LOGITS]]
  // CHECK: arith.subf %[[LOGITS]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
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
  %max = mhc.reduce max %z2 dims = [0, 1] : tensor<8x16xf32> -> tensor<f32>
  %all = mhc.broadcast %max dims = [] : tensor<f32> -> tensor<8x16xf32>
  %shifted = arith.subf %z2, %all : tensor<8x16xf32>
  %matrices = tensor.expand_shape %shifted [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 2> -> (mix : tensor<8x4x4xf32>)
  return %h_pre, %h_post, %mix : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// The identity, as a comparison of positions, is a part of the bias: its numbers, and not its bits.
// CHECK-LABEL: @the_identity_added
func.func @the_identity_added(%proj: tensor<8x24xf32>, %s: tensor<8xf32>, %alpha: tensor<3xf32>,
                              %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %[[ONES:.*]] = arith.uitofp %{{.*}} : tensor<4x4xi1> to tensor<4x4xf32>
  // CHECK: %[[IDENTITY:.*]] = tensor.collapse_shape %[[ONES]] {{\[\[}}0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  // CHECK: arith.addf {{.*}}%[[IDENTITY]]
  // CHECK: mhc.gates(
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
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
  %e = tensor.empty() : tensor<4x4xi1>
  %is = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<4x4xi1>) {
  ^bb0(%out: i1):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %equal = arith.cmpi eq, %row, %column : index
    linalg.yield %equal : i1
  } -> tensor<4x4xi1>
  %ones = arith.uitofp %is : tensor<4x4xi1> to tensor<4x4xf32>
  %identity = mhc.broadcast %ones dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %mix = arith.addf %matrices, %identity : tensor<8x4x4xf32>
  return %h_pre, %h_post, %mix : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// CHECK-LABEL: @gates_of_a_given_mean_square
func.func @gates_of_a_given_mean_square(%proj: tensor<8x24xf32>, %ms: tensor<8xf32>, %alpha: tensor<3xf32>,
                                        %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: mhc.gates(proj = %arg0 : tensor<8x24xf32>, stat = %arg1 : tensor<8xf32>,
  // CHECK-SAME: <stat_form = mean_square, norm_eps = 1.0e-06,
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// The sigmoid is read twice: the eps stays outside, and both users are right.
// CHECK-LABEL: @numbers_that_follow_two_users
func.func @numbers_that_follow_two_users(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                         %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[PRE:.*]], %{{.*}}, %{{.*}} = mhc.gates(
  // CHECK-SAME: pre_eps = 0.0, post_mult = 2.0>
  // CHECK: %[[SHIFTED:.*]] = arith.addf %[[PRE]]
  // CHECK: return %[[SHIFTED]], %[[PRE]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
  return %h_pre, %g0, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @a_factor_of_three_is_a_number_like_any_other
func.func @a_factor_of_three_is_a_number_like_any_other(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>,
                                                        %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: mhc.gates(
  // CHECK-SAME: post_mult = 3.0>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<3.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// alpha[1] scales the first group: the op reads a vector that is put together anew.
// CHECK-LABEL: @alpha_in_another_order
func.func @alpha_in_another_order(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                  %beta: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[A:.*]] = tensor.concat
  // CHECK: mhc.gates(
  // CHECK-SAME: alpha = %[[A]] : tensor<3xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  %a1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %b1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
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
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: @one_group_for_a_head
func.func @one_group_for_a_head(%x: tensor<8x4x64xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>,
                                %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(
  // CHECK: mhc.gates(proj = %[[P]] : tensor<8x4xf32>, stat = %[[S]] : tensor<8xf32>, alpha = %arg2 : tensor<1xf32>, beta = %arg3 : tensor<4xf32>)
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %p = arith.mulf %proj, %sb : tensor<8x4xf32>
  %ab = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x4xf32>
  %pa = arith.mulf %p, %ab : tensor<8x4xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %pa, %bb : tensor<8x4xf32>
  %g0 = mhc.sigmoid %z : tensor<8x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
  return %h_pre : tensor<8x4xf32>
}

// One weight is the rows of one group, however often its sums are read: here they are no second gate and no logits.

// CHECK-LABEL: @one_weight_is_one_group
func.func @one_weight_is_one_group(%x: tensor<8x27x2xf32>, %phi: tensor<2x54xf32>, %beta: tensor<2xf32>)
    -> (tensor<8x27xf32>, tensor<8x2xf32>) {
  // CHECK: mhc.projection(x = %arg0 : tensor<8x27x2xf32>, phi = %arg1 : tensor<2x54xf32>) {{.*}} -> (proj : tensor<8x2xf32>,
  // CHECK: mhc.gates({{.*}} -> (h_pre : tensor<8x2xf32>)
  // CHECK: mhc.aggregate
  %half = arith.constant dense<5.0e-01> : tensor<8x2xf32>
  %one = arith.constant dense<1.0> : tensor<8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8x2xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x27x2xf32> into tensor<8x54xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x54xf32>, tensor<2x54xf32>) -> tensor<8x2xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %z = arith.addf %proj, %bb : tensor<8x2xf32>
  %z_half = arith.mulf %half, %z : tensor<8x2xf32>
  %tanh = math.tanh %z_half : tensor<8x2xf32>
  %twice = arith.addf %tanh, %one : tensor<8x2xf32>
  %sigmoid = arith.mulf %twice, %half : tensor<8x2xf32>
  %h_pre = arith.addf %eps, %sigmoid : tensor<8x2xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 2] : tensor<8x2xf32> -> tensor<8x27x2xf32>
  %products = arith.mulf %x, %weights : tensor<8x27x2xf32>
  %u = mhc.reduce sum %products dims = [2] : tensor<8x27x2xf32> -> tensor<8x27xf32>
  return %u, %twice : tensor<8x27xf32>, tensor<8x2xf32>
}

// A weight, and that of the norm, in a type of their own are widened: that is exact.
// CHECK-LABEL: @phi_narrower_than_x
func.func @phi_narrower_than_x(%x: tensor<8x4x64xf32>, %phi: tensor<4x256xbf16>, %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[PHI:.*]] = arith.extf %arg1 : tensor<4x256xbf16> to tensor<4x256xf32>
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %[[PHI]] : tensor<4x256xf32>)
  // CHECK: mhc.gates(
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %wide = arith.extf %phi : tensor<4x256xbf16> to tensor<4x256xf32>
  %proj = mhc.matmul %flat, %wide transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %proj, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK-LABEL: @two_narrow_types
func.func @two_narrow_types(%x: tensor<8x4x64xbf16>, %phi: tensor<4x256xf16>, %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[PHI:.*]] = arith.extf %arg1 : tensor<4x256xf16> to tensor<4x256xf32>
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x64xbf16>, phi = %[[PHI]] : tensor<4x256xf32>)
  // CHECK: mhc.gates(
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xbf16> into tensor<8x256xbf16>
  %wide_x = arith.extf %flat : tensor<8x256xbf16> to tensor<8x256xf32>
  %wide = arith.extf %phi : tensor<4x256xf16> to tensor<4x256xf32>
  %proj = mhc.matmul %wide_x, %wide transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %proj, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}
