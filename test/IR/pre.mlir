// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @pre
func.func @pre(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %u, %h_post, %h_res = mhc.pre(x = %{{.*}} : tensor<?x4x64xbf16>, phi = %{{.*}} : tensor<24x256xf32>,
  // CHECK-SAME: alpha = %{{.*}} : tensor<3xf32>, beta = %{{.*}} : tensor<24xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
  // CHECK-SAME: res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
  // CHECK-SAME: fold_pre = false>
  // CHECK-SAME: -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Every optional tensor, attributes in another order.
// CHECK-LABEL: @permutation
func.func @permutation(%x: tensor<2x64x3xf16>, %phi: tensor<192x12xf16>, %w: tensor<192xf32>, %alpha: tensor<3xf32>,
                       %beta: tensor<12xf32>) -> (tensor<2x64xf16>, tensor<2x3xf32>) {
  // CHECK: %u, %h_pre, %h_post, %h_res = mhc.pre({{.*}}norm_weight = %{{.*}} : tensor<192xf32>, alpha =
  // CHECK-SAME: <layout = Cn, phi_layout = in_out, norm = outside,
  // CHECK-SAME: res_map = permutation,
  // CHECK-SAME: fold_pre = true>
  // CHECK-SAME: h_pre : tensor<2x3xf32>, h_post
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<2x64x3xf16>, phi = %phi : tensor<192x12xf16>,
      norm_weight = %w : tensor<192xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <res_map = permutation, fold_pre = true, layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06,
     pre_eps = 0.0, post_mult = 2.0, init = exp, order = row_col, denom = add, sk_eps = 0.0, iters = 0>
    -> (u : tensor<2x64xf16>, h_pre : tensor<2x3xf32>, h_post : tensor<2x3xf32>, h_res : tensor<2x3x3xf32>)
  return %u, %h_pre : tensor<2x64xf16>, tensor<2x3xf32>
}

// The single-pass form, and coefficients alone.
// CHECK-LABEL: @single_pass
func.func @single_pass(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                       %h: tensor<?x4xf32>) -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %u, %h_pre, %h_post, %h_res = mhc.pre({{.*}}, beta = %{{.*}} : tensor<24xf32>, h_in = %{{.*}} : tensor<?x4xf32>)
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  // CHECK: %{{.*}}, %{{.*}} = mhc.pre(
  // CHECK-SAME: -> (h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %post, %res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre, %res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// The constraints of sinkhorn hold for res_map = sinkhorn only.
// CHECK-LABEL: @identity
func.func @identity(%x: tensor<?x4x?xf32>, %phi: tensor<24x?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x?xf32> {
  // CHECK: res_map = identity, init = log, order = row_col, denom = add
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x?xf32>, phi = %phi : tensor<24x?xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = log, order = row_col, denom = add, sk_eps = 0.0, iters = 0, fold_pre = false>
    -> (u : tensor<?x?xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u : tensor<?x?xf32>
}

// Coefficients that are rounded.
// CHECK-LABEL: @formats
func.func @formats(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x64xbf16> {
  // CHECK: fold_pre = false, h_pre_format = bf16, h_post_format = f16, h_res_format = f32, sk_format = bf16>
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, h_pre_format = bf16, h_post_format = f16, h_res_format = f32, sk_format = bf16>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u : tensor<?x64xbf16>
}

// CHECK-LABEL: @head
func.func @head(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>) {
  // CHECK: %out, %h_pre = mhc.head(x = {{.*}}, alpha = %{{.*}} : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
  // CHECK-SAME: -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  %out, %h_pre = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  return %out, %h_pre : tensor<?x64xbf16>, tensor<?x4xf32>
}

// Values that the gradients read.
// CHECK-LABEL: @saved
func.func @saved(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x4xf32>, tensor<?xf32>) {
  // CHECK: %out, %proj, %stat = mhc.head(
  // CHECK-SAME: -> (out : tensor<?x64xbf16>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %out, %proj, %stat = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x4xf32>, tensor<?xf32>
}

// CHECK-LABEL: @gradients
func.func @gradients(%g: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xbf16>,
                     %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>,
                     %stat: tensor<?xf32>, %sum: tensor<?x4x64xf32>, %grad: tensor<24xf32>)
    -> (tensor<?x4x64xbf16>, tensor<24xf32>) {
  // CHECK: %d_x, %d_beta = mhc.pre_bwd(d_u = %{{.*}}, d_h_pre = %{{.*}}, d_h_post = %{{.*}}, d_h_res = %{{.*}}, x = %
  // CHECK-SAME: proj = %{{.*}} : tensor<?x24xf32>, stat = %{{.*}} : tensor<?xf32>, d_x_in = %{{.*}} : tensor<?x4x64xf32>,
  // CHECK-SAME: d_beta_in = %{{[^ ]*}} : tensor<24xf32>)
  // CHECK-SAME: iters = 20, fold_pre = true, orient = oi> -> (d_x : tensor<?x4x64xbf16>, d_beta : tensor<24xf32>)
  %d_x, %d_beta = mhc.pre_bwd(d_u = %g : tensor<?x64xbf16>, d_h_pre = %h : tensor<?x4xf32>, d_h_post = %h : tensor<?x4xf32>,
      d_h_res = %r : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xf32>, d_beta_in = %grad : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = true, orient = oi>
    -> (d_x : tensor<?x4x64xbf16>, d_beta : tensor<24xf32>)
  return %d_x, %d_beta : tensor<?x4x64xbf16>, tensor<24xf32>
}

// CHECK-LABEL: @gradients_of_head
func.func @gradients_of_head(%g: tensor<?x64xbf16>, %x: tensor<?x64x4xbf16>, %phi: tensor<256x4xf32>, %alpha: tensor<1xf32>,
                             %beta: tensor<4xf32>, %proj: tensor<?x4xf32>, %stat: tensor<?xf32>) -> tensor<256x4xf32> {
  // CHECK: %d_phi = mhc.head_bwd(d_out = %{{.*}}, x = %{{.*}}, stat = %{{[^ ]*}} : tensor<?xf32>)
  // CHECK-SAME: <layout = Cn, phi_layout = in_out, {{.*}}> -> (d_phi : tensor<256x4xf32>)
  %d_phi = mhc.head_bwd(d_out = %g : tensor<?x64xbf16>, x = %x : tensor<?x64x4xbf16>, phi = %phi : tensor<256x4xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>, proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (d_phi : tensor<256x4xf32>)
  return %d_phi : tensor<256x4xf32>
}

// CHECK-LABEL: @equal_streams
func.func @equal_streams(%e: tensor<?x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                         %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>) {
  // CHECK: mhc.pre(x = %arg0 : tensor<?x64xbf16>, {{.*}}fold_pre = false, equal_x>
  %u, %h_post, %h_res = mhc.pre(x = %e : tensor<?x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, equal_x>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  // CHECK: mhc.pre_bwd({{.*}}d_out = %arg0 : tensor<?x64xbf16>, {{.*}}orient = oi, equal_x, equal_d_out>
  %d_x = mhc.pre_bwd(d_h_post = %h : tensor<?x4xf32>, d_h_res = %m : tensor<?x4x4xf32>, x = %e : tensor<?x64xbf16>,
      phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>, d_out = %e : tensor<?x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi, equal_x, equal_d_out>
    -> (d_x : tensor<?x4x64xbf16>)
  return %u, %d_x : tensor<?x64xbf16>, tensor<?x4x64xbf16>
}
