module {
  func.func @f(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = mhc.softmax %arg0 dim = 0 : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}