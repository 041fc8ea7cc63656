module {
  func.func @f(%arg0: tensor<?x4xf32>, %arg1: tensor<4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %0 = mhc.sigmoid %arg0 : tensor<?x4xf32>
    %1 = mhc.broadcast %arg1[%dim] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
    %2 = arith.mulf %arg0, %1 : tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
}