// RUN: mhc-opt %s --mhc-import | FileCheck %s
// RUN: mhcc %s --grad=main --verify | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG

// The front end of a gated delta net layer, whose convolution of four tokens is written as a tensor of all windows and a
// product: as many slices as the window has tokens, and gradients.
// CHECK: func.func @main
// CHECK-NOT: {{linalg|tensor.reshape|cf.assert}}
// CHECK: tensor.pad
// CHECK-COUNT-4: tensor.extract_slice %padded
// VERIFY: entry main_bwd
// VERIFY: d_arg0: verified
// VERIFY: d_arg4: verified
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map8 = affine_map<(d0) -> (d0)>
module {
  func.func @main(%arg0: tensor<2x12x200xf32>, %arg1: tensor<128x1x4xf32>, %arg2: tensor<128xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>) -> (tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4xf32>, tensor<2x12x4xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999998E-13 : f64
    %cst_2 = arith.constant 5.000000e-01 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %extracted_slice = tensor.extract_slice %arg0[0, 0, 0] [2, 12, 128] [1, 1, 1] : tensor<2x12x200xf32> to tensor<2x12x128xf32>
    %extracted_slice_4 = tensor.extract_slice %arg0[0, 0, 128] [2, 12, 64] [1, 1, 1] : tensor<2x12x200xf32> to tensor<2x12x64xf32>
    %extracted_slice_5 = tensor.extract_slice %arg0[0, 0, 192] [2, 12, 4] [1, 1, 1] : tensor<2x12x200xf32> to tensor<2x12x4xf32>
    %extracted_slice_6 = tensor.extract_slice %arg0[0, 0, 196] [2, 12, 4] [1, 1, 1] : tensor<2x12x200xf32> to tensor<2x12x4xf32>
    %padded = tensor.pad %extracted_slice low[0, 3, 0] high[0, 0, 0] {
    ^bb0(%arg5: index, %arg6: index, %arg7: index):
      tensor.yield %cst : f32
    } : tensor<2x12x128xf32> to tensor<2x15x128xf32>
    %0 = tensor.empty() : tensor<2x12x128x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%padded : tensor<2x15x128xf32>) outs(%0 : tensor<2x12x128x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x128x4xf32>
    %collapsed = tensor.collapse_shape %arg1 [[0, 1], [2]] : tensor<128x1x4xf32> into tensor<128x4xf32>
    %2 = tensor.empty() : tensor<128x2x12x4xf32>
    %transposed = linalg.transpose ins(%1 : tensor<2x12x128x4xf32>) outs(%2 : tensor<128x2x12x4xf32>) permutation = [2, 0, 1, 3] 
    %collapsed_7 = tensor.collapse_shape %transposed [[0], [1, 2], [3]] : tensor<128x2x12x4xf32> into tensor<128x24x4xf32>
    %expanded = tensor.expand_shape %collapsed [[0], [1, 2]] output_shape [128, 4, 1] : tensor<128x4xf32> into tensor<128x4x1xf32>
    %3 = tensor.empty() : tensor<128x24x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<128x24x1xf32>) -> tensor<128x24x1xf32>
    %5 = linalg.batch_matmul ins(%collapsed_7, %expanded : tensor<128x24x4xf32>, tensor<128x4x1xf32>) outs(%4 : tensor<128x24x1xf32>) -> tensor<128x24x1xf32>
    %expanded_8 = tensor.expand_shape %5 [[0], [1, 2], [3]] output_shape [128, 2, 12, 1] : tensor<128x24x1xf32> into tensor<128x2x12x1xf32>
    %6 = tensor.empty() : tensor<2x12x128x1xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<128x2x12x1xf32>) outs(%6 : tensor<2x12x128x1xf32>) permutation = [1, 2, 0, 3] 
    %collapsed_10 = tensor.collapse_shape %transposed_9 [[0], [1], [2, 3]] : tensor<2x12x128x1xf32> into tensor<2x12x128xf32>
    %7 = tensor.empty() : tensor<2x12x128xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10, %arg2 : tensor<2x12x128xf32>, tensor<128xf32>) outs(%7 : tensor<2x12x128xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.addf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x128xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<2x12x128xf32>) outs(%7 : tensor<2x12x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.negf %in : f32
      %37 = math.exp %36 : f32
      %38 = arith.addf %37, %cst_0 : f32
      %39 = arith.divf %cst_0, %38 : f32
      linalg.yield %39 : f32
    } -> tensor<2x12x128xf32>
    %10 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %9 : tensor<2x12x128xf32>, tensor<2x12x128xf32>) outs(%7 : tensor<2x12x128xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.mulf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x128xf32>
    %extracted_slice_11 = tensor.extract_slice %10[0, 0, 0] [2, 12, 32] [1, 1, 1] : tensor<2x12x128xf32> to tensor<2x12x32xf32>
    %extracted_slice_12 = tensor.extract_slice %10[0, 0, 32] [2, 12, 32] [1, 1, 1] : tensor<2x12x128xf32> to tensor<2x12x32xf32>
    %extracted_slice_13 = tensor.extract_slice %10[0, 0, 64] [2, 12, 64] [1, 1, 1] : tensor<2x12x128xf32> to tensor<2x12x64xf32>
    %expanded_14 = tensor.expand_shape %extracted_slice_11 [[0], [1], [2, 3]] output_shape [2, 12, 2, 16] : tensor<2x12x32xf32> into tensor<2x12x2x16xf32>
    %expanded_15 = tensor.expand_shape %extracted_slice_12 [[0], [1], [2, 3]] output_shape [2, 12, 2, 16] : tensor<2x12x32xf32> into tensor<2x12x2x16xf32>
    %expanded_16 = tensor.expand_shape %extracted_slice_13 [[0], [1], [2, 3]] output_shape [2, 12, 4, 16] : tensor<2x12x64xf32> into tensor<2x12x4x16xf32>
    %11 = tensor.empty() : tensor<2x12x2x1xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<2x12x2x1xf32>) -> tensor<2x12x2x1xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_14 : tensor<2x12x2x16xf32>) outs(%12 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.absf %in : f32
      %37 = math.powf %36, %cst_3 : f32
      %38 = arith.addf %37, %out : f32
      linalg.yield %38 : f32
    } -> tensor<2x12x2x1xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<2x12x2x1xf32>) outs(%11 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.powf %in, %cst_2 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x2x1xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<2x12x2x1xf32>) outs(%11 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.truncf %cst_1 : f64 to f32
      %37 = arith.cmpf ult, %in, %36 : f32
      %38 = arith.select %37, %36, %in : f32
      linalg.yield %38 : f32
    } -> tensor<2x12x2x1xf32>
    %16 = tensor.empty() : tensor<2x12x2x16xf32>
    %collapsed_17 = tensor.collapse_shape %15 [[0], [1], [2, 3]] : tensor<2x12x2x1xf32> into tensor<2x12x2xf32>
    %17 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_17 : tensor<2x12x2xf32>) outs(%16 : tensor<2x12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x2x16xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_14, %17 : tensor<2x12x2x16xf32>, tensor<2x12x2x16xf32>) outs(%16 : tensor<2x12x2x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.divf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x2x16xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_15 : tensor<2x12x2x16xf32>) outs(%12 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.absf %in : f32
      %37 = math.powf %36, %cst_3 : f32
      %38 = arith.addf %37, %out : f32
      linalg.yield %38 : f32
    } -> tensor<2x12x2x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<2x12x2x1xf32>) outs(%11 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.powf %in, %cst_2 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x2x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x12x2x1xf32>) outs(%11 : tensor<2x12x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.truncf %cst_1 : f64 to f32
      %37 = arith.cmpf ult, %in, %36 : f32
      %38 = arith.select %37, %36, %in : f32
      linalg.yield %38 : f32
    } -> tensor<2x12x2x1xf32>
    %collapsed_18 = tensor.collapse_shape %21 [[0], [1], [2, 3]] : tensor<2x12x2x1xf32> into tensor<2x12x2xf32>
    %22 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_18 : tensor<2x12x2xf32>) outs(%16 : tensor<2x12x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x2x16xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %22 : tensor<2x12x2x16xf32>, tensor<2x12x2x16xf32>) outs(%16 : tensor<2x12x2x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.divf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x2x16xf32>
    %24 = tensor.empty() : tensor<2x12x2x2x16xf32>
    %25 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<2x12x2x16xf32>) outs(%24 : tensor<2x12x2x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x2x2x16xf32>
    %collapsed_19 = tensor.collapse_shape %25 [[0], [1], [2, 3], [4]] : tensor<2x12x2x2x16xf32> into tensor<2x12x4x16xf32>
    %26 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<2x12x2x16xf32>) outs(%24 : tensor<2x12x2x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x12x2x2x16xf32>
    %collapsed_20 = tensor.collapse_shape %26 [[0], [1], [2, 3], [4]] : tensor<2x12x2x2x16xf32> into tensor<2x12x4x16xf32>
    %27 = tensor.empty() : tensor<4xf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel"]} ins(%arg3 : tensor<4xf32>) outs(%27 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.exp %in : f32
      linalg.yield %36 : f32
    } -> tensor<4xf32>
    %29 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel"]} ins(%28 : tensor<4xf32>) outs(%27 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.negf %in : f32
      linalg.yield %36 : f32
    } -> tensor<4xf32>
    %30 = tensor.empty() : tensor<2x12x4xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_6, %arg4 : tensor<2x12x4xf32>, tensor<4xf32>) outs(%30 : tensor<2x12x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.addf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x4xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<2x12x4xf32>) outs(%30 : tensor<2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.exp %in : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x4xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<2x12x4xf32>) outs(%30 : tensor<2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.log1p %in : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x4xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %33 : tensor<4xf32>, tensor<2x12x4xf32>) outs(%30 : tensor<2x12x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %36 = arith.mulf %in, %in_22 : f32
      linalg.yield %36 : f32
    } -> tensor<2x12x4xf32>
    %expanded_21 = tensor.expand_shape %extracted_slice_4 [[0], [1], [2, 3]] output_shape [2, 12, 4, 16] : tensor<2x12x64xf32> into tensor<2x12x4x16xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_5 : tensor<2x12x4xf32>) outs(%30 : tensor<2x12x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.negf %in : f32
      %37 = math.exp %36 : f32
      %38 = arith.addf %37, %cst_0 : f32
      %39 = arith.divf %cst_0, %38 : f32
      linalg.yield %39 : f32
    } -> tensor<2x12x4xf32>
    return %collapsed_19, %collapsed_20, %expanded_16, %expanded_21, %35, %34 : tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4x16xf32>, tensor<2x12x4xf32>, tensor<2x12x4xf32>
  }
}
