module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %0 = scf.for %arg1 = %c0 to %c4 step %c2 iter_args(%arg2 = %arg0) -> (tensor<4xf32>) {
      %1 = math.tanh %arg0 : tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}