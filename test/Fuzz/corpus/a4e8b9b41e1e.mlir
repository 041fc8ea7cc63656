module {
  func.func @alphas_as_numbers(%arg0: tensor<8x4x16xf32>, %arg1: tensor<24x64xf32>, %arg2: tensor<24xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
    %cst = arith.constant dense<6.400000e-05> : tensor<8xf32>
    %collapsed = tensor.collapse_shape %arg0 [[4611686018427387904], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = arith.mulf %collapsed, %collapsed : tensor<8x64xf32>
    %1 = mhc.reduce  sum %0 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
    %2 = arith.addf %1, %1 : tensor<8xf32>
    %3 = math.rsqrt %2 : tensor<8xf32>
    %4 = mhc.broadcast %3 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
    %5 = arith.mulf %collapsed, %4 : tensor<8x64xf32>
    %out = mhc.matmul %5, %arg1 transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %out[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %extracted_slice_0 = tensor.extract_slice %out[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %extracted_slice_1 = tensor.extract_slice %out[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %cst_2 = arith.constant dense<2.500000e-01> : tensor<8x4xf32>
    %cst_3 = arith.constant dense<5.000000e-01> : tensor<8x4xf32>
    %6 = arith.mulf %extracted_slice, %cst_2 : tensor<8x4xf32>
    %7 = arith.mulf %extracted_slice_0, %cst_3 : tensor<8x4xf32>
    %8 = mhc.broadcast %arg2 dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
    %extracted_slice_4 = tensor.extract_slice %8[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %extracted_slice_5 = tensor.extract_slice %8[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %extracted_slice_6 = tensor.extract_slice %8[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %9 = arith.addf %6, %extracted_slice_4 : tensor<8x4xf32>
    %10 = arith.addf %7, %extracted_slice_5 : tensor<8x4xf32>
    %11 = arith.addf %extracted_slice_1, %extracted_slice_6 : tensor<8x16xf32>
    %12 = mhc.sigmoid %9 : tensor<8x4xf32>
    %13 = mhc.sigmoid %extracted_slice_5 : tensor<8x4xf32>
    return %12, %13, %11 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
  }
}