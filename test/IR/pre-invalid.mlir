// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @rows_of_sinkhorn(%x: tensor<?x4x64xbf16>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<32xf32>) {
  // expected-error @below {{dimension 'N' is 32 in 'phi'; needed 24 = 2*n + (res_map == 1 ? factorial(n) : n*n)}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<32x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @rows_of_permutation(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'N' is 24 in 'phi'; needed 32 = 2*n + (res_map == 1 ? factorial(n) : n*n)}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @width(%x: tensor<?x4x64xbf16>, %phi: tensor<24x128xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'K' is 128 in 'phi'; needed 256 = n*C}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x128xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C2
func.func @groups(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>) {
  // expected-error-re @below {{dimension 'A' is 1 in 'alpha'; needed 3{{$}}}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @dynamic_groups(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<?xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'A' is dynamic in 'alpha'; needed a static size}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<?xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @residual_not_square(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'x' but 3 in 'h_res'}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x3xf32>)
  return
}

// -----

// C1
func.func @order_of_softmax(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps'}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = col_row, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C1
func.func @iterations_of_softmax(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 0 iterations with init 'softmax_eps'}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 0, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C1
func.func @divisor_of_log(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has denom 'clamp' with init 'log'}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = log, order = row_col, denom = clamp, sk_eps = 1.0e-06, iters = 2, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @too_many_permutations(%x: tensor<?x7x8xf32>, %phi: tensor<5054x56xf32>, %alpha: tensor<3xf32>, %beta: tensor<5054xf32>) {
  // expected-error @below {{has 7 streams; needed at most 6, for there are n! permutations}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x7x8xf32>, phi = %phi : tensor<5054x56xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<5054xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 0.0, iters = 0, fold_pre = false>
    -> (u : tensor<?x8xf32>, h_post : tensor<?x7xf32>, h_res : tensor<?x7x7xf32>)
  return
}

// -----

func.func @limit_of_permutations(%x: tensor<?x4x64xbf16>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<32xf32>) {
  // expected-error @below {{has solver 'newton' with res_map 'permutation'; needed res_map 'sinkhorn'}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<32x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = permutation, init = log, order = row_col, denom = none, sk_eps = 0.0, iters = 20, fold_pre = false,
     solver = newton>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @boolean(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @+2 {{'fold_pre' is 'yes'; expected 'true' or 'false'}}
  %u = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>) <fold_pre = yes> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @head_rows(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'x' but 24 in 'phi'}}
  %out = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @head_groups(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<4xf32>) {
  // expected-error-re @below {{dimension 'A' is 3 in 'alpha'; needed 1{{$}}}}
  %out = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @gradient_rows(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<23x256xf32>, %a: tensor<3xf32>, %b: tensor<23xf32>, %p: tensor<?x23xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{dimension 'N' is 23 in 'phi'; needed 24 = 2*n + (res_map == 1 ? factorial(n) : n*n)}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<23x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<23xf32>, proj = %p : tensor<?x23xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<23xf32>)
  return
}

// -----

// C2
func.func @gradient_groups(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<1xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>) {
  // expected-error-re @below {{dimension 'A' is 1 in 'alpha'; needed 3{{$}}}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<1xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

// C3
func.func @gradient_of_no_weight(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{has 'd_norm_weight' but no 'norm_weight'}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_norm_weight : tensor<256xf32>)
  return
}

// -----

func.func @gradient_start(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>, %i: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'd_x_in' without 'd_x', which starts from it}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>, d_x_in = %i : tensor<?x4x64xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

// C1
func.func @gradient_order_of_softmax(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps'}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = col_row, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

// C1
func.func @gradient_iterations_of_softmax(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{has 0 iterations with init 'softmax_eps'}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 0, fold_pre = false, orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

// C1
func.func @gradient_divisor_of_log(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{has denom 'add' with init 'log'}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = log, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

func.func @gradient_of_too_many_permutations(%g: tensor<?x8xf32>, %h: tensor<?x7xf32>, %r: tensor<?x7x7xf32>, %x: tensor<?x7x8xf32>,
                 %phi: tensor<5054x56xf32>, %a: tensor<3xf32>, %b: tensor<5054xf32>, %p: tensor<?x5054xf32>,
                 %s: tensor<?xf32>) {
  // expected-error @below {{has 7 streams; needed at most 6, for there are n! permutations}}
  %r0 = mhc.pre_bwd(d_u = %g : tensor<?x8xf32>, d_h_post = %h : tensor<?x7xf32>, d_h_res = %r : tensor<?x7x7xf32>,
      x = %x : tensor<?x7x8xf32>, phi = %phi : tensor<5054x56xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<5054xf32>, proj = %p : tensor<?x5054xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = permutation, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi>
    -> (d_beta : tensor<5054xf32>)
  return
}

// -----

// C1
func.func @head_gradient_of_no_weight(%g: tensor<?x64xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<4x256xf32>, %a: tensor<1xf32>,
                                      %b: tensor<4xf32>, %p: tensor<?x4xf32>, %s: tensor<?xf32>) {
  // expected-error @below {{has 'd_norm_weight' but no 'norm_weight'}}
  %r = mhc.head_bwd(d_out = %g : tensor<?x64xf32>, x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<4x256xf32>,
      alpha = %a : tensor<1xf32>, beta = %b : tensor<4xf32>, proj = %p : tensor<?x4xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (d_norm_weight : tensor<256xf32>)
  return
}

// -----

func.func @head_gradient_groups(%g: tensor<?x64xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<4x256xf32>, %a: tensor<3xf32>,
                                %b: tensor<4xf32>, %p: tensor<?x4xf32>, %s: tensor<?xf32>) {
  // expected-error-re @below {{dimension 'A' is 3 in 'alpha'; needed 1{{$}}}}
  %r = mhc.head_bwd(d_out = %g : tensor<?x64xf32>, x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<4x256xf32>,
      alpha = %a : tensor<3xf32>, beta = %b : tensor<4xf32>, proj = %p : tensor<?x4xf32>, stat = %s : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (d_beta : tensor<4xf32>)
  return
}

// -----

// C4
func.func @folded_post_without_matrix(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>, %s: tensor<?xf32>,
                 %o: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'd_out' but no 'h_res'}}
  %0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>,
      d_out = %o : tensor<?x4x64xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xf32>)
  return
}

// -----

// C4
func.func @folded_post_without_gradient(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>, %s: tensor<?xf32>,
                 %o: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'h_res' but no 'd_out'}}
  %0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>,
      h_res = %r : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xf32>)
  return
}

// -----

// C4
func.func @folded_post_and_start(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>, %s: tensor<?xf32>,
                 %o: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'd_out' and 'd_x_in'; needed one start of 'd_x'}}
  %0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>,
      d_out = %o : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>, d_x_in = %o : tensor<?x4x64xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xf32>)
  return
}

