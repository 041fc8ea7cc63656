// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// All gradients, from one kernel that reads the multiplier of the forward pass.
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: -> (tensor<?x24xf32> {mhc.name = "result0"}, tensor<?xf32> {mhc.name = "result1"})
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<?xf32> {mhc.name = "result1"},
// CHECK-SAME: %[[DP:[a-z0-9]+]]: tensor<?x24xf32> {mhc.name = "d_result0"}, %[[DS:[a-z0-9]+]]: tensor<?xf32> {mhc.name = "d_result1"})
// CHECK-NEXT: %[[D_X:.*]], %[[D_PHI:.*]], %[[D_WEIGHT:.*]] = mhc.projection_bwd(d_proj = %[[DP]] : tensor<?x24xf32>,
// CHECK-SAME: d_stat = %[[DS]] : tensor<?xf32>
// CHECK-SAME: stat = %[[S]] : tensor<?xf32>) <layout = nC, phi_layout = in_out, norm = outside,
// CHECK-SAME: stat_form = inv_rms>
// CHECK-NEXT: return %[[D_X]], %[[D_PHI]], %[[D_WEIGHT]]
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<32x24xf32>, %weight: tensor<32xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<32x24xf32>,
      norm_weight = %weight : tensor<32xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
}

// -----

// The mean square alone: the product has gradient zero, and the forward pass need not hand on the statistic.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[DS:[a-z0-9]+]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK: %[[ZERO:.*]] = tensor.splat %{{.*}} : tensor<?x24xf32>
// CHECK: mhc.projection_bwd(d_proj = %[[ZERO]] : tensor<?x24xf32>, d_stat = %[[DS]] : tensor<?xf32>,
// CHECK-NOT: stat =
// CHECK-SAME: stat_form = mean_square> -> (d_x : tensor<?x4x8xf32>)
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<24x32xf32> {mhc.no_grad}) -> tensor<?xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<24x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = mean_square>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %stat : tensor<?xf32>
}

// -----

// The applied multiplier becomes a product of its own, so that both factors can be saved.
// CHECK-LABEL: func.func @f_fwd(
// CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection({{.*}}stat_form = inv_rms>
// CHECK: return %{{.*}}, %[[P]], %[[S]] :
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[D_S:.*]] = mhc.reduce sum %{{.*}} dims = [1]
// CHECK: mhc.projection_bwd({{.*}}d_stat = %[[D_S]] :
// CHECK-SAME: stat_form = inv_rms>
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<24x32xf32>) -> tensor<?x24xf32> {
  %proj = mhc.projection(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<24x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return %proj : tensor<?x24xf32>
}

// -----

// Gates without a cotangent for h_pre and the logits.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[ZERO:.*]] = tensor.splat %{{.*}} : tensor<?x4xf32>
// CHECK: mhc.gates_bwd(d_h_pre = %[[ZERO]] : tensor<?x4xf32>, d_h_post = %[[G]] : tensor<?x4xf32>, proj =
// CHECK-SAME: <stat_form = applied,
// CHECK-SAME: (d_proj : tensor<?x24xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
func.func @f(%proj: tensor<?x24xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> tensor<?x4xf32> {
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x24xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>) <stat_form = applied, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_post : tensor<?x4xf32>
}
