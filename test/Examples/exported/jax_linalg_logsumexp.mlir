// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// JAX's log-sum-exp: columns in another order of the loops, a selection where the maximum is not finite, the logarithm
// of a magnitude.
// CHECK: func.func public @main
// CHECK-NOT: linalg
// CHECK: mhc.pre(
// CHECK: mhc.post(
// CHECK-NEXT: return
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map8 = affine_map<(d0, d1, d2) -> ()>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map12 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
module @jit_lse attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<8x4x16xf32> {jax.result_info = "result[1]"}) {
    %cst = arith.constant 0x7F800000 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_4 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_6 = arith.constant dense<6.400000e+01> : tensor<f32>
    %cst_7 = arith.constant dense<0.000000e+00> : tensor<f32>
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %collapsed : tensor<8x64xf32>, tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x64xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst_1 : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8xf32>
    %5 = tensor.empty() : tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %7 = tensor.empty() : tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%7 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %9 = tensor.empty() : tensor<8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %8 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%9 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.divf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1xf32>
    %11 = tensor.empty() : tensor<8x1xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%11 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %13 = tensor.empty() : tensor<8x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%10, %12 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%13 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1xf32>
    %15 = tensor.empty() : tensor<8x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x1xf32>) outs(%15 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.rsqrt %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1xf32>
    %17 = tensor.empty() : tensor<8x64xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<8x1xf32>) outs(%17 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x64xf32>
    %19 = tensor.empty() : tensor<8x64xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %18 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%19 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x64xf32>
    %21 = tensor.empty() : tensor<8x24xf32>
    %22 = linalg.fill ins(%cst_1 : f32) outs(%21 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %23 = linalg.matmul ins(%20, %arg1 : tensor<8x64xf32>, tensor<64x24xf32>) outs(%22 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %23[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %24 = tensor.empty() : tensor<8x4xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_8 : tensor<f32>) outs(%24 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %26 = tensor.empty() : tensor<8x4xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %extracted_slice_9 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%26 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %28 = tensor.empty() : tensor<1x4xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_10 : tensor<4xf32>) outs(%28 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %30 = tensor.empty() : tensor<8x4xf32>
    %31 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<1x4xf32>) outs(%30 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %32 = tensor.empty() : tensor<8x4xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %31 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%32 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %34 = tensor.empty() : tensor<8x4xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<8x4xf32>) outs(%34 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.negf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %36 = tensor.empty() : tensor<8x4xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<8x4xf32>) outs(%36 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %38 = tensor.empty() : tensor<8x4xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%38 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %40 = tensor.empty() : tensor<8x4xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%39, %37 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%40 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %42 = tensor.empty() : tensor<8x4xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%42 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %44 = tensor.empty() : tensor<8x4xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%43, %41 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%44 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.divf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_13 = tensor.extract_slice %23[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %46 = tensor.empty() : tensor<8x4xf32>
    %47 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12 : tensor<f32>) outs(%46 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %48 = tensor.empty() : tensor<8x4xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%47, %extracted_slice_13 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%48 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_14 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %50 = tensor.empty() : tensor<1x4xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_14 : tensor<4xf32>) outs(%50 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %52 = tensor.empty() : tensor<8x4xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<1x4xf32>) outs(%52 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %54 = tensor.empty() : tensor<8x4xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%49, %53 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%54 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %56 = tensor.empty() : tensor<8x4xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%55 : tensor<8x4xf32>) outs(%56 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.negf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %58 = tensor.empty() : tensor<8x4xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<8x4xf32>) outs(%58 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %60 = tensor.empty() : tensor<8x4xf32>
    %61 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%60 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %62 = tensor.empty() : tensor<8x4xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%61, %59 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%62 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %64 = tensor.empty() : tensor<8x4xf32>
    %65 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%64 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %66 = tensor.empty() : tensor<8x4xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%65, %63 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%66 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.divf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %68 = tensor.empty() : tensor<8x4xf32>
    %69 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%68 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %70 = tensor.empty() : tensor<8x4xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%69, %67 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%70 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_15 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_16 = tensor.collapse_shape %extracted_slice_15 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_17 = tensor.extract_slice %23[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %72 = tensor.empty() : tensor<8x16xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_16 : tensor<f32>) outs(%72 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %74 = tensor.empty() : tensor<8x16xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%73, %extracted_slice_17 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%74 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_18 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %76 = tensor.empty() : tensor<1x16xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18 : tensor<16xf32>) outs(%76 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %78 = tensor.empty() : tensor<8x16xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%77 : tensor<1x16xf32>) outs(%78 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %80 = tensor.empty() : tensor<8x16xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%75, %79 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%80 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x16xf32>
    %expanded = tensor.expand_shape %81 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %82 = tensor.empty() : tensor<8x4xf32>
    %83 = linalg.fill ins(%cst_0 : f32) outs(%82 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %84 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded : tensor<8x4x4xf32>) outs(%83 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %85 = tensor.empty() : tensor<8x4xf32>
    %86 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%85 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %87 = tensor.empty() : tensor<8x4xf32>
    %88 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%86, %84 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%87 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %89 = tensor.empty() : tensor<8x4x1xf32>
    %90 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<8x4xf32>) outs(%89 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %91 = tensor.empty() : tensor<8x4x1xi1>
    %92 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90 : tensor<8x4x1xf32>) outs(%91 : tensor<8x4x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x4x1xi1>
    %93 = tensor.empty() : tensor<8x4x1xf32>
    %94 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%93 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %95 = tensor.empty() : tensor<8x4x1xf32>
    %96 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %90, %94 : tensor<8x4x1xi1>, tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%95 : tensor<8x4x1xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %97 = tensor.empty() : tensor<8x4x4xf32>
    %98 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<8x4x1xf32>) outs(%97 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %99 = tensor.empty() : tensor<8x4x4xf32>
    %100 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %98 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%99 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %101 = tensor.empty() : tensor<8x4x4xf32>
    %102 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<8x4x4xf32>) outs(%101 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %103 = tensor.empty() : tensor<8x4xf32>
    %104 = linalg.fill ins(%cst_1 : f32) outs(%103 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %105 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%102 : tensor<8x4x4xf32>) outs(%104 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %106 = tensor.empty() : tensor<8x4x1xf32>
    %107 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<8x4xf32>) outs(%106 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %108 = tensor.empty() : tensor<8x4x1xf32>
    %109 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<8x4x1xf32>) outs(%108 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %110 = tensor.empty() : tensor<8x4x1xf32>
    %111 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<8x4x1xf32>) outs(%110 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %112 = tensor.empty() : tensor<8x4x1xf32>
    %113 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %96 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%112 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %114 = tensor.empty() : tensor<8x4x4xf32>
    %115 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113 : tensor<8x4x1xf32>) outs(%114 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %116 = tensor.empty() : tensor<8x4x4xf32>
    %117 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %115 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%116 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %118 = tensor.empty() : tensor<8x4xf32>
    %119 = linalg.fill ins(%cst_0 : f32) outs(%118 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %120 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%117 : tensor<8x4x4xf32>) outs(%119 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %121 = tensor.empty() : tensor<8x4xf32>
    %122 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%121 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %123 = tensor.empty() : tensor<8x4xf32>
    %124 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%122, %120 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%123 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %125 = tensor.empty() : tensor<8x1x4xf32>
    %126 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<8x4xf32>) outs(%125 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %127 = tensor.empty() : tensor<8x1x4xi1>
    %128 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<8x1x4xf32>) outs(%127 : tensor<8x1x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x1x4xi1>
    %129 = tensor.empty() : tensor<8x1x4xf32>
    %130 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%129 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %131 = tensor.empty() : tensor<8x1x4xf32>
    %132 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %126, %130 : tensor<8x1x4xi1>, tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%131 : tensor<8x1x4xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %133 = tensor.empty() : tensor<8x4x4xf32>
    %134 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132 : tensor<8x1x4xf32>) outs(%133 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %135 = tensor.empty() : tensor<8x4x4xf32>
    %136 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117, %134 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%135 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %137 = tensor.empty() : tensor<8x4x4xf32>
    %138 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<8x4x4xf32>) outs(%137 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %139 = tensor.empty() : tensor<8x4xf32>
    %140 = linalg.fill ins(%cst_1 : f32) outs(%139 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %141 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%138 : tensor<8x4x4xf32>) outs(%140 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %142 = tensor.empty() : tensor<8x1x4xf32>
    %143 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<8x4xf32>) outs(%142 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %144 = tensor.empty() : tensor<8x1x4xf32>
    %145 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<8x1x4xf32>) outs(%144 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %146 = tensor.empty() : tensor<8x1x4xf32>
    %147 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145 : tensor<8x1x4xf32>) outs(%146 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %148 = tensor.empty() : tensor<8x1x4xf32>
    %149 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147, %132 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%148 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %150 = tensor.empty() : tensor<8x4x4xf32>
    %151 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149 : tensor<8x1x4xf32>) outs(%150 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %152 = tensor.empty() : tensor<8x4x4xf32>
    %153 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%117, %151 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%152 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %154 = tensor.empty() : tensor<8x4xf32>
    %155 = linalg.fill ins(%cst_0 : f32) outs(%154 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %156 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%153 : tensor<8x4x4xf32>) outs(%155 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %157 = tensor.empty() : tensor<8x4xf32>
    %158 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%157 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %159 = tensor.empty() : tensor<8x4xf32>
    %160 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%158, %156 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%159 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %161 = tensor.empty() : tensor<8x4x1xf32>
    %162 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160 : tensor<8x4xf32>) outs(%161 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %163 = tensor.empty() : tensor<8x4x1xi1>
    %164 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162 : tensor<8x4x1xf32>) outs(%163 : tensor<8x4x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x4x1xi1>
    %165 = tensor.empty() : tensor<8x4x1xf32>
    %166 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%165 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %167 = tensor.empty() : tensor<8x4x1xf32>
    %168 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164, %162, %166 : tensor<8x4x1xi1>, tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%167 : tensor<8x4x1xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %169 = tensor.empty() : tensor<8x4x4xf32>
    %170 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168 : tensor<8x4x1xf32>) outs(%169 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %171 = tensor.empty() : tensor<8x4x4xf32>
    %172 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %170 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%171 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %173 = tensor.empty() : tensor<8x4x4xf32>
    %174 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172 : tensor<8x4x4xf32>) outs(%173 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %175 = tensor.empty() : tensor<8x4xf32>
    %176 = linalg.fill ins(%cst_1 : f32) outs(%175 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %177 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%174 : tensor<8x4x4xf32>) outs(%176 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %178 = tensor.empty() : tensor<8x4x1xf32>
    %179 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<8x4xf32>) outs(%178 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %180 = tensor.empty() : tensor<8x4x1xf32>
    %181 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179 : tensor<8x4x1xf32>) outs(%180 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %182 = tensor.empty() : tensor<8x4x1xf32>
    %183 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<8x4x1xf32>) outs(%182 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %184 = tensor.empty() : tensor<8x4x1xf32>
    %185 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183, %168 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%184 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %186 = tensor.empty() : tensor<8x4x4xf32>
    %187 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185 : tensor<8x4x1xf32>) outs(%186 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %188 = tensor.empty() : tensor<8x4x4xf32>
    %189 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %187 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%188 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %190 = tensor.empty() : tensor<8x4xf32>
    %191 = linalg.fill ins(%cst_0 : f32) outs(%190 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %192 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%189 : tensor<8x4x4xf32>) outs(%191 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %193 = tensor.empty() : tensor<8x4xf32>
    %194 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%193 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %195 = tensor.empty() : tensor<8x4xf32>
    %196 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%194, %192 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%195 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %197 = tensor.empty() : tensor<8x1x4xf32>
    %198 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196 : tensor<8x4xf32>) outs(%197 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %199 = tensor.empty() : tensor<8x1x4xi1>
    %200 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<8x1x4xf32>) outs(%199 : tensor<8x1x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x1x4xi1>
    %201 = tensor.empty() : tensor<8x1x4xf32>
    %202 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%201 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %203 = tensor.empty() : tensor<8x1x4xf32>
    %204 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %198, %202 : tensor<8x1x4xi1>, tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%203 : tensor<8x1x4xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %205 = tensor.empty() : tensor<8x4x4xf32>
    %206 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%204 : tensor<8x1x4xf32>) outs(%205 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %207 = tensor.empty() : tensor<8x4x4xf32>
    %208 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%189, %206 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%207 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %209 = tensor.empty() : tensor<8x4x4xf32>
    %210 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<8x4x4xf32>) outs(%209 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %211 = tensor.empty() : tensor<8x4xf32>
    %212 = linalg.fill ins(%cst_1 : f32) outs(%211 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %213 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%210 : tensor<8x4x4xf32>) outs(%212 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %214 = tensor.empty() : tensor<8x1x4xf32>
    %215 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213 : tensor<8x4xf32>) outs(%214 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %216 = tensor.empty() : tensor<8x1x4xf32>
    %217 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%215 : tensor<8x1x4xf32>) outs(%216 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %218 = tensor.empty() : tensor<8x1x4xf32>
    %219 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%217 : tensor<8x1x4xf32>) outs(%218 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %220 = tensor.empty() : tensor<8x1x4xf32>
    %221 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%219, %204 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%220 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %222 = tensor.empty() : tensor<8x4x4xf32>
    %223 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221 : tensor<8x1x4xf32>) outs(%222 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %224 = tensor.empty() : tensor<8x4x4xf32>
    %225 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%189, %223 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%224 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %226 = tensor.empty() : tensor<8x4xf32>
    %227 = linalg.fill ins(%cst_0 : f32) outs(%226 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %228 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%225 : tensor<8x4x4xf32>) outs(%227 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %229 = tensor.empty() : tensor<8x4xf32>
    %230 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%229 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %231 = tensor.empty() : tensor<8x4xf32>
    %232 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%230, %228 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%231 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %233 = tensor.empty() : tensor<8x4x1xf32>
    %234 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232 : tensor<8x4xf32>) outs(%233 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %235 = tensor.empty() : tensor<8x4x1xi1>
    %236 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%234 : tensor<8x4x1xf32>) outs(%235 : tensor<8x4x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x4x1xi1>
    %237 = tensor.empty() : tensor<8x4x1xf32>
    %238 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%237 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %239 = tensor.empty() : tensor<8x4x1xf32>
    %240 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %234, %238 : tensor<8x4x1xi1>, tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%239 : tensor<8x4x1xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %241 = tensor.empty() : tensor<8x4x4xf32>
    %242 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%240 : tensor<8x4x1xf32>) outs(%241 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %243 = tensor.empty() : tensor<8x4x4xf32>
    %244 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %242 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%243 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %245 = tensor.empty() : tensor<8x4x4xf32>
    %246 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%244 : tensor<8x4x4xf32>) outs(%245 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %247 = tensor.empty() : tensor<8x4xf32>
    %248 = linalg.fill ins(%cst_1 : f32) outs(%247 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %249 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%246 : tensor<8x4x4xf32>) outs(%248 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %250 = tensor.empty() : tensor<8x4x1xf32>
    %251 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%249 : tensor<8x4xf32>) outs(%250 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %252 = tensor.empty() : tensor<8x4x1xf32>
    %253 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%251 : tensor<8x4x1xf32>) outs(%252 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %254 = tensor.empty() : tensor<8x4x1xf32>
    %255 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%253 : tensor<8x4x1xf32>) outs(%254 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %256 = tensor.empty() : tensor<8x4x1xf32>
    %257 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%255, %240 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%256 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x1xf32>
    %258 = tensor.empty() : tensor<8x4x4xf32>
    %259 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257 : tensor<8x4x1xf32>) outs(%258 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %260 = tensor.empty() : tensor<8x4x4xf32>
    %261 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %259 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%260 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %262 = tensor.empty() : tensor<8x4xf32>
    %263 = linalg.fill ins(%cst_0 : f32) outs(%262 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %264 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%261 : tensor<8x4x4xf32>) outs(%263 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.maximumf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %265 = tensor.empty() : tensor<8x4xf32>
    %266 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%265 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %267 = tensor.empty() : tensor<8x4xf32>
    %268 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%266, %264 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%267 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.maximumf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %269 = tensor.empty() : tensor<8x1x4xf32>
    %270 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%268 : tensor<8x4xf32>) outs(%269 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %271 = tensor.empty() : tensor<8x1x4xi1>
    %272 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270 : tensor<8x1x4xf32>) outs(%271 : tensor<8x1x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %318 = math.absf %in : f32
      %319 = arith.cmpf one, %318, %cst : f32
      linalg.yield %319 : i1
    } -> tensor<8x1x4xi1>
    %273 = tensor.empty() : tensor<8x1x4xf32>
    %274 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%273 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %275 = tensor.empty() : tensor<8x1x4xf32>
    %276 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%272, %270, %274 : tensor<8x1x4xi1>, tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%275 : tensor<8x1x4xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %318 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %277 = tensor.empty() : tensor<8x4x4xf32>
    %278 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%276 : tensor<8x1x4xf32>) outs(%277 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %279 = tensor.empty() : tensor<8x4x4xf32>
    %280 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261, %278 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%279 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %281 = tensor.empty() : tensor<8x4x4xf32>
    %282 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%280 : tensor<8x4x4xf32>) outs(%281 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %283 = tensor.empty() : tensor<8x4xf32>
    %284 = linalg.fill ins(%cst_1 : f32) outs(%283 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %285 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%282 : tensor<8x4x4xf32>) outs(%284 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = arith.addf %out, %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4xf32>
    %286 = tensor.empty() : tensor<8x1x4xf32>
    %287 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%285 : tensor<8x4xf32>) outs(%286 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %288 = tensor.empty() : tensor<8x1x4xf32>
    %289 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%287 : tensor<8x1x4xf32>) outs(%288 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.absf %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %290 = tensor.empty() : tensor<8x1x4xf32>
    %291 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289 : tensor<8x1x4xf32>) outs(%290 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.log %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %292 = tensor.empty() : tensor<8x1x4xf32>
    %293 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%291, %276 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%292 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x1x4xf32>
    %294 = tensor.empty() : tensor<8x4x4xf32>
    %295 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%293 : tensor<8x1x4xf32>) outs(%294 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %296 = tensor.empty() : tensor<8x4x4xf32>
    %297 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261, %295 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%296 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.subf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %298 = tensor.empty() : tensor<8x4x4xf32>
    %299 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%297 : tensor<8x4x4xf32>) outs(%298 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %318 = math.exp %in : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x4xf32>
    %300 = tensor.empty() : tensor<8x16xf32>
    %301 = linalg.fill ins(%cst_1 : f32) outs(%300 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %302 = linalg.generic {indexing_maps = [#map11, #map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%45, %arg0 : tensor<8x4xf32>, tensor<8x4x16xf32>) outs(%301 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      %319 = arith.addf %out, %318 : f32
      linalg.yield %319 : f32
    } -> tensor<8x16xf32>
    %303 = tensor.empty() : tensor<8x4x16xf32>
    %304 = linalg.fill ins(%cst_1 : f32) outs(%303 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %305 = linalg.batch_matmul ins(%299, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%304 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %306 = tensor.empty() : tensor<8x4x1xf32>
    %307 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x4xf32>) outs(%306 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %308 = tensor.empty() : tensor<8x1x16xf32>
    %309 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%302 : tensor<8x16xf32>) outs(%308 : tensor<8x1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x16xf32>
    %310 = tensor.empty() : tensor<8x4x16xf32>
    %311 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%307 : tensor<8x4x1xf32>) outs(%310 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %312 = tensor.empty() : tensor<8x4x16xf32>
    %313 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%309 : tensor<8x1x16xf32>) outs(%312 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %314 = tensor.empty() : tensor<8x4x16xf32>
    %315 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%311, %313 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%314 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.mulf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x16xf32>
    %316 = tensor.empty() : tensor<8x4x16xf32>
    %317 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%305, %315 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%316 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %318 = arith.addf %in, %in_19 : f32
      linalg.yield %318 : f32
    } -> tensor<8x4x16xf32>
    return %302, %317 : tensor<8x16xf32>, tensor<8x4x16xf32>
  }
}
