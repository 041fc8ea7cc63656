// RUN: mhc-opt %s -mhc-raise -mhc-fuse --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --implicit-check-not='[Missed]'

// One site is told once: what plain code does with gates and logits by raising, what mHC ops do with them by fusing.

// CHECK: [Missed] result-wider | Category:mhc-raise:aggregate | Function=aggregate_in_f32 |
func.func @aggregate_in_f32(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xbf16>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %wide = arith.extf %x : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %wide, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u, %h_post : tensor<?x64xf32>, tensor<?x4xf32>
}

// CHECK: [Missed] permutation-order | Category:mhc-raise:permutation_mix | Function=permutations_in_another_order |
func.func @permutations_in_another_order(%x: tensor<?x3x64xf32>, %phi: tensor<12x192xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<12xf32>) -> (tensor<?x64xf32>, tensor<?x3xf32>, tensor<?x9xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x3x64xf32>, phi = %phi : tensor<12x192xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x12xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x12xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x3xf32>, h_post : tensor<?x3xf32>, logits : tensor<?x6xf32>)
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %mix = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %u = mhc.aggregate(x = %x : tensor<?x3x64xf32>, h_pre = %h_pre : tensor<?x3xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x3xf32>, tensor<?x9xf32>
}

// What raising does not read as a mix, it says as well.
// CHECK: one-remark.mlir:[[#@LINE+11]]:{{[0-9]+}}: remark: [Missed] aggregate-form | Category:mhc-raise:aggregate | Function=gate_of_something_else |
// CHECK-SAME: Found="'math.exp', [?, 4] of f32", Needed="a sum over the streams of h_pre x"
func.func @gate_of_something_else(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %other = math.exp %h_pre : tensor<?x4xf32>
  return %other, %h_post : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK: [Missed] residual-form | Category:mhc-raise:pre | Function=logits_of_no_map |
// CHECK-SAME: Found="'math.tanh', [?, 16] of f32", Needed="one residual map of the logits"
func.func @logits_of_no_map(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %map = math.tanh %z : tensor<?x16xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %map : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xf32>
}

// CHECK: [Missed] no-aggregate | Category:mhc-fuse:pre | Function=gate_that_is_returned |
func.func @gate_that_is_returned(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %h_post : tensor<?x4xf32>, tensor<?x4xf32>
}
