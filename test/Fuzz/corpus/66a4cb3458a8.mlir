module {
  func.func @f(%arg0: tensor<4xbf16> {mhc.name = "x"}, %arg1: tensor<4xbf16>) -> (tensor<4xbf16> {mhc.name = "y"}) {
    %0 = math.sqrt %arg0 : tensor<4xbf16>
    %1 = arith.maximumf %arg1, %0 : tensor<4xbf16>
    return %1 : tensor<4xbf16>
  }
}