// RUN: mhc-opt %s -mhc-autodiff=function=f -canonicalize | FileCheck %s
// RUN: mhcc %s --grad=f --fuse=chain --explain | FileCheck %s --check-prefix=BYTES
// RUN: mhcc %s --grad=f --fuse=chain --grad-sums=f32 --explain | FileCheck %s --check-prefix=WIDE
// RUN: mhcc %s --grad=f --fuse=layer --explain | FileCheck %s --check-prefix=LESS
// RUN: mhc-opt %s -mhc-autodiff="function=f sums=f32" -canonicalize | FileCheck %s --check-prefix=F32
// RUN: mhcc %s --grad=f --fuse=layer --compile-to=fuse | FileCheck %s --check-prefix=LAYER

// The gradient of the streams grows through the kernels of their three readers: no pass adds it up. Kernels
// add in f32 and store it as the streams are.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4x8xbf16> {mhc.name = "arg0"}
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x4x8xbf16> {mhc.name = "d_result0"}
// CHECK-NOT: arith.addf
// CHECK: %[[D_F:.*]], %[[D_POST:.*]], %[[D_RES:.*]], %[[ONE:.*]] = mhc.post_bwd(d_out = %[[G]] :
// CHECK-SAME: -> (d_f : tensor<?x8xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x8xbf16>)
// CHECK-NOT: arith.addf
// CHECK: %[[TWO:.*]], %[[D_PRE:.*]] = mhc.aggregate_bwd(
// CHECK-SAME: d_x_in = %[[ONE]] : tensor<?x4x8xbf16>
// CHECK-SAME: -> (d_x : tensor<?x4x8xbf16>, d_h_pre : tensor<?x4xf32>)
// CHECK-NOT: arith.addf
// CHECK: mhc.sinkhorn_bwd(d_mix = %[[D_RES]] :
// CHECK-NOT: arith.addf
// CHECK: %[[D_PROJ:.*]], %[[D_STAT:.*]], %[[D_ALPHA:.*]], %[[D_BETA:.*]] = mhc.gates_bwd(d_h_pre = %[[D_PRE]] :
// CHECK-SAME: d_h_post = %[[D_POST]] :
// CHECK-NOT: arith.addf
// CHECK: %[[ALL:.*]], %[[D_PHI:.*]] = mhc.projection_bwd(d_proj = %[[D_PROJ]] :
// CHECK-SAME: d_stat = %[[D_STAT]] :
// CHECK-SAME: d_x_in = %[[TWO]] : tensor<?x4x8xbf16>
// CHECK-SAME: -> (d_x : tensor<?x4x8xbf16>, d_phi : tensor<24x32xf32>)
// CHECK-NOT: arith.addf
// CHECK: return %[[ALL]], %[[D_PHI]], %[[D_ALPHA]], %[[D_BETA]], %{{.*}} :

// Bytes per token with C = 8. What a kernel adds to is read, 8C each: 28C + 26C + 24C = 78C; the rest are coefficients.
// BYTES: @f_bwd
// BYTES: after
// BYTES: mhc.post_bwd {{.*}} 384 {{.*}}
// BYTES: mhc.aggregate_bwd {{.*}} 240 {{.*}}
// BYTES: mhc.projection_bwd {{.*}} 296 {{.*}}
// BYTES: gradients of 1 sublayer, n = 4 streams of a = 2 bytes, per token and sublayer
// BYTES-NEXT: post, aggregate, projection, and a sum (11n+3)aC 94C
// BYTES-NEXT: the same without the sum (7n+3)aC 62C
// BYTES-NEXT: chain: each adds to those before it (9n+3)aC 78C
// BYTES-NEXT: layer: all of the streams by pre (5n+3)aC 46C
// BYTES-NEXT: model: post and pre across sublayers (3n+3)aC 30C
// BYTES-NEXT: this function 78C

// In f32 the sum moves twice the bytes: 28C + 8C, 26C + 16C, 24C + 8C.
// WIDE: @f_bwd
// WIDE: after
// WIDE: mhc.post_bwd {{.*}} 448 {{.*}}
// WIDE: mhc.aggregate_bwd {{.*}} 368 {{.*}}
// WIDE: mhc.projection_bwd {{.*}} 360 {{.*}}
// WIDE: this function 110C

// The same with everything before the sublayer in one kernel, forward and backward.
// LAYER-LABEL: func.func @f_fwd(
// LAYER: mhc.pre({{.*}} proj : tensor<?x24xf32>, stat : tensor<?xf32>)
// LAYER: mhc.post(
// LAYER-LABEL: func.func @f_bwd(
// LAYER-NOT: arith.addf
// LAYER: %[[D_F:.*]], %[[D_POST:.*]], %[[D_RES:.*]] = mhc.post_bwd(d_out = %[[G:.*]] : tensor<?x4x8xbf16>, f =
// LAYER-SAME: h_res = %[[RES:[a-z0-9]+]] :
// LAYER: mhc.matmul %[[D_F]],
// LAYER-NOT: arith.addf
// LAYER: %[[ALL:.*]], %[[D_PHI:.*]], %[[D_ALPHA:.*]], %[[D_BETA:.*]] = mhc.pre_bwd(d_u = 
// LAYER-SAME: d_h_post = %[[D_POST]] : tensor<?x4xf32>, d_h_res = %[[D_RES]] : tensor<?x4x4xf32>,
// LAYER-SAME: d_out = %[[G]] : tensor<?x4x8xbf16>, h_res = %[[RES]] : tensor<?x4x4xf32>)
// LAYER-SAME: -> (d_x : tensor<?x4x8xbf16>,
// LAYER-NOT: mhc.{{[a-z_]*}}_bwd
// LAYER: return %[[ALL]], %[[D_PHI]], %[[D_ALPHA]], %[[D_BETA]],

// 20C + 26C, and the coefficients.
// LESS: @f_bwd
// LESS: after
// LESS: mhc.post_bwd {{.*}} 320 {{.*}}
// LESS: mhc.pre_bwd {{.*}} 452 {{.*}}
// LESS: this function 46C

// On demand the sum stays in f32 until the last kernel, which rounds it once.
// F32-LABEL: func.func @f_bwd(
// F32: mhc.post_bwd({{.*}} d_x : tensor<?x4x8xf32>)
// F32: mhc.aggregate_bwd({{.*}} d_x_in = %{{.*}} : tensor<?x4x8xf32>) {{.*}} -> (d_x : tensor<?x4x8xf32>,
// F32: mhc.projection_bwd({{.*}} d_x_in = %{{.*}} : tensor<?x4x8xf32>) {{.*}} -> (d_x : tensor<?x4x8xbf16>,
func.func @f(%x: tensor<?x4x8xbf16>, %phi: tensor<24x32xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
             %w: tensor<8x8xbf16>) -> tensor<?x4x8xbf16> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x8xbf16>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<24x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %cells = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %logits = tensor.expand_shape %cells [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x8xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f = mhc.matmul %u, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %out = mhc.post(f = %f : tensor<?x8xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x8xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  return %out : tensor<?x4x8xbf16>
}
