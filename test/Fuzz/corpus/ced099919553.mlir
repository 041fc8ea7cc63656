module {
  func.func @f(%arg0: tensor<?x4xf16>, %arg1: tensor<4xf16>) -> tensor<?x4xf16> {
    %c-1 = arith.constant -1 : index
    %dim = tensor.dim %arg0, %c-1 : tensor<?x4xf16>
    %0 = mhc.silu %arg0 : tensor<?x4xf16>
    %1 = mhc.broadcast %arg1[%dim] dims = [1] : tensor<4xf16> -> tensor<?x4xf16>
    %2 = arith.mulf %1, %1 : tensor<?x4xf16>
    return %2 : tensor<?x4xf16>
  }
}