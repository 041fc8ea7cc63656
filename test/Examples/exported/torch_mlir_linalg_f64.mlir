// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// The statistic in f64, a product for each part of phi, torch.nn.functional.normalize with p = 1 as Sinkhorn's step:
// a sum of magnitudes, clamped by a selection.
// CHECK: func.func @main
// CHECK-NOT: linalg
// CHECK: mhc.pre(
// CHECK: mhc.post(
// CHECK-NEXT: return
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d2)>
module {
  func.func @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x16xf32>, tensor<8x4x16xf32>) {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 9.9999999999999998E-13 : f64
    %cst_3 = arith.constant 9.9999999999999995E-7 : f64
    %cst_4 = arith.constant 6.400000e+01 : f64
    %cst_5 = arith.constant 2.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<8x64xf32>) outs(%0 : tensor<8x64xf64>) {
    ^bb0(%in: f32, %out: f64):
      %64 = arith.extf %in : f32 to f64
      linalg.yield %64 : f64
    } -> tensor<8x64xf64>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %1 : tensor<8x64xf64>, tensor<8x64xf64>) outs(%0 : tensor<8x64xf64>) {
    ^bb0(%in: f64, %in_27: f64, %out: f64):
      %64 = arith.mulf %in, %in_27 : f64
      linalg.yield %64 : f64
    } -> tensor<8x64xf64>
    %3 = tensor.empty() : tensor<8x1xf64>
    %4 = linalg.fill ins(%cst : f64) outs(%3 : tensor<8x1xf64>) -> tensor<8x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<8x64xf64>) outs(%4 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %64 = arith.addf %in, %out : f64
      linalg.yield %64 : f64
    } -> tensor<8x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<8x1xf64>) outs(%3 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %64 = arith.divf %in, %cst_4 : f64
      linalg.yield %64 : f64
    } -> tensor<8x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x1xf64>) outs(%3 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %64 = arith.addf %in, %cst_3 : f64
      linalg.yield %64 : f64
    } -> tensor<8x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<8x1xf64>) outs(%3 : tensor<8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %64 = math.rsqrt %in : f64
      linalg.yield %64 : f64
    } -> tensor<8x1xf64>
    %9 = tensor.empty() : tensor<8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<8x1xf64>) outs(%9 : tensor<8x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %64 = arith.truncf %in : f64 to f32
      linalg.yield %64 : f32
    } -> tensor<8x1xf32>
    %extracted_slice = tensor.extract_slice %arg1[0, 0] [64, 4] [1, 1] : tensor<64x24xf32> to tensor<64x4xf32>
    %11 = tensor.empty() : tensor<8x4xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%11 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %13 = linalg.matmul ins(%collapsed, %extracted_slice : tensor<8x64xf32>, tensor<64x4xf32>) outs(%12 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %10 : tensor<8x4xf32>, tensor<8x1xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_6 = tensor.extract_slice %arg1[0, 4] [64, 4] [1, 1] : tensor<64x24xf32> to tensor<64x4xf32>
    %15 = linalg.matmul ins(%collapsed, %extracted_slice_6 : tensor<8x64xf32>, tensor<64x4xf32>) outs(%12 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%15, %10 : tensor<8x4xf32>, tensor<8x1xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_7 = tensor.extract_slice %arg1[0, 8] [64, 16] [1, 1] : tensor<64x24xf32> to tensor<64x16xf32>
    %17 = tensor.empty() : tensor<8x16xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %19 = linalg.matmul ins(%collapsed, %extracted_slice_7 : tensor<8x64xf32>, tensor<64x16xf32>) outs(%18 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %10 : tensor<8x16xf32>, tensor<8x1xf32>) outs(%17 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x16xf32>
    %concat = tensor.concat dim(1) %14, %16, %20 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<8x24xf32>
    %extracted_slice_8 = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_10 = tensor.extract_slice %concat[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_9, %extracted_slice_10 : tensor<f32>, tensor<8x4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %extracted_slice_11 : tensor<8x4xf32>, tensor<4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.addf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_12 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_12 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_14 = tensor.extract_slice %concat[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_13, %extracted_slice_14 : tensor<f32>, tensor<8x4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_15 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %extracted_slice_15 : tensor<8x4xf32>, tensor<4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.addf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_16 = tensor.extract_slice %concat[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %extracted_slice_17 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_18 = tensor.collapse_shape %extracted_slice_17 [] : tensor<1xf32> into tensor<f32>
    %25 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_18, %extracted_slice_16 : tensor<f32>, tensor<8x16xf32>) outs(%17 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_19 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %extracted_slice_19 : tensor<8x16xf32>, tensor<16xf32>) outs(%17 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.addf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x16xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<8x4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.negf %in : f32
      %65 = math.exp %64 : f32
      %66 = arith.addf %65, %cst_1 : f32
      %67 = arith.divf %cst_1, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<8x4xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<8x4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.negf %in : f32
      %65 = math.exp %64 : f32
      %66 = arith.addf %65, %cst_1 : f32
      %67 = arith.divf %cst_1, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<8x4xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<8x4xf32>) outs(%11 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.mulf %in, %cst_5 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %expanded = tensor.expand_shape %26 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %30 = tensor.empty() : tensor<8x4x4xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x4x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %32 = tensor.empty() : tensor<8x4x1xf32>
    %33 = linalg.fill ins(%cst_0 : f32) outs(%32 : tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%31 : tensor<8x4x4xf32>) outs(%33 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.absf %in : f32
      %65 = math.powf %64, %cst_1 : f32
      %66 = arith.addf %65, %out : f32
      linalg.yield %66 : f32
    } -> tensor<8x4x1xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<8x4x1xf32>) outs(%32 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.powf %in, %cst_1 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x1xf32>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<8x4x1xf32>) outs(%32 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_2 : f64 to f32
      %65 = arith.cmpf ult, %in, %64 : f32
      %66 = arith.select %65, %64, %in : f32
      linalg.yield %66 : f32
    } -> tensor<8x4x1xf32>
    %collapsed_20 = tensor.collapse_shape %36 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
    %37 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_20 : tensor<8x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %37 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.divf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %39 = tensor.empty() : tensor<8x1x4xf32>
    %40 = linalg.fill ins(%cst_0 : f32) outs(%39 : tensor<8x1x4xf32>) -> tensor<8x1x4xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "reduction", "parallel"]} ins(%38 : tensor<8x4x4xf32>) outs(%40 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.absf %in : f32
      %65 = math.powf %64, %cst_1 : f32
      %66 = arith.addf %65, %out : f32
      linalg.yield %66 : f32
    } -> tensor<8x1x4xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<8x1x4xf32>) outs(%39 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.powf %in, %cst_1 : f32
      linalg.yield %64 : f32
    } -> tensor<8x1x4xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<8x1x4xf32>) outs(%39 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_2 : f64 to f32
      %65 = arith.cmpf ult, %in, %64 : f32
      %66 = arith.select %65, %64, %in : f32
      linalg.yield %66 : f32
    } -> tensor<8x1x4xf32>
    %collapsed_21 = tensor.collapse_shape %43 [[0, 1], [2]] : tensor<8x1x4xf32> into tensor<8x4xf32>
    %44 = linalg.generic {indexing_maps = [#map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_21 : tensor<8x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38, %44 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.divf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%45 : tensor<8x4x4xf32>) outs(%33 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.absf %in : f32
      %65 = math.powf %64, %cst_1 : f32
      %66 = arith.addf %65, %out : f32
      linalg.yield %66 : f32
    } -> tensor<8x4x1xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<8x4x1xf32>) outs(%32 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.powf %in, %cst_1 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x1xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<8x4x1xf32>) outs(%32 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_2 : f64 to f32
      %65 = arith.cmpf ult, %in, %64 : f32
      %66 = arith.select %65, %64, %in : f32
      linalg.yield %66 : f32
    } -> tensor<8x4x1xf32>
    %collapsed_22 = tensor.collapse_shape %48 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
    %49 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_22 : tensor<8x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %49 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.divf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "reduction", "parallel"]} ins(%50 : tensor<8x4x4xf32>) outs(%40 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.absf %in : f32
      %65 = math.powf %64, %cst_1 : f32
      %66 = arith.addf %65, %out : f32
      linalg.yield %66 : f32
    } -> tensor<8x1x4xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<8x1x4xf32>) outs(%39 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.powf %in, %cst_1 : f32
      linalg.yield %64 : f32
    } -> tensor<8x1x4xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<8x1x4xf32>) outs(%39 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.truncf %cst_2 : f64 to f32
      %65 = arith.cmpf ult, %in, %64 : f32
      %66 = arith.select %65, %64, %in : f32
      linalg.yield %66 : f32
    } -> tensor<8x1x4xf32>
    %collapsed_23 = tensor.collapse_shape %53 [[0, 1], [2]] : tensor<8x1x4xf32> into tensor<8x4xf32>
    %54 = linalg.generic {indexing_maps = [#map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_23 : tensor<8x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50, %54 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%30 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.divf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %expanded_24 = tensor.expand_shape %27 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %56 = tensor.empty() : tensor<8x1x16xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %58 = linalg.batch_matmul ins(%expanded_24, %arg0 : tensor<8x1x4xf32>, tensor<8x4x16xf32>) outs(%57 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %collapsed_25 = tensor.collapse_shape %58 [[0, 1], [2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
    %59 = tensor.empty() : tensor<8x4x16xf32>
    %60 = linalg.fill ins(%cst_0 : f32) outs(%59 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %61 = linalg.batch_matmul ins(%55, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%60 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %expanded_26 = tensor.expand_shape %29 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %62 = linalg.generic {indexing_maps = [#map5, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_26, %58 : tensor<8x4x1xf32>, tensor<8x1x16xf32>) outs(%59 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.mulf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x16xf32>
    %63 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %62 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%59 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %64 = arith.addf %in, %in_27 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x16xf32>
    return %collapsed_25, %63 : tensor<8x16xf32>, tensor<8x4x16xf32>
  }
}
