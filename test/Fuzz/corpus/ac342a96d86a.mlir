module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = arith.minimumf %arg1, %arg1 : tensor<4xf32>
    %1 = arith.subf %arg0, %arg0 : tensor<4xf32>
    %2 = arith.negf %arg0 : tensor<4xf32>
    return %0, %1, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}