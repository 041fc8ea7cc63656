// RUN: mhc-opt %s -mhc-fuse | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

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

// A pre that the program has itself shrinks as well, with what else its gate is used for.
// REMARK: Remark="fused mhc.pre of which only u is used into mhc.head, saves {{[0-9]+}} bytes per token"
// CHECK-LABEL: @pre_for_the_input
func.func @pre_for_the_input(%x: tensor<?x4x64xbf16>, %phi: tensor<256x24xf32>, %alpha: tensor<3xf32>,
                             %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [256, 4] [1, 1]
  // CHECK-DAG: %[[A:.*]] = tensor.extract_slice %arg2[0] [1] [1]
  // CHECK-DAG: %[[B:.*]] = tensor.extract_slice %arg3[0] [4] [1]
  // CHECK: %[[OUT:.*]], %[[H:.*]], %[[S:.*]] = mhc.head(x = %arg0 : tensor<?x4x64xbf16>, phi = %[[PHI]] : tensor<256x4xf32>, alpha = %[[A]] : tensor<1xf32>, beta = %[[B]] : tensor<4xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-05, pre_eps = 1.0e-03, precision = ieee, h_pre_format = bf16>
  // CHECK-SAME: -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, stat : tensor<?xf32>)
  // CHECK-NEXT: return %[[OUT]], %[[H]], %[[S]]
  %u, %h_pre, %h_post, %h_res, %proj, %stat = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<256x24xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-05, pre_eps = 1.0e-03, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     precision = ieee, h_pre_format = bf16>
    -> (u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>,
        proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %u, %h_pre, %stat : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?xf32>
}

// The gradient reads all columns of the product.
// CHECK-LABEL: @no_head_when_the_product_is_used
func.func @no_head_when_the_product_is_used(%x: tensor<?x4x64xbf16>, %phi: tensor<256x24xf32>, %alpha: tensor<3xf32>,
                                            %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x24xf32>) {
  // CHECK: mhc.pre(
  %u, %h_post, %h_res, %proj = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<256x24xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-05, pre_eps = 1.0e-03, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     precision = ieee, h_pre_format = bf16>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>)
  return %u, %proj : tensor<?x64xbf16>, tensor<?x24xf32>
}

// In the single-pass form u needs no gate of this projection.
// CHECK-LABEL: @no_head_when_the_weights_are_given
func.func @no_head_when_the_weights_are_given(%x: tensor<?x4x64xbf16>, %phi: tensor<256x24xf32>, %alpha: tensor<3xf32>,
                                              %beta: tensor<24xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>) {
  // CHECK: mhc.pre(
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<256x24xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-05, pre_eps = 1.0e-03, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     precision = ieee, h_pre_format = bf16>
    -> (u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre : tensor<?x64xbf16>, tensor<?x4xf32>
}
