module {
  func.func private @twice(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = arith.addf %arg0, %arg0 : tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @model(%arg0: tensor<?x4x8xf32> {mhc.name = "x"}) -> (tensor<?x8xf32> {mhc.name = "out"}) {
    %0 = mhc.reduce  sum %arg0 dims = [1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
    %1 = call @twice(%0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    return %1 : tensor<?x8xf32>
  }
}