module {
  func.func @f(%arg0: tensor<0x5xf32> {mhc.no_grad}, %arg1: tensor<5xf32>) -> tensor<0x5xf32> {
    %0 = mhc.rms_norm %arg0, %arg1 eps = 0.1e+00 : tensor<0x5xf32>, tensor<5xf32>
    return %0 : tensor<0x5xf32>
  }
}