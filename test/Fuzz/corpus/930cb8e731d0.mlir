module {
  func.func @head(%arg0: tensor<?x4x8xf32> {mhc.name = "x"}, %arg1: tensor<4xf32> {mhc.name = "phi"}, %arg2: tensor<1xf32> {mhc.name = "alpha"}, %arg3: tensor<4xf32> {mhc.name = "beta"}) -> (tensor<?x8xf32> {mhc.name = "out"}) {
    %out = mhc.head(x = %arg0 : tensor<?x4x8xf32>, phi = %arg1 : tensor<4xf32>, alpha = %arg2 : tensor<1xf32>, beta = %arg3 : tensor<4xf32>) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = -1.0e-06> -> (out : tensor<?x8xf32>)
    return %out : tensor<?x8xf32>
  }
}