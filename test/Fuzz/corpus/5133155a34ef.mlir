module {
  func.func @read_twice(%arg0: tensor<4xf32> {mhc.name = "s"}) -> (tensor<4xf32> {mhc.in_place, mhc.name = "s"}, tensor<4xf32>) {
    %0 = arith.maximumf %arg0, %arg0 : tensor<4xf32>
    return %0, %arg0 : tensor<4xf32>, tensor<4xf32>
  }
}