module {
  func.func @f(%arg0: tensor<0xf32>, %arg1: tensor<0xf32> {mhc.no_grad}, %arg2: tensor<2xf32>) -> tensor<0xf32> {
    %0 = math.sqrt %arg0 : tensor<0xf32>
    %1 = arith.addf %0, %arg0 : tensor<0xf32>
    %2 = arith.minimumf %arg0, %arg0 : tensor<0xf32>
    return %2 : tensor<0xf32>
  }
}