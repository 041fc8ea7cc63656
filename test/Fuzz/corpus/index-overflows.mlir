func.func @f(%t: tensor<?x5xf32>) -> tensor<f32> {
  %i = arith.constant 4611686018427387904 : index
  %j = arith.constant 1 : index
  %e = tensor.extract %t[%i, %j] : tensor<?x5xf32>
  %r = tensor.from_elements %e : tensor<f32>
  return %r : tensor<f32>
}
