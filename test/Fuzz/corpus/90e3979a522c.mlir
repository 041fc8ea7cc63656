module {
  func.func @f(%arg0: tensor<?x8xf32>, %arg1: tensor<?x4xf32> {mhc.no_grad}, %arg2: tensor<?x4x8xf32> {mhc.no_grad}, %arg3: tensor<2x4x4xf32> {mhc.no_grad}) -> tensor<?x4x8xf32> {
    %out = mhc.post(f = %arg0 : tensor<?x8xf32>, h_post = %arg1 : tensor<?x4xf32>, x = %arg2 : tensor<?x4x8xf32>, h_res = %arg3 : tensor<2x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
    return %out : tensor<?x4x8xf32>
  }
}