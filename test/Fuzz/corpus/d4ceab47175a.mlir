func.func @f(%x: tensor<4xf32>, %k: tensor<4xf32> {mhc.no_grad}, %unread: tensor<2xindex>) -> tensor<4xf32> {
  %dead = math.exp %x : tensor<4xf32>
  %deader = arith.mulf %dead, %dead : tensor<4xf32>
  %y = arith.mulf %x, %k : tensor<4xf32>
  return %y : tensor<4xf32>
}
