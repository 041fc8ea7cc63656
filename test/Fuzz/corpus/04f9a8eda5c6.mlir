module {
  func.func @f(%arg0: tensor<?x4xf32>) -> tensor<?xf32> {
    %0 = mhc.reduce  mean %arg0 dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}