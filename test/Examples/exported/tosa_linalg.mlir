// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// As upstream's passes from TOSA to linalg leave what torch-mlir exports as TOSA: divisions as reciprocals and products.
// CHECK: func.func @main
// CHECK-NOT: linalg
// CHECK: mhc.pre(
// CHECK: mhc.post(
// CHECK-NEXT: return
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (0, 0)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
module {
  func.func @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x16xf32>, tensor<8x4x16xf32>) {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant dense<2.000000e+00> : tensor<1x1xf32>
    %cst_2 = arith.constant dense<1.562500e-02> : tensor<1x1xf32>
    %cst_3 = arith.constant dense<9.99999997E-7> : tensor<1x1xf32>
    %cst_4 = arith.constant dense<9.99999997E-7> : tensor<1x1x1xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %cst_1 : tensor<8x64xf32>, tensor<1x1xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = math.powf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x64xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %reduced = linalg.reduce ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded = tensor.expand_shape %reduced [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
    %4 = tensor.empty() : tensor<8x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded, %cst_2 : tensor<8x1xf32>, tensor<1x1xf32>) outs(%4 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %cst_3 : tensor<8x1xf32>, tensor<1x1xf32>) outs(%4 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x1xf32>) outs(%4 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = math.rsqrt %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %7 : tensor<8x64xf32>, tensor<8x1xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x64xf32>
    %expanded_5 = tensor.expand_shape %8 [[0, 1], [2]] output_shape [1, 8, 64] : tensor<8x64xf32> into tensor<1x8x64xf32>
    %expanded_6 = tensor.expand_shape %arg1 [[0, 1], [2]] output_shape [1, 64, 24] : tensor<64x24xf32> into tensor<1x64x24xf32>
    %9 = tensor.empty() : tensor<1x8x24xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<1x8x24xf32>) -> tensor<1x8x24xf32>
    %11 = linalg.batch_matmul ins(%expanded_5, %expanded_6 : tensor<1x8x64xf32>, tensor<1x64x24xf32>) outs(%10 : tensor<1x8x24xf32>) -> tensor<1x8x24xf32>
    %collapsed_7 = tensor.collapse_shape %11 [[0, 1], [2]] : tensor<1x8x24xf32> into tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %extracted_slice_8 = tensor.extract_slice %collapsed_7[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %expanded_9 = tensor.expand_shape %extracted_slice [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
    %12 = tensor.empty() : tensor<8x4xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_9, %extracted_slice_8 : tensor<1x1xf32>, tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %expanded_11 = tensor.expand_shape %extracted_slice_10 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %expanded_11 : tensor<8x4xf32>, tensor<1x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.negf %in : f32
      %157 = math.exp %156 : f32
      %158 = arith.addf %157, %cst : f32
      %159 = arith.divf %cst, %158 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_12 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %extracted_slice_13 = tensor.extract_slice %collapsed_7[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %expanded_14 = tensor.expand_shape %extracted_slice_12 [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_14, %extracted_slice_13 : tensor<1x1xf32>, tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_15 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %expanded_16 = tensor.expand_shape %extracted_slice_15 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %expanded_16 : tensor<8x4xf32>, tensor<1x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.negf %in : f32
      %157 = math.exp %156 : f32
      %158 = arith.addf %157, %cst : f32
      %159 = arith.divf %cst, %158 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %cst_1 : tensor<8x4xf32>, tensor<1x1xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_17 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %extracted_slice_18 = tensor.extract_slice %collapsed_7[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %expanded_19 = tensor.expand_shape %extracted_slice_17 [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
    %20 = tensor.empty() : tensor<8x16xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_19, %extracted_slice_18 : tensor<1x1xf32>, tensor<8x16xf32>) outs(%20 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_20 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %expanded_21 = tensor.expand_shape %extracted_slice_20 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %expanded_21 : tensor<8x16xf32>, tensor<1x16xf32>) outs(%20 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x16xf32>
    %expanded_22 = tensor.expand_shape %22 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %23 = tensor.empty() : tensor<8x4x4xf32>
    %24 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<8x4x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = math.exp %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %reduced_23 = linalg.reduce ins(%24 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_24 = tensor.expand_shape %reduced_23 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %26 = tensor.empty() : tensor<8x4x1xf32>
    %27 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_24, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %28 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_25 = linalg.reduce ins(%29 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_26 = tensor.expand_shape %reduced_25 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %30 = tensor.empty() : tensor<8x1x4xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_26, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %32 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %32 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_27 = linalg.reduce ins(%33 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_28 = tensor.expand_shape %reduced_27 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_28, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %36 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %35 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_29 = linalg.reduce ins(%36 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_30 = tensor.expand_shape %reduced_29 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_30, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %39 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36, %38 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_31 = linalg.reduce ins(%39 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_32 = tensor.expand_shape %reduced_31 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_32, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %41 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_33 = linalg.reduce ins(%42 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_34 = tensor.expand_shape %reduced_33 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_34, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42, %44 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_35 = linalg.reduce ins(%45 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_36 = tensor.expand_shape %reduced_35 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_36, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %47 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_37 = linalg.reduce ins(%48 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_38 = tensor.expand_shape %reduced_37 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_38, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %50 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_39 = linalg.reduce ins(%51 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_40 = tensor.expand_shape %reduced_39 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_40, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %53 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_41 = linalg.reduce ins(%54 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_42 = tensor.expand_shape %reduced_41 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_42, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %56 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %57 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %56 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_43 = linalg.reduce ins(%57 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_44 = tensor.expand_shape %reduced_43 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %58 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_44, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %59 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57, %59 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_45 = linalg.reduce ins(%60 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_46 = tensor.expand_shape %reduced_45 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_46, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %62 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %63 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %62 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_47 = linalg.reduce ins(%63 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_48 = tensor.expand_shape %reduced_47 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_48, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %65 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_49 = linalg.reduce ins(%66 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_50 = tensor.expand_shape %reduced_49 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_50, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %68 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %68 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_51 = linalg.reduce ins(%69 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_52 = tensor.expand_shape %reduced_51 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_52, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %71 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_53 = linalg.reduce ins(%72 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_54 = tensor.expand_shape %reduced_53 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_54, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72, %74 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_55 = linalg.reduce ins(%75 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_56 = tensor.expand_shape %reduced_55 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_56, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %78 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %77 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_57 = linalg.reduce ins(%78 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_58 = tensor.expand_shape %reduced_57 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %79 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_58, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %81 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %80 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_59 = linalg.reduce ins(%81 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_60 = tensor.expand_shape %reduced_59 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_60, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %83 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %84 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %83 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_61 = linalg.reduce ins(%84 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_62 = tensor.expand_shape %reduced_61 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %85 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_62, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %87 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %86 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_63 = linalg.reduce ins(%87 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_64 = tensor.expand_shape %reduced_63 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %88 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_64, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %89 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %90 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87, %89 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_65 = linalg.reduce ins(%90 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_66 = tensor.expand_shape %reduced_65 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %91 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_66, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %92 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %93 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %92 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_67 = linalg.reduce ins(%93 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_68 = tensor.expand_shape %reduced_67 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %94 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_68, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %95 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %96 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %95 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_69 = linalg.reduce ins(%96 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_70 = tensor.expand_shape %reduced_69 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %97 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_70, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %98 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %99 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %98 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_71 = linalg.reduce ins(%99 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_72 = tensor.expand_shape %reduced_71 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %100 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_72, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %101 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %102 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %101 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_73 = linalg.reduce ins(%102 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_74 = tensor.expand_shape %reduced_73 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %103 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_74, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %104 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %105 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %104 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_75 = linalg.reduce ins(%105 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_76 = tensor.expand_shape %reduced_75 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %106 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_76, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %107 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %107 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_77 = linalg.reduce ins(%108 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_78 = tensor.expand_shape %reduced_77 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_78, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %111 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %110 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_79 = linalg.reduce ins(%111 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_80 = tensor.expand_shape %reduced_79 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_80, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %113 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %114 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %113 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_81 = linalg.reduce ins(%114 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_82 = tensor.expand_shape %reduced_81 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %115 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_82, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %116 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114, %116 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_83 = linalg.reduce ins(%117 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_84 = tensor.expand_shape %reduced_83 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %118 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_84, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %119 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %120 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117, %119 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_85 = linalg.reduce ins(%120 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_86 = tensor.expand_shape %reduced_85 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %121 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_86, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %123 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %122 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_87 = linalg.reduce ins(%123 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_88 = tensor.expand_shape %reduced_87 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %124 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_88, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %125 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %126 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %125 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_89 = linalg.reduce ins(%126 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_90 = tensor.expand_shape %reduced_89 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %127 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_90, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %128 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %129 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %128 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_91 = linalg.reduce ins(%129 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_92 = tensor.expand_shape %reduced_91 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %130 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_92, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %131 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %132 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%129, %131 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_93 = linalg.reduce ins(%132 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_94 = tensor.expand_shape %reduced_93 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %133 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_94, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %134 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %135 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %134 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_95 = linalg.reduce ins(%135 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_96 = tensor.expand_shape %reduced_95 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %136 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_96, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %137 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %138 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %137 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_97 = linalg.reduce ins(%138 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_98 = tensor.expand_shape %reduced_97 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %139 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_98, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %140 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %141 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %140 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_99 = linalg.reduce ins(%141 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [2] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_100 = tensor.expand_shape %reduced_99 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %142 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_100, %cst_4 : tensor<8x4x1xf32>, tensor<1x1x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %143 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<8x4x1xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x1xf32>
    %144 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %143 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %reduced_101 = linalg.reduce ins(%144 : tensor<8x4x4xf32>) outs(%25 : tensor<8x4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %156 = arith.addf %in, %init : f32
        linalg.yield %156 : f32
      }
    %expanded_102 = tensor.expand_shape %reduced_101 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %145 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_102, %cst_4 : tensor<8x1x4xf32>, tensor<1x1x1xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %146 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst, %in : f32
      linalg.yield %156 : f32
    } -> tensor<8x1x4xf32>
    %147 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144, %146 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x4xf32>
    %expanded_103 = tensor.expand_shape %15 [[0, 1], [2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %148 = tensor.empty() : tensor<8x1x16xf32>
    %149 = linalg.fill ins(%cst_0 : f32) outs(%148 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %150 = linalg.batch_matmul ins(%expanded_103, %arg0 : tensor<8x1x4xf32>, tensor<8x4x16xf32>) outs(%149 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %collapsed_104 = tensor.collapse_shape %150 [[0, 1], [2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
    %151 = tensor.empty() : tensor<8x4x16xf32>
    %152 = linalg.fill ins(%cst_0 : f32) outs(%151 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %153 = linalg.batch_matmul ins(%147, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%152 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %expanded_105 = tensor.expand_shape %19 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %154 = linalg.generic {indexing_maps = [#map6, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_105, %150 : tensor<8x4x1xf32>, tensor<8x1x16xf32>) outs(%151 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.mulf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x16xf32>
    %155 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %154 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%151 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_106: f32, %out: f32):
      %156 = arith.addf %in, %in_106 : f32
      linalg.yield %156 : f32
    } -> tensor<8x4x16xf32>
    return %collapsed_104, %155 : tensor<8x16xf32>, tensor<8x4x16xf32>
  }
}
