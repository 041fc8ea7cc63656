module {
  func.func @f(%arg0: tensor<?x4xf16>) -> tensor<?x4xf16> {
    %0 = mhc.softmax %arg0 dim = 1 : tensor<?x4xf16>
    return %0 : tensor<?x4xf16>
  }
}