func.func @untied(%x: tensor<4xf32> {mhc.name = "x"}) -> (tensor<4xf32> {mhc.name = "y", mhc.in_placelinalg.pack}) {
  return %x : tensor<4xf32>
}
