module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {mhc.no_grad}, %arg2: tensor<2xf32>) -> tensor<4xf32> {
    %0 = mhc.sigmoid %arg1 : tensor<4xf32>
    %1 = arith.maximumf %0, %0 : tensor<4xf32>
    %2 = arith.addf %arg0, %arg1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}