module {
  func.func @fill(%arg0: tensor<3xf32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
    %c1 = arith.constant -1 : index
    %extracted = tensor.extract %arg0[%c1] : tensor<3xf32>
    %0 = linalg.fill ins(%extracted : f32) outs(%arg1 : tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}