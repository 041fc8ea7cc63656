module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {mhc.no_grad}, %arg2: tensor<4xf32> {mhc.no_grad}, %arg3: tensor<4xf32> {mhc.no_grad}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = arith.mulf %arg0, %arg1 : tensor<4xf32>
    %1 = arith.addf %arg2, %arg0 : tensor<4xf32>
    %2 = arith.mulf %arg0, %arg3 : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}