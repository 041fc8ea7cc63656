func.func @f(%x: tensor<4xf32>, %k: tensor<4xf32> {mhc.no_grad}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant -1 : index
  %t = scf.for %i = %c0 to %c9 step %c1 iter_args(%carried = %k) -> tensor<4xf32> {
    %z = math.tanh %carried : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  %y = arith.addf %x, %t : tensor<4xf32>
  return %y : tensor<4xf32>
}
