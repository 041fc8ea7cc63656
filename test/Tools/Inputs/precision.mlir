func.func @head(%x: tensor<?x4x8xf32> {mhc.name = "x"}, %phi: tensor<4x32xf32> {mhc.name = "phi"},
                %alpha: tensor<1xf32> {mhc.name = "alpha"}, %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x8xf32> {mhc.name = "out"}) {
  %out = mhc.head(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}
