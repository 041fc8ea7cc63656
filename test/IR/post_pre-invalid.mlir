// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @streams_of_next(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'h_post' but 3 in 'next_h_res'}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x3xf32>)
  return
}

// -----

func.func @width_of_u(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'f' but 32 in 'u'}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x32xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @type_of_u(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{'u' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xf32>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @type_of_y(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{'y' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xf32>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C1
func.func @order_of_softmax(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps'}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = col_row, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C2
func.func @groups(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>) {
  // expected-error-re @below {{dimension 'A' is 1 in 'alpha'; needed 3{{$}}}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C3
func.func @given_without_u(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'h_in' but no 'u'}}
  %y, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h_post : tensor<?x4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

// C3
func.func @given_and_folded(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'h_in' and 'fold_pre'; needed u mixed by h_pre}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h_post : tensor<?x4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = true>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @rate_without_seed(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'rate' without 'seed'; needed both or none}}
  %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, rate = 0.1, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @type_of_given_y(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xf32>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{'y' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @shape_of_given_y(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x32xbf16>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'd_u' but 32 in 'y'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x32xbf16>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

// C1
func.func @order_of_softmax_in_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>,
    %stat: tensor<?xf32>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = col_row, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

// C2
func.func @groups_of_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>,
    %stat: tensor<?xf32>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>) {
  // expected-error-re @below {{dimension 'A' is 1 in 'alpha'; needed 3{{$}}}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @rate_of_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>,
    %stat: tensor<?xf32>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'rate' without 'seed'; needed both or none}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, rate = 0.1, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @streams_of_next_in_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x3xf32>, %d_res: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>,
    %stat: tensor<?xf32>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'n' is 3 in 'd_next_h_post' but 4 in 'd_next_h_res'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x3xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @mix_of_next_in_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x3xf32>, %proj: tensor<?x24xf32>,
    %stat: tensor<?xf32>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'd_next_h_post' but 3 in 'd_next_h_res'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x3xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

// C3
func.func @weight_gradient(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'd_norm_weight' but no 'norm_weight'}}
  %d_norm_weight = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_norm_weight : tensor<256xf32>)
  return
}

// -----

// C4
func.func @post_without_mix(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'd_out' but no 'next_h_res'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, d_out = %y : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

// C4
func.func @mix_without_post(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'next_h_res' but no 'd_out'}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, next_h_res = %next : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

// C4
func.func @two_starts(%d_u: tensor<?x64xbf16>, %d_post: tensor<?x4xf32>, %d_res: tensor<?x4x4xf32>, %y: tensor<?x4x64xbf16>,
    %next: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'd_out' and 'd_y'; needed one start of the gradient of y}}
  %d_f = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_post : tensor<?x4xf32>,
      d_next_h_res = %d_res : tensor<?x4x4xf32>, d_y = %y : tensor<?x4x64xbf16>, d_out = %y : tensor<?x4x64xbf16>, next_h_res = %next : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>,
      proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @streams_where_a_row_is(%e: tensor<?x64xbf16>, %h: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %m: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{'x' has 3 dimensions; needed [M, C] with 'equal_x'}}
  %y, %next_h_post, %next_h_res = mhc.post_pre(f = %e : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, equal_x>
    -> (y : tensor<?x4x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @row_that_is_absent(%h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>, %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %f: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'equal_d_out' without 'd_out'}}
  %d_f = mhc.post_pre_bwd(d_u = %f : tensor<?x64xbf16>, d_next_h_post = %h : tensor<?x4xf32>,
      d_next_h_res = %m : tensor<?x4x4xf32>, f = %f : tensor<?x64xbf16>, h_post = %h : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %m : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, next_orient = io,
     equal_d_out>
    -> (d_f : tensor<?x64xbf16>)
  return
}

// -----

func.func @columns_of_head(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'h_post' but 24 in 'phi'}}
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @gates_of_head(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<4xf32>) {
  // expected-error-re @below {{dimension 'A' is 3 in 'alpha'; needed 1{{$}}}}
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @streams_of_head(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{'y' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %y, %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (y : tensor<?x4x64xf32>, out : tensor<?x64xbf16>)
  return
}

// -----

func.func @rate_of_head(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) {
  // expected-error @below {{has 'rate' without 'seed'; needed both or none}}
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, rate = 0.1, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @norm_without_eps(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) {
  // expected-error @below {{has 'u_norm_weight' but no 'u_norm_eps'}}
  %r:4 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<64xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @norm_without_weight(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>) {
  // expected-error @below {{has 'u_norm_eps' but no 'u_norm_weight'}}
  %r:4 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @norm_of_nothing(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) {
  // expected-error @below {{has 'u_norm_weight' but no 'u'}}
  %r:3 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<64xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @norm_of_other_width(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<32xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'f' but 32 in 'u_norm_weight'}}
  %r:4 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<32xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @norm_of_other_type(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf16>) {
  // expected-error @below {{'u_norm_weight' has elements of type 'f16'; needed 'bf16', the type of 'x', or f32}}
  %r:4 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<64xf16>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, u_norm_eps = 1.0e-05>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}

// -----

func.func @negative_eps(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>, %w: tensor<64xf32>) {
  // expected-error @below {{u_norm_eps}}
  %r:4 = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, u_norm_weight = %w : tensor<64xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, u_norm_eps = -1.0e-05>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return
}
