// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhc-opt %s -mhc-fuse -split-input-file | FileCheck %s --check-prefix=LAYER
// RUN: mhc-opt %s '-mhc-fuse=level=model norms=false' -split-input-file | FileCheck %s --check-prefix=APART

// The norm that a sublayer begins with joins the boundary in front of it: 4 of 24 rows of 128 bytes less.
// LAYER-NOT: mhc.post_pre
// APART-NOT: u_norm_weight

// The weight may be made behind the boundary.
// REMARK: Remark="fused 'mhc.post_pre' and the norm of its u into mhc.post_pre, saves 256 bytes per token"
// CHECK-LABEL: @joined
// CHECK: %[[W:.*]] = arith.mulf %arg7, %arg7
// CHECK: %[[Y:.*]], %[[U:.*]], %{{.*}}, %{{.*}} = mhc.post_pre({{.*}}beta = %arg6 : tensor<24xf32>, u_norm_weight = %[[W]] : tensor<64xbf16>) <{{.*}}u_norm_eps = 1.0e-05>
// CHECK-NOT: mhc.rms_norm
// CHECK: return %[[Y]], %[[U]]
func.func @joined(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xbf16>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %w2 = arith.mulf %w, %w : tensor<64xbf16>
  %z = mhc.rms_norm %u, %w2 eps = 1.0e-05 : tensor<?x64xbf16>, tensor<64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// Written out in f32 and rounded before the weight.
// CHECK-LABEL: @written_out
// CHECK: %[[Y:.*]], %[[U:.*]], %{{.*}}, %{{.*}} = mhc.post_pre({{.*}}u_norm_weight = %arg7 : tensor<64xbf16>) <{{.*}}u_norm_eps = 1.0e-06>
// CHECK: return %[[Y]], %[[U]],
func.func @written_out(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xbf16>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %c0 = arith.constant 0 : index
  %m = tensor.dim %f, %c0 : tensor<?x64xbf16>
  %eps = arith.constant 1.0e-06 : f32
  %wide = arith.extf %u : tensor<?x64xbf16> to tensor<?x64xf32>
  %square = arith.mulf %wide, %wide : tensor<?x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %all = tensor.splat %eps[%m] : tensor<?xf32>
  %sum = arith.addf %mean, %all : tensor<?xf32>
  %root = math.rsqrt %sum : tensor<?xf32>
  %rows = mhc.broadcast %root dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %scaled = arith.mulf %wide, %rows : tensor<?x64xf32>
  %narrow = arith.truncf %scaled : tensor<?x64xf32> to tensor<?x64xbf16>
  %ws = mhc.broadcast %w[%m] dims = [1] : tensor<64xbf16> -> tensor<?x64xbf16>
  %z = arith.mulf %narrow, %ws : tensor<?x64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// Over the length, times the root of 64, times one more than a weight, which is made in front of the boundary then.
// CHECK-LABEL: @length
// CHECK: %[[W:.*]] = arith.addf %arg7, %{{.*}} : tensor<64xf32>
// CHECK: %[[Y:.*]], %[[U:.*]], %{{.*}}, %{{.*}} = mhc.post_pre({{.*}}u_norm_weight = %[[W]] : tensor<64xf32>) <{{.*}}u_norm_eps = 0.0>
// CHECK: return %[[Y]], %[[U]],
func.func @length(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %c0 = arith.constant 0 : index
  %m = tensor.dim %f, %c0 : tensor<?x64xbf16>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %eight = arith.constant 8.0 : f32
  %wide = arith.extf %u : tensor<?x64xbf16> to tensor<?x64xf32>
  %square = arith.mulf %wide, %wide : tensor<?x64xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %length = math.sqrt %sum : tensor<?xf32>
  %rows = mhc.broadcast %length dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %unit = arith.divf %wide, %rows : tensor<?x64xf32>
  %eights = tensor.splat %eight[%m] : tensor<?x64xf32>
  %scaled = arith.mulf %unit, %eights : tensor<?x64xf32>
  %w1 = arith.addf %w, %one : tensor<64xf32>
  %ws = mhc.broadcast %w1[%m] dims = [1] : tensor<64xf32> -> tensor<?x64xf32>
  %weighed = arith.mulf %scaled, %ws : tensor<?x64xf32>
  %z = arith.truncf %weighed : tensor<?x64xf32> to tensor<?x64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// Squares of half of the channels make no norm.
// CHECK-LABEL: @mean_of_half
// CHECK: mhc.post_pre(
// CHECK-NOT: u_norm
// CHECK: return
func.func @mean_of_half(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %c0 = arith.constant 0 : index
  %m = tensor.dim %f, %c0 : tensor<?x64xbf16>
  %wide = arith.extf %u : tensor<?x64xbf16> to tensor<?x64xf32>
  %half = tensor.extract_slice %wide[0, 0] [%m, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %square = arith.mulf %half, %half : tensor<?x32xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x32xf32> -> tensor<?xf32>
  %root = math.rsqrt %mean : tensor<?xf32>
  %rows = mhc.broadcast %root dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %scaled = arith.mulf %wide, %rows : tensor<?x64xf32>
  %ws = mhc.broadcast %w[%m] dims = [1] : tensor<64xf32> -> tensor<?x64xf32>
  %weighed = arith.mulf %scaled, %ws : tensor<?x64xf32>
  %z = arith.truncf %weighed : tensor<?x64xf32> to tensor<?x64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// The norm of each head is another one.
// CHECK-LABEL: @heads
// CHECK: mhc.post_pre(
// CHECK-NOT: u_norm
// CHECK: mhc.rms_norm
// CHECK: return
func.func @heads(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<16xbf16>) -> (tensor<?x4x64xbf16>, tensor<?x4x16xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %c0 = arith.constant 0 : index
  %m = tensor.dim %f, %c0 : tensor<?x64xbf16>
  %rows = tensor.expand_shape %u [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xbf16> into tensor<?x4x16xbf16>
  %z = mhc.rms_norm %rows, %w eps = 1.0e-05 : tensor<?x4x16xbf16>, tensor<16xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x4x16xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// Something else reads u, as a gradient would.
// CHECK-LABEL: @read
// CHECK: mhc.post_pre(
// CHECK-NOT: u_norm
// CHECK: mhc.rms_norm
// CHECK: return
func.func @read(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xbf16>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %z = mhc.rms_norm %u, %w eps = 1.0e-05 : tensor<?x64xbf16>, tensor<64xbf16>
  %s = arith.addf %z, %u : tensor<?x64xbf16>
  return %y, %s, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// A norm without a weight.
// CHECK-LABEL: @without_weight
// CHECK: mhc.post_pre(
// CHECK-NOT: u_norm
// CHECK: mhc.rms_norm
// CHECK: return
func.func @without_weight(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %z = mhc.rms_norm %u eps = 1.0e-05 : tensor<?x64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// A weight that is made of what the boundary makes.
// CHECK-LABEL: @later
// CHECK: mhc.post_pre(
// CHECK-NOT: u_norm
// CHECK: mhc.rms_norm
// CHECK: return
func.func @later(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  %u, %p, %r = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %w1 = mhc.reduce sum %p dims = [0] : tensor<?x4xf32> -> tensor<4xf32>
  %w16 = mhc.broadcast %w1 dims = [1] : tensor<4xf32> -> tensor<16x4xf32>
  %w = tensor.collapse_shape %w16 [[0, 1]] : tensor<16x4xf32> into tensor<64xf32>
  %narrow = arith.truncf %w : tensor<64xf32> to tensor<64xbf16>
  %z = mhc.rms_norm %u, %narrow eps = 1.0e-05 : tensor<?x64xbf16>, tensor<64xbf16>
  return %y, %z, %p, %r : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}
