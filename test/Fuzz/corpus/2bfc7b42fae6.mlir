module {
  func.func @f(%arg0: tensor<4xbf16>, %arg1: tensor<4xbf16> {mhc.no_grad}, %arg2: tensor<2xf32>) -> tensor<4xbf16> {
    %0 = mhc.sigmoid %arg1 : tensor<4xbf16>
    %1 = arith.maximumf %0, %0 : tensor<4xbf16>
    %2 = arith.maximumf %arg0, %arg1 : tensor<4xbf16>
    return %2 : tensor<4xbf16>
  }
}