// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @width(%x: tensor<?x4x64xbf16>, %phi: tensor<24x255xf32>) {
  // expected-error @below {{dimension 'K' is 255 in 'phi'; needed 256 = n*C}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x255xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

func.func @phi_stored_the_other_way(%x: tensor<?x4x64xbf16>, %phi: tensor<256x24xf32>) {
  // expected-error @below {{dimension 'N' is 256 in 'phi' but 24 in 'proj'}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<256x24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

func.func @phi_type(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf16>) {
  // expected-error @below {{'phi' has elements of type 'f16'; needed 'bf16', the type of 'x', or f32}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

// Coefficients are f32 whatever the streams are.
func.func @result_type(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{result #0 must be 2D tensor of 32-bit float values, but got 'tensor<?x24xbf16>'}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xbf16>)
  return
}

// -----

func.func @phi_type_of_f32(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xbf16>) {
  // expected-error @below {{'phi' has elements of type 'bf16'; needed 'f32', the type of 'x'}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

func.func @norm_weight(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %w: tensor<64xf32>) {
  // expected-error @below {{dimension 'K' is 256 in 'phi' but 64 in 'norm_weight'}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, norm_weight = %w : tensor<64xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

func.func @dynamic_rows(%x: tensor<?x4x64xbf16>, %phi: tensor<?x256xf32>) {
  // expected-error @below {{dimension 'N' is dynamic in 'phi'; needed a static size}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<?x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

// projection C1
func.func @stat_with_applied(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{has 'stat' with stat_form 'applied'; 'stat' goes with 'mean_square' and 'inv_rms' only}}
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return
}

// -----

// projection C1
func.func @no_stat(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{lacks 'stat' with stat_form 'inv_rms'; 'stat' goes with 'mean_square' and 'inv_rms' only}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

// gates C1
func.func @gates_without_stat(%proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{lacks 'stat' with stat_form 'mean_square'}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = mean_square, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

// gates C2
func.func @logits_alone(%proj: tensor<?x24xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has only one of 'h_post' and 'logits'; needed both or none}}
  %h_pre, %logits = mhc.gates(proj = %proj : tensor<?x24xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return
}

// -----

// gates C2
func.func @rows(%proj: tensor<?x25xf32>, %alpha: tensor<3xf32>, %beta: tensor<25xf32>) {
  // expected-error @below {{dimension 'N' is 25 in 'proj'; needed 24 = 2*n + R}}
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x25xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<25xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return
}

// -----

// gates C2
func.func @rows_of_head(%proj: tensor<?x5xf32>, %alpha: tensor<1xf32>, %beta: tensor<5xf32>) {
  // expected-error @below {{dimension 'N' is 5 in 'proj'; needed 4 = n}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x5xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<5xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

// gates C2
func.func @groups_of_head(%proj: tensor<?x4xf32>, %alpha: tensor<3xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{dimension 'A' is 3 in 'alpha'; needed 1}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

func.func @beta_length(%proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<3xf32>) {
  // expected-error @below {{dimension 'N' is 4 in 'proj' but 3 in 'beta'}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<3xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

func.func @number_not_finite(%proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{attribute 'pre_eps' failed to satisfy constraint: 64-bit float attribute that is finite and at least 0 (found 0x7FF0000000000000 : f64)}}
  %h_pre = "mhc.gates"(%proj, %alpha, %beta) <{norm_eps = 0.0 : f64, post_mult = 2.0 : f64,
    pre_eps = 0x7FF0000000000000 : f64, resultSegmentSizes = array<i32: 1, 0, 0>, stat_form = #mhc.stat<applied>}>
    : (tensor<?x4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @factor_not_finite(%proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{attribute 'post_mult' failed to satisfy constraint: 64-bit float attribute that is finite (found 0x7FF0000000000000 : f64)}}
  %h_pre = "mhc.gates"(%proj, %alpha, %beta) <{norm_eps = 0.0 : f64, post_mult = 0x7FF0000000000000 : f64,
    pre_eps = 0.0 : f64, resultSegmentSizes = array<i32: 1, 0, 0>, stat_form = #mhc.stat<applied>}>
    : (tensor<?x4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @no_rows(%x: tensor<?x4x8xf32>, %phi: tensor<0x32xf32>) {
  // expected-error @below {{dimension 'N' is 0 in 'phi'; needed at least 1}}
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<0x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = inv_rms> -> (proj : tensor<?x0xf32>, stat : tensor<?xf32>)
  return
}

// -----

func.func @applied_gradient(%g: tensor<?x24xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{has stat_form 'applied'; needed 'mean_square' or 'inv_rms', with the product apart}}
  %d_phi = mhc.projection_bwd(d_proj = %g : tensor<?x24xf32>, x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = applied> -> (d_phi : tensor<24x256xf32>)
  return
}

// -----

func.func @gradient_without_statistic(%g: tensor<?x24xf32>, %d: tensor<?xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{has 'd_stat' with stat_form 'inv_rms' but no 'stat'}}
  %d_phi = mhc.projection_bwd(d_proj = %g : tensor<?x24xf32>, d_stat = %d : tensor<?xf32>, x = %x : tensor<?x4x64xf32>,
      phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = inv_rms> -> (d_phi : tensor<24x256xf32>)
  return
}

// -----

func.func @gradient_of_no_weight(%g: tensor<?x24xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>) {
  // expected-error @below {{has 'd_norm_weight' but no 'norm_weight'}}
  %d_weight = mhc.projection_bwd(d_proj = %g : tensor<?x24xf32>, x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = inv_rms> -> (d_norm_weight : tensor<256xf32>)
  return
}

// -----

func.func @gates_gradient_of_no_statistic(%g: tensor<?x4xf32>, %proj: tensor<?x4xf32>, %a: tensor<1xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{has 'd_stat' but no 'stat'}}
  %d_stat = mhc.gates_bwd(d_h_pre = %g : tensor<?x4xf32>, proj = %proj : tensor<?x4xf32>, alpha = %a : tensor<1xf32>,
      beta = %b : tensor<4xf32>) <stat_form = applied, norm_eps = 0.0, post_mult = 2.0> -> (d_stat : tensor<?xf32>)
  return
}

// -----

func.func @gates_gradient_groups(%g: tensor<?x4xf32>, %proj: tensor<?x4xf32>, %a: tensor<2xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{dimension 'A' is 2 in 'alpha'; needed 1 or 3}}
  %d_beta = mhc.gates_bwd(d_h_pre = %g : tensor<?x4xf32>, proj = %proj : tensor<?x4xf32>, alpha = %a : tensor<2xf32>,
      beta = %b : tensor<4xf32>) <stat_form = applied, norm_eps = 0.0, post_mult = 2.0> -> (d_beta : tensor<4xf32>)
  return
}

// -----

func.func @gates_gradient_of_one_group(%g: tensor<?x4xf32>, %proj: tensor<?x4xf32>, %a: tensor<1xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{has 'd_h_post' with one gate group}}
  %d_beta = mhc.gates_bwd(d_h_pre = %g : tensor<?x4xf32>, d_h_post = %g : tensor<?x4xf32>, proj = %proj : tensor<?x4xf32>,
      alpha = %a : tensor<1xf32>, beta = %b : tensor<4xf32>) <stat_form = applied, norm_eps = 0.0, post_mult = 2.0>
    -> (d_beta : tensor<4xf32>)
  return
}

// -----

func.func @gates_gradient_columns(%g: tensor<?x4xf32>, %proj: tensor<?x7xf32>, %a: tensor<3xf32>, %b: tensor<7xf32>) {
  // expected-error @below {{dimension 'N' is 7 in 'proj'; needed 9 = 2*n + R}}
  %d_beta = mhc.gates_bwd(d_h_pre = %g : tensor<?x4xf32>, proj = %proj : tensor<?x7xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<7xf32>) <stat_form = applied, norm_eps = 0.0, post_mult = 2.0> -> (d_beta : tensor<7xf32>)
  return
}

// -----

func.func @gates_gradient_without_residual_columns(%g: tensor<?x4xf32>, %proj: tensor<?x8xf32>, %a: tensor<3xf32>,
                                                   %b: tensor<8xf32>) {
  // expected-error @below {{dimension 'N' is 8 in 'proj'; needed 9 = 2*n + R}}
  %d_beta = mhc.gates_bwd(d_h_pre = %g : tensor<?x4xf32>, proj = %proj : tensor<?x8xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<8xf32>) <stat_form = applied, norm_eps = 0.0, post_mult = 2.0> -> (d_beta : tensor<8xf32>)
  return
}

// -----

// Parameters of hyper-connections keep their bits: no pass may quantise them.
func.func @eight_bit_phi(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf8E4M3FN>) {
  // expected-error @below {{'phi' has elements of type 'f8E4M3FN'; needed 'bf16', the type of 'x', or f32}}
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf8E4M3FN>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<?x24xf32>)
  return
}

// -----

func.func @narrow_alpha(%proj: tensor<?x4xf32>, %alpha: tensor<1xbf16>, %beta: tensor<4xf32>) {
  // expected-error @below {{operand #1 must be 1D tensor of 32-bit float values, but got 'tensor<1xbf16>'}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xbf16>, beta = %beta : tensor<4xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

func.func @narrow_alpha(%proj: tensor<?x4xf32>, %alpha: tensor<1xbf16>, %beta: tensor<4xf32>) {
  // expected-error @below {{must be 1D tensor of 32-bit float values, but got 'tensor<1xbf16>'}}
  %h_pre = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xbf16>, beta = %beta : tensor<4xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<?x4xf32>)
  return
}

// -----

func.func @unknown_precision(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) {
  %proj = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    // expected-error @below {{'precision' is 'f64'; expected 'ieee', 'tf32x3', 'bf16x3', 'tf32'}}
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied, precision = f64>
    -> (proj : tensor<?x24xf32>)
  return
}
