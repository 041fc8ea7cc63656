// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s
// RUN: mhcc %s --verify

// As torch-mlir leaves a sublayer with static sizes: Sinkhorn unrolled, einsum as a batched product between transposes.
// CHECK: func.func @main
// CHECK-NEXT: mhc.pre({{.*}}norm_eps = 1.0e-06, {{.*}}iters = 20
// CHECK-NEXT: mhc.post(
// CHECK-NEXT: return

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
module {
  func.func @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x16xf32>, tensor<8x4x16xf32>) {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 6.400000e+01 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %159 : f32
    } -> tensor<8x64xf32>
    %2 = tensor.empty() : tensor<8x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8x1xf32>) outs(%2 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.divf %in, %cst_2 : f32
      linalg.yield %159 : f32
    } -> tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<8x1xf32>) outs(%2 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x1xf32>) outs(%2 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = math.rsqrt %in : f32
      linalg.yield %159 : f32
    } -> tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %7 : tensor<8x64xf32>, tensor<8x1xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.mulf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x64xf32>
    %9 = tensor.empty() : tensor<8x24xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %11 = linalg.matmul ins(%8, %arg1 : tensor<8x64xf32>, tensor<64x24xf32>) outs(%10 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_4 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_5 = tensor.extract_slice %11[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %12 = tensor.empty() : tensor<8x4xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_4, %extracted_slice_5 : tensor<f32>, tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.mulf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_6 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %extracted_slice_6 : tensor<8x4xf32>, tensor<4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.addf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.negf %in : f32
      %160 = math.exp %159 : f32
      %161 = arith.addf %160, %cst_0 : f32
      %162 = arith.divf %cst_0, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_7 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice_7 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %11[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_8, %extracted_slice_9 : tensor<f32>, tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.mulf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %extracted_slice_10 : tensor<8x4xf32>, tensor<4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.addf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.negf %in : f32
      %160 = math.exp %159 : f32
      %161 = arith.addf %160, %cst_0 : f32
      %162 = arith.divf %cst_0, %161 : f32
      linalg.yield %162 : f32
    } -> tensor<8x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<8x4xf32>) outs(%12 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.mulf %in, %cst_3 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_13 = tensor.extract_slice %11[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %20 = tensor.empty() : tensor<8x16xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12, %extracted_slice_13 : tensor<f32>, tensor<8x16xf32>) outs(%20 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.mulf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_14 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %extracted_slice_14 : tensor<8x16xf32>, tensor<16xf32>) outs(%20 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.addf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x16xf32>
    %expanded = tensor.expand_shape %22 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %23 = tensor.empty() : tensor<8x4x4xf32>
    %24 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x4x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = math.exp %in : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %25 = tensor.empty() : tensor<8x4x1xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %27 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%24 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %28 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %30 = tensor.empty() : tensor<8x1x4xf32>
    %31 = linalg.fill ins(%cst : f32) outs(%30 : tensor<8x1x4xf32>) -> tensor<8x1x4xf32>
    %32 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%29 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %33 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%34 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %36 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%37 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %39 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %39 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%40 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %42 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%43 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %45 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%46 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %48 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%49 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49, %51 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%52 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52, %54 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %56 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%55 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %57 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %58 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55, %57 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %59 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%58 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %60 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %62 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%61 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %63 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %63 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%64 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %66 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %68 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%67 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %69 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %72 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%73 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73, %75 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%76 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %78 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %79 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76, %78 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%79 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %81 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %81 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %83 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%82 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %84 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %85 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %84 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%85 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %87 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %88 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %87 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %89 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%88 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %90 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %91 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %90 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %92 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%91 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %93 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %94 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %93 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %95 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%94 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %96 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %97 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %96 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %98 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%97 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %99 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %100 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %99 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %101 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%100 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %102 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %103 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %102 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %104 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%103 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %105 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %106 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %105 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %107 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%106 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %108 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %109 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %108 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %110 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%109 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %111 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %112 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %111 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %113 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%112 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %114 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %115 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %114 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %116 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%115 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %117 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %118 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %117 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %119 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%118 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %120 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %121 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118, %120 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %122 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%121 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %123 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %124 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %123 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %125 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%124 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %126 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %127 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %126 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %128 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%127 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %129 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %130 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %129 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %131 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%130 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %132 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %133 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %132 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %134 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%133 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %135 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %136 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133, %135 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %137 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%136 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %138 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %139 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136, %138 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %140 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%139 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %141 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %142 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139, %141 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %143 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%142 : tensor<8x4x4xf32>) outs(%26 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x1xf32>
    %144 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<8x4x1xf32>) outs(%25 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x4x1xf32>
    %145 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142, %144 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %146 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "reduction", "parallel"]} ins(%145 : tensor<8x4x4xf32>) outs(%31 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.addf %in, %out : f32
      linalg.yield %159 : f32
    } -> tensor<8x1x4xf32>
    %147 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146 : tensor<8x1x4xf32>) outs(%30 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %159 = arith.truncf %cst_1 : f64 to f32
      %160 = arith.addf %in, %159 : f32
      linalg.yield %160 : f32
    } -> tensor<8x1x4xf32>
    %148 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %147 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%23 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.divf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x4xf32>
    %expanded_15 = tensor.expand_shape %15 [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
    %149 = tensor.empty() : tensor<8x1x16xf32>
    %150 = linalg.fill ins(%cst : f32) outs(%149 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %151 = linalg.batch_matmul ins(%expanded_15, %arg0 : tensor<8x1x4xf32>, tensor<8x4x16xf32>) outs(%150 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
    %152 = tensor.empty() : tensor<8x16x1xf32>
    %transposed = linalg.transpose ins(%151 : tensor<8x1x16xf32>) outs(%152 : tensor<8x16x1xf32>) permutation = [0, 2, 1] 
    %collapsed_16 = tensor.collapse_shape %transposed [[0], [1, 2]] : tensor<8x16x1xf32> into tensor<8x16xf32>
    %153 = tensor.empty() : tensor<8x4x16xf32>
    %154 = linalg.fill ins(%cst : f32) outs(%153 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %155 = linalg.batch_matmul ins(%148, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%154 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %expanded_17 = tensor.expand_shape %155 [[0], [1], [2, 3]] output_shape [8, 4, 1, 16] : tensor<8x4x16xf32> into tensor<8x4x1x16xf32>
    %156 = tensor.empty() : tensor<8x4x16x1xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<8x4x1x16xf32>) outs(%156 : tensor<8x4x16x1xf32>) permutation = [0, 1, 3, 2] 
    %collapsed_19 = tensor.collapse_shape %transposed_18 [[0], [1], [2, 3]] : tensor<8x4x16x1xf32> into tensor<8x4x16xf32>
    %expanded_20 = tensor.expand_shape %19 [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
    %expanded_21 = tensor.expand_shape %collapsed_16 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
    %157 = linalg.generic {indexing_maps = [#map5, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_20, %expanded_21 : tensor<8x4x1xf32>, tensor<8x1x16xf32>) outs(%153 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.mulf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x16xf32>
    %158 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_19, %157 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%153 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %159 = arith.addf %in, %in_22 : f32
      linalg.yield %159 : f32
    } -> tensor<8x4x16xf32>
    return %collapsed_16, %158 : tensor<8x16xf32>, tensor<8x4x16xf32>
  }
}
