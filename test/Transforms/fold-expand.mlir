// RUN: mhc-opt %s -mhc-fold-expand | FileCheck %s

// Both readers of the first sublayer take the row.
// CHECK-LABEL: func.func @first_sublayer
// CHECK-NOT: mhc.expand
// CHECK: mhc.pre(x = %arg0 : tensor<?x64xbf16>, {{.*}}fold_pre = false, equal_x> -> (u :
// CHECK: mhc.post({{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}<layout = nC, orient = oi, equal_x> -> (out : tensor<?x4x64xbf16>)
func.func @first_sublayer(%e: tensor<?x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x4x64xbf16> {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %y : tensor<?x4x64xbf16>
}

// Streams and their gradient may both be rows, one of the same op as well.
// CHECK-LABEL: func.func @gradients
// CHECK-NOT: mhc.expand
// CHECK: mhc.post_bwd(d_out = %arg1 : tensor<?x64xbf16>, {{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}equal_x, equal_d_out>
// CHECK: mhc.pre_bwd({{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}d_out = %arg1 : tensor<?x64xbf16>, {{.*}}equal_x, equal_d_out>
func.func @gradients(%e: tensor<?x64xbf16>, %g: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>,
                     %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>,
                     %stat: tensor<?xf32>) -> tensor<?x4x64xbf16> {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %d_out = mhc.expand(x = %g : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %d_f, %d_h_post, %d_h_res = mhc.post_bwd(d_out = %d_out : tensor<?x4x64xbf16>, f = %e : tensor<?x64xbf16>,
      h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>)
    <layout = nC, orient = io> -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>)
  %d_x = mhc.pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_out = %d_out : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = io>
    -> (d_x : tensor<?x4x64xbf16>)
  return %d_x : tensor<?x4x64xbf16>
}

// Across layers the first boundary reads the row, and the last one's gradients a row of theirs.
// CHECK-LABEL: func.func @boundary
// CHECK-NOT: mhc.expand
// CHECK: mhc.post_pre({{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}equal_x>
// CHECK: mhc.post_pre_bwd({{.*}}d_out = %arg1 : tensor<?x64xbf16>, {{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}equal_x, equal_d_out>
func.func @boundary(%e: tensor<?x64xbf16>, %g: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>,
                    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>,
                    %stat: tensor<?xf32>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %d_out = mhc.expand(x = %g : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  %d_x = mhc.post_pre_bwd(d_u = %u : tensor<?x64xbf16>, d_next_h_post = %next_h_post : tensor<?x4xf32>,
      d_next_h_res = %next_h_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xbf16>, d_out = %d_out : tensor<?x4x64xbf16>,
      next_h_res = %m : tensor<?x4x4xf32>, f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_x : tensor<?x4x64xbf16>)
  return %y, %d_x : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// One reader that needs streams, and they are there for all.
// CHECK-LABEL: func.func @read_by_an_aggregate
// CHECK: %[[X:.*]] = mhc.expand(
// CHECK: mhc.post({{.*}}x = %[[X]] : tensor<?x4x64xbf16>
func.func @read_by_an_aggregate(%e: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> tensor<?x4x64xbf16> {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  %y = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %y : tensor<?x4x64xbf16>
}

// CHECK-LABEL: func.func @returned
// CHECK: mhc.expand(
func.func @returned(%e: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %x, %y : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// CHECK-LABEL: func.func @interleaved
// CHECK: mhc.expand(
func.func @interleaved(%e: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>) -> tensor<?x64x4xbf16> {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = Cn> -> (streams : tensor<?x64x4xbf16>)
  %y = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x64x4xbf16>)
  return %y : tensor<?x64x4xbf16>
}
