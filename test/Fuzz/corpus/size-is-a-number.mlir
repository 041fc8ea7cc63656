module {
  func.func @ops_behind_tokens(%arg0: tensor<?x?x8xf32>, %arg1: tensor<8xf32>) -> tensor<?x?x6xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x8xf32>
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x8xf32>
    %0 = mhc.rms_norm %arg0, %arg1 eps = 9.9999999999999995E-7 : tensor<?x?x8xf32>, tensor<8xf32>
    %extracted_slice = tensor.extract_slice %0[0, 0, 1] [%c0, %dim_0, 6] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x6xf32>
    %expanded = tensor.expand_shape %extracted_slice [[0], [1], [2, 3]] output_shape [%dim, %dim_0, 2, 3] : tensor<?x?x6xf32> into tensor<?x?x2x3xf32>
    %1 = mhc.transpose %expanded perm = [0, 1, 3, 2] : tensor<?x?x2x3xf32> -> tensor<?x?x3x2xf32>
    %2 = mhc.softmax %1 dim = 2 : tensor<?x?x3x2xf32>
    %collapsed = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
    return %collapsed : tensor<?x?x6xf32>
  }
}