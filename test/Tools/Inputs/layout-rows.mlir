// Streams in the layout for which the kernels of a GPU are slow: interleaved around a projection, and one behind the other
// where a stream has no whole vectors.

func.func @wide(%e: tensor<?x1024xbf16> {mhc.name = "e"}, %phi: tensor<24x4096xf32> {mhc.name = "phi"},
                %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"})
    -> (tensor<?x1024xbf16> {mhc.name = "out"}) {
  %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = Cn> -> (streams : tensor<?x1024x4xbf16>)
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x1024x4xbf16>, phi = %phi : tensor<24x4096xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x1024xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x1024xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x1024x4xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x1024x4xbf16>)
  %out = mhc.contract(x = %y : tensor<?x1024x4xbf16>) <layout = Cn, mode = mean> -> (out : tensor<?x1024xbf16>)
  return %out : tensor<?x1024xbf16>
}

func.func @narrow(%e: tensor<?x66xbf16> {mhc.name = "few"}, %h: tensor<?x4xf32> {mhc.name = "h"},
                  %h_res: tensor<?x4x4xf32> {mhc.name = "h_res"}) -> (tensor<?x66xbf16> {mhc.name = "out"}) {
  %x = mhc.expand(x = %e : tensor<?x66xbf16>) <layout = nC> -> (streams : tensor<?x4x66xbf16>)
  %u = mhc.aggregate(x = %x : tensor<?x4x66xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x66xbf16>)
  %y = mhc.post(f = %u : tensor<?x66xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x66xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x66xbf16>)
  %out = mhc.contract(x = %y : tensor<?x4x66xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x66xbf16>)
  return %out : tensor<?x66xbf16>
}
