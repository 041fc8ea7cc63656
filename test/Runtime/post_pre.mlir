// The compiled kernels against the decomposition, in the float64 evaluator. Products and statistics are those of y.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// Ops of the source are two each for their gradients, and one again in each direction behind that.
// RUN: mhcc %s --grad=post_pre_permutation_odd_f16 --fuse=model --verify --entry=post_pre_permutation_odd_f16_bwd | FileCheck %s --check-prefix=GRAD
// GRAD: entry post_pre_permutation_odd_f16_bwd, on what post_pre_permutation_odd_f16_fwd saves
// GRAD-COUNT-9: {{^d_arg[0-8]}}: verified
// RUN: mhcc %s --grad=post_pre_norm_bf16 --fuse=model --compile-to=fuse | FileCheck %s --check-prefix=AGAIN
// AGAIN: @post_pre_norm_bf16_grad
// AGAIN: mhc.post_pre(
// AGAIN-NOT: mhc.p{{ost|re|ost_bwd|re_bwd}}(
// AGAIN: mhc.post_pre_bwd(
// AGAIN: @post_pre_norm_bf16_fwd

// CHECK: entry post_pre_sinkhorn_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
// CHECK-NEXT: result5: verified
// CHECK-NEXT: result6: verified
func.func @post_pre_sinkhorn_bf16(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x24xf32>,
        tensor<?xf32>) {
  %r:7 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, next_h_post : tensor<?x4xf32>,
        next_h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>,
      tensor<?x4x4xf32>, tensor<?x24xf32>, tensor<?xf32>
}

