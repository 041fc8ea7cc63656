// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry projection_inv_rms_bf16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @projection_inv_rms_bf16(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %w: tensor<256xbf16>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      norm_weight = %w : tensor<256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
}

// CHECK: entry projection_mean_square_odd_f16
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @projection_mean_square_odd_f16(%x: tensor<?x33x3xf16>, %phi: tensor<99x15xf16>)
    -> (tensor<?x15xf32>, tensor<?xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x33x3xf16>, phi = %phi : tensor<99x15xf16>)
    <layout = Cn, phi_layout = in_out, norm = none, norm_eps = 0.0, stat_form = mean_square>
    -> (proj : tensor<?x15xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x15xf32>, tensor<?xf32>
}

// CHECK: entry projection_applied_f32
// CHECK-NEXT: result0: verified
func.func @projection_applied_f32(%x: tensor<?x4x129xf32>, %phi: tensor<516x24xf32>, %w: tensor<516xf32>)
    -> tensor<?x24xf32> {
  %proj = mhc.projection(x = %x : tensor<?x4x129xf32>, phi = %phi : tensor<516x24xf32>,
      norm_weight = %w : tensor<516xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return %proj : tensor<?x24xf32>
}

// CHECK: entry projection_applied_streams_last
// CHECK-NEXT: result0: verified
func.func @projection_applied_streams_last(%x: tensor<?x33x4xbf16>, %phi: tensor<24x132xbf16>, %w: tensor<132xf32>)
    -> tensor<?x24xf32> {
  %proj = mhc.projection(x = %x : tensor<?x33x4xbf16>, phi = %phi : tensor<24x132xbf16>,
      norm_weight = %w : tensor<132xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-05, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return %proj : tensor<?x24xf32>
}

// CHECK: entry gates_inv_rms
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @gates_inv_rms(%proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>) {
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre, %h_post, %logits : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>
}

// CHECK: entry gates_permutations
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @gates_permutations(%proj: tensor<?x12xf32>, %alpha: tensor<3xf32>, %beta: tensor<12xf32>)
    -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6xf32>) {
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x12xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0>
    -> (h_pre : tensor<?x3xf32>, h_post : tensor<?x3xf32>, logits : tensor<?x6xf32>)
  return %h_pre, %h_post, %logits : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6xf32>
}

// A mean square is not negative; the random ones are at least -1, hence the large eps.
// CHECK: entry gates_head
// CHECK-NEXT: result0: verified
func.func @gates_head(%proj: tensor<?x5xf32>, %stat: tensor<?xf32>, %alpha: tensor<1xf32>, %beta: tensor<5xf32>)
    -> tensor<?x5xf32> {
  %h_pre = mhc.gates(proj = %proj : tensor<?x5xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<5xf32>)
    <stat_form = mean_square, norm_eps = 2.0, pre_eps = 1.0e-02, post_mult = 2.0>
    -> (h_pre : tensor<?x5xf32>)
  return %h_pre : tensor<?x5xf32>
}

// The statistic is the one that the forward op hands on.
// CHECK: entry bwd
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @bwd(%d_proj: tensor<?x24xf32>, %d_stat: tensor<?xf32>, %x: tensor<?x4x300xbf16>, %phi: tensor<24x1200xf32>,
               %weight: tensor<1200xbf16>, %sum: tensor<?x4x300xbf16>, %grad: tensor<24x1200xf32>)
    -> (tensor<?x4x300xbf16>, tensor<24x1200xf32>, tensor<1200xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>,
      norm_weight = %weight : tensor<1200xbf16>)
    <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %d_x, %d_phi, %d_weight = mhc.projection_bwd(d_proj = %d_proj : tensor<?x24xf32>, d_stat = %d_stat : tensor<?xf32>,
      x = %x : tensor<?x4x300xbf16>, phi = %phi : tensor<24x1200xf32>, norm_weight = %weight : tensor<1200xbf16>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x300xbf16>, d_phi_in = %grad : tensor<24x1200xf32>)
    <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (d_x : tensor<?x4x300xbf16>, d_phi : tensor<24x1200xf32>, d_norm_weight : tensor<1200xf32>)
  return %d_x, %d_phi, %d_weight : tensor<?x4x300xbf16>, tensor<24x1200xf32>, tensor<1200xf32>
}

// CHECK: entry gates_bwd
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
func.func @gates_bwd(%d_h_pre: tensor<?x4xf32>, %d_logits: tensor<?x16xf32>, %proj: tensor<?x24xf32>,
                     %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %grad: tensor<24xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>, tensor<3xf32>, tensor<24xf32>) {
  %d_proj, %d_stat, %d_alpha, %d_beta = mhc.gates_bwd(d_h_pre = %d_h_pre : tensor<?x4xf32>,
      d_logits = %d_logits : tensor<?x16xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, d_beta_in = %grad : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, post_mult = 2.0>
    -> (d_proj : tensor<?x24xf32>, d_stat : tensor<?xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
  return %d_proj, %d_stat, %d_alpha, %d_beta : tensor<?x24xf32>, tensor<?xf32>, tensor<3xf32>, tensor<24xf32>
}
