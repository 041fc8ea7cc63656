func.func @read_twice(%sum: tensor<1xf32> {mhc.name = "s"}) -> (tensor<1xf32> {mhc.name = "s", mhc.in_place}, tensor<1xf32>) {
  %twice = arith.addf %sum, %sum : tensor<1xf32>
  return %twice, %sum : tensor<1xf32>, tensor<1xf32>
}
