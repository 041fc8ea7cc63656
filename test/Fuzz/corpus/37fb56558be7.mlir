module {
  func.func @f(%arg0: tensor<2x4x8xf32>, %arg1: tensor<24x32xf32> {mhc.no_grad}) -> tensor<?xf32> {
    %proj, %stat = mhc.projection(x = %arg0 : tensor<2x4x8xf32>, phi = %arg1 : tensor<24x32xf32>) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 0.0, stat_form = mean_square> -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
    return %stat : tensor<?xf32>
  }
}