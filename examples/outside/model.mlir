// Two layers around a sublayer that the compiler does not see: `linear` has no body, so that the compiled model calls
// the function of that name which its user gives it. `mhc.dims` says which open sizes are equal. `linear_vjp` computes its gradients. mHC is fused around both.
//
// `connected` wraps the sublayer with all of mHC around it: a layer is one line of the model. What the compiler sees is
// the chain, for calls of functions with a body are replaced by the body.

func.func private @linear(tensor<?x64xf32> {mhc.name = "u", mhc.dims = ["M", "64"]},
                          tensor<64x64xf32> {mhc.name = "w"})
    -> (tensor<?x64xf32> {mhc.name = "f", mhc.dims = ["M", "64"]}) attributes {mhc.vjp = @linear_vjp}

func.func private @linear_vjp(tensor<?x64xf32> {mhc.name = "u", mhc.dims = ["M", "64"]},
                              tensor<64x64xf32> {mhc.name = "w"},
                              tensor<?x64xf32> {mhc.name = "d_f", mhc.dims = ["M", "64"]})
    -> (tensor<?x64xf32> {mhc.name = "d_u", mhc.dims = ["M", "64"]}, tensor<64x64xf32> {mhc.name = "d_w"})

func.func private @connected(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                             %beta: tensor<24xf32>, %w: tensor<64x64xf32>) -> tensor<?x4x64xf32> {
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f = func.call @linear(%u, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  return %out : tensor<?x4x64xf32>
}

func.func @model(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                 %phi0: tensor<24x256xf32> {mhc.name = "phi0"}, %alpha0: tensor<3xf32> {mhc.name = "alpha0"},
                 %beta0: tensor<24xf32> {mhc.name = "beta0"}, %w0: tensor<64x64xf32> {mhc.name = "w0"},
                 %phi1: tensor<24x256xf32> {mhc.name = "phi1"}, %alpha1: tensor<3xf32> {mhc.name = "alpha1"},
                 %beta1: tensor<24xf32> {mhc.name = "beta1"}, %w1: tensor<64x64xf32> {mhc.name = "w1"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %x1 = call @connected(%x, %phi0, %alpha0, %beta0, %w0) : (tensor<?x4x64xf32>, tensor<24x256xf32>, tensor<3xf32>, tensor<24xf32>, tensor<64x64xf32>) -> tensor<?x4x64xf32>
  %x2 = call @connected(%x1, %phi1, %alpha1, %beta1, %w1) : (tensor<?x4x64xf32>, tensor<24x256xf32>, tensor<3xf32>, tensor<24xf32>, tensor<64x64xf32>) -> tensor<?x4x64xf32>
  return %x2 : tensor<?x4x64xf32>
}
