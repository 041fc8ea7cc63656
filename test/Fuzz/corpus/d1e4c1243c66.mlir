func.func @f(%x: tensor<?x0xf32>) -> tensor<0xf32> {
  %y = mhc.reduce mean %x dims = [0] : tensor<?x0xf32> -> tensor<0xf32>
  return %y : tensor<0xf32>
}
