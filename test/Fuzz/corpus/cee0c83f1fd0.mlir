module {
  func.func @f(%arg0: tensor<?x4x8xf32>, %arg1: tensor<24x32xf32>) -> tensor<2x24xf32> {
    %proj = mhc.projection(x = %arg0 : tensor<?x4x8xf32>, phi = %arg1 : tensor<24x32xf32>) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = applied> -> (proj : tensor<2x24xf32>)
    return %proj : tensor<2x24xf32>
  }
}