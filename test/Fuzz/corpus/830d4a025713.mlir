  func.func @f(%arg0: tensor<1xf32>, %arg1: tensor<1xf32> {mhc.main_grad}) -> tensor<1xf32> {
    %0 = math.exp %arg0 : tensor<1xf32>
    return %0 : tensor<1xf32>
}