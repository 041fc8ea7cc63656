module {
  func.func private @jumps(%arg0: tensor<4xi64>) -> tensor<4xi64> {
    cf.br ^bb1
  ^bb1:  // pred: ^bb0
    return %arg0 : tensor<4xi64>
  }
  func.func @f(%arg0: tensor<4xi64>) -> tensor<4xi64> {
    %0 = call @jumps(%arg0) : (tensor<4xi64>) -> tensor<4xi64>
    return %0 : tensor<4xi64>
  }
}