// RUN: mhc-opt %s -mhc-fuse | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Chains that stay apart, each with the reason in a remark.

// REMARK: [Missed] no-projection | {{.*}}Found="argument 1, [?, 24] of f32", Needed='mhc.projection'
// CHECK-LABEL: @given_projection
func.func @given_projection(%x: tensor<?x4x64xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
                            %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK-NOT: mhc.pre(
  // CHECK: mhc.gates(
  // CHECK: return
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

// Gates of which only h_pre is used, by nothing that mixes the streams.
// REMARK: [Missed] no-aggregate | {{.*}}Found="h_pre read by 'func.return'", Needed="'mhc.aggregate' of argument 0, [?, 4, 64] of f32"
// CHECK-LABEL: @gate_alone
func.func @gate_alone(%x: tensor<?x4x64xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x4xf32> {
  // CHECK-NOT: mhc.{{pre|head}}(
  // CHECK: mhc.gates(
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return %h_pre : tensor<?x4xf32>
}

// REMARK: [Missed] statistic-differs | {{.*}}Found="inv_rms from argument 4, [?] of f32", Needed="inv_rms from the 'mhc.projection' that makes it"
// CHECK-LABEL: @statistic_from_elsewhere
func.func @statistic_from_elsewhere(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                    %beta: tensor<24xf32>, %other: tensor<?xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK-NOT: mhc.pre(
  // CHECK: mhc.gates(
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %other : tensor<?xf32>,
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

// The gates would take the root of the multiplier.
// REMARK: [Missed] statistic-differs | {{.*}}Found="mean_square from 'mhc.projection', [?] of f32", Needed="inv_rms from the 'mhc.projection' that makes it"
// CHECK-LABEL: @multiplier_that_is_read_as_a_mean_square
func.func @multiplier_that_is_read_as_a_mean_square(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                                                    %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK-NOT: mhc.pre(
  // CHECK: mhc.gates(
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = mean_square, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
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

// Logits that only leave the function, as where the map is made in another graph.
// REMARK: [Missed] no-residual-map | {{.*}}Found="logits read by 'tensor.expand_shape'", Needed="a residual map"
// CHECK-LABEL: @logits_in_another_shape
func.func @logits_in_another_shape(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                   %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x2x8xf32>) {
  // CHECK-NOT: mhc.pre(
  // CHECK: mhc.gates(
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
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %matrices : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x2x8xf32>
}

// The bytes are those of x, of the projection and of the statistic.
// REMARK: [Missed] projection-shared | {{.*}}Found="read by 'mhc.gates', 'func.return', which would move 1124 bytes per token again", Needed="read by 'mhc.gates' alone"
// CHECK-LABEL: @projection_with_two_users
func.func @projection_with_two_users(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                     %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x24xf32>) {
  // CHECK-NOT: mhc.pre(
  // CHECK: mhc.gates(
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
  return %u, %h_post, %mix, %proj : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x24xf32>
}
