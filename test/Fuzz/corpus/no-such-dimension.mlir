func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = arith.constant -1 : index
  %dim = tensor.dim %x, %c : tensor<?x4xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%dim] : tensor<?x4xf32>
  %sum = arith.addf %x, %ones : tensor<?x4xf32>
  return %sum : tensor<?x4xf32>
}
