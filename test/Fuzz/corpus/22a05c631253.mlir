module {
  func.func @products(%arg0: tensor<?x?xf32> {mhc.name = "x"}, %arg1: tensor<?x?xf32> {mhc.name = "y"}) -> (tensor<f32> {mhc.name = "z"}) {
    %collapsed = tensor.collapse_shape %arg1 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %collapsed_0 = tensor.collapse_shape %arg1 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %0 = arith.mulf %collapsed, %collapsed_0 : tensor<?xf32>
    %1 = mhc.reduce  sum %collapsed_0 dims = [0] : tensor<?xf32> -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func @thirds(%arg0: tensor<?x?xf32> {mhc.name = "x"}, %arg1: tensor<?x3xf32> {mhc.name = "y"}) -> (tensor<f32> {mhc.name = "z"}) {
    %collapsed = tensor.collapse_shape %arg0 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %collapsed_0 = tensor.collapse_shape %arg1 [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
    %0 = arith.mulf %collapsed, %collapsed_0 : tensor<?xf32>
    %1 = mhc.reduce  sum %0 dims = [0] : tensor<?xf32> -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func @squares(%arg0: tensor<?x?xf32> {mhc.name = "x"}, %arg1: tensor<?x0xf32> {mhc.name = "y"}) -> (tensor<f32> {mhc.name = "z"}) {
    %0 = mhc.transpose %arg0 perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
    %1 = arith.mulf %0, %arg0 : tensor<?x?xf32>
    %collapsed = tensor.collapse_shape %1 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %collapsed_0 = tensor.collapse_shape %arg1 [[0, 1]] : tensor<?x0xf32> into tensor<?xf32>
    %2 = arith.mulf %collapsed, %collapsed_0 : tensor<?xf32>
    %3 = mhc.reduce  sum %2 dims = [0] : tensor<?xf32> -> tensor<f32>
    return %3 : tensor<f32>
  }
  func.func @shorter(%arg0: tensor<?xf32> {mhc.name = "x"}, %arg1: tensor<?xf32> {mhc.name = "y"}) -> (tensor<?xf32> {mhc.name = "z"}) {
    %c0 = arith.constant 0 : index
    %c300 = arith.constant 300 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
    %0 = arith.subi %dim, %c300 : index
    %extracted_slice = tensor.extract_slice %arg0[300] [%0] [1] : tensor<?xf32> to tensor<?xf32>
    %1 = arith.mulf %extracted_slice, %arg1 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}