// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @inv_rms
func.func @inv_rms(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %w: tensor<256xbf16>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  // CHECK: %proj, %stat = mhc.projection(x = %{{.*}} : tensor<?x4x64xbf16>, phi = %{{.*}} : tensor<24x256xf32>,
  // CHECK-SAME: norm_weight = %{{.*}} : tensor<256xbf16>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK-SAME: -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      norm_weight = %w : tensor<256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.000001, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
}

// CHECK-LABEL: @applied
func.func @applied(%x: tensor<2x64x4xf32>, %phi: tensor<256x32xf32>) -> tensor<2x32xf32> {
  // CHECK: %proj = mhc.projection(
  // CHECK-SAME: <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 0.0, stat_form = applied>
  // CHECK-SAME: -> (proj : tensor<2x32xf32>)
  %proj = mhc.projection(x = %x : tensor<2x64x4xf32>, phi = %phi : tensor<256x32xf32>)
    <layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 0.0, stat_form = applied>
    -> (proj : tensor<2x32xf32>)
  return %proj : tensor<2x32xf32>
}

// A precision is printed where it is given.
// CHECK-LABEL: @precision
func.func @precision(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %g: tensor<?x24xf32>)
    -> (tensor<?x24xf32>, tensor<24x256xf32>) {
  // CHECK: mhc.projection({{.*}}stat_form = applied, precision = bf16x3>
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = applied, precision = bf16x3>
    -> (proj : tensor<?x24xf32>)
  // CHECK: mhc.projection_bwd({{.*}}stat_form = mean_square, precision = ieee>
  %d_phi = mhc.projection_bwd(d_proj = %g : tensor<?x24xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <precision = ieee, layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = mean_square>
    -> (d_phi : tensor<24x256xf32>)
  return %proj, %d_phi : tensor<?x24xf32>, tensor<24x256xf32>
}

// phi may have the type of x. The width K is checked where n and C are known.
// CHECK-LABEL: @any_channels
func.func @any_channels(%x: tensor<?x4x?xbf16>, %phi: tensor<24x?xbf16>) -> (tensor<?x24xf32>, tensor<?xf32>) {
  // CHECK: mhc.projection({{.*}}norm = none{{.*}}stat_form = mean_square>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x?xbf16>, phi = %phi : tensor<24x?xbf16>)
    <layout = nC, phi_layout = out_in, norm = none, norm_eps = 1.0e-06, stat_form = mean_square>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
}

// CHECK-LABEL: @gates
func.func @gates(%proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>) {
  // CHECK: %h_pre, %h_post, %logits = mhc.gates(proj = %{{.*}} : tensor<?x24xf32>, stat = %{{.*}} : tensor<?xf32>,
  // CHECK-SAME: alpha = %{{.*}} : tensor<3xf32>, beta = %{{.*}} : tensor<24xf32>)
  // CHECK-SAME: <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
  // CHECK-SAME: -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %h_post, %logits : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: @gates_of_permutations
func.func @gates_of_permutations(%proj: tensor<2x12xf32>, %alpha: tensor<3xf32>, %beta: tensor<12xf32>)
    -> tensor<2x6xf32> {
  // CHECK: mhc.gates(proj = %{{.*}} : tensor<2x12xf32>, alpha =
  // CHECK-SAME: stat_form = applied
  // CHECK-SAME: logits : tensor<2x6xf32>
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<2x12xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<12xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0>
    -> (h_pre : tensor<2x3xf32>, h_post : tensor<2x3xf32>, logits : tensor<2x6xf32>)
  return %logits : tensor<2x6xf32>
}

// CHECK-LABEL: @gates_of_head
func.func @gates_of_head(%proj: tensor<?x4xf32>, %stat: tensor<?xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x4xf32> {
  // CHECK: %h_pre = mhc.gates({{.*}}stat_form = mean_square, norm_eps = 1.0e-06{{.*}}-> (h_pre : tensor<?x4xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = mean_square, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return %h_pre : tensor<?x4xf32>
}

// Numbers are printed so that they read back as the same double.
// CHECK-LABEL: @numbers
func.func @numbers(%proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: norm_eps = -0.0, pre_eps = 3.333333333333333e-01, post_mult = 1.0e+100
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = applied, norm_eps = -0.0, pre_eps = 0.33333333333333331, post_mult = 1.0e100>
    -> (h_pre : tensor<?x4xf32>)
  return %h_pre : tensor<?x4xf32>
}

// CHECK-LABEL: @gradient_of_the_weight_only
func.func @gradient_of_the_weight_only(%g: tensor<?x24xf32>, %x: tensor<?x64x4xf16>, %phi: tensor<256x24xf16>,
                                       %grad: tensor<256x24xf32>) -> tensor<256x24xf32> {
  // CHECK: mhc.projection_bwd(d_proj = %{{.*}}, d_phi_in = %{{[^ ]*}} : tensor<256x24xf32>)
  // CHECK-SAME: phi_layout = in_out{{.*}} -> (d_phi : tensor<256x24xf32>)
  %d_phi = mhc.projection_bwd(d_proj = %g : tensor<?x24xf32>, x = %x : tensor<?x64x4xf16>, phi = %phi : tensor<256x24xf16>,
      d_phi_in = %grad : tensor<256x24xf32>)
    <layout = Cn, phi_layout = in_out, norm = none, norm_eps = 0.0, stat_form = mean_square> -> (d_phi : tensor<256x24xf32>)
  return %d_phi : tensor<256x24xf32>
}
