module {
  func.func @mean_of_one(%arg0: tensor<f32>) -> tensor<?xf32> {
    %expanded = tensor.expand_shape %arg0 [] output_shape [1, 2] : tensor<f32> into tensor<1x?xf32>
    %0 = mhc.reduce  max %expanded dims = [0] : tensor<1x?xf32> -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @gate_of_one(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = arith.mulf %arg0, %arg1 : tensor<f32>
    %1 = arith.mulf %0, %0 : tensor<f32>
    %2 = mhc.sigmoid %1 : tensor<f32>
    return %2 : tensor<f32>
  }
}