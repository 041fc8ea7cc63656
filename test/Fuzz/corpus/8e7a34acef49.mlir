func.func private @jumps(%x: tensor<1xf32>) -> tensor<1xf32> {
  cf.br ^end
^end:
  return %x : tensor<1xf32>
}
func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = call @jumps(%x) : (tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
