// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry pre_sinkhorn_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @pre_sinkhorn_bf16(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                             %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// CHECK: entry pre_permutation_odd_f16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @pre_permutation_odd_f16(%x: tensor<?x33x3xf16>, %phi: tensor<99x12xf16>, %w: tensor<99xf32>,
                                   %alpha: tensor<3xf32>, %beta: tensor<12xf32>)
    -> (tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x3xf32>) {
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x33x3xf16>, phi = %phi : tensor<99x12xf16>,
      norm_weight = %w : tensor<99xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 0,
     fold_pre = true>
    -> (u : tensor<?x33xf16>, h_pre : tensor<?x3xf32>, h_post : tensor<?x3xf32>, h_res : tensor<?x3x3xf32>)
  return %u, %h_pre, %h_post, %h_res : tensor<?x33xf16>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3x3xf32>
}

// CHECK: entry pre_log_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @pre_log_f32(%x: tensor<?x129x4xf32>, %phi: tensor<24x516xf32>, %w: tensor<516xf32>, %alpha: tensor<3xf32>,
                       %beta: tensor<24xf32>)
    -> (tensor<?x129xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x129x4xf32>, phi = %phi : tensor<24x516xf32>,
      norm_weight = %w : tensor<516xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = log, order = row_col, denom = none, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x129xf32>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre, %h_post, %h_res : tensor<?x129xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// CHECK: entry pre_identity_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @pre_identity_f32(%x: tensor<?x5x33xf32>, %phi: tensor<165x35xf32>, %alpha: tensor<3xf32>,
                            %beta: tensor<35xf32>)
    -> (tensor<?x33xf32>, tensor<?x5xf32>, tensor<?x5x5xf32>) {
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x5x33xf32>, phi = %phi : tensor<165x35xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<35xf32>)
    <layout = nC, phi_layout = in_out, norm = none, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = none, sk_eps = 1.0e-06, iters = 0,
     fold_pre = false>
    -> (u : tensor<?x33xf32>, h_post : tensor<?x5xf32>, h_res : tensor<?x5x5xf32>)
  return %u, %h_post, %h_res : tensor<?x33xf32>, tensor<?x5xf32>, tensor<?x5x5xf32>
}

// CHECK: entry head_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @head_bf16(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>) {
  %out, %h_pre = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  return %out, %h_pre : tensor<?x64xbf16>, tensor<?x4xf32>
}

// CHECK: entry head_odd_f16
// CHECK-NEXT: result0: verified
func.func @head_odd_f16(%x: tensor<?x33x3xf16>, %phi: tensor<99x3xf16>, %alpha: tensor<1xf32>, %beta: tensor<3xf32>)
    -> tensor<?x33xf16> {
  %out = mhc.head(x = %x : tensor<?x33x3xf16>, phi = %phi : tensor<99x3xf16>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<3xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x33xf16>)
  return %out : tensor<?x33xf16>
}

// CHECK: entry head_f32
// CHECK-NEXT: result0: verified
func.func @head_f32(%x: tensor<?x129x4xf32>, %phi: tensor<4x516xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x129xf32> {
  %out = mhc.head(x = %x : tensor<?x129x4xf32>, phi = %phi : tensor<4x516xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x129xf32>)
  return %out : tensor<?x129xf32>
}

// The gradients read what the forward op hands on.
// CHECK: entry pre_bwd_sinkhorn_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @pre_bwd_sinkhorn_bf16(%d_u: tensor<?x300xbf16>, %d_h_post: tensor<?x4xf32>, %d_h_res: tensor<?x4x4xf32>,
    %x: tensor<?x4x300xbf16>, %phi: tensor<24x1200xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %sum: tensor<?x4x300xbf16>, %grad: tensor<24x1200xf32>)
    -> (tensor<?x4x300xbf16>, tensor<24x1200xf32>, tensor<3xf32>, tensor<24xf32>) {
  %u, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x300xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>,
        stat : tensor<?xf32>)
  %d_x, %d_phi, %d_alpha, %d_beta = mhc.pre_bwd(d_u = %d_u : tensor<?x300xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      d_x_in = %sum : tensor<?x4x300xbf16>, d_phi_in = %grad : tensor<24x1200xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, orient = oi>
    -> (d_x : tensor<?x4x300xbf16>, d_phi : tensor<24x1200xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
  return %d_x, %d_phi, %d_alpha, %d_beta : tensor<?x4x300xbf16>, tensor<24x1200xf32>, tensor<3xf32>, tensor<24xf32>
}

// The gradients read what the forward op hands on.
// CHECK: entry pre_bwd_permutation_odd_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
func.func @pre_bwd_permutation_odd_f32(%d_u: tensor<?x33xf32>, %d_h_post: tensor<?x3xf32>, %d_h_res: tensor<?x3x3xf32>,
    %x: tensor<?x33x3xf32>, %phi: tensor<99x12xf32>, %w: tensor<99xf32>, %alpha: tensor<3xf32>, %beta: tensor<12xf32>)
    -> (tensor<?x33x3xf32>, tensor<99x12xf32>, tensor<99xf32>, tensor<3xf32>, tensor<12xf32>) {
  %u, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x33x3xf32>, phi = %phi : tensor<99x12xf32>, norm_weight = %w : tensor<99xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 0,
     fold_pre = true>
    -> (u : tensor<?x33xf32>, h_post : tensor<?x3xf32>, h_res : tensor<?x3x3xf32>, proj : tensor<?x12xf32>,
        stat : tensor<?xf32>)
  %d_x, %d_phi, %d_w, %d_alpha, %d_beta = mhc.pre_bwd(d_u = %d_u : tensor<?x33xf32>, d_h_post = %d_h_post : tensor<?x3xf32>,
      d_h_res = %d_h_res : tensor<?x3x3xf32>, x = %x : tensor<?x33x3xf32>, phi = %phi : tensor<99x12xf32>, norm_weight = %w : tensor<99xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>, proj = %proj : tensor<?x12xf32>, stat = %stat : tensor<?xf32>)
    <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 0,
     fold_pre = true, orient = oi>
    -> (d_x : tensor<?x33x3xf32>, d_phi : tensor<99x12xf32>, d_norm_weight : tensor<99xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<12xf32>)
  return %d_x, %d_phi, %d_w, %d_alpha, %d_beta : tensor<?x33x3xf32>, tensor<99x12xf32>, tensor<99xf32>, tensor<3xf32>, tensor<12xf32>
}

// The share of mhc.post's gradient is computed from its operands.
// CHECK: entry pre_bwd_with_post_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @pre_bwd_with_post_bf16(%d_u: tensor<?x300xbf16>, %d_h_post: tensor<?x4xf32>, %d_h_res: tensor<?x4x4xf32>, %x: tensor<?x4x300xbf16>,
    %phi: tensor<24x1200xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %d_out: tensor<?x4x300xbf16>, %mix: tensor<?x4x4xf32>)
    -> (tensor<?x4x300xbf16>, tensor<24x1200xf32>) {
  %u, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x300xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>,
        stat : tensor<?xf32>)
  %d_x, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x300xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      d_out = %d_out : tensor<?x4x300xbf16>, h_res = %mix : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x300xbf16>, d_phi : tensor<24x1200xf32>)
  return %d_x, %d_phi : tensor<?x4x300xbf16>, tensor<24x1200xf32>
}

