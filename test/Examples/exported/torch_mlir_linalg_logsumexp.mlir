// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// Any number of tokens: a view whose size follows from the others, a vector norm as magnitudes and powers, a
// reciprocal with an assertion in its body, alpha as a concatenation, log-sum-exp with the place of its maximum and a
// selection for an infinite one.
// CHECK: func.func @main
// CHECK-NOT: linalg
// CHECK: mhc.pre(
// CHECK: mhc.post(
// CHECK-NEXT: return
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0) -> ()>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map10 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
module {
  func.func @main(%arg0: tensor<?x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<?x16xf32>, tensor<?x4x16xf32>) {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 0x7FF0000000000000 : f64
    %cst_4 = arith.constant 9.9999999999999995E-7 : f64
    %c64_i64 = arith.constant 64 : i64
    %cst_5 = arith.constant 2.000000e+00 : f32
    %cst_6 = arith.constant 5.000000e-01 : f32
    %cst_7 = arith.constant 8.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x4x16xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi slt, %0, %c0_i64 : i64
    %2 = arith.select %1, %c1_i64, %0 : i64
    %3 = arith.extui %1 : i1 to i64
    %4 = arith.addi %3, %c1_i64 : i64
    %5 = arith.cmpi sle, %4, %c1_i64 : i64
    cf.assert %5, "must have at most one inferred (negative) dimension"
    %6 = arith.muli %0, %c64_i64 : i64
    %7 = arith.divsi %6, %2 : i64
    %8 = arith.select %1, %7, %0 : i64
    %from_elements = tensor.from_elements %8, %7 : tensor<2xi64>
    %reshape = tensor.reshape %arg0(%from_elements) : (tensor<?x4x16xf32>, tensor<2xi64>) -> tensor<?x64xf32>
    %9 = arith.index_cast %8 : i64 to index
    %10 = tensor.empty(%9) : tensor<?x24xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %12 = linalg.matmul ins(%reshape, %arg1 : tensor<?x64xf32>, tensor<64x24xf32>) outs(%11 : tensor<?x24xf32>) -> tensor<?x24xf32>
    %13 = tensor.empty(%9) : tensor<?x1xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%reshape : tensor<?x64xf32>) outs(%14 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.absf %in : f32
      %96 = math.powf %95, %cst_5 : f32
      %97 = arith.addf %96, %out : f32
      linalg.yield %97 : f32
    } -> tensor<?x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<?x1xf32>) outs(%13 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.powf %in, %cst_6 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<?x1xf32>) outs(%13 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.divf %in, %cst_7 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<?x1xf32>) outs(%13 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.truncf %cst_4 : f64 to f32
      %96 = arith.addf %in, %95 : f32
      linalg.yield %96 : f32
    } -> tensor<?x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<?x1xf32>) outs(%13 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.cmpf one, %in, %cst : f32
      cf.assert %95, "unimplemented: tensor with zero element"
      %96 = arith.divf %cst_0, %in : f32
      linalg.yield %96 : f32
    } -> tensor<?x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %19 : tensor<?x24xf32>, tensor<?x1xf32>) outs(%10 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.mulf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %21 = tensor.empty() : tensor<4xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %22 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel"]} ins(%collapsed : tensor<f32>) outs(%21 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %extracted_slice_8 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [] : tensor<1xf32> into tensor<f32>
    %23 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel"]} ins(%collapsed_9 : tensor<f32>) outs(%21 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %24 = tensor.empty() : tensor<16xf32>
    %collapsed_11 = tensor.collapse_shape %extracted_slice_10 [] : tensor<1xf32> into tensor<f32>
    %25 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel"]} ins(%collapsed_11 : tensor<f32>) outs(%24 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %concat = tensor.concat dim(0) %22, %23, %25 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %concat : tensor<?x24xf32>, tensor<24xf32>) outs(%10 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.mulf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x24xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %arg2 : tensor<?x24xf32>, tensor<24xf32>) outs(%10 : tensor<?x24xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x24xf32>
    %extracted_slice_12 = tensor.extract_slice %27[0, 0] [%9, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
    %extracted_slice_13 = tensor.extract_slice %27[0, 4] [%9, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
    %extracted_slice_14 = tensor.extract_slice %27[0, 8] [%9, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
    %28 = tensor.empty(%9) : tensor<?x4xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_12 : tensor<?x4xf32>) outs(%28 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.negf %in : f32
      %96 = math.exp %95 : f32
      %97 = arith.addf %96, %cst_0 : f32
      %98 = arith.divf %cst_0, %97 : f32
      linalg.yield %98 : f32
    } -> tensor<?x4xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_13 : tensor<?x4xf32>) outs(%28 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.negf %in : f32
      %96 = math.exp %95 : f32
      %97 = arith.addf %96, %cst_0 : f32
      %98 = arith.divf %cst_0, %97 : f32
      linalg.yield %98 : f32
    } -> tensor<?x4xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<?x4xf32>) outs(%28 : tensor<?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.mulf %in, %cst_5 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4xf32>
    %expanded = tensor.expand_shape %extracted_slice_14 [[0], [1, 2]] output_shape [%9, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
    %32 = tensor.empty(%9) : tensor<?x4xi64>
    %33 = linalg.fill ins(%c0_i64 : i64) outs(%32 : tensor<?x4xi64>) -> tensor<?x4xi64>
    %34 = linalg.fill ins(%cst_1 : f32) outs(%28 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %35:2 = linalg.generic {indexing_maps = [#map5, #map6, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded : tensor<?x4x4xf32>) outs(%34, %33 : tensor<?x4xf32>, tensor<?x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %95 = linalg.index 2 : index
      %96 = arith.index_cast %95 : index to i64
      %97 = arith.maximumf %in, %out : f32
      %98 = arith.cmpf ogt, %in, %out : f32
      %99 = arith.select %98, %96, %out_22 : i64
      linalg.yield %97, %99 : f32, i64
    } -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %expanded_15 = tensor.expand_shape %35#0 [[0], [1, 2]] output_shape [%9, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %36 = tensor.empty(%9) : tensor<?x4x1xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_15 : tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.absf %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %38 = tensor.empty(%9) : tensor<?x4x1xi1>
    %39 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<?x4x1xf32>) outs(%38 : tensor<?x4x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %95 = arith.extf %in : f32 to f64
      %96 = arith.cmpf oeq, %95, %cst_3 : f64
      linalg.yield %96 : i1
    } -> tensor<?x4x1xi1>
    %40 = linalg.generic {indexing_maps = [#map5, #map7, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %cst_2, %expanded_15 : tensor<?x4x1xi1>, tensor<f32>, tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: i1, %in_22: f32, %in_23: f32, %out: f32):
      %95 = arith.select %in, %in_22, %in_23 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %41 = tensor.empty(%9) : tensor<?x4x4xf32>
    %42 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %40 : tensor<?x4x4xf32>, tensor<?x4x1xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %43 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<?x4x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.exp %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %44 = linalg.fill ins(%cst : f32) outs(%36 : tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%43 : tensor<?x4x4xf32>) outs(%44 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.addf %in, %out : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %46 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.log %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %47 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %40 : tensor<?x4x1xf32>, tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %48 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %47 : tensor<?x4x4xf32>, tensor<?x4x1xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %49:2 = linalg.generic {indexing_maps = [#map5, #map9, #map9], iterator_types = ["parallel", "reduction", "parallel"]} ins(%48 : tensor<?x4x4xf32>) outs(%34, %33 : tensor<?x4xf32>, tensor<?x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %95 = linalg.index 1 : index
      %96 = arith.index_cast %95 : index to i64
      %97 = arith.maximumf %in, %out : f32
      %98 = arith.cmpf ogt, %in, %out : f32
      %99 = arith.select %98, %96, %out_22 : i64
      linalg.yield %97, %99 : f32, i64
    } -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %expanded_16 = tensor.expand_shape %49#0 [[0, 1], [2]] output_shape [%9, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %50 = tensor.empty(%9) : tensor<?x1x4xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.absf %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %52 = tensor.empty(%9) : tensor<?x1x4xi1>
    %53 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<?x1x4xf32>) outs(%52 : tensor<?x1x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %95 = arith.extf %in : f32 to f64
      %96 = arith.cmpf oeq, %95, %cst_3 : f64
      linalg.yield %96 : i1
    } -> tensor<?x1x4xi1>
    %54 = linalg.generic {indexing_maps = [#map5, #map7, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %cst_2, %expanded_16 : tensor<?x1x4xi1>, tensor<f32>, tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: i1, %in_22: f32, %in_23: f32, %out: f32):
      %95 = arith.select %in, %in_22, %in_23 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %55 = linalg.generic {indexing_maps = [#map5, #map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %54 : tensor<?x4x4xf32>, tensor<?x1x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55 : tensor<?x4x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.exp %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %57 = linalg.fill ins(%cst : f32) outs(%50 : tensor<?x1x4xf32>) -> tensor<?x1x4xf32>
    %58 = linalg.generic {indexing_maps = [#map5, #map10], iterator_types = ["parallel", "reduction", "parallel"]} ins(%56 : tensor<?x4x4xf32>) outs(%57 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.addf %in, %out : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.log %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %60 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %54 : tensor<?x1x4xf32>, tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %61 = linalg.generic {indexing_maps = [#map5, #map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %60 : tensor<?x4x4xf32>, tensor<?x1x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %62:2 = linalg.generic {indexing_maps = [#map5, #map6, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%61 : tensor<?x4x4xf32>) outs(%34, %33 : tensor<?x4xf32>, tensor<?x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %95 = linalg.index 2 : index
      %96 = arith.index_cast %95 : index to i64
      %97 = arith.maximumf %in, %out : f32
      %98 = arith.cmpf ogt, %in, %out : f32
      %99 = arith.select %98, %96, %out_22 : i64
      linalg.yield %97, %99 : f32, i64
    } -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %expanded_17 = tensor.expand_shape %62#0 [[0], [1, 2]] output_shape [%9, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.absf %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63 : tensor<?x4x1xf32>) outs(%38 : tensor<?x4x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %95 = arith.extf %in : f32 to f64
      %96 = arith.cmpf oeq, %95, %cst_3 : f64
      linalg.yield %96 : i1
    } -> tensor<?x4x1xi1>
    %65 = linalg.generic {indexing_maps = [#map5, #map7, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %cst_2, %expanded_17 : tensor<?x4x1xi1>, tensor<f32>, tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: i1, %in_22: f32, %in_23: f32, %out: f32):
      %95 = arith.select %in, %in_22, %in_23 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %66 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %65 : tensor<?x4x4xf32>, tensor<?x4x1xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %67 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<?x4x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.exp %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %68 = linalg.generic {indexing_maps = [#map5, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%67 : tensor<?x4x4xf32>) outs(%44 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.addf %in, %out : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %69 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.log %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %70 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %65 : tensor<?x4x1xf32>, tensor<?x4x1xf32>) outs(%36 : tensor<?x4x1xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x1xf32>
    %71 = linalg.generic {indexing_maps = [#map5, #map8, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %70 : tensor<?x4x4xf32>, tensor<?x4x1xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %72:2 = linalg.generic {indexing_maps = [#map5, #map9, #map9], iterator_types = ["parallel", "reduction", "parallel"]} ins(%71 : tensor<?x4x4xf32>) outs(%34, %33 : tensor<?x4xf32>, tensor<?x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_22: i64):
      %95 = linalg.index 1 : index
      %96 = arith.index_cast %95 : index to i64
      %97 = arith.maximumf %in, %out : f32
      %98 = arith.cmpf ogt, %in, %out : f32
      %99 = arith.select %98, %96, %out_22 : i64
      linalg.yield %97, %99 : f32, i64
    } -> (tensor<?x4xf32>, tensor<?x4xi64>)
    %expanded_18 = tensor.expand_shape %72#0 [[0, 1], [2]] output_shape [%9, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %73 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_18 : tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.absf %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %74 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<?x1x4xf32>) outs(%52 : tensor<?x1x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %95 = arith.extf %in : f32 to f64
      %96 = arith.cmpf oeq, %95, %cst_3 : f64
      linalg.yield %96 : i1
    } -> tensor<?x1x4xi1>
    %75 = linalg.generic {indexing_maps = [#map5, #map7, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %cst_2, %expanded_18 : tensor<?x1x4xi1>, tensor<f32>, tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: i1, %in_22: f32, %in_23: f32, %out: f32):
      %95 = arith.select %in, %in_22, %in_23 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %76 = linalg.generic {indexing_maps = [#map5, #map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %75 : tensor<?x4x4xf32>, tensor<?x1x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %77 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<?x4x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.exp %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %78 = linalg.generic {indexing_maps = [#map5, #map10], iterator_types = ["parallel", "reduction", "parallel"]} ins(%77 : tensor<?x4x4xf32>) outs(%57 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = arith.addf %in, %out : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.log %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %80 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %75 : tensor<?x1x4xf32>, tensor<?x1x4xf32>) outs(%50 : tensor<?x1x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x1x4xf32>
    %81 = linalg.generic {indexing_maps = [#map5, #map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %80 : tensor<?x4x4xf32>, tensor<?x1x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.subf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %82 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<?x4x4xf32>) outs(%41 : tensor<?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %95 = math.exp %in : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x4xf32>
    %expanded_19 = tensor.expand_shape %29 [[0], [1, 2]] output_shape [%9, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %83 = arith.maxui %9, %dim : index
    %84 = tensor.empty(%83) : tensor<?x1x16xf32>
    %85 = linalg.fill ins(%cst : f32) outs(%84 : tensor<?x1x16xf32>) -> tensor<?x1x16xf32>
    %86 = linalg.batch_matmul ins(%expanded_19, %arg0 : tensor<?x1x4xf32>, tensor<?x4x16xf32>) outs(%85 : tensor<?x1x16xf32>) -> tensor<?x1x16xf32>
    %collapsed_20 = tensor.collapse_shape %86 [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
    %87 = tensor.empty(%83) : tensor<?x4x16xf32>
    %88 = linalg.fill ins(%cst : f32) outs(%87 : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    %89 = linalg.batch_matmul ins(%82, %arg0 : tensor<?x4x4xf32>, tensor<?x4x16xf32>) outs(%88 : tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    %expanded_21 = tensor.expand_shape %31 [[0], [1, 2]] output_shape [%9, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %90 = arith.cmpi eq, %9, %83 : index
    cf.assert %90, "mismatched size for broadcast"
    %91 = tensor.empty(%9) : tensor<?x4x16xf32>
    %92 = linalg.generic {indexing_maps = [#map8, #map10, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_21, %86 : tensor<?x4x1xf32>, tensor<?x1x16xf32>) outs(%91 : tensor<?x4x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.mulf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x16xf32>
    %93 = arith.cmpi eq, %83, %9 : index
    cf.assert %93, "mismatched size for broadcast"
    %94 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %92 : tensor<?x4x16xf32>, tensor<?x4x16xf32>) outs(%87 : tensor<?x4x16xf32>) {
    ^bb0(%in: f32, %in_22: f32, %out: f32):
      %95 = arith.addf %in, %in_22 : f32
      linalg.yield %95 : f32
    } -> tensor<?x4x16xf32>
    return %collapsed_20, %94 : tensor<?x16xf32>, tensor<?x4x16xf32>
  }
}
