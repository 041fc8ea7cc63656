module {
  func.func @f(%arg0: tensor<8xf16>, %arg1: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) {
    %0 = arith.subf %arg1, %arg1 : tensor<8xf16>
    %1 = arith.maximumf %arg0, %arg0 : tensor<8xf16>
    %2 = arith.negf %0 : tensor<8xf16>
    return %0, %1, %2 : tensor<8xf16>, tensor<8xf16>, tensor<8xf16>
  }
}