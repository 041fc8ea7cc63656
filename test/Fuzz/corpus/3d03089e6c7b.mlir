module {
  func.func @f(%arg0: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c1 : tensor<?x4x8xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
    %0 = math.exp %collapsed : tensor<?x8xf32>
    %1 = mhc.sigmoid %0 : tensor<?x8xf32>
    %expanded = tensor.expand_shape %1 [[4611686018427387904, 1], [2]] output_shape [%dim, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
    return %expanded : tensor<?x4x8xf32>
  }
}
