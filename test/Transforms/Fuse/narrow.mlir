// RUN: mhc-opt %s -mhc-fuse=level=chain | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse=level=chain --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Gates of which one group is used, and their projection.

// REMARK: Remark="fused gates with one used group into mhc.gates, saves {{[0-9]+}} bytes per token"
// CHECK-LABEL: @only_the_first_gate_is_used
func.func @only_the_first_gate_is_used(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                       %beta: tensor<24xf32>) -> tensor<?x4xf32> {
  // CHECK-DAG: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [4, 256] [1, 1]
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<?x4x64xf32>, phi = %[[PHI]] : tensor<4x256xf32>)
  // CHECK: %[[H:.*]] = mhc.gates(proj = %[[P]] : tensor<?x4xf32>, stat = %[[S]]
  // CHECK: return %[[H]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre : tensor<?x4xf32>
}

// The narrow projection stands where the wide one stood.
// CHECK-LABEL: @statistic_with_a_user_before_the_gates
func.func @statistic_with_a_user_before_the_gates(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                                                  %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection({{.*}} : tensor<4x256xf32>)
  // CHECK: %[[E:.*]] = math.exp %[[S]]
  // CHECK: %[[H:.*]] = mhc.gates(proj = %[[P]] : tensor<?x4xf32>
  // CHECK: return %[[H]], %[[E]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %e = math.exp %stat : tensor<?xf32>
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %e : tensor<?x4xf32>, tensor<?xf32>
}

// CHECK-LABEL: @no_narrowing_when_the_second_gate_is_used
func.func @no_narrowing_when_the_second_gate_is_used(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                                                     %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: mhc.projection({{.*}} : tensor<24x256xf32>)
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %h_post : tensor<?x4xf32>, tensor<?x4xf32>
}

// REMARK: [Missed] narrow-shared | {{.*}}Found="2 users of the projection", Needed="1 user"
// CHECK-LABEL: @no_narrowing_of_a_projection_with_two_users
func.func @no_narrowing_of_a_projection_with_two_users(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                                                       %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?x24xf32>) {
  // CHECK: mhc.projection({{.*}} : tensor<24x256xf32>)
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %proj : tensor<?x4xf32>, tensor<?x24xf32>
}
