module {
  func.func @f(%arg0: tensor<4xbf16> {mhc.name = "x"}, %arg1: tensor<4xbf16>) -> (tensor<4xbf16> {mhc.name = "y"}) {
    %0 = math.tanh %arg0 : tensor<4xbf16>
    %1 = arith.maximumf %0, %arg1 : tensor<4xbf16>
    return %1 : tensor<4xbf16>
  }
}