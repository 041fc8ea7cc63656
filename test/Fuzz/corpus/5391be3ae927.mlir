module {
  func.func @f(%arg0: tensor<4xf32>) -> (tensor<4xf32>, f32) {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = scf.for %arg1 = %c5 to %c5 step %c5 iter_args(%arg2 = %arg0) -> (tensor<4xf32>) {
      %1 = math.tanh %arg2 : tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    }
    return %0, %cst : tensor<4xf32>, f32
  }
}