// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s
// RUN: mhcc %s --verify

// As torch-mlir's tool leaves JAX's StableHLO: each broadcast is an op of its own, constants are tensors of rank 0.
// CHECK: func.func public @main
// CHECK-NEXT: mhc.pre({{.*}}norm_eps = {{.*}}, {{.*}}iters = 20
// CHECK-NEXT: mhc.post(
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
module @jit_mhc attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<8x4x16xf32> {jax.result_info = "result[1]"}) {
    %cst = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_0 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_2 = arith.constant dense<6.400000e+01> : tensor<f32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %collapsed : tensor<8x64xf32>, tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x64xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst_3 : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8xf32>
    %5 = tensor.empty() : tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %7 = tensor.empty() : tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%7 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %9 = tensor.empty() : tensor<8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %8 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%9 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1xf32>
    %11 = tensor.empty() : tensor<8x1xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%11 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %13 = tensor.empty() : tensor<8x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%10, %12 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%13 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1xf32>
    %15 = tensor.empty() : tensor<8x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<8x1xf32>) outs(%15 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = math.rsqrt %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x1xf32>
    %17 = tensor.empty() : tensor<8x64xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<8x1xf32>) outs(%17 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x64xf32>
    %19 = tensor.empty() : tensor<8x64xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %18 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%19 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x64xf32>
    %21 = tensor.empty() : tensor<8x24xf32>
    %22 = linalg.fill ins(%cst_3 : f32) outs(%21 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %23 = linalg.matmul ins(%20, %arg1 : tensor<8x64xf32>, tensor<64x24xf32>) outs(%22 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_4 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_5 = tensor.extract_slice %23[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %24 = tensor.empty() : tensor<8x4xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_4 : tensor<f32>) outs(%24 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %26 = tensor.empty() : tensor<8x4xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %extracted_slice_5 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%26 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_6 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %28 = tensor.empty() : tensor<1x4xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_6 : tensor<4xf32>) outs(%28 : tensor<1x4xf32>) {
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
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %34 = tensor.empty() : tensor<8x4xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<8x4xf32>) outs(%34 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.negf %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %36 = tensor.empty() : tensor<8x4xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<8x4xf32>) outs(%36 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = math.exp %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %38 = tensor.empty() : tensor<8x4xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%38 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %40 = tensor.empty() : tensor<8x4xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%39, %37 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%40 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %42 = tensor.empty() : tensor<8x4xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%42 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %44 = tensor.empty() : tensor<8x4xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%43, %41 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%44 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_7 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice_7 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %23[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %46 = tensor.empty() : tensor<8x4xf32>
    %47 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_8 : tensor<f32>) outs(%46 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %48 = tensor.empty() : tensor<8x4xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%47, %extracted_slice_9 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%48 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %50 = tensor.empty() : tensor<1x4xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_10 : tensor<4xf32>) outs(%50 : tensor<1x4xf32>) {
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
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %56 = tensor.empty() : tensor<8x4xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%55 : tensor<8x4xf32>) outs(%56 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.negf %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %58 = tensor.empty() : tensor<8x4xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<8x4xf32>) outs(%58 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = math.exp %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %60 = tensor.empty() : tensor<8x4xf32>
    %61 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%60 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %62 = tensor.empty() : tensor<8x4xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%61, %59 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%62 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %64 = tensor.empty() : tensor<8x4xf32>
    %65 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%64 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %66 = tensor.empty() : tensor<8x4xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%65, %63 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%66 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %68 = tensor.empty() : tensor<8x4xf32>
    %69 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%68 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %70 = tensor.empty() : tensor<8x4xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%69, %67 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%70 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_13 = tensor.extract_slice %23[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %72 = tensor.empty() : tensor<8x16xf32>
    %73 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12 : tensor<f32>) outs(%72 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %74 = tensor.empty() : tensor<8x16xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%73, %extracted_slice_13 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%74 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_14 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %76 = tensor.empty() : tensor<1x16xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_14 : tensor<16xf32>) outs(%76 : tensor<1x16xf32>) {
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
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x16xf32>
    %expanded = tensor.expand_shape %81 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %82 = tensor.empty() : tensor<8x4x4xf32>
    %83 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x4x4xf32>) outs(%82 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = math.exp %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %84 = tensor.empty() : tensor<8x4xf32>
    %85 = linalg.fill ins(%cst_3 : f32) outs(%84 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %86 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%83 : tensor<8x4x4xf32>) outs(%85 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %87 = tensor.empty() : tensor<8x4x1xf32>
    %88 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86 : tensor<8x4xf32>) outs(%87 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %89 = tensor.empty() : tensor<8x4x1xf32>
    %90 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%89 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %91 = tensor.empty() : tensor<8x4x1xf32>
    %92 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %90 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%91 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %93 = tensor.empty() : tensor<8x4x4xf32>
    %94 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<8x4x1xf32>) outs(%93 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %95 = tensor.empty() : tensor<8x4x4xf32>
    %96 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %94 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%95 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %97 = tensor.empty() : tensor<8x4xf32>
    %98 = linalg.fill ins(%cst_3 : f32) outs(%97 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %99 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<8x4x4xf32>) outs(%98 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %100 = tensor.empty() : tensor<8x1x4xf32>
    %101 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<8x4xf32>) outs(%100 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %102 = tensor.empty() : tensor<8x1x4xf32>
    %103 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%102 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %104 = tensor.empty() : tensor<8x1x4xf32>
    %105 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %103 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%104 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %106 = tensor.empty() : tensor<8x4x4xf32>
    %107 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<8x1x4xf32>) outs(%106 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %108 = tensor.empty() : tensor<8x4x4xf32>
    %109 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %107 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%108 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %110 = tensor.empty() : tensor<8x4xf32>
    %111 = linalg.fill ins(%cst_3 : f32) outs(%110 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %112 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%109 : tensor<8x4x4xf32>) outs(%111 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %113 = tensor.empty() : tensor<8x4x1xf32>
    %114 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112 : tensor<8x4xf32>) outs(%113 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %115 = tensor.empty() : tensor<8x4x1xf32>
    %116 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%115 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %117 = tensor.empty() : tensor<8x4x1xf32>
    %118 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114, %116 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%117 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %119 = tensor.empty() : tensor<8x4x4xf32>
    %120 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x4x1xf32>) outs(%119 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %121 = tensor.empty() : tensor<8x4x4xf32>
    %122 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %120 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%121 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %123 = tensor.empty() : tensor<8x4xf32>
    %124 = linalg.fill ins(%cst_3 : f32) outs(%123 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %125 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%122 : tensor<8x4x4xf32>) outs(%124 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %126 = tensor.empty() : tensor<8x1x4xf32>
    %127 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<8x4xf32>) outs(%126 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %128 = tensor.empty() : tensor<8x1x4xf32>
    %129 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%128 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %130 = tensor.empty() : tensor<8x1x4xf32>
    %131 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %129 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%130 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %132 = tensor.empty() : tensor<8x4x4xf32>
    %133 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131 : tensor<8x1x4xf32>) outs(%132 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %134 = tensor.empty() : tensor<8x4x4xf32>
    %135 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122, %133 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%134 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %136 = tensor.empty() : tensor<8x4xf32>
    %137 = linalg.fill ins(%cst_3 : f32) outs(%136 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %138 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%135 : tensor<8x4x4xf32>) outs(%137 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %139 = tensor.empty() : tensor<8x4x1xf32>
    %140 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138 : tensor<8x4xf32>) outs(%139 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %141 = tensor.empty() : tensor<8x4x1xf32>
    %142 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%141 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %143 = tensor.empty() : tensor<8x4x1xf32>
    %144 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140, %142 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%143 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %145 = tensor.empty() : tensor<8x4x4xf32>
    %146 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<8x4x1xf32>) outs(%145 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %147 = tensor.empty() : tensor<8x4x4xf32>
    %148 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %146 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%147 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %149 = tensor.empty() : tensor<8x4xf32>
    %150 = linalg.fill ins(%cst_3 : f32) outs(%149 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %151 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%148 : tensor<8x4x4xf32>) outs(%150 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %152 = tensor.empty() : tensor<8x1x4xf32>
    %153 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<8x4xf32>) outs(%152 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %154 = tensor.empty() : tensor<8x1x4xf32>
    %155 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%154 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %156 = tensor.empty() : tensor<8x1x4xf32>
    %157 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153, %155 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%156 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %158 = tensor.empty() : tensor<8x4x4xf32>
    %159 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%157 : tensor<8x1x4xf32>) outs(%158 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %160 = tensor.empty() : tensor<8x4x4xf32>
    %161 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %159 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%160 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %162 = tensor.empty() : tensor<8x4xf32>
    %163 = linalg.fill ins(%cst_3 : f32) outs(%162 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %164 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%161 : tensor<8x4x4xf32>) outs(%163 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %165 = tensor.empty() : tensor<8x4x1xf32>
    %166 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%164 : tensor<8x4xf32>) outs(%165 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %167 = tensor.empty() : tensor<8x4x1xf32>
    %168 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%167 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %169 = tensor.empty() : tensor<8x4x1xf32>
    %170 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%166, %168 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%169 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %171 = tensor.empty() : tensor<8x4x4xf32>
    %172 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170 : tensor<8x4x1xf32>) outs(%171 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %173 = tensor.empty() : tensor<8x4x4xf32>
    %174 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161, %172 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%173 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %175 = tensor.empty() : tensor<8x4xf32>
    %176 = linalg.fill ins(%cst_3 : f32) outs(%175 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %177 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%174 : tensor<8x4x4xf32>) outs(%176 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %178 = tensor.empty() : tensor<8x1x4xf32>
    %179 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<8x4xf32>) outs(%178 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %180 = tensor.empty() : tensor<8x1x4xf32>
    %181 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%180 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %182 = tensor.empty() : tensor<8x1x4xf32>
    %183 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %181 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%182 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %184 = tensor.empty() : tensor<8x4x4xf32>
    %185 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%183 : tensor<8x1x4xf32>) outs(%184 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %186 = tensor.empty() : tensor<8x4x4xf32>
    %187 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%174, %185 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%186 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %188 = tensor.empty() : tensor<8x4xf32>
    %189 = linalg.fill ins(%cst_3 : f32) outs(%188 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %190 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%187 : tensor<8x4x4xf32>) outs(%189 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %191 = tensor.empty() : tensor<8x4x1xf32>
    %192 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190 : tensor<8x4xf32>) outs(%191 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %193 = tensor.empty() : tensor<8x4x1xf32>
    %194 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%193 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %195 = tensor.empty() : tensor<8x4x1xf32>
    %196 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %194 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%195 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %197 = tensor.empty() : tensor<8x4x4xf32>
    %198 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196 : tensor<8x4x1xf32>) outs(%197 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %199 = tensor.empty() : tensor<8x4x4xf32>
    %200 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%187, %198 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%199 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %201 = tensor.empty() : tensor<8x4xf32>
    %202 = linalg.fill ins(%cst_3 : f32) outs(%201 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %203 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%200 : tensor<8x4x4xf32>) outs(%202 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %204 = tensor.empty() : tensor<8x1x4xf32>
    %205 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203 : tensor<8x4xf32>) outs(%204 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %206 = tensor.empty() : tensor<8x1x4xf32>
    %207 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%206 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %208 = tensor.empty() : tensor<8x1x4xf32>
    %209 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205, %207 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%208 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %210 = tensor.empty() : tensor<8x4x4xf32>
    %211 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<8x1x4xf32>) outs(%210 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %212 = tensor.empty() : tensor<8x4x4xf32>
    %213 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%200, %211 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%212 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %214 = tensor.empty() : tensor<8x4xf32>
    %215 = linalg.fill ins(%cst_3 : f32) outs(%214 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %216 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%213 : tensor<8x4x4xf32>) outs(%215 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %217 = tensor.empty() : tensor<8x4x1xf32>
    %218 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216 : tensor<8x4xf32>) outs(%217 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %219 = tensor.empty() : tensor<8x4x1xf32>
    %220 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%219 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %221 = tensor.empty() : tensor<8x4x1xf32>
    %222 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218, %220 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%221 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %223 = tensor.empty() : tensor<8x4x4xf32>
    %224 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222 : tensor<8x4x1xf32>) outs(%223 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %225 = tensor.empty() : tensor<8x4x4xf32>
    %226 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %224 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%225 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %227 = tensor.empty() : tensor<8x4xf32>
    %228 = linalg.fill ins(%cst_3 : f32) outs(%227 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %229 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%226 : tensor<8x4x4xf32>) outs(%228 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %230 = tensor.empty() : tensor<8x1x4xf32>
    %231 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%229 : tensor<8x4xf32>) outs(%230 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %232 = tensor.empty() : tensor<8x1x4xf32>
    %233 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%232 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %234 = tensor.empty() : tensor<8x1x4xf32>
    %235 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %233 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%234 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %236 = tensor.empty() : tensor<8x4x4xf32>
    %237 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%235 : tensor<8x1x4xf32>) outs(%236 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %238 = tensor.empty() : tensor<8x4x4xf32>
    %239 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226, %237 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%238 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %240 = tensor.empty() : tensor<8x4xf32>
    %241 = linalg.fill ins(%cst_3 : f32) outs(%240 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %242 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%239 : tensor<8x4x4xf32>) outs(%241 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %243 = tensor.empty() : tensor<8x4x1xf32>
    %244 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%242 : tensor<8x4xf32>) outs(%243 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %245 = tensor.empty() : tensor<8x4x1xf32>
    %246 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%245 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %247 = tensor.empty() : tensor<8x4x1xf32>
    %248 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%244, %246 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%247 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %249 = tensor.empty() : tensor<8x4x4xf32>
    %250 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248 : tensor<8x4x1xf32>) outs(%249 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %251 = tensor.empty() : tensor<8x4x4xf32>
    %252 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%239, %250 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%251 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %253 = tensor.empty() : tensor<8x4xf32>
    %254 = linalg.fill ins(%cst_3 : f32) outs(%253 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %255 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%252 : tensor<8x4x4xf32>) outs(%254 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %256 = tensor.empty() : tensor<8x1x4xf32>
    %257 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%255 : tensor<8x4xf32>) outs(%256 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %258 = tensor.empty() : tensor<8x1x4xf32>
    %259 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%258 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %260 = tensor.empty() : tensor<8x1x4xf32>
    %261 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %259 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%260 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %262 = tensor.empty() : tensor<8x4x4xf32>
    %263 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261 : tensor<8x1x4xf32>) outs(%262 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %264 = tensor.empty() : tensor<8x4x4xf32>
    %265 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252, %263 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%264 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %266 = tensor.empty() : tensor<8x4xf32>
    %267 = linalg.fill ins(%cst_3 : f32) outs(%266 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %268 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%265 : tensor<8x4x4xf32>) outs(%267 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %269 = tensor.empty() : tensor<8x4x1xf32>
    %270 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%268 : tensor<8x4xf32>) outs(%269 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %271 = tensor.empty() : tensor<8x4x1xf32>
    %272 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%271 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %273 = tensor.empty() : tensor<8x4x1xf32>
    %274 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %272 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%273 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %275 = tensor.empty() : tensor<8x4x4xf32>
    %276 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%274 : tensor<8x4x1xf32>) outs(%275 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %277 = tensor.empty() : tensor<8x4x4xf32>
    %278 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%265, %276 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%277 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %279 = tensor.empty() : tensor<8x4xf32>
    %280 = linalg.fill ins(%cst_3 : f32) outs(%279 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %281 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%278 : tensor<8x4x4xf32>) outs(%280 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %282 = tensor.empty() : tensor<8x1x4xf32>
    %283 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%281 : tensor<8x4xf32>) outs(%282 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %284 = tensor.empty() : tensor<8x1x4xf32>
    %285 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%284 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %286 = tensor.empty() : tensor<8x1x4xf32>
    %287 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %285 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%286 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %288 = tensor.empty() : tensor<8x4x4xf32>
    %289 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%287 : tensor<8x1x4xf32>) outs(%288 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %290 = tensor.empty() : tensor<8x4x4xf32>
    %291 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%278, %289 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%290 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %292 = tensor.empty() : tensor<8x4xf32>
    %293 = linalg.fill ins(%cst_3 : f32) outs(%292 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %294 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%291 : tensor<8x4x4xf32>) outs(%293 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %295 = tensor.empty() : tensor<8x4x1xf32>
    %296 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%294 : tensor<8x4xf32>) outs(%295 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %297 = tensor.empty() : tensor<8x4x1xf32>
    %298 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%297 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %299 = tensor.empty() : tensor<8x4x1xf32>
    %300 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%296, %298 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%299 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %301 = tensor.empty() : tensor<8x4x4xf32>
    %302 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%300 : tensor<8x4x1xf32>) outs(%301 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %303 = tensor.empty() : tensor<8x4x4xf32>
    %304 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%291, %302 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%303 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %305 = tensor.empty() : tensor<8x4xf32>
    %306 = linalg.fill ins(%cst_3 : f32) outs(%305 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %307 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%304 : tensor<8x4x4xf32>) outs(%306 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %308 = tensor.empty() : tensor<8x1x4xf32>
    %309 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%307 : tensor<8x4xf32>) outs(%308 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %310 = tensor.empty() : tensor<8x1x4xf32>
    %311 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%310 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %312 = tensor.empty() : tensor<8x1x4xf32>
    %313 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%309, %311 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%312 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %314 = tensor.empty() : tensor<8x4x4xf32>
    %315 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%313 : tensor<8x1x4xf32>) outs(%314 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %316 = tensor.empty() : tensor<8x4x4xf32>
    %317 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%304, %315 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%316 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %318 = tensor.empty() : tensor<8x4xf32>
    %319 = linalg.fill ins(%cst_3 : f32) outs(%318 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %320 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%317 : tensor<8x4x4xf32>) outs(%319 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %321 = tensor.empty() : tensor<8x4x1xf32>
    %322 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%320 : tensor<8x4xf32>) outs(%321 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %323 = tensor.empty() : tensor<8x4x1xf32>
    %324 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%323 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %325 = tensor.empty() : tensor<8x4x1xf32>
    %326 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%322, %324 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%325 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %327 = tensor.empty() : tensor<8x4x4xf32>
    %328 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%326 : tensor<8x4x1xf32>) outs(%327 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %329 = tensor.empty() : tensor<8x4x4xf32>
    %330 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%317, %328 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%329 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %331 = tensor.empty() : tensor<8x4xf32>
    %332 = linalg.fill ins(%cst_3 : f32) outs(%331 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %333 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%330 : tensor<8x4x4xf32>) outs(%332 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %334 = tensor.empty() : tensor<8x1x4xf32>
    %335 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%333 : tensor<8x4xf32>) outs(%334 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %336 = tensor.empty() : tensor<8x1x4xf32>
    %337 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%336 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %338 = tensor.empty() : tensor<8x1x4xf32>
    %339 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%335, %337 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%338 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %340 = tensor.empty() : tensor<8x4x4xf32>
    %341 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%339 : tensor<8x1x4xf32>) outs(%340 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %342 = tensor.empty() : tensor<8x4x4xf32>
    %343 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%330, %341 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%342 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %344 = tensor.empty() : tensor<8x4xf32>
    %345 = linalg.fill ins(%cst_3 : f32) outs(%344 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %346 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%343 : tensor<8x4x4xf32>) outs(%345 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %347 = tensor.empty() : tensor<8x4x1xf32>
    %348 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%346 : tensor<8x4xf32>) outs(%347 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %349 = tensor.empty() : tensor<8x4x1xf32>
    %350 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%349 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %351 = tensor.empty() : tensor<8x4x1xf32>
    %352 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%348, %350 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%351 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %353 = tensor.empty() : tensor<8x4x4xf32>
    %354 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%352 : tensor<8x4x1xf32>) outs(%353 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %355 = tensor.empty() : tensor<8x4x4xf32>
    %356 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%343, %354 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%355 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %357 = tensor.empty() : tensor<8x4xf32>
    %358 = linalg.fill ins(%cst_3 : f32) outs(%357 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %359 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%356 : tensor<8x4x4xf32>) outs(%358 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %360 = tensor.empty() : tensor<8x1x4xf32>
    %361 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%359 : tensor<8x4xf32>) outs(%360 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %362 = tensor.empty() : tensor<8x1x4xf32>
    %363 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%362 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %364 = tensor.empty() : tensor<8x1x4xf32>
    %365 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%361, %363 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%364 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %366 = tensor.empty() : tensor<8x4x4xf32>
    %367 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%365 : tensor<8x1x4xf32>) outs(%366 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %368 = tensor.empty() : tensor<8x4x4xf32>
    %369 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%356, %367 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%368 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %370 = tensor.empty() : tensor<8x4xf32>
    %371 = linalg.fill ins(%cst_3 : f32) outs(%370 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %372 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%369 : tensor<8x4x4xf32>) outs(%371 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %373 = tensor.empty() : tensor<8x4x1xf32>
    %374 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%372 : tensor<8x4xf32>) outs(%373 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %375 = tensor.empty() : tensor<8x4x1xf32>
    %376 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%375 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %377 = tensor.empty() : tensor<8x4x1xf32>
    %378 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%374, %376 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%377 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %379 = tensor.empty() : tensor<8x4x4xf32>
    %380 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%378 : tensor<8x4x1xf32>) outs(%379 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %381 = tensor.empty() : tensor<8x4x4xf32>
    %382 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%369, %380 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%381 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %383 = tensor.empty() : tensor<8x4xf32>
    %384 = linalg.fill ins(%cst_3 : f32) outs(%383 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %385 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%382 : tensor<8x4x4xf32>) outs(%384 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %386 = tensor.empty() : tensor<8x1x4xf32>
    %387 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%385 : tensor<8x4xf32>) outs(%386 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %388 = tensor.empty() : tensor<8x1x4xf32>
    %389 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%388 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %390 = tensor.empty() : tensor<8x1x4xf32>
    %391 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%387, %389 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%390 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %392 = tensor.empty() : tensor<8x4x4xf32>
    %393 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%391 : tensor<8x1x4xf32>) outs(%392 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %394 = tensor.empty() : tensor<8x4x4xf32>
    %395 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%382, %393 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%394 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %396 = tensor.empty() : tensor<8x4xf32>
    %397 = linalg.fill ins(%cst_3 : f32) outs(%396 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %398 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%395 : tensor<8x4x4xf32>) outs(%397 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %399 = tensor.empty() : tensor<8x4x1xf32>
    %400 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%398 : tensor<8x4xf32>) outs(%399 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %401 = tensor.empty() : tensor<8x4x1xf32>
    %402 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%401 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %403 = tensor.empty() : tensor<8x4x1xf32>
    %404 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%400, %402 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%403 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %405 = tensor.empty() : tensor<8x4x4xf32>
    %406 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%404 : tensor<8x4x1xf32>) outs(%405 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %407 = tensor.empty() : tensor<8x4x4xf32>
    %408 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%395, %406 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%407 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %409 = tensor.empty() : tensor<8x4xf32>
    %410 = linalg.fill ins(%cst_3 : f32) outs(%409 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %411 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%408 : tensor<8x4x4xf32>) outs(%410 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %412 = tensor.empty() : tensor<8x1x4xf32>
    %413 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%411 : tensor<8x4xf32>) outs(%412 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %414 = tensor.empty() : tensor<8x1x4xf32>
    %415 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%414 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %416 = tensor.empty() : tensor<8x1x4xf32>
    %417 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%413, %415 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%416 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %418 = tensor.empty() : tensor<8x4x4xf32>
    %419 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%417 : tensor<8x1x4xf32>) outs(%418 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %420 = tensor.empty() : tensor<8x4x4xf32>
    %421 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%408, %419 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%420 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %422 = tensor.empty() : tensor<8x4xf32>
    %423 = linalg.fill ins(%cst_3 : f32) outs(%422 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %424 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%421 : tensor<8x4x4xf32>) outs(%423 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %425 = tensor.empty() : tensor<8x4x1xf32>
    %426 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%424 : tensor<8x4xf32>) outs(%425 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %427 = tensor.empty() : tensor<8x4x1xf32>
    %428 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%427 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %429 = tensor.empty() : tensor<8x4x1xf32>
    %430 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%426, %428 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%429 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %431 = tensor.empty() : tensor<8x4x4xf32>
    %432 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%430 : tensor<8x4x1xf32>) outs(%431 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %433 = tensor.empty() : tensor<8x4x4xf32>
    %434 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%421, %432 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%433 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %435 = tensor.empty() : tensor<8x4xf32>
    %436 = linalg.fill ins(%cst_3 : f32) outs(%435 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %437 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%434 : tensor<8x4x4xf32>) outs(%436 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %438 = tensor.empty() : tensor<8x1x4xf32>
    %439 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%437 : tensor<8x4xf32>) outs(%438 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %440 = tensor.empty() : tensor<8x1x4xf32>
    %441 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%440 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %442 = tensor.empty() : tensor<8x1x4xf32>
    %443 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%439, %441 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%442 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %444 = tensor.empty() : tensor<8x4x4xf32>
    %445 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%443 : tensor<8x1x4xf32>) outs(%444 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %446 = tensor.empty() : tensor<8x4x4xf32>
    %447 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%434, %445 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%446 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %448 = tensor.empty() : tensor<8x4xf32>
    %449 = linalg.fill ins(%cst_3 : f32) outs(%448 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %450 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%447 : tensor<8x4x4xf32>) outs(%449 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %451 = tensor.empty() : tensor<8x4x1xf32>
    %452 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%450 : tensor<8x4xf32>) outs(%451 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %453 = tensor.empty() : tensor<8x4x1xf32>
    %454 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%453 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %455 = tensor.empty() : tensor<8x4x1xf32>
    %456 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%452, %454 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%455 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %457 = tensor.empty() : tensor<8x4x4xf32>
    %458 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%456 : tensor<8x4x1xf32>) outs(%457 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %459 = tensor.empty() : tensor<8x4x4xf32>
    %460 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%447, %458 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%459 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %461 = tensor.empty() : tensor<8x4xf32>
    %462 = linalg.fill ins(%cst_3 : f32) outs(%461 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %463 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%460 : tensor<8x4x4xf32>) outs(%462 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %464 = tensor.empty() : tensor<8x1x4xf32>
    %465 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%463 : tensor<8x4xf32>) outs(%464 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %466 = tensor.empty() : tensor<8x1x4xf32>
    %467 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%466 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %468 = tensor.empty() : tensor<8x1x4xf32>
    %469 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%465, %467 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%468 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %470 = tensor.empty() : tensor<8x4x4xf32>
    %471 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%469 : tensor<8x1x4xf32>) outs(%470 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %472 = tensor.empty() : tensor<8x4x4xf32>
    %473 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%460, %471 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%472 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %474 = tensor.empty() : tensor<8x4xf32>
    %475 = linalg.fill ins(%cst_3 : f32) outs(%474 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %476 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%473 : tensor<8x4x4xf32>) outs(%475 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %477 = tensor.empty() : tensor<8x4x1xf32>
    %478 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%476 : tensor<8x4xf32>) outs(%477 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %479 = tensor.empty() : tensor<8x4x1xf32>
    %480 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%479 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %481 = tensor.empty() : tensor<8x4x1xf32>
    %482 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%478, %480 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%481 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %483 = tensor.empty() : tensor<8x4x4xf32>
    %484 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%482 : tensor<8x4x1xf32>) outs(%483 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %485 = tensor.empty() : tensor<8x4x4xf32>
    %486 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%473, %484 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%485 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %487 = tensor.empty() : tensor<8x4xf32>
    %488 = linalg.fill ins(%cst_3 : f32) outs(%487 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %489 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%486 : tensor<8x4x4xf32>) outs(%488 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %490 = tensor.empty() : tensor<8x1x4xf32>
    %491 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%489 : tensor<8x4xf32>) outs(%490 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %492 = tensor.empty() : tensor<8x1x4xf32>
    %493 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%492 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %494 = tensor.empty() : tensor<8x1x4xf32>
    %495 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%491, %493 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%494 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %496 = tensor.empty() : tensor<8x4x4xf32>
    %497 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%495 : tensor<8x1x4xf32>) outs(%496 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %498 = tensor.empty() : tensor<8x4x4xf32>
    %499 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%486, %497 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%498 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %500 = tensor.empty() : tensor<8x4xf32>
    %501 = linalg.fill ins(%cst_3 : f32) outs(%500 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %502 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%499 : tensor<8x4x4xf32>) outs(%501 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %503 = tensor.empty() : tensor<8x4x1xf32>
    %504 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%502 : tensor<8x4xf32>) outs(%503 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %505 = tensor.empty() : tensor<8x4x1xf32>
    %506 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%505 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %507 = tensor.empty() : tensor<8x4x1xf32>
    %508 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%504, %506 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%507 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %509 = tensor.empty() : tensor<8x4x4xf32>
    %510 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%508 : tensor<8x4x1xf32>) outs(%509 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %511 = tensor.empty() : tensor<8x4x4xf32>
    %512 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%499, %510 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%511 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %513 = tensor.empty() : tensor<8x4xf32>
    %514 = linalg.fill ins(%cst_3 : f32) outs(%513 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %515 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%512 : tensor<8x4x4xf32>) outs(%514 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %516 = tensor.empty() : tensor<8x1x4xf32>
    %517 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%515 : tensor<8x4xf32>) outs(%516 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %518 = tensor.empty() : tensor<8x1x4xf32>
    %519 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%518 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %520 = tensor.empty() : tensor<8x1x4xf32>
    %521 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%517, %519 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%520 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %522 = tensor.empty() : tensor<8x4x4xf32>
    %523 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%521 : tensor<8x1x4xf32>) outs(%522 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %524 = tensor.empty() : tensor<8x4x4xf32>
    %525 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%512, %523 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%524 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %526 = tensor.empty() : tensor<8x4xf32>
    %527 = linalg.fill ins(%cst_3 : f32) outs(%526 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %528 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%525 : tensor<8x4x4xf32>) outs(%527 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %529 = tensor.empty() : tensor<8x4x1xf32>
    %530 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%528 : tensor<8x4xf32>) outs(%529 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %531 = tensor.empty() : tensor<8x4x1xf32>
    %532 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%531 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %533 = tensor.empty() : tensor<8x4x1xf32>
    %534 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%530, %532 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%533 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %535 = tensor.empty() : tensor<8x4x4xf32>
    %536 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%534 : tensor<8x4x1xf32>) outs(%535 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %537 = tensor.empty() : tensor<8x4x4xf32>
    %538 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%525, %536 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%537 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %539 = tensor.empty() : tensor<8x4xf32>
    %540 = linalg.fill ins(%cst_3 : f32) outs(%539 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %541 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%538 : tensor<8x4x4xf32>) outs(%540 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %542 = tensor.empty() : tensor<8x1x4xf32>
    %543 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%541 : tensor<8x4xf32>) outs(%542 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %544 = tensor.empty() : tensor<8x1x4xf32>
    %545 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%544 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %546 = tensor.empty() : tensor<8x1x4xf32>
    %547 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%543, %545 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%546 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %548 = tensor.empty() : tensor<8x4x4xf32>
    %549 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%547 : tensor<8x1x4xf32>) outs(%548 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %550 = tensor.empty() : tensor<8x4x4xf32>
    %551 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%538, %549 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%550 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %552 = tensor.empty() : tensor<8x4xf32>
    %553 = linalg.fill ins(%cst_3 : f32) outs(%552 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %554 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%551 : tensor<8x4x4xf32>) outs(%553 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %555 = tensor.empty() : tensor<8x4x1xf32>
    %556 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%554 : tensor<8x4xf32>) outs(%555 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %557 = tensor.empty() : tensor<8x4x1xf32>
    %558 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%557 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %559 = tensor.empty() : tensor<8x4x1xf32>
    %560 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%556, %558 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%559 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %561 = tensor.empty() : tensor<8x4x4xf32>
    %562 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%560 : tensor<8x4x1xf32>) outs(%561 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %563 = tensor.empty() : tensor<8x4x4xf32>
    %564 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%551, %562 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%563 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %565 = tensor.empty() : tensor<8x4xf32>
    %566 = linalg.fill ins(%cst_3 : f32) outs(%565 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %567 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%564 : tensor<8x4x4xf32>) outs(%566 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %568 = tensor.empty() : tensor<8x1x4xf32>
    %569 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%567 : tensor<8x4xf32>) outs(%568 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %570 = tensor.empty() : tensor<8x1x4xf32>
    %571 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%570 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %572 = tensor.empty() : tensor<8x1x4xf32>
    %573 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%569, %571 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%572 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %574 = tensor.empty() : tensor<8x4x4xf32>
    %575 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%573 : tensor<8x1x4xf32>) outs(%574 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %576 = tensor.empty() : tensor<8x4x4xf32>
    %577 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%564, %575 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%576 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %578 = tensor.empty() : tensor<8x4xf32>
    %579 = linalg.fill ins(%cst_3 : f32) outs(%578 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %580 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%577 : tensor<8x4x4xf32>) outs(%579 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %581 = tensor.empty() : tensor<8x4x1xf32>
    %582 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%580 : tensor<8x4xf32>) outs(%581 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %583 = tensor.empty() : tensor<8x4x1xf32>
    %584 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%583 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %585 = tensor.empty() : tensor<8x4x1xf32>
    %586 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%582, %584 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%585 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x1xf32>
    %587 = tensor.empty() : tensor<8x4x4xf32>
    %588 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%586 : tensor<8x4x1xf32>) outs(%587 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %589 = tensor.empty() : tensor<8x4x4xf32>
    %590 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%577, %588 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%589 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %591 = tensor.empty() : tensor<8x4xf32>
    %592 = linalg.fill ins(%cst_3 : f32) outs(%591 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %593 = linalg.generic {indexing_maps = [#map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%590 : tensor<8x4x4xf32>) outs(%592 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %622 = arith.addf %out, %in : f32
      linalg.yield %622 : f32
    } -> tensor<8x4xf32>
    %594 = tensor.empty() : tensor<8x1x4xf32>
    %595 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%593 : tensor<8x4xf32>) outs(%594 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %596 = tensor.empty() : tensor<8x1x4xf32>
    %597 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%596 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %598 = tensor.empty() : tensor<8x1x4xf32>
    %599 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%595, %597 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%598 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x1x4xf32>
    %600 = tensor.empty() : tensor<8x4x4xf32>
    %601 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%599 : tensor<8x1x4xf32>) outs(%600 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %602 = tensor.empty() : tensor<8x4x4xf32>
    %603 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%590, %601 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%602 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.divf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x4xf32>
    %604 = tensor.empty() : tensor<8x16xf32>
    %605 = linalg.fill ins(%cst_3 : f32) outs(%604 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %606 = linalg.generic {indexing_maps = [#map11, #map10, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%45, %arg0 : tensor<8x4xf32>, tensor<8x4x16xf32>) outs(%605 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      %623 = arith.addf %out, %622 : f32
      linalg.yield %623 : f32
    } -> tensor<8x16xf32>
    %607 = tensor.empty() : tensor<8x4x16xf32>
    %608 = linalg.fill ins(%cst_3 : f32) outs(%607 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %609 = linalg.batch_matmul ins(%603, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%608 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %610 = tensor.empty() : tensor<8x4x1xf32>
    %611 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x4xf32>) outs(%610 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %612 = tensor.empty() : tensor<8x1x16xf32>
    %613 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%606 : tensor<8x16xf32>) outs(%612 : tensor<8x1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x16xf32>
    %614 = tensor.empty() : tensor<8x4x16xf32>
    %615 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%611 : tensor<8x4x1xf32>) outs(%614 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %616 = tensor.empty() : tensor<8x4x16xf32>
    %617 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%613 : tensor<8x1x16xf32>) outs(%616 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %618 = tensor.empty() : tensor<8x4x16xf32>
    %619 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%615, %617 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%618 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.mulf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x16xf32>
    %620 = tensor.empty() : tensor<8x4x16xf32>
    %621 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%609, %619 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%620 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %622 = arith.addf %in, %in_15 : f32
      linalg.yield %622 : f32
    } -> tensor<8x4x16xf32>
    return %606, %621 : tensor<8x16xf32>, tensor<8x4x16xf32>
  }
}

