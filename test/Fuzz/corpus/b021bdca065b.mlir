module {
  func.func @fill(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xf32> {
    %c-1 = arith.constant -2 : index
    %extracted = tensor.extract %arg0[%c-1] : tensor<3xf32>
    %0 = linalg.fill ins(%extracted : f32) outs(%arg1 : tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}