// -----

// C4
func.func @folded_post_without_result(%g: tensor<?x64xf32>, %h: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>,
                 %phi: tensor<24x256xf32>, %a: tensor<3xf32>, %b: tensor<24xf32>, %p: tensor<?x24xf32>, %s: tensor<?xf32>,
                 %o: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'd_out' but no 'd_x'}}
  %0 = mhc.pre_bwd(d_u = %g : tensor<?x64xf32>, d_h_post = %h : tensor<?x4xf32>, d_h_res = %r : tensor<?x4x4xf32>,
      x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %a : tensor<3xf32>,
      beta = %b : tensor<24xf32>, proj = %p : tensor<?x24xf32>, stat = %s : tensor<?xf32>,
      d_out = %o : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_beta : tensor<24xf32>)
  return
}

// -----

func.func @format(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  %out = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    // expected-error @below {{'h_pre_format' is 'tf32'; expected 'f32', 'bf16', 'f16'}}
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, h_pre_format = tf32>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

// C3
func.func @weights_without_mix(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                               %beta: tensor<24xf32>, %h: tensor<?x4xf32>) {
  // expected-error @below {{has 'h_in' but no 'u'}}
  %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C3
func.func @weights_and_fold(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                            %beta: tensor<24xf32>, %h: tensor<?x4xf32>) {
  // expected-error @below {{has 'h_in' and 'fold_pre'; needed u mixed by h_pre}}
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = true>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @row_of_another_width(%e: tensor<?x32xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'K' is 256 in 'phi'; needed 128 = n*C}}
  %h_post, %h_res = mhc.pre(x = %e : tensor<?x32xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, equal_x>
    -> (h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @row_that_is_absent(%h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>, %x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>,
                              %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>) {
  // expected-error @below {{has 'equal_d_out' without 'd_out'}}
  %d_x = mhc.pre_bwd(d_h_post = %h : tensor<?x4xf32>, d_h_res = %m : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xf32>,
      phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, orient = oi, equal_d_out>
    -> (d_x : tensor<?x4x64xf32>)
  return
}
