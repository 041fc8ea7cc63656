// RUN: mhc-opt %s -mhc-fuse=level=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mhc-opt %s -mhc-fuse=level=chain | FileCheck %s --check-prefixes=CHECK,CHAIN
// RUN: mhc-opt %s -mhc-fuse=level=layer | FileCheck %s --check-prefixes=CHECK,LAYER
// RUN: mhc-opt %s -mhc-fuse | FileCheck %s --check-prefixes=CHECK,LAYER

// The largest unit that becomes one kernel.

// CHECK-LABEL: @site
func.func @site(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // NONE: mhc.projection(
  // NONE: mhc.gates(
  // NONE: mhc.sinkhorn(
  // NONE: mhc.aggregate(
  // CHAIN-NOT: mhc.pre
  // CHAIN: mhc.projection(
  // CHAIN: mhc.gates(
  // CHAIN: mhc.sinkhorn(
  // CHAIN: mhc.aggregate(
  // LAYER: mhc.pre(
  // LAYER-NOT: mhc.gates
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// CHECK-LABEL: @first_gate
func.func @first_gate(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x4xf32> {
  // NONE: mhc.projection({{.*}} : tensor<24x256xf32>)
  // CHAIN: mhc.projection({{.*}} : tensor<4x256xf32>)
  // LAYER: mhc.projection({{.*}} : tensor<4x256xf32>)
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre : tensor<?x4xf32>
}
