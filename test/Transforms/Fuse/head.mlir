// RUN: mhc-opt %s -mhc-fuse | FileCheck %s

// Reduced forms of pre if only the input of the sublayer is used, and the learned contraction.

// Gates for the other groups are not computed: phi, alpha and beta shrink.
// CHECK-LABEL: @only_the_input_is_used
func.func @only_the_input_is_used(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                  %beta: tensor<24xf32>) -> tensor<?x64xf32> {
  // CHECK-DAG: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [4, 256] [1, 1]
  // CHECK-DAG: %[[A:.*]] = tensor.extract_slice %arg2[0] [1] [1]
  // CHECK-DAG: %[[B:.*]] = tensor.extract_slice %arg3[0] [4] [1]
  // CHECK: %[[OUT:.*]] = mhc.head(x = %arg0 : tensor<?x4x64xf32>, phi = %[[PHI]] : tensor<4x256xf32>, alpha = %[[A]] : tensor<1xf32>, beta = %[[B]]
  // CHECK: return %[[OUT]]
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
  return %u : tensor<?x64xf32>
}

// CHECK-LABEL: @learned_contraction
func.func @learned_contraction(%x: tensor<?x4x64xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>,
                               %beta: tensor<4xf32>) -> tensor<?x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.head(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 : tensor<4x256xf32>, alpha = %arg2 : tensor<1xf32>, beta = %arg3
  // CHECK: return %[[OUT]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 1.0> -> (h_pre : tensor<?x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u : tensor<?x64xf32>
}

// CHECK-LABEL: @weights_of_the_contraction_are_used_too
func.func @weights_of_the_contraction_are_used_too(%x: tensor<?x4x64xf32>, %phi: tensor<4x256xf32>,
                                                   %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>) {
  // CHECK: %[[OUT:.*]], %[[H:.*]] = mhc.head(
  // CHECK: return %[[OUT]], %[[H]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 1.0> -> (h_pre : tensor<?x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre : tensor<?x64xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: @no_head_when_the_second_gate_is_used
func.func @no_head_when_the_second_gate_is_used(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                                                %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>) {
  // CHECK-NOT: mhc.head
  // CHECK: mhc.pre(
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
  return %u, %h_post : tensor<?x64xf32>, tensor<?x4xf32>
}
