// RUN: mhc-opt %s -mhc-set-precision=precision=ieee | FileCheck %s
// RUN: mhc-opt %s -mhc-set-precision=precision=ieee -mhc-fuse | FileCheck %s --check-prefix=FUSE
// RUN: mhc-opt %s -mhc-set-precision=precision=tf32 -mhc-autodiff=function=head | FileCheck %s --check-prefix=GRAD
// RUN: mhc-opt %s -mhc-set-precision=precision=tf32x3 -mhc-decompose | FileCheck %s --check-prefix=PLAIN

// A precision that the program leaves open becomes the requested one.
// CHECK-LABEL: @open
// CHECK: mhc.projection({{.*}}stat_form = inv_rms, precision = ieee>
// CHECK: mhc.gates({{.*}}post_mult = 2.0>
// FUSE-LABEL: @open
// FUSE: mhc.pre({{.*}}fold_pre = false, precision = ieee>
func.func @open(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %mix = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// A precision that the program states stays, in a head made of a projection and with fewer columns too.
// CHECK-LABEL: @said
// CHECK: mhc.projection({{.*}}precision = bf16x3>
// FUSE-LABEL: @said
// FUSE: mhc.head({{.*}}precision = bf16x3>
func.func @said(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x64xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms, precision = bf16x3>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u : tensor<?x64xf32>
}

// Precision of a projection alone, narrowed to the rows of its one used gate.
// FUSE-LABEL: @narrow
// FUSE: mhc.projection({{.*}}precision = tf32> -> (proj : tensor<?x4xf32>
// FUSE-NOT: mhc.projection
func.func @narrow(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x4xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms, precision = tf32>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre : tensor<?x4xf32>
}

// Gradients are as exact as what they are of; definitions are exact.
// GRAD-LABEL: func.func @head_bwd
// GRAD: mhc.head_bwd({{.*}}pre_eps = 1.0e-06, precision = tf32>
// PLAIN-LABEL: @head
// PLAIN-NOT: precision
func.func @head(%x: tensor<?x4x8xf32>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x8xf32> {
  %out = mhc.head(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}
