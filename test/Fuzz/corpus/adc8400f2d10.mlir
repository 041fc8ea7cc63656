module {
  func.func @f(%arg0: tensor<4xbf16>) -> tensor<4xbf16> {
    %0 = arith.extf %arg0 : tensor<4xbf16> to tensor<4xf32>
    %1 = arith.mulf %0, %0 : tensor<4xf32>
    %2 = arith.truncf %1 : tensor<4xf32> to tensor<4xbf16>
    return %2 : tensor<4xbf16>
  }
}