// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// Batch and tokens both open: reshapes by computed sizes, assertions, and views that cast the second size to 1.
// CHECK: func.func @main(%arg0: tensor<?x1x4x32xf32>
// CHECK-NOT: {{linalg|tensor.reshape|cf.assert}}
// CHECK: mhc.pre({{.*}}init = exp_colmax, order = col_row
// CHECK: mhc.post(
// CHECK: return %{{.*}} : tensor<?x?x4x32xf32>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<?x?x4x32xf32>, %arg1: tensor<128x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>, %arg4: tensor<64x32xf32>, %arg5: tensor<32x64xf32>) -> tensor<?x?x4x32xf32> {
    %c4_i64 = arith.constant 4 : i64
    %c24_i64 = arith.constant 24 : i64
    %c2_i64 = arith.constant 2 : i64
    %c128_i64 = arith.constant 128 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %c32_i64 = arith.constant 32 : i64
    %c64_i64 = arith.constant 64 : i64
    %cst_1 = arith.constant 1.280000e+02 : f32
    %cst_2 = arith.constant 2.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x4x32xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_3 = tensor.dim %arg0, %c1 : tensor<?x?x4x32xf32>
    %1 = arith.index_cast %dim_3 : index to i64
    %2 = arith.cmpi slt, %0, %c0_i64 : i64
    %3 = arith.select %2, %c1_i64, %0 : i64
    %4 = arith.extui %2 : i1 to i64
    %5 = arith.muli %3, %1 : i64
    %6 = arith.addi %4, %c1_i64 : i64
    %7 = arith.cmpi slt, %1, %c0_i64 : i64
    %8 = arith.select %7, %3, %5 : i64
    %9 = arith.select %7, %6, %4 : i64
    %10 = arith.muli %8, %c128_i64 : i64
    %11 = arith.cmpi sle, %9, %c1_i64 : i64
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %12 = arith.muli %0, %1 : i64
    %13 = arith.muli %12, %c128_i64 : i64
    %14 = arith.divsi %13, %10 : i64
    %15 = arith.select %2, %14, %0 : i64
    %16 = arith.select %7, %14, %1 : i64
    %from_elements = tensor.from_elements %15, %16, %c128_i64 : tensor<3xi64>
    %reshape = tensor.reshape %arg0(%from_elements) : (tensor<?x?x4x32xf32>, tensor<3xi64>) -> tensor<?x?x128xf32>
    %17 = arith.index_cast %15 : i64 to index
    %18 = arith.index_cast %16 : i64 to index
    %19 = tensor.empty(%17, %18) : tensor<?x?x128xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape : tensor<?x?x128xf32>) outs(%19 : tensor<?x?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %166 : f32
    } -> tensor<?x?x128xf32>
    %21 = tensor.empty(%17, %18) : tensor<?x?x1xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<?x?x128xf32>) outs(%22 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<?x?x1xf32>) outs(%21 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.divf %in, %cst_1 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<?x?x1xf32>) outs(%21 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.sqrt %in : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1xf32>
    %26 = arith.muli %0, %1 : i64
    %cast = tensor.cast %reshape : tensor<?x?x128xf32> to tensor<?x1x128xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x128xf32> into tensor<?x128xf32>
    %27 = arith.index_cast %15 : i64 to index
    %28 = tensor.empty(%27) : tensor<?x24xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %30 = linalg.matmul ins(%collapsed, %arg1 : tensor<?x128xf32>, tensor<128x24xf32>) outs(%29 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %31 = arith.muli %8, %c24_i64 : i64
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %32 = arith.muli %15, %c24_i64 : i64
    %33 = arith.divsi %32, %31 : i64
    %34 = arith.select %2, %33, %0 : i64
    %35 = arith.select %7, %33, %1 : i64
    %from_elements_4 = tensor.from_elements %34, %35, %c24_i64 : tensor<3xi64>
    %reshape_5 = tensor.reshape %30(%from_elements_4) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    %36 = arith.index_cast %34 : i64 to index
    %37 = arith.index_cast %35 : i64 to index
    %38 = arith.cmpi eq, %36, %17 : index
    cf.assert %38, "mismatched size for broadcast"
    %39 = arith.cmpi eq, %37, %18 : index
    cf.assert %39, "mismatched size for broadcast"
    %40 = tensor.empty(%36, %37) : tensor<?x?x24xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_5, %25 : tensor<?x?x24xf32>, tensor<?x?x1xf32>) outs(%40 : tensor<?x?x24xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x24xf32>
    %extracted_slice = tensor.extract_slice %41[0, 0, 0] [%36, %37, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %extracted_slice_6 = tensor.extract_slice %41[0, 0, 4] [%36, %37, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %extracted_slice_7 = tensor.extract_slice %41[0, 0, 8] [%36, %37, 16] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x16xf32>
    %extracted_slice_8 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %extracted_slice_9 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %extracted_slice_11 = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [] : tensor<1xf32> into tensor<f32>
    %42 = tensor.empty(%36, %37) : tensor<?x?x4xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_12, %extracted_slice : tensor<f32>, tensor<?x?x4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.mulf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %extracted_slice_8 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.addf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44 : tensor<?x?x4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.negf %in : f32
      %167 = math.exp %166 : f32
      %168 = arith.addf %167, %cst_0 : f32
      %169 = arith.divf %cst_0, %168 : f32
      linalg.yield %169 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_13 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_14 = tensor.collapse_shape %extracted_slice_13 [] : tensor<1xf32> into tensor<f32>
    %46 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_14, %extracted_slice_6 : tensor<f32>, tensor<?x?x4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.mulf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %extracted_slice_9 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.addf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4xf32>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<?x?x4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.negf %in : f32
      %167 = math.exp %166 : f32
      %168 = arith.addf %167, %cst_0 : f32
      %169 = arith.divf %cst_0, %168 : f32
      linalg.yield %169 : f32
    } -> tensor<?x?x4xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<?x?x4xf32>) outs(%42 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.mulf %in, %cst_2 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_15 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_16 = tensor.collapse_shape %extracted_slice_15 [] : tensor<1xf32> into tensor<f32>
    %50 = tensor.empty(%36, %37) : tensor<?x?x16xf32>
    %51 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_16, %extracted_slice_7 : tensor<f32>, tensor<?x?x16xf32>) outs(%50 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.mulf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x16xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %extracted_slice_10 : tensor<?x?x16xf32>, tensor<16xf32>) outs(%50 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.addf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x16xf32>
    %53 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<?x?x16xf32>) outs(%50 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.exp %in : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x16xf32>
    %54 = arith.muli %8, %c16_i64 : i64
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %55 = arith.muli %34, %35 : i64
    %56 = arith.muli %55, %c16_i64 : i64
    %57 = arith.divsi %56, %54 : i64
    %58 = arith.select %2, %57, %0 : i64
    %59 = arith.select %7, %57, %1 : i64
    %from_elements_17 = tensor.from_elements %58, %59, %c4_i64, %c4_i64 : tensor<4xi64>
    %reshape_18 = tensor.reshape %53(%from_elements_17) : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x4x4xf32>
    %60 = arith.index_cast %58 : i64 to index
    %61 = arith.index_cast %59 : i64 to index
    %62 = tensor.empty(%60, %61) : tensor<?x?x1x4xf32>
    %63 = linalg.fill ins(%cst : f32) outs(%62 : tensor<?x?x1x4xf32>) -> tensor<?x?x1x4xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%reshape_18 : tensor<?x?x4x4xf32>) outs(%63 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1x4xf32>
    %65 = tensor.empty(%60, %61) : tensor<?x?x4x4xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_18, %64 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %67 = tensor.empty(%60, %61) : tensor<?x?x4x1xf32>
    %68 = linalg.fill ins(%cst : f32) outs(%67 : tensor<?x?x4x1xf32>) -> tensor<?x?x4x1xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%66 : tensor<?x?x4x4xf32>) outs(%68 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x1xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %69 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%70 : tensor<?x?x4x4xf32>) outs(%63 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1x4xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70, %71 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%72 : tensor<?x?x4x4xf32>) outs(%68 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x1xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %73 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%74 : tensor<?x?x4x4xf32>) outs(%63 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1x4xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74, %75 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%76 : tensor<?x?x4x4xf32>) outs(%68 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x1xf32>
    %78 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76, %77 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %79 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%78 : tensor<?x?x4x4xf32>) outs(%63 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x1x4xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%78, %79 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %81 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%80 : tensor<?x?x4x4xf32>) outs(%68 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %in, %out : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x1xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%80, %81 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%65 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.divf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x4xf32>
    %expanded = tensor.expand_shape %45 [[0], [1], [2, 3]] output_shape [%36, %37, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %83 = arith.cmpi eq, %35, %c1_i64 : i64
    cf.assert %83, "mismatching contracting dimension"
    %cast_19 = tensor.cast %expanded : tensor<?x?x4x1xf32> to tensor<?x1x4x1xf32>
    %collapsed_20 = tensor.collapse_shape %cast_19 [[0], [1], [2, 3]] : tensor<?x1x4x1xf32> into tensor<?x1x4xf32>
    %84 = arith.cmpi slt, %26, %c0_i64 : i64
    %85 = arith.select %84, %c1_i64, %26 : i64
    %86 = arith.extui %84 : i1 to i64
    %87 = arith.muli %85, %c128_i64 : i64
    %88 = arith.cmpi sle, %86, %c1_i64 : i64
    cf.assert %88, "must have at most one inferred (negative) dimension"
    %89 = arith.divsi %13, %87 : i64
    %90 = arith.select %84, %89, %26 : i64
    %from_elements_21 = tensor.from_elements %90, %c4_i64, %c32_i64 : tensor<3xi64>
    %reshape_22 = tensor.reshape %arg0(%from_elements_21) : (tensor<?x?x4x32xf32>, tensor<3xi64>) -> tensor<?x4x32xf32>
    %dim_23 = tensor.dim %expanded, %c0 : tensor<?x?x4x1xf32>
    %91 = arith.index_cast %dim_23 : index to i64
    %92 = arith.cmpi eq, %91, %90 : i64
    cf.assert %92, "mismatching contracting dimension"
    %93 = tensor.empty(%dim_23) : tensor<?x1x32xf32>
    %94 = linalg.fill ins(%cst : f32) outs(%93 : tensor<?x1x32xf32>) -> tensor<?x1x32xf32>
    %95 = linalg.batch_matmul ins(%collapsed_20, %reshape_22 : tensor<?x1x4xf32>, tensor<?x4x32xf32>) outs(%94 : tensor<?x1x32xf32>) -> tensor<?x1x32xf32>
    %96 = arith.muli %8, %c32_i64 : i64
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %97 = arith.muli %91, %c32_i64 : i64
    %98 = arith.divsi %97, %96 : i64
    %99 = arith.select %2, %98, %0 : i64
    %100 = arith.select %7, %98, %1 : i64
    %from_elements_24 = tensor.from_elements %99, %100, %c1_i64, %c32_i64 : tensor<4xi64>
    %reshape_25 = tensor.reshape %95(%from_elements_24) : (tensor<?x1x32xf32>, tensor<4xi64>) -> tensor<?x?x1x32xf32>
    %101 = arith.index_cast %99 : i64 to index
    %102 = arith.index_cast %100 : i64 to index
    %103 = tensor.empty(%101, %102) : tensor<?x?x32x1xf32>
    %transposed = linalg.transpose ins(%reshape_25 : tensor<?x?x1x32xf32>) outs(%103 : tensor<?x?x32x1xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %104 = arith.muli %99, %100 : i64
    %105 = arith.muli %104, %c32_i64 : i64
    %106 = arith.divsi %105, %96 : i64
    %107 = arith.select %2, %106, %0 : i64
    %108 = arith.select %7, %106, %1 : i64
    %from_elements_26 = tensor.from_elements %107, %108, %c32_i64 : tensor<3xi64>
    %reshape_27 = tensor.reshape %transposed(%from_elements_26) : (tensor<?x?x32x1xf32>, tensor<3xi64>) -> tensor<?x?x32xf32>
    %109 = tensor.empty() : tensor<32x64xf32>
    %transposed_28 = linalg.transpose ins(%arg4 : tensor<64x32xf32>) outs(%109 : tensor<32x64xf32>) permutation = [1, 0] 
    %cast_29 = tensor.cast %reshape_27 : tensor<?x?x32xf32> to tensor<?x1x32xf32>
    %collapsed_30 = tensor.collapse_shape %cast_29 [[0], [1, 2]] : tensor<?x1x32xf32> into tensor<?x32xf32>
    %110 = arith.index_cast %107 : i64 to index
    %111 = tensor.empty(%110) : tensor<?x64xf32>
    %112 = linalg.fill ins(%cst : f32) outs(%111 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %113 = linalg.matmul ins(%collapsed_30, %transposed_28 : tensor<?x32xf32>, tensor<32x64xf32>) outs(%112 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %114 = arith.muli %8, %c64_i64 : i64
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %115 = arith.muli %107, %c64_i64 : i64
    %116 = arith.divsi %115, %114 : i64
    %117 = arith.select %2, %116, %0 : i64
    %118 = arith.select %7, %116, %1 : i64
    %from_elements_31 = tensor.from_elements %117, %118, %c64_i64 : tensor<3xi64>
    %reshape_32 = tensor.reshape %113(%from_elements_31) : (tensor<?x64xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
    %119 = arith.index_cast %117 : i64 to index
    %120 = tensor.empty(%119) : tensor<?x1x64xf32>
    %cast_33 = tensor.cast %reshape_32 : tensor<?x?x64xf32> to tensor<?x1x64xf32>
    %121 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_33 : tensor<?x1x64xf32>) outs(%120 : tensor<?x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.negf %in : f32
      %167 = math.exp %166 : f32
      %168 = arith.addf %167, %cst_0 : f32
      %169 = arith.divf %cst_0, %168 : f32
      linalg.yield %169 : f32
    } -> tensor<?x1x64xf32>
    %122 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cast_33, %121 : tensor<?x1x64xf32>, tensor<?x1x64xf32>) outs(%120 : tensor<?x1x64xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.mulf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x1x64xf32>
    %123 = tensor.empty() : tensor<64x32xf32>
    %transposed_34 = linalg.transpose ins(%arg5 : tensor<32x64xf32>) outs(%123 : tensor<64x32xf32>) permutation = [1, 0] 
    %collapsed_35 = tensor.collapse_shape %122 [[0], [1, 2]] : tensor<?x1x64xf32> into tensor<?x64xf32>
    %124 = arith.index_cast %117 : i64 to index
    %125 = tensor.empty(%124) : tensor<?x32xf32>
    %126 = linalg.fill ins(%cst : f32) outs(%125 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %127 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%126 : tensor<?x32xf32>) -> tensor<?x32xf32>
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %128 = arith.muli %117, %c32_i64 : i64
    %129 = arith.divsi %128, %96 : i64
    %130 = arith.select %2, %129, %0 : i64
    %131 = arith.select %7, %129, %1 : i64
    %from_elements_36 = tensor.from_elements %130, %131, %c32_i64 : tensor<3xi64>
    %reshape_37 = tensor.reshape %127(%from_elements_36) : (tensor<?x32xf32>, tensor<3xi64>) -> tensor<?x?x32xf32>
    %expanded_38 = tensor.expand_shape %82 [[0], [1], [2], [3, 4]] output_shape [%60, %61, 4, 4, 1] : tensor<?x?x4x4xf32> into tensor<?x?x4x4x1xf32>
    %expanded_39 = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [%dim, %dim_3, 4, 32, 1] : tensor<?x?x4x32xf32> into tensor<?x?x4x32x1xf32>
    %132 = arith.muli %85, %c16_i64 : i64
    cf.assert %88, "must have at most one inferred (negative) dimension"
    %133 = arith.muli %58, %59 : i64
    %134 = arith.muli %133, %c16_i64 : i64
    %135 = arith.divsi %134, %132 : i64
    %136 = arith.select %84, %135, %26 : i64
    %from_elements_40 = tensor.from_elements %136, %c4_i64, %c4_i64 : tensor<3xi64>
    %reshape_41 = tensor.reshape %expanded_38(%from_elements_40) : (tensor<?x?x4x4x1xf32>, tensor<3xi64>) -> tensor<?x4x4xf32>
    cf.assert %88, "must have at most one inferred (negative) dimension"
    %reshape_42 = tensor.reshape %expanded_39(%from_elements_21) : (tensor<?x?x4x32x1xf32>, tensor<3xi64>) -> tensor<?x4x32xf32>
    %137 = arith.index_cast %136 : i64 to index
    %138 = arith.cmpi eq, %136, %90 : i64
    cf.assert %138, "mismatching contracting dimension"
    %139 = tensor.empty(%137) : tensor<?x4x32xf32>
    %140 = linalg.fill ins(%cst : f32) outs(%139 : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
    %141 = linalg.batch_matmul ins(%reshape_41, %reshape_42 : tensor<?x4x4xf32>, tensor<?x4x32xf32>) outs(%140 : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %142 = arith.muli %136, %c128_i64 : i64
    %143 = arith.divsi %142, %10 : i64
    %144 = arith.select %2, %143, %0 : i64
    %145 = arith.select %7, %143, %1 : i64
    %from_elements_43 = tensor.from_elements %144, %145, %c4_i64, %c1_i64, %c32_i64 : tensor<5xi64>
    %reshape_44 = tensor.reshape %141(%from_elements_43) : (tensor<?x4x32xf32>, tensor<5xi64>) -> tensor<?x?x4x1x32xf32>
    %146 = arith.index_cast %144 : i64 to index
    %147 = arith.index_cast %145 : i64 to index
    %148 = tensor.empty(%146, %147) : tensor<?x?x4x32x1xf32>
    %transposed_45 = linalg.transpose ins(%reshape_44 : tensor<?x?x4x1x32xf32>) outs(%148 : tensor<?x?x4x32x1xf32>) permutation = [0, 1, 2, 4, 3] 
    cf.assert %11, "must have at most one inferred (negative) dimension"
    %149 = arith.muli %144, %145 : i64
    %150 = arith.muli %149, %c128_i64 : i64
    %151 = arith.divsi %150, %10 : i64
    %152 = arith.select %2, %151, %0 : i64
    %153 = arith.select %7, %151, %1 : i64
    %from_elements_46 = tensor.from_elements %152, %153, %c4_i64, %c32_i64 : tensor<4xi64>
    %reshape_47 = tensor.reshape %transposed_45(%from_elements_46) : (tensor<?x?x4x32x1xf32>, tensor<4xi64>) -> tensor<?x?x4x32xf32>
    %expanded_48 = tensor.expand_shape %49 [[0], [1], [2, 3]] output_shape [%36, %37, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %154 = arith.index_cast %130 : i64 to index
    %155 = arith.index_cast %131 : i64 to index
    %expanded_49 = tensor.expand_shape %reshape_37 [[0], [1], [2, 3]] output_shape [%154, %155, 1, 32] : tensor<?x?x32xf32> into tensor<?x?x1x32xf32>
    %156 = arith.cmpi eq, %36, %154 : index
    cf.assert %156, "mismatched size for broadcast"
    %157 = arith.cmpi eq, %37, %155 : index
    cf.assert %157, "mismatched size for broadcast"
    %158 = tensor.empty(%36, %37) : tensor<?x?x4x32xf32>
    %159 = linalg.generic {indexing_maps = [#map6, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_48, %expanded_49 : tensor<?x?x4x1xf32>, tensor<?x?x1x32xf32>) outs(%158 : tensor<?x?x4x32xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.mulf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x32xf32>
    %160 = arith.index_cast %152 : i64 to index
    %161 = arith.index_cast %153 : i64 to index
    %162 = arith.cmpi eq, %160, %36 : index
    cf.assert %162, "mismatched size for broadcast"
    %163 = arith.cmpi eq, %161, %37 : index
    cf.assert %163, "mismatched size for broadcast"
    %164 = tensor.empty(%160, %161) : tensor<?x?x4x32xf32>
    %165 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_47, %159 : tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>) outs(%164 : tensor<?x?x4x32xf32>) {
    ^bb0(%in: f32, %in_50: f32, %out: f32):
      %166 = arith.addf %in, %in_50 : f32
      linalg.yield %166 : f32
    } -> tensor<?x?x4x32xf32>
    return %165 : tensor<?x?x4x32xf32>
  }
}
