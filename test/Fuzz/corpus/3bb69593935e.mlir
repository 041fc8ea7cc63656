func.func @f(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 4 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %t = math.tanh %x : tensor<?x4xf32>
  %wide = mhc.broadcast %w[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %y = arith.mulf %t, %wide : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
