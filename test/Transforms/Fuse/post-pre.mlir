// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file | FileCheck %s --check-prefixes=CHECK,MODEL
// RUN: mhc-opt %s -mhc-fuse='level=model limit=1' -split-input-file | FileCheck %s --check-prefix=LIMIT
// RUN: mhc-opt %s -mhc-fuse -split-input-file | FileCheck %s --check-prefixes=CHECK,LAYER
// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Three sublayers: two boundaries, whose streams a head reads as well, and the ends.

// REMARK-COUNT-2: Remark="fused 'mhc.post' and 'mhc.pre' into mhc.post_pre, saves 512 bytes per token"
// CHECK-LABEL: @chain
// CHECK: %[[U0:.*]], %[[P0:.*]], %[[R0:.*]] = mhc.pre(x = %arg0
// MODEL: %[[Y1:.*]], %[[U1:.*]], %[[P1:.*]], %[[R1:.*]] = mhc.post_pre(f = %[[U0]] {{.*}}, h_post = %[[P0]] {{.*}}, x = %arg0 {{.*}}, h_res = %[[R0]] {{.*}}orient = oi, phi_layout
// MODEL: mhc.contract(x = %[[Y1]]
// MODEL-NEXT: %[[Y2:.*]], %[[U2:.*]], %[[P2:.*]], %[[R2:.*]] = mhc.post_pre(f = %[[U1]] {{.*}}, h_post = %[[P1]] {{.*}}, x = %[[Y1]] {{.*}}, h_res = %[[R1]]
// MODEL-NEXT: %{{.*}} = mhc.post(f = %[[U2]] {{.*}}, h_post = %[[P2]] {{.*}}, x = %[[Y2]] {{.*}}, h_res = %[[R2]]
// LAYER-COUNT-2: mhc.pre(
// LAYER: mhc.post(
// LAYER-NOT: mhc.post_pre
// LIMIT-LABEL: @chain
// LIMIT: mhc.post_pre(
// LIMIT-NOT: mhc.post_pre(
// LIMIT: mhc.post(
// LIMIT-NOT: mhc.post_pre(
// LIMIT: mhc.pre(
// CHECK: return
func.func @chain(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>) {
  %u0, %p0, %r0 = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y1 = mhc.post(f = %u0 : tensor<?x64xbf16>, h_post = %p0 : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %r0 : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %out = mhc.contract(x = %y1 : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  %c2 = arith.constant dense<2.0> : tensor<24xf32>
  %beta1 = arith.mulf %beta, %c2 : tensor<24xf32>
  %u1, %p1, %r1 = mhc.pre(x = %y1 : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta1 : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y2 = mhc.post(f = %u1 : tensor<?x64xbf16>, h_post = %p1 : tensor<?x4xf32>, x = %y1 : tensor<?x4x64xbf16>,
      h_res = %r1 : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u2, %p2, %r2 = mhc.pre(x = %y2 : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y3 = mhc.post(f = %u2 : tensor<?x64xbf16>, h_post = %p2 : tensor<?x4xf32>, x = %y2 : tensor<?x4x64xbf16>,
      h_res = %r2 : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %y3, %out : tensor<?x4x64xbf16>, tensor<?x64xbf16>
}

// -----

// Something else made the streams.
// REMARK: [Missed] boundary-streams | {{.*}}Found="'arith.addf', [?, 4, 64] of bf16", Needed="'mhc.post' in layout nC"
// CHECK-LABEL: @added
// CHECK: mhc.post(
// CHECK: mhc.pre(
func.func @added(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %sum = arith.addf %y, %x : tensor<?x4x64xbf16>
  %u, %p, %r = mhc.pre(x = %sum : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %p, %r : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// beta is made of the streams.
// REMARK: [Missed] boundary-order
// CHECK-LABEL: @beta_of_streams
// CHECK: mhc.post(
// CHECK: mhc.pre(
func.func @beta_of_streams(%f: tensor<24x64xf32>, %h_post: tensor<24x4xf32>, %x: tensor<24x4x64xf32>,
    %h_res: tensor<24x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>)
    -> (tensor<24x64xf32>, tensor<24x4xf32>, tensor<24x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<24x64xf32>, h_post = %h_post : tensor<24x4xf32>, x = %x : tensor<24x4x64xf32>,
      h_res = %h_res : tensor<24x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<24x4x64xf32>)
  %beta = mhc.reduce sum %y dims = [1, 2] : tensor<24x4x64xf32> -> tensor<24xf32>
  %u, %p, %r = mhc.pre(x = %y : tensor<24x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<24x64xf32>, h_post : tensor<24x4xf32>, h_res : tensor<24x4x4xf32>)
  return %u, %p, %r : tensor<24x64xf32>, tensor<24x4xf32>, tensor<24x4x4xf32>
}

// -----

// A cast, a transpose, a loop and a branch between two sublayers.
// REMARK: [Missed] boundary-form | {{.*}}Found="'arith.extf', [?, 4, 64] of f32", Needed="'mhc.post' in layout nC"
// CHECK-LABEL: @cast
// CHECK: mhc.post(
// CHECK: mhc.pre(
func.func @cast(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %wide = arith.extf %y : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %u, %p, %r = mhc.pre(x = %wide : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %p, %r : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// REMARK: [Missed] boundary-form | {{.*}}Found="'mhc.transpose', [?, 64, 4] of bf16", Needed="'mhc.post' in layout Cn"
// CHECK-LABEL: @transposed
// CHECK: mhc.post(
// CHECK: mhc.pre(
func.func @transposed(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %t = mhc.transpose %y perm = [0, 2, 1] : tensor<?x4x64xbf16> -> tensor<?x64x4xbf16>
  %u, %p, %r = mhc.pre(x = %t : tensor<?x64x4xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %p, %r : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// REMARK: [Missed] boundary-control-flow | {{.*}}Needed="'mhc.post' in layout nC"
// CHECK-LABEL: @looped
// CHECK: scf.for
// CHECK: mhc.pre(
// CHECK: mhc.post(
func.func @looped(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x4x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x) -> tensor<?x4x64xbf16> {
    %u, %p, %r = mhc.pre(x = %s : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
        beta = %beta : tensor<24xf32>)
      <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
       res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
      -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
    %y = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %p : tensor<?x4xf32>, x = %s : tensor<?x4x64xbf16>,
        h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
    scf.yield %y : tensor<?x4x64xbf16>
  }
  return %last : tensor<?x4x64xbf16>
}

// -----

// REMARK: [Missed] boundary-control-flow | {{.*}}Found="'scf.if', [?, 4, 64] of bf16"
// CHECK-LABEL: @skipped
// CHECK: mhc.post(
// CHECK: mhc.pre(
func.func @skipped(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %taken: i1)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %s = scf.if %taken -> tensor<?x4x64xbf16> {
    %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
        h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
    scf.yield %y : tensor<?x4x64xbf16>
  } else {
    scf.yield %x : tensor<?x4x64xbf16>
  }
  %u, %p, %r = mhc.pre(x = %s : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %p, %r : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// The gradient of the streams between two sublayers stays on the chip, unless something else reads it.
// REMARK: Remark="fused 'mhc.pre_bwd' and 'mhc.post_bwd' into mhc.post_pre_bwd, saves 1024 bytes per token"
// CHECK-LABEL: @gradients
// MODEL: mhc.post_pre_bwd(d_u = %arg0 {{.*}}, y = %arg3 {{.*}}, f = %arg9
// MODEL-NOT: mhc.p{{.*}}_bwd
// LAYER: mhc.pre_bwd(
// LAYER: mhc.post_bwd(
// CHECK: return
func.func @gradients(%d_u: tensor<?x64xbf16>, %d_p: tensor<?x4xf32>, %d_r: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>) {
  %d_y, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_h_post = %d_p : tensor<?x4xf32>,
      d_h_res = %d_r : tensor<?x4x4xf32>, x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
  %d_f, %d_x = mhc.post_bwd(d_out = %d_y : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>)
  return %d_f, %d_x, %d_phi : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>
}

// -----

// The other op reads beside the gradient something that this one makes.
// REMARK: [Missed] boundary-order | {{.*}}Found="operands of 'mhc.post_bwd' that are made behind 'mhc.pre_bwd'", Needed="all of them in front of it, in one block"
// CHECK-LABEL: @bias_of_gradient
// CHECK: mhc.pre_bwd(
// CHECK: mhc.post_bwd(
func.func @bias_of_gradient(%d_u: tensor<?x24xf32>, %d_p: tensor<?x4xf32>, %d_r: tensor<?x4x4xf32>, %y: tensor<?x4x24xf32>,
    %phi: tensor<24x96xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x24xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x24xf32>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x24xf32>, tensor<?x4xf32>) {
  %d_y, %d_beta = mhc.pre_bwd(d_u = %d_u : tensor<?x24xf32>, d_h_post = %d_p : tensor<?x4xf32>,
      d_h_res = %d_r : tensor<?x4x4xf32>, x = %y : tensor<?x4x24xf32>, phi = %phi : tensor<24x96xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x24xf32>, d_beta : tensor<24xf32>)
  %d_f, %d_h = mhc.post_bwd(d_out = %d_y : tensor<?x4x24xf32>, f = %f : tensor<?x24xf32>, bias = %d_beta : tensor<24xf32>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x24xf32>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = oi>
    -> (d_f : tensor<?x24xf32>, d_h_post : tensor<?x4xf32>)
  return %d_f, %d_h : tensor<?x24xf32>, tensor<?x4xf32>
}

// -----

// Another gradient of x to add to.
// REMARK: [Missed] gradient-from-elsewhere | {{.*}}Found="argument 13, [?, 4, 64] of bf16", Needed="no gradient to add to"
// CHECK-LABEL: @gradient_added
// CHECK: mhc.pre_bwd(
// CHECK: mhc.post_bwd(
func.func @gradient_added(%d_u: tensor<?x64xbf16>, %d_p: tensor<?x4xf32>, %d_r: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %other: tensor<?x4x64xbf16>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>) {
  %d_y, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_h_post = %d_p : tensor<?x4xf32>,
      d_h_res = %d_r : tensor<?x4x4xf32>, x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
  %d_f, %d_x = mhc.post_bwd(d_out = %d_y : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      d_x_in = %other : tensor<?x4x64xbf16>)
    <layout = nC, orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>)
  return %d_f, %d_x, %d_phi : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>
}

// -----

// As many channels as streams: the gradient of one layout has the shape of the other one's.
// REMARK: [Missed] boundary-form | {{.*}}Found="'mhc.pre_bwd' in layout nC", Needed="'mhc.pre_bwd' in layout Cn"
// CHECK-LABEL: @gradient_turned
// CHECK: mhc.pre_bwd(
// CHECK: mhc.post_bwd(
func.func @gradient_turned(%d_u: tensor<?x4xbf16>, %d_p: tensor<?x4xf32>, %d_r: tensor<?x4x4xf32>, %y: tensor<?x4x4xbf16>,
    %phi: tensor<24x16xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x4xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x4xbf16>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x4xbf16>, tensor<?x4x4xbf16>, tensor<24x16xf32>) {
  %d_y, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x4xbf16>, d_h_post = %d_p : tensor<?x4xf32>,
      d_h_res = %d_r : tensor<?x4x4xf32>, x = %y : tensor<?x4x4xbf16>, phi = %phi : tensor<24x16xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x4xbf16>, d_phi : tensor<24x16xf32>)
  %d_f, %d_x = mhc.post_bwd(d_out = %d_y : tensor<?x4x4xbf16>, f = %f : tensor<?x4xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x4xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = Cn, orient = oi>
    -> (d_f : tensor<?x4xbf16>, d_x : tensor<?x4x4xbf16>)
  return %d_f, %d_x, %d_phi : tensor<?x4xbf16>, tensor<?x4x4xbf16>, tensor<24x16xf32>
}

// -----

// REMARK: [Missed] boundary-gradient-shared | {{.*}}Found="2 users", Needed="1 user"
// CHECK-LABEL: @gradient_read
// CHECK: mhc.pre_bwd(
// CHECK: mhc.post_bwd(
func.func @gradient_read(%d_u: tensor<?x64xbf16>, %d_p: tensor<?x4xf32>, %d_r: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %d_y, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_h_post = %d_p : tensor<?x4xf32>,
      d_h_res = %d_r : tensor<?x4x4xf32>, x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
  %d_f, %d_x = mhc.post_bwd(d_out = %d_y : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = oi>
    -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>)
  return %d_f, %d_x, %d_y : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}
