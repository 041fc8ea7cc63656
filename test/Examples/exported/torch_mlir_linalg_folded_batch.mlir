// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// Streams in the batch, [b*n, T, C], with batch and tokens open: sizes that an argument's is a multiple of.
// CHECK: func.func @main
// CHECK: mhc.pre(
// CHECK: mhc.post(
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
module {
  func.func @main(%arg0: tensor<?x?x48xf32>, %arg1: tensor<192x24xf32>, %arg2: tensor<3xf32>, %arg3: tensor<24xf32>, %arg4: tensor<48x48xf32>) -> tensor<?x?x48xf32> {
    %c192_i64 = arith.constant 192 : i64
    %c2_i64 = arith.constant 2 : i64
    %c4_i64 = arith.constant 4 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c48_i64 = arith.constant 48 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c24_i64 = arith.constant 24 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 9.9999999999999995E-7 : f64
    %cst_3 = arith.constant 1.920000e+02 : f32
    %cst_4 = arith.constant 2.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x48xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_5 = tensor.dim %arg0, %c0 : tensor<?x?x48xf32>
    %1 = arith.index_cast %dim_5 : index to i64
    %2 = arith.floordivsi %1, %c4_i64 : i64
    %3 = arith.cmpi slt, %2, %c0_i64 : i64
    %4 = arith.select %3, %c1_i64, %2 : i64
    %5 = arith.extui %3 : i1 to i64
    %6 = arith.muli %4, %c4_i64 : i64
    %7 = arith.muli %6, %0 : i64
    %8 = arith.addi %5, %c1_i64 : i64
    %9 = arith.cmpi slt, %0, %c0_i64 : i64
    %10 = arith.select %9, %6, %7 : i64
    %11 = arith.select %9, %8, %5 : i64
    %12 = arith.muli %10, %c48_i64 : i64
    %13 = arith.cmpi sle, %11, %c1_i64 : i64
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %14 = arith.muli %1, %0 : i64
    %15 = arith.muli %14, %c48_i64 : i64
    %16 = arith.divsi %15, %12 : i64
    %17 = arith.select %3, %16, %2 : i64
    %18 = arith.select %9, %16, %0 : i64
    %from_elements = tensor.from_elements %17, %c4_i64, %18, %c48_i64 : tensor<4xi64>
    %reshape = tensor.reshape %arg0(%from_elements) : (tensor<?x?x48xf32>, tensor<4xi64>) -> tensor<?x4x?x48xf32>
    %19 = arith.index_cast %17 : i64 to index
    %20 = arith.index_cast %18 : i64 to index
    %21 = tensor.empty(%19, %20) : tensor<?x?x4x48xf32>
    %transposed = linalg.transpose ins(%reshape : tensor<?x4x?x48xf32>) outs(%21 : tensor<?x?x4x48xf32>) permutation = [0, 2, 1, 3] 
    %22 = arith.muli %4, %0 : i64
    %23 = arith.select %9, %4, %22 : i64
    %24 = arith.muli %23, %c192_i64 : i64
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %25 = arith.muli %17, %18 : i64
    %26 = arith.muli %25, %c192_i64 : i64
    %27 = arith.divsi %26, %24 : i64
    %28 = arith.select %3, %27, %2 : i64
    %29 = arith.select %9, %27, %0 : i64
    %from_elements_6 = tensor.from_elements %28, %29, %c192_i64 : tensor<3xi64>
    %reshape_7 = tensor.reshape %transposed(%from_elements_6) : (tensor<?x?x4x48xf32>, tensor<3xi64>) -> tensor<?x?x192xf32>
    %30 = arith.muli %2, %0 : i64
    %cast = tensor.cast %reshape_7 : tensor<?x?x192xf32> to tensor<?x1x192xf32>
    %collapsed = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x192xf32> into tensor<?x192xf32>
    %31 = arith.index_cast %28 : i64 to index
    %32 = tensor.empty(%31) : tensor<?x24xf32>
    %33 = linalg.fill ins(%cst : f32) outs(%32 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %34 = linalg.matmul ins(%collapsed, %arg1 : tensor<?x192xf32>, tensor<192x24xf32>) outs(%33 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %35 = arith.muli %23, %c24_i64 : i64
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %36 = arith.muli %28, %c24_i64 : i64
    %37 = arith.divsi %36, %35 : i64
    %38 = arith.select %3, %37, %2 : i64
    %39 = arith.select %9, %37, %0 : i64
    %from_elements_8 = tensor.from_elements %38, %39, %c24_i64 : tensor<3xi64>
    %reshape_9 = tensor.reshape %34(%from_elements_8) : (tensor<?x24xf32>, tensor<3xi64>) -> tensor<?x?x24xf32>
    %40 = arith.index_cast %28 : i64 to index
    %41 = arith.index_cast %29 : i64 to index
    %42 = tensor.empty(%40, %41) : tensor<?x?x192xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_7 : tensor<?x?x192xf32>) outs(%42 : tensor<?x?x192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %179 : f32
    } -> tensor<?x?x192xf32>
    %44 = tensor.empty(%40, %41) : tensor<?x?x1xf32>
    %45 = linalg.fill ins(%cst : f32) outs(%44 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%43 : tensor<?x?x192xf32>) outs(%45 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.addf %in, %out : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x1xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<?x?x1xf32>) outs(%44 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.divf %in, %cst_3 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x1xf32>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<?x?x1xf32>) outs(%44 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.truncf %cst_2 : f64 to f32
      %180 = arith.addf %in, %179 : f32
      linalg.yield %180 : f32
    } -> tensor<?x?x1xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<?x?x1xf32>) outs(%44 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = math.rsqrt %in : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x1xf32>
    %50 = arith.index_cast %38 : i64 to index
    %51 = arith.index_cast %39 : i64 to index
    %52 = arith.cmpi eq, %50, %40 : index
    cf.assert %52, "mismatched size for broadcast"
    %53 = arith.cmpi eq, %51, %41 : index
    cf.assert %53, "mismatched size for broadcast"
    %54 = tensor.empty(%50, %51) : tensor<?x?x24xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%reshape_9, %49 : tensor<?x?x24xf32>, tensor<?x?x1xf32>) outs(%54 : tensor<?x?x24xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.mulf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x24xf32>
    %extracted_slice = tensor.extract_slice %arg2[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_10 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_11 = tensor.extract_slice %55[0, 0, 0] [%50, %51, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %56 = tensor.empty(%50, %51) : tensor<?x?x4xf32>
    %57 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10, %extracted_slice_11 : tensor<f32>, tensor<?x?x4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.mulf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_12 = tensor.extract_slice %arg3[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57, %extracted_slice_12 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.addf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_13 = tensor.extract_slice %arg2[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_14 = tensor.collapse_shape %extracted_slice_13 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_15 = tensor.extract_slice %55[0, 0, 4] [%50, %51, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %59 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_14, %extracted_slice_15 : tensor<f32>, tensor<?x?x4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.mulf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_16 = tensor.extract_slice %arg3[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %extracted_slice_16 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.addf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_17 = tensor.extract_slice %arg2[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_18 = tensor.collapse_shape %extracted_slice_17 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_19 = tensor.extract_slice %55[0, 0, 8] [%50, %51, 16] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x16xf32>
    %61 = tensor.empty(%50, %51) : tensor<?x?x16xf32>
    %62 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_18, %extracted_slice_19 : tensor<f32>, tensor<?x?x16xf32>) outs(%61 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.mulf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x16xf32>
    %extracted_slice_20 = tensor.extract_slice %arg3[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %extracted_slice_20 : tensor<?x?x16xf32>, tensor<16xf32>) outs(%61 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.addf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x16xf32>
    %64 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<?x?x4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.negf %in : f32
      %180 = math.exp %179 : f32
      %181 = arith.addf %180, %cst_0 : f32
      %182 = arith.divf %cst_0, %181 : f32
      linalg.yield %182 : f32
    } -> tensor<?x?x4xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<?x?x4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.negf %in : f32
      %180 = math.exp %179 : f32
      %181 = arith.addf %180, %cst_0 : f32
      %182 = arith.divf %cst_0, %181 : f32
      linalg.yield %182 : f32
    } -> tensor<?x?x4xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<?x?x4xf32>) outs(%56 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.mulf %in, %cst_4 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4xf32>
    %67 = arith.muli %23, %c16_i64 : i64
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %68 = arith.muli %38, %39 : i64
    %69 = arith.muli %68, %c16_i64 : i64
    %70 = arith.divsi %69, %67 : i64
    %71 = arith.select %3, %70, %2 : i64
    %72 = arith.select %9, %70, %0 : i64
    %from_elements_21 = tensor.from_elements %71, %72, %c4_i64, %c4_i64 : tensor<4xi64>
    %reshape_22 = tensor.reshape %63(%from_elements_21) : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x4x4xf32>
    %73 = arith.index_cast %71 : i64 to index
    %74 = arith.index_cast %72 : i64 to index
    %75 = tensor.empty(%73, %74) : tensor<?x?x4xi64>
    %76 = linalg.fill ins(%c0_i64 : i64) outs(%75 : tensor<?x?x4xi64>) -> tensor<?x?x4xi64>
    %77 = tensor.empty(%73, %74) : tensor<?x?x4xf32>
    %78 = linalg.fill ins(%cst_1 : f32) outs(%77 : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %79:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%reshape_22 : tensor<?x?x4x4xf32>) outs(%78, %76 : tensor<?x?x4xf32>, tensor<?x?x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_55: i64):
      %179 = linalg.index 3 : index
      %180 = arith.index_cast %179 : index to i64
      %181 = arith.maximumf %in, %out : f32
      %182 = arith.cmpf ogt, %in, %out : f32
      %183 = arith.select %182, %180, %out_55 : i64
      linalg.yield %181, %183 : f32, i64
    } -> (tensor<?x?x4xf32>, tensor<?x?x4xi64>)
    %expanded = tensor.expand_shape %79#0 [[0], [1], [2, 3]] output_shape [%73, %74, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %80 = tensor.empty(%73, %74) : tensor<?x?x4x4xf32>
    %81 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_22, %expanded : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%80 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.subf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x4xf32>
    %82 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%81 : tensor<?x?x4x4xf32>) outs(%80 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = math.exp %in : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x4xf32>
    %83 = tensor.empty(%73, %74) : tensor<?x?x4x1xf32>
    %84 = linalg.fill ins(%cst : f32) outs(%83 : tensor<?x?x4x1xf32>) -> tensor<?x?x4x1xf32>
    %85 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%82 : tensor<?x?x4x4xf32>) outs(%84 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.addf %in, %out : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x1xf32>
    %86 = linalg.generic {indexing_maps = [#map4, #map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%82, %85 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%80 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.divf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x4xf32>
    %87 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%86 : tensor<?x?x4x4xf32>) outs(%80 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.truncf %cst_2 : f64 to f32
      %180 = arith.addf %in, %179 : f32
      linalg.yield %180 : f32
    } -> tensor<?x?x4x4xf32>
    %88 = tensor.empty(%73, %74) : tensor<?x?x1x4xf32>
    %89 = linalg.fill ins(%cst : f32) outs(%88 : tensor<?x?x1x4xf32>) -> tensor<?x?x1x4xf32>
    %90 = linalg.generic {indexing_maps = [#map4, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%87 : tensor<?x?x4x4xf32>) outs(%89 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.addf %in, %out : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x1x4xf32>
    %91 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90 : tensor<?x?x1x4xf32>) outs(%88 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %179 = arith.truncf %cst_2 : f64 to f32
      %180 = arith.addf %in, %179 : f32
      linalg.yield %180 : f32
    } -> tensor<?x?x1x4xf32>
    %92 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87, %91 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%80 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.divf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x4xf32>
    %expanded_23 = tensor.expand_shape %64 [[0], [1], [2, 3]] output_shape [%50, %51, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %93 = arith.cmpi eq, %39, %c1_i64 : i64
    cf.assert %93, "mismatching contracting dimension"
    %cast_24 = tensor.cast %expanded_23 : tensor<?x?x4x1xf32> to tensor<?x1x4x1xf32>
    %collapsed_25 = tensor.collapse_shape %cast_24 [[0], [1], [2, 3]] : tensor<?x1x4x1xf32> into tensor<?x1x4xf32>
    %94 = arith.cmpi slt, %30, %c0_i64 : i64
    %95 = arith.select %94, %c1_i64, %30 : i64
    %96 = arith.extui %94 : i1 to i64
    %97 = arith.muli %95, %c192_i64 : i64
    %98 = arith.cmpi sle, %96, %c1_i64 : i64
    cf.assert %98, "must have at most one inferred (negative) dimension"
    %99 = arith.divsi %26, %97 : i64
    %100 = arith.select %94, %99, %30 : i64
    %from_elements_26 = tensor.from_elements %100, %c4_i64, %c48_i64 : tensor<3xi64>
    %reshape_27 = tensor.reshape %transposed(%from_elements_26) : (tensor<?x?x4x48xf32>, tensor<3xi64>) -> tensor<?x4x48xf32>
    %dim_28 = tensor.dim %expanded_23, %c0 : tensor<?x?x4x1xf32>
    %101 = arith.index_cast %dim_28 : index to i64
    %102 = arith.cmpi eq, %101, %100 : i64
    cf.assert %102, "mismatching contracting dimension"
    %103 = tensor.empty(%dim_28) : tensor<?x1x48xf32>
    %104 = linalg.fill ins(%cst : f32) outs(%103 : tensor<?x1x48xf32>) -> tensor<?x1x48xf32>
    %105 = linalg.batch_matmul ins(%collapsed_25, %reshape_27 : tensor<?x1x4xf32>, tensor<?x4x48xf32>) outs(%104 : tensor<?x1x48xf32>) -> tensor<?x1x48xf32>
    %106 = arith.muli %23, %c48_i64 : i64
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %107 = arith.muli %101, %c48_i64 : i64
    %108 = arith.divsi %107, %106 : i64
    %109 = arith.select %3, %108, %2 : i64
    %110 = arith.select %9, %108, %0 : i64
    %from_elements_29 = tensor.from_elements %109, %110, %c1_i64, %c48_i64 : tensor<4xi64>
    %reshape_30 = tensor.reshape %105(%from_elements_29) : (tensor<?x1x48xf32>, tensor<4xi64>) -> tensor<?x?x1x48xf32>
    %111 = arith.index_cast %109 : i64 to index
    %112 = arith.index_cast %110 : i64 to index
    %113 = tensor.empty(%111, %112) : tensor<?x?x48x1xf32>
    %transposed_31 = linalg.transpose ins(%reshape_30 : tensor<?x?x1x48xf32>) outs(%113 : tensor<?x?x48x1xf32>) permutation = [0, 1, 3, 2] 
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %114 = arith.muli %109, %110 : i64
    %115 = arith.muli %114, %c48_i64 : i64
    %116 = arith.divsi %115, %106 : i64
    %117 = arith.select %3, %116, %2 : i64
    %118 = arith.select %9, %116, %0 : i64
    %from_elements_32 = tensor.from_elements %117, %118, %c48_i64 : tensor<3xi64>
    %reshape_33 = tensor.reshape %transposed_31(%from_elements_32) : (tensor<?x?x48x1xf32>, tensor<3xi64>) -> tensor<?x?x48xf32>
    %119 = tensor.empty() : tensor<48x48xf32>
    %transposed_34 = linalg.transpose ins(%arg4 : tensor<48x48xf32>) outs(%119 : tensor<48x48xf32>) permutation = [1, 0] 
    %cast_35 = tensor.cast %reshape_33 : tensor<?x?x48xf32> to tensor<?x1x48xf32>
    %collapsed_36 = tensor.collapse_shape %cast_35 [[0], [1, 2]] : tensor<?x1x48xf32> into tensor<?x48xf32>
    %120 = arith.index_cast %117 : i64 to index
    %121 = tensor.empty(%120) : tensor<?x48xf32>
    %122 = linalg.fill ins(%cst : f32) outs(%121 : tensor<?x48xf32>) -> tensor<?x48xf32>
    %123 = linalg.matmul ins(%collapsed_36, %transposed_34 : tensor<?x48xf32>, tensor<48x48xf32>) outs(%122 : tensor<?x48xf32>) -> tensor<?x48xf32>
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %124 = arith.muli %117, %c48_i64 : i64
    %125 = arith.divsi %124, %106 : i64
    %126 = arith.select %3, %125, %2 : i64
    %127 = arith.select %9, %125, %0 : i64
    %from_elements_37 = tensor.from_elements %126, %127, %c48_i64 : tensor<3xi64>
    %reshape_38 = tensor.reshape %123(%from_elements_37) : (tensor<?x48xf32>, tensor<3xi64>) -> tensor<?x?x48xf32>
    %expanded_39 = tensor.expand_shape %92 [[0], [1], [2], [3, 4]] output_shape [%73, %74, 4, 4, 1] : tensor<?x?x4x4xf32> into tensor<?x?x4x4x1xf32>
    %expanded_40 = tensor.expand_shape %transposed [[0], [1], [2], [3, 4]] output_shape [%19, %20, 4, 48, 1] : tensor<?x?x4x48xf32> into tensor<?x?x4x48x1xf32>
    %128 = arith.muli %95, %c16_i64 : i64
    cf.assert %98, "must have at most one inferred (negative) dimension"
    %129 = arith.muli %71, %72 : i64
    %130 = arith.muli %129, %c16_i64 : i64
    %131 = arith.divsi %130, %128 : i64
    %132 = arith.select %94, %131, %30 : i64
    %from_elements_41 = tensor.from_elements %132, %c4_i64, %c4_i64 : tensor<3xi64>
    %reshape_42 = tensor.reshape %expanded_39(%from_elements_41) : (tensor<?x?x4x4x1xf32>, tensor<3xi64>) -> tensor<?x4x4xf32>
    cf.assert %98, "must have at most one inferred (negative) dimension"
    %reshape_43 = tensor.reshape %expanded_40(%from_elements_26) : (tensor<?x?x4x48x1xf32>, tensor<3xi64>) -> tensor<?x4x48xf32>
    %133 = arith.index_cast %132 : i64 to index
    %134 = arith.cmpi eq, %132, %100 : i64
    cf.assert %134, "mismatching contracting dimension"
    %135 = tensor.empty(%133) : tensor<?x4x48xf32>
    %136 = linalg.fill ins(%cst : f32) outs(%135 : tensor<?x4x48xf32>) -> tensor<?x4x48xf32>
    %137 = linalg.batch_matmul ins(%reshape_42, %reshape_43 : tensor<?x4x4xf32>, tensor<?x4x48xf32>) outs(%136 : tensor<?x4x48xf32>) -> tensor<?x4x48xf32>
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %138 = arith.muli %132, %c192_i64 : i64
    %139 = arith.divsi %138, %24 : i64
    %140 = arith.select %3, %139, %2 : i64
    %141 = arith.select %9, %139, %0 : i64
    %from_elements_44 = tensor.from_elements %140, %141, %c4_i64, %c1_i64, %c48_i64 : tensor<5xi64>
    %reshape_45 = tensor.reshape %137(%from_elements_44) : (tensor<?x4x48xf32>, tensor<5xi64>) -> tensor<?x?x4x1x48xf32>
    %142 = arith.index_cast %140 : i64 to index
    %143 = arith.index_cast %141 : i64 to index
    %144 = tensor.empty(%142, %143) : tensor<?x?x4x48x1xf32>
    %transposed_46 = linalg.transpose ins(%reshape_45 : tensor<?x?x4x1x48xf32>) outs(%144 : tensor<?x?x4x48x1xf32>) permutation = [0, 1, 2, 4, 3] 
    cf.assert %13, "must have at most one inferred (negative) dimension"
    %145 = arith.muli %140, %141 : i64
    %146 = arith.muli %145, %c192_i64 : i64
    %147 = arith.divsi %146, %24 : i64
    %148 = arith.select %3, %147, %2 : i64
    %149 = arith.select %9, %147, %0 : i64
    %from_elements_47 = tensor.from_elements %148, %149, %c4_i64, %c48_i64 : tensor<4xi64>
    %reshape_48 = tensor.reshape %transposed_46(%from_elements_47) : (tensor<?x?x4x48x1xf32>, tensor<4xi64>) -> tensor<?x?x4x48xf32>
    %expanded_49 = tensor.expand_shape %66 [[0], [1], [2, 3]] output_shape [%50, %51, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %150 = arith.index_cast %126 : i64 to index
    %151 = arith.index_cast %127 : i64 to index
    %expanded_50 = tensor.expand_shape %reshape_38 [[0], [1], [2, 3]] output_shape [%150, %151, 48, 1] : tensor<?x?x48xf32> into tensor<?x?x48x1xf32>
    %152 = tensor.empty(%150, %151) : tensor<?x?x1x48xf32>
    %transposed_51 = linalg.transpose ins(%expanded_50 : tensor<?x?x48x1xf32>) outs(%152 : tensor<?x?x1x48xf32>) permutation = [0, 1, 3, 2] 
    %153 = arith.cmpi eq, %50, %150 : index
    cf.assert %153, "mismatched size for broadcast"
    %154 = arith.cmpi eq, %51, %151 : index
    cf.assert %154, "mismatched size for broadcast"
    %155 = tensor.empty(%50, %51) : tensor<?x?x4x48xf32>
    %156 = linalg.generic {indexing_maps = [#map6, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_49, %transposed_51 : tensor<?x?x4x1xf32>, tensor<?x?x1x48xf32>) outs(%155 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.mulf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x48xf32>
    %157 = arith.index_cast %148 : i64 to index
    %158 = arith.index_cast %149 : i64 to index
    %159 = arith.cmpi eq, %157, %50 : index
    cf.assert %159, "mismatched size for broadcast"
    %160 = arith.cmpi eq, %158, %51 : index
    cf.assert %160, "mismatched size for broadcast"
    %161 = tensor.empty(%157, %158) : tensor<?x?x4x48xf32>
    %162 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_48, %156 : tensor<?x?x4x48xf32>, tensor<?x?x4x48xf32>) outs(%161 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_55: f32, %out: f32):
      %179 = arith.addf %in, %in_55 : f32
      linalg.yield %179 : f32
    } -> tensor<?x?x4x48xf32>
    %163 = tensor.empty(%157, %158) : tensor<?x4x?x48xf32>
    %transposed_52 = linalg.transpose ins(%162 : tensor<?x?x4x48xf32>) outs(%163 : tensor<?x4x?x48xf32>) permutation = [0, 2, 1, 3] 
    %164 = arith.cmpi slt, %1, %c0_i64 : i64
    %165 = arith.select %164, %c1_i64, %1 : i64
    %166 = arith.extui %164 : i1 to i64
    %167 = arith.muli %165, %0 : i64
    %168 = arith.addi %166, %c1_i64 : i64
    %169 = arith.select %9, %165, %167 : i64
    %170 = arith.select %9, %168, %166 : i64
    %171 = arith.muli %169, %c48_i64 : i64
    %172 = arith.cmpi sle, %170, %c1_i64 : i64
    cf.assert %172, "must have at most one inferred (negative) dimension"
    %173 = arith.muli %148, %c4_i64 : i64
    %174 = arith.muli %173, %149 : i64
    %175 = arith.muli %174, %c48_i64 : i64
    %176 = arith.divsi %175, %171 : i64
    %177 = arith.select %164, %176, %1 : i64
    %178 = arith.select %9, %176, %0 : i64
    %from_elements_53 = tensor.from_elements %177, %178, %c48_i64 : tensor<3xi64>
    %reshape_54 = tensor.reshape %transposed_52(%from_elements_53) : (tensor<?x4x?x48xf32>, tensor<3xi64>) -> tensor<?x?x48xf32>
    return %reshape_54 : tensor<?x?x48xf32>
  }
}

