module {
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {mhc.no_grad}) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %0 = scf.for %arg2 = %c0 to %c9 step %c1 iter_args(%arg3 = %arg1) -> (tensor<4xf32>) {
      %2 = math.tanh %arg0 : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    %1 = arith.addf %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}