// The same where a stream is whole blocks of the kernel, which then takes the streams in turn.
// CHECK: entry pre_bwd_with_post_whole_blocks
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @pre_bwd_with_post_whole_blocks(%d_u: tensor<?x512xbf16>, %d_h_post: tensor<?x4xf32>, %d_h_res: tensor<?x4x4xf32>, %x: tensor<?x4x512xbf16>,
    %phi: tensor<24x2048xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %d_out: tensor<?x4x512xbf16>, %mix: tensor<?x4x4xf32>)
    -> (tensor<?x4x512xbf16>, tensor<24x2048xf32>) {
  %u, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x4x512xbf16>, phi = %phi : tensor<24x2048xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x512xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>,
        stat : tensor<?xf32>)
  %d_x, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x512xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x512xbf16>, phi = %phi : tensor<24x2048xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      d_out = %d_out : tensor<?x4x512xbf16>, h_res = %mix : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = io>
    -> (d_x : tensor<?x4x512xbf16>, d_phi : tensor<24x2048xf32>)
  return %d_x, %d_phi : tensor<?x4x512xbf16>, tensor<24x2048xf32>
}

// The share of mhc.post's gradient is computed from its operands.
// CHECK: entry pre_bwd_with_post_odd_f32
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @pre_bwd_with_post_odd_f32(%d_u: tensor<?x33xf32>, %d_h_post: tensor<?x3xf32>, %d_h_res: tensor<?x3x3xf32>, %x: tensor<?x33x3xf32>,
    %phi: tensor<99x15xf32>, %alpha: tensor<3xf32>, %beta: tensor<15xf32>, %d_out: tensor<?x33x3xf32>, %mix: tensor<?x3x3xf32>)
    -> (tensor<?x33x3xf32>, tensor<99x15xf32>) {
  %u, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x33x3xf32>, phi = %phi : tensor<99x15xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<15xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x33xf32>, h_post : tensor<?x3xf32>, h_res : tensor<?x3x3xf32>, proj : tensor<?x15xf32>,
        stat : tensor<?xf32>)
  %d_x, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x33xf32>, d_h_post = %d_h_post : tensor<?x3xf32>,
      d_h_res = %d_h_res : tensor<?x3x3xf32>, x = %x : tensor<?x33x3xf32>, phi = %phi : tensor<99x15xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<15xf32>, proj = %proj : tensor<?x15xf32>, stat = %stat : tensor<?xf32>,
      d_out = %d_out : tensor<?x33x3xf32>, h_res = %mix : tensor<?x3x3xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = io>
    -> (d_x : tensor<?x33x3xf32>, d_phi : tensor<99x15xf32>)
  return %d_x, %d_phi : tensor<?x33x3xf32>, tensor<99x15xf32>
}

// CHECK: entry head_bwd
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @head_bwd(%d_out: tensor<?x64xf16>, %d_h_pre: tensor<?x4xf32>, %x: tensor<?x4x64xf16>, %phi: tensor<4x256xf32>,
                    %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x4x64xf16>, tensor<4x256xf32>, tensor<1xf32>, tensor<4xf32>) {
  %out, %proj, %stat = mhc.head(x = %x : tensor<?x4x64xf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xf16>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %d_x, %d_phi, %d_alpha, %d_beta = mhc.head_bwd(d_out = %d_out : tensor<?x64xf16>, d_h_pre = %d_h_pre : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>,
      proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (d_x : tensor<?x4x64xf16>, d_phi : tensor<4x256xf32>, d_alpha : tensor<1xf32>, d_beta : tensor<4xf32>)
  return %d_x, %d_phi, %d_alpha, %d_beta : tensor<?x4x64xf16>, tensor<4x256xf32>, tensor<1xf32>, tensor<4xf32>
}

// CHECK: entry pre_single_pass
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @pre_single_pass(%x: tensor<?x4x40xbf16>, %phi: tensor<24x160xf32>, %alpha: tensor<3xf32>,
                           %beta: tensor<24xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x40xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x40xbf16>, phi = %phi : tensor<24x160xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x40xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre, %h_post, %h_res : tensor<?x40xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}
