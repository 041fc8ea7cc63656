module {
  func.func @f(%arg0: tensor<3xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
    %inserted_slice = tensor.insert_slice %arg0 into %arg1[2] [3] [1] : tensor<3xf32> into tensor<8xf32>
    return %inserted_slice : tensor<8xf32>
  }
}