// CHECK: entry post_pre_permutation_odd_f16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @post_pre_permutation_odd_f16(%f: tensor<?x33xf16>, %bias: tensor<33xf16>, %h_post: tensor<?x3xf32>,
    %x: tensor<?x33x3xf16>, %h_res: tensor<?x3x3xf32>, %phi: tensor<99x12xf16>, %norm_weight: tensor<99xf32>,
    %alpha: tensor<3xf32>, %beta: tensor<12xf32>)
    -> (tensor<?x33x3xf16>, tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3x3xf32>) {
  %r:4 = mhc.post_pre(f = %f : tensor<?x33xf16>, bias = %bias : tensor<33xf16>, h_post = %h_post : tensor<?x3xf32>,
      x = %x : tensor<?x33x3xf16>, h_res = %h_res : tensor<?x3x3xf32>, phi = %phi : tensor<99x12xf16>,
      norm_weight = %norm_weight : tensor<99xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <layout = Cn, orient = io, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = true>
    -> (y : tensor<?x33x3xf16>, u : tensor<?x33xf16>, next_h_post : tensor<?x3xf32>, next_h_res : tensor<?x3x3xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x33x3xf16>, tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3x3xf32>
}

// CHECK: entry post_pre_dropout_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
func.func @post_pre_dropout_f32(%f: tensor<?x160xf32>, %bias: tensor<160xf32>, %h_post: tensor<?x4xf32>,
    %x: tensor<?x4x160xf32>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>, %phi: tensor<24x640xf32>,
    %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %h_in: tensor<?x4xf32>)
    -> (tensor<?x4x160xf32>, tensor<?x160xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %r:5 = mhc.post_pre(f = %f : tensor<?x160xf32>, bias = %bias : tensor<160xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x160xf32>, h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>,
      phi = %phi : tensor<24x640xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      h_in = %h_in : tensor<?x4xf32>)
    <layout = nC, orient = io, rate = 0.25, stream = 7, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = col_row, denom = clamp, sk_eps = 1.0e-06, iters = 12, fold_pre = false>
    -> (y : tensor<?x4x160xf32>, u : tensor<?x160xf32>, h_pre : tensor<?x4xf32>, next_h_post : tensor<?x4xf32>,
        next_h_res : tensor<?x4x4xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x4x160xf32>, tensor<?x160xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
      tensor<?x4x4xf32>
}

// CHECK: entry post_pre_identity_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @post_pre_identity_f32(%f: tensor<?x40xf32>, %h_post: tensor<?x2xf32>, %x: tensor<?x2x40xf32>,
    %h_res: tensor<?x2x2xf32>, %phi: tensor<8x80xf32>, %alpha: tensor<3xf32>, %beta: tensor<8xf32>)
    -> (tensor<?x2x40xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>) {
  %r:3 = mhc.post_pre(f = %f : tensor<?x40xf32>, h_post = %h_post : tensor<?x2xf32>, x = %x : tensor<?x2x40xf32>,
      h_res = %h_res : tensor<?x2x2xf32>, phi = %phi : tensor<8x80xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<8xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false>
    -> (y : tensor<?x2x40xf32>, next_h_post : tensor<?x2xf32>, next_h_res : tensor<?x2x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x2x40xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>
}

// CHECK: entry post_head_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
func.func @post_head_bf16(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?xf32>) {
  %r:5 = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (y : tensor<?x4x64xbf16>, out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, proj : tensor<?x4xf32>,
        stat : tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>,
      tensor<?xf32>
}

// CHECK: entry post_head_odd_f16
// CHECK-NEXT: result0: verified
func.func @post_head_odd_f16(%f: tensor<?x33xf16>, %bias: tensor<33xf16>, %h_post: tensor<?x3xf32>,
    %x: tensor<?x33x3xf16>, %h_res: tensor<?x3x3xf32>, %phi: tensor<99x3xf16>, %norm_weight: tensor<99xf32>,
    %alpha: tensor<1xf32>, %beta: tensor<3xf32>) -> tensor<?x33xf16> {
  %out = mhc.post_head(f = %f : tensor<?x33xf16>, bias = %bias : tensor<33xf16>, h_post = %h_post : tensor<?x3xf32>,
      x = %x : tensor<?x33x3xf16>, h_res = %h_res : tensor<?x3x3xf32>, phi = %phi : tensor<99x3xf16>,
      norm_weight = %norm_weight : tensor<99xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<3xf32>)
    <layout = Cn, orient = io, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x33xf16>)
  return %out : tensor<?x33xf16>
}

// CHECK: entry post_head_dropout_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @post_head_dropout_f32(%f: tensor<?x160xf32>, %bias: tensor<160xf32>, %h_post: tensor<?x4xf32>,
    %x: tensor<?x160xf32>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>, %phi: tensor<4x640xf32>,
    %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> (tensor<?x160xf32>, tensor<?x4xf32>) {
  %out, %h_pre = mhc.post_head(f = %f : tensor<?x160xf32>, bias = %bias : tensor<160xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x160xf32>, h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>,
      phi = %phi : tensor<4x640xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <layout = nC, orient = io, rate = 0.25, stream = 7, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06,
     equal_x>
    -> (out : tensor<?x160xf32>, h_pre : tensor<?x4xf32>)
  return %out, %h_pre : tensor<?x160xf32>, tensor<?x4xf32>
}

// With the norm that the sublayer begins with.
// CHECK: entry post_pre_norm_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @post_pre_norm_bf16(%f: tensor<?x72xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x72xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x288xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<72xf32>)
    -> (tensor<?x72xbf16>, tensor<?x4xf32>) {
  %y, %u, %h_pre, %p, %r = mhc.post_pre(f = %f : tensor<?x72xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x72xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x288xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<72xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false,
     u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x72xbf16>, u : tensor<?x72xbf16>, h_pre : tensor<?x4xf32>, next_h_post : tensor<?x4xf32>,
        next_h_res : tensor<?x4x4xf32>)
  return %u, %h_pre : tensor<?x72xbf16>, tensor<?x4xf32>
}

// CHECK: entry post_pre_norm_given_f16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @post_pre_norm_given_f16(%f: tensor<?x33xf16>, %h_post: tensor<?x3xf32>, %x: tensor<?x33x3xf16>,
    %h_res: tensor<?x3x3xf32>, %phi: tensor<15x99xf16>, %alpha: tensor<3xf32>, %beta: tensor<15xf32>, %h_in: tensor<?x3xf32>,
    %w: tensor<33xf16>) -> (tensor<?x33xf16>, tensor<?x33x3xf16>) {
  %y, %u, %p, %r = mhc.post_pre(f = %f : tensor<?x33xf16>, h_post = %h_post : tensor<?x3xf32>,
      x = %x : tensor<?x33x3xf16>, h_res = %h_res : tensor<?x3x3xf32>, phi = %phi : tensor<15x99xf16>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<15xf32>, h_in = %h_in : tensor<?x3xf32>,
      u_norm_weight = %w : tensor<33xf16>)
    <layout = Cn, orient = io, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false,
     u_norm_eps = 1.0e-02>
    -> (y : tensor<?x33x3xf16>, u : tensor<?x33xf16>, next_h_post : tensor<?x3xf32>, next_h_res : tensor<?x3x3xf32>)
  return %u, %y : tensor<?x33xf16>, tensor<?x33x3xf16>
}

// CHECK: entry post_pre_bwd_sinkhorn_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
// CHECK-NEXT: result5: verified
// CHECK-NEXT: result6: verified
func.func @post_pre_bwd_sinkhorn_bf16(%d_u: tensor<?x64xbf16>, %d_h_pre: tensor<?x4xf32>,
    %d_next_h_post: tensor<?x4xf32>, %d_next_h_res: tensor<?x4x4xf32>, %d_y: tensor<?x4x64xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xbf16>, tensor<24x256xf32>, tensor<3xf32>,
        tensor<24xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %proj, %stat = mhc.projection(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %r:7 = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_h_pre = %d_h_pre : tensor<?x4xf32>,
      d_next_h_post = %d_next_h_post : tensor<?x4xf32>, d_next_h_res = %d_next_h_res : tensor<?x4x4xf32>,
      y = %y : tensor<?x4x64xbf16>, d_y = %d_y : tensor<?x4x64xf32>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>,
        d_phi : tensor<24x256xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xbf16>,
      tensor<24x256xf32>, tensor<3xf32>, tensor<24xf32>
}

// CHECK: entry post_pre_bwd_permutation_odd_f16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
// CHECK-NEXT: result5: verified
// CHECK-NEXT: result6: verified
// CHECK-NEXT: result7: verified
// CHECK-NEXT: result8: verified
func.func @post_pre_bwd_permutation_odd_f16(%d_u: tensor<?x33xf16>, %d_next_h_post: tensor<?x3xf32>,
    %d_next_h_res: tensor<?x3x3xf32>, %d_out: tensor<?x33x3xf16>, %next_h_res: tensor<?x3x3xf32>,
    %f: tensor<?x33xf16>, %bias: tensor<33xf16>, %h_post: tensor<?x3xf32>, %x: tensor<?x33x3xf16>,
    %h_res: tensor<?x3x3xf32>, %phi: tensor<99x12xf16>, %norm_weight: tensor<99xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<12xf32>, %d_bias_in: tensor<33xf32>, %d_phi_in: tensor<99x12xf32>,
    %d_norm_weight_in: tensor<99xf32>, %d_alpha_in: tensor<3xf32>, %d_beta_in: tensor<12xf32>)
    -> (tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3x3xf32>, tensor<?x33x3xf32>, tensor<33xf32>, tensor<99x12xf32>,
        tensor<99xf32>, tensor<3xf32>, tensor<12xf32>) {
  %y = mhc.post(f = %f : tensor<?x33xf16>, bias = %bias : tensor<33xf16>, h_post = %h_post : tensor<?x3xf32>,
      x = %x : tensor<?x33x3xf16>, h_res = %h_res : tensor<?x3x3xf32>)
    <layout = Cn, orient = io> -> (out : tensor<?x33x3xf16>)
  %proj, %stat = mhc.projection(x = %y : tensor<?x33x3xf16>, phi = %phi : tensor<99x12xf16>,
      norm_weight = %norm_weight : tensor<99xf32>)
    <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x12xf32>, stat : tensor<?xf32>)
  %r:9 = mhc.post_pre_bwd(d_u = %d_u : tensor<?x33xf16>, d_next_h_post = %d_next_h_post : tensor<?x3xf32>,
      d_next_h_res = %d_next_h_res : tensor<?x3x3xf32>, d_out = %d_out : tensor<?x33x3xf16>,
      next_h_res = %next_h_res : tensor<?x3x3xf32>, f = %f : tensor<?x33xf16>, bias = %bias : tensor<33xf16>,
      h_post = %h_post : tensor<?x3xf32>, x = %x : tensor<?x33x3xf16>, h_res = %h_res : tensor<?x3x3xf32>,
      phi = %phi : tensor<99x12xf16>, norm_weight = %norm_weight : tensor<99xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<12xf32>, proj = %proj : tensor<?x12xf32>, stat = %stat : tensor<?xf32>,
      d_bias_in = %d_bias_in : tensor<33xf32>, d_phi_in = %d_phi_in : tensor<99x12xf32>,
      d_norm_weight_in = %d_norm_weight_in : tensor<99xf32>, d_alpha_in = %d_alpha_in : tensor<3xf32>,
      d_beta_in = %d_beta_in : tensor<12xf32>)
    <layout = Cn, orient = io, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = true, next_orient = oi>
    -> (d_f : tensor<?x33xf16>, d_h_post : tensor<?x3xf32>, d_h_res : tensor<?x3x3xf32>, d_x : tensor<?x33x3xf32>,
        d_bias : tensor<33xf32>, d_phi : tensor<99x12xf32>, d_norm_weight : tensor<99xf32>, d_alpha : tensor<3xf32>,
        d_beta : tensor<12xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3x3xf32>, tensor<?x33x3xf32>,
      tensor<33xf32>, tensor<99x12xf32>, tensor<99xf32>, tensor<3xf32>,
      tensor<12xf32>
}

// CHECK: entry post_pre_bwd_dropout_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
// CHECK-NEXT: result5: verified
// CHECK-NEXT: result6: verified
// CHECK-NEXT: result7: verified
func.func @post_pre_bwd_dropout_f32(%d_u: tensor<?x160xf32>, %d_h_pre: tensor<?x4xf32>,
    %d_next_h_post: tensor<?x4xf32>, %d_next_h_res: tensor<?x4x4xf32>, %f: tensor<?x160xf32>, %bias: tensor<160xf32>,
    %h_post: tensor<?x4xf32>, %x: tensor<?x4x160xf32>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>,
    %phi: tensor<24x640xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %d_bias_in: tensor<160xf32>,
    %d_phi_in: tensor<24x640xf32>, %d_alpha_in: tensor<3xf32>, %d_beta_in: tensor<24xf32>)
    -> (tensor<?x160xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x160xf32>, tensor<160xf32>, tensor<24x640xf32>,
        tensor<3xf32>, tensor<24xf32>) {
  %y = mhc.post(f = %f : tensor<?x160xf32>, bias = %bias : tensor<160xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x160xf32>, h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.25, stream = 7> -> (out : tensor<?x4x160xf32>)
  %proj, %stat = mhc.projection(x = %y : tensor<?x4x160xf32>, phi = %phi : tensor<24x640xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %r:8 = mhc.post_pre_bwd(d_u = %d_u : tensor<?x160xf32>, d_h_pre = %d_h_pre : tensor<?x4xf32>,
      d_next_h_post = %d_next_h_post : tensor<?x4xf32>, d_next_h_res = %d_next_h_res : tensor<?x4x4xf32>,
      y = %y : tensor<?x4x160xf32>, f = %f : tensor<?x160xf32>, bias = %bias : tensor<160xf32>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x160xf32>, h_res = %h_res : tensor<?x4x4xf32>,
      seed = %seed : tensor<2xi64>, phi = %phi : tensor<24x640xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      d_bias_in = %d_bias_in : tensor<160xf32>, d_phi_in = %d_phi_in : tensor<24x640xf32>,
      d_alpha_in = %d_alpha_in : tensor<3xf32>, d_beta_in = %d_beta_in : tensor<24xf32>)
    <layout = nC, orient = io, rate = 0.25, stream = 7, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = col_row, denom = clamp, sk_eps = 1.0e-06, iters = 12, fold_pre = false, next_orient = oi>
    -> (d_f : tensor<?x160xf32>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x160xf32>,
        d_bias : tensor<160xf32>, d_phi : tensor<24x640xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<?x160xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x160xf32>,
      tensor<160xf32>, tensor<24x640xf32>, tensor<3xf32>, tensor<24xf32>
}

// CHECK: entry post_pre_bwd_identity_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
// CHECK-NEXT: result5: verified
// CHECK-NEXT: result6: verified
func.func @post_pre_bwd_identity_f32(%d_next_h_post: tensor<?x2xf32>, %d_next_h_res: tensor<?x2x2xf32>,
    %d_y: tensor<?x2x40xf32>, %f: tensor<?x40xf32>, %h_post: tensor<?x2xf32>, %x: tensor<?x2x40xf32>,
    %h_res: tensor<?x2x2xf32>, %phi: tensor<8x80xf32>, %alpha: tensor<3xf32>, %beta: tensor<8xf32>)
    -> (tensor<?x40xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x2x40xf32>, tensor<8x80xf32>, tensor<3xf32>,
        tensor<8xf32>) {
  %y = mhc.post(f = %f : tensor<?x40xf32>, h_post = %h_post : tensor<?x2xf32>, x = %x : tensor<?x2x40xf32>,
      h_res = %h_res : tensor<?x2x2xf32>)
    <layout = nC, orient = oi> -> (out : tensor<?x2x40xf32>)
  %proj, %stat = mhc.projection(x = %y : tensor<?x2x40xf32>, phi = %phi : tensor<8x80xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x8xf32>, stat : tensor<?xf32>)
  %r:7 = mhc.post_pre_bwd(d_next_h_post = %d_next_h_post : tensor<?x2xf32>, d_next_h_res = %d_next_h_res : tensor<?x2x2xf32>,
      d_y = %d_y : tensor<?x2x40xf32>, f = %f : tensor<?x40xf32>, h_post = %h_post : tensor<?x2xf32>,
      x = %x : tensor<?x2x40xf32>, h_res = %h_res : tensor<?x2x2xf32>, phi = %phi : tensor<8x80xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<8xf32>, proj = %proj : tensor<?x8xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 12, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x40xf32>, d_h_post : tensor<?x2xf32>, d_h_res : tensor<?x2x2xf32>, d_x : tensor<?x2x40xf32>,
        d_phi : tensor<8x80xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<8xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<?x40xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x2x40xf32>,
      tensor<8x80xf32>, tensor<3xf32>, tensor<8xf32>
}
