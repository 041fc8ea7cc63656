// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @post_pre
// CHECK: %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %{{[a-z0-9]*}} : tensor<?x64xbf16>, h_post = %{{[a-z0-9]*}} : tensor<?x4xf32>,
// CHECK-SAME: x = %{{[a-z0-9]*}} : tensor<?x4x64xbf16>, h_res = %{{[a-z0-9]*}} : tensor<?x4x4xf32>, phi = %{{[a-z0-9]*}} : tensor<24x256xf32>,
// CHECK-SAME: <layout = nC, orient = oi, phi_layout = out_in,
// CHECK-SAME: -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
func.func @post_pre(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return %y, %u : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// The norm that the sublayer begins with leaves in place of u.
// CHECK-LABEL: @norm_of_u
// CHECK: mhc.post_pre({{.*}}beta = %arg6 : tensor<24xf32>, u_norm_weight = %arg7 : tensor<64xf32>) <{{.*}}fold_pre = false, u_norm_eps = 1.0e-05> -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>,
// RUN: mhc-opt %s --mhc-decompose | FileCheck %s --check-prefix=PARTS
// PARTS-LABEL: @norm_of_u
// PARTS: %[[WIDE:.*]] = mhc.rms_norm %{{.*}}, %arg7 eps = 1.000000e-05 : tensor<?x64xf32>, tensor<64xf32>
// PARTS: %[[NORM:.*]] = arith.truncf %[[WIDE]]
// PARTS: return %{{.*}}, %[[NORM]]
func.func @norm_of_u(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<64xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return %y, %u : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// A dropout that keeps all is none.
// RUN: mhc-opt %s --canonicalize | FileCheck %s --check-prefix=KEEPS
// KEEPS-LABEL: @keeps_all
// KEEPS: mhc.post_pre(
// KEEPS-NOT: seed
// KEEPS: return
func.func @keeps_all(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %seed: tensor<2xi64>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, rate = 0.0, stream = 1, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return %y, %u : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// CHECK-LABEL: @post_pre_bwd
// CHECK: %d_f, %d_x, %d_phi = mhc.post_pre_bwd(d_u = {{.*}}, d_out = %{{[a-z0-9]*}} : tensor<?x4x64xbf16>, next_h_res = %{{[a-z0-9]*}} : tensor<?x4x4xf32>, f =
// CHECK-SAME: fold_pre = false, next_orient = io>
// CHECK-SAME: -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xf32>, d_phi : tensor<24x256xf32>)
func.func @post_pre_bwd(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>,
    %d_out: tensor<?x4x64xbf16>, %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x4x64xf32>, tensor<24x256xf32>) {
  %d_f, %d_x, %d_phi = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, d_out = %d_out : tensor<?x4x64xbf16>,
      next_h_res = %next : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xf32>, d_phi : tensor<24x256xf32>)
  return %d_f, %d_x, %d_phi : tensor<?x64xbf16>, tensor<?x4x64xf32>, tensor<24x256xf32>
}

// CHECK-LABEL: @equal_streams
// CHECK: mhc.post_pre({{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}fold_pre = false, equal_x> -> (y : tensor<?x4x64xbf16>,
// CHECK: mhc.post_pre_bwd({{.*}}d_out = %arg0 : tensor<?x64xbf16>, {{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}next_orient = io, equal_x, equal_d_out>
func.func @equal_streams(%e: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>,
    %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x4x64xf32>) {
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %e : tensor<?x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, equal_x>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  %d_x = mhc.post_pre_bwd(d_u = %e : tensor<?x64xbf16>, d_next_h_post = %h : tensor<?x4xf32>,
      d_next_h_res = %m : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xbf16>, d_out = %e : tensor<?x64xbf16>,
      next_h_res = %m : tensor<?x4x4xf32>, f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %e : tensor<?x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io,
     equal_x, equal_d_out>
    -> (d_x : tensor<?x4x64xf32>)
  return %y, %d_x : tensor<?x4x64xbf16>, tensor<?x4x64xf32>
}

// The streams are a result where they are wanted.
// CHECK-LABEL: @post_head
// CHECK: %out = mhc.post_head(f = %{{[a-z0-9]*}} : tensor<?x64xbf16>, h_post = {{.*}}, x = %{{[a-z0-9]*}} : tensor<?x4x64xbf16>, h_res = {{.*}}, phi = %{{[a-z0-9]*}} : tensor<4x256xf32>,
// CHECK-SAME: <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
// CHECK-SAME: -> (out : tensor<?x64xbf16>)
// CHECK: %y, %out_0, %h_pre, %proj, %stat = mhc.post_head(f = %{{[a-z0-9]*}} : tensor<?x64xbf16>, bias = %{{[a-z0-9]*}} : tensor<64xbf16>, {{.*}}x = %{{[a-z0-9]*}} : tensor<?x64xbf16>
// CHECK-SAME: precision = ieee, h_pre_format = bf16, equal_x>
// CHECK-SAME: -> (y : tensor<?x4x64xbf16>, out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
func.func @post_head(%f: tensor<?x64xbf16>, %bias: tensor<64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  %y, %all, %h_pre, %proj, %stat = mhc.post_head(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %f : tensor<?x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, precision = ieee,
     h_pre_format = bf16, equal_x>
    -> (y : tensor<?x4x64xbf16>, out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  return %out, %y, %all : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// KEEPS-LABEL: @head_keeps_all
// KEEPS: mhc.post_head(
// KEEPS-NOT: seed
// KEEPS: return
func.func @head_keeps_all(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>, %seed: tensor<2xi64>) -> tensor<?x64xbf16> {
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>, phi = %phi : tensor<4x256xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, rate = 0.0, stream = 1, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// Both are their two ops on the streams that the rows stand for.
// RUN: mhc-opt %s -mhc-decompose | FileCheck %s --check-prefix=DECOMPOSED
// DECOMPOSED-LABEL: @equal_streams
// DECOMPOSED-DAG: mhc.broadcast %arg0 dims = [0, 2] : tensor<?x64xbf16> -> tensor<?x4x64xbf16>
// DECOMPOSED-NOT: equal_
// DECOMPOSED: return %{{.*}} : tensor<?x4x64xbf16>, tensor<?x4x64xf32>

// DECOMPOSED-LABEL: @post_head
// DECOMPOSED-NOT: mhc.post_head
// DECOMPOSED: mhc.broadcast %arg0 dims = [0, 2] : tensor<?x64xbf16> -> tensor<?x4x64xbf16>
// DECOMPOSED-NOT: mhc.post_head
// DECOMPOSED: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x64xbf16>
