module {
  func.func @f(%arg0: tensor<?x4xf32>, %arg1: tensor<4xf32>) -> tensor<?x4xf32> {
    %c-1 = arith.constant -1 : index
    %dim = tensor.dim %arg0, %c-1 : tensor<?x4xf32>
    %0 = math.tanh %arg0 : tensor<?x4xf32>
    %1 = mhc.broadcast %arg1[%c-1] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
    %2 = arith.subf %0, %1 : tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
}