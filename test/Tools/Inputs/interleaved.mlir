// Streams [M, C, n] from the entry of a model to its end, through one sublayer and through two: phi in both orders, with
// and without the weight of a norm.

func.func @one(%e: tensor<?x16xf32> {mhc.name = "e"}, %phi: tensor<24x64xf32> {mhc.name = "phi"},
               %norm: tensor<64xf32> {mhc.name = "norm"}, %alpha: tensor<3xf32> {mhc.name = "alpha"},
               %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<?x16xf32> {mhc.name = "out"}) {
  %x = mhc.expand(x = %e : tensor<?x16xf32>) <layout = Cn> -> (streams : tensor<?x16x4xf32>)
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x16x4xf32>, phi = %phi : tensor<24x64xf32>,
      norm_weight = %norm : tensor<64xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x16xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f = math.tanh %u : tensor<?x16xf32>
  %y = mhc.post(f = %f : tensor<?x16xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x16x4xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x16x4xf32>)
  %out = mhc.contract(x = %y : tensor<?x16x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x16xf32>)
  return %out : tensor<?x16xf32>
}

func.func @two(%e: tensor<?x16xf32> {mhc.name = "e"}, %phi0: tensor<24x64xf32> {mhc.name = "phi0"},
               %norm0: tensor<64xf32> {mhc.name = "norm0"}, %alpha0: tensor<3xf32> {mhc.name = "alpha0"},
               %beta0: tensor<24xf32> {mhc.name = "beta0"}, %phi1: tensor<64x24xf32> {mhc.name = "phi1"},
               %alpha1: tensor<3xf32> {mhc.name = "alpha1"}, %beta1: tensor<24xf32> {mhc.name = "beta1"},
               %phi2: tensor<4x64xf32> {mhc.name = "phi2"}, %alpha2: tensor<1xf32> {mhc.name = "alpha2"},
               %beta2: tensor<4xf32> {mhc.name = "beta2"}) -> (tensor<?x16xf32> {mhc.name = "out"}) {
  %x = mhc.expand(x = %e : tensor<?x16xf32>) <layout = Cn> -> (streams : tensor<?x16x4xf32>)
  %u0, %h_post0, %h_res0 = mhc.pre(x = %x : tensor<?x16x4xf32>, phi = %phi0 : tensor<24x64xf32>,
      norm_weight = %norm0 : tensor<64xf32>, alpha = %alpha0 : tensor<3xf32>, beta = %beta0 : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x16xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f0 = math.tanh %u0 : tensor<?x16xf32>
  %y = mhc.post(f = %f0 : tensor<?x16xf32>, h_post = %h_post0 : tensor<?x4xf32>, x = %x : tensor<?x16x4xf32>,
      h_res = %h_res0 : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x16x4xf32>)
  %u1, %h_post1, %h_res1 = mhc.pre(x = %y : tensor<?x16x4xf32>, phi = %phi1 : tensor<64x24xf32>,
      alpha = %alpha1 : tensor<3xf32>, beta = %beta1 : tensor<24xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x16xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f1 = mhc.sigmoid %u1 : tensor<?x16xf32>
  %z = mhc.post(f = %f1 : tensor<?x16xf32>, h_post = %h_post1 : tensor<?x4xf32>, x = %y : tensor<?x16x4xf32>,
      h_res = %h_res1 : tensor<?x4x4xf32>) <layout = Cn, orient = io> -> (out : tensor<?x16x4xf32>)
  %out = mhc.head(x = %z : tensor<?x16x4xf32>, phi = %phi2 : tensor<4x64xf32>, alpha = %alpha2 : tensor<1xf32>,
      beta = %beta2 : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06> -> (out : tensor<?x16xf32>)
  return %out : tensor<?x16xf32>
}
