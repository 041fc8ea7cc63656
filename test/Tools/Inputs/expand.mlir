func.func @expand(%x: tensor<?x12xf32>) -> tensor<?x4x3xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x12xf32>
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 3] : tensor<?x12xf32> into tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}
