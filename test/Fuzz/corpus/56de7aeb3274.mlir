module {
  func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = arith.mulf %arg1, %arg1 : tensor<8xf32>
    %1 = arith.maximumf %0, %arg0 : tensor<8xf32>
    %2 = arith.negf %1 : tensor<8xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}