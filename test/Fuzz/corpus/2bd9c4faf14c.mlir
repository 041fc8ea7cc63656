module {
  func.func @f(%arg0: tensor<4xf64>) -> tensor<4xf64> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %0 = scf.for %arg1 = %c0 to %c1 step %c2 iter_args(%arg2 = %arg0) -> (tensor<4xf64>) {
      %1 = math.tanh %arg2 : tensor<4xf64>
      scf.yield %1 : tensor<4xf64>
    }
    return %0 : tensor<4xf64>
  }
}