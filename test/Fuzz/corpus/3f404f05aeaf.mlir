module {
  func.func @f(%arg0: tensor<0x8x4xf32>) -> tensor<?x8xf32> {
    %out = mhc.contract(x = %arg0 : tensor<0x8x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x8xf32>)
    return %out : tensor<?x8xf32>
  }
}