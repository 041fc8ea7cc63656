module {
  func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = mhc.softmax %arg0 dim = 1 : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}