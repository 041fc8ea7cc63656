// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s

// Streams cut from one dimension, joined, mixed and cut again, with batch and tokens both open.
// CHECK: func.func @main(%arg0: tensor<?x?x192xf32>
// CHECK-NOT: linalg
// CHECK: mhc.pre({{.*}}init = exp, order = row_col
// CHECK: mhc.post(
// CHECK: return %{{.*}} : tensor<?x?x192xf32>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> ()>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
module {
  func.func @main(%arg0: tensor<?x?x192xf32>, %arg1: tensor<192x24xf32>, %arg2: tensor<3xf32>, %arg3: tensor<24xf32>, %arg4: tensor<48x48xf32>) -> tensor<?x?x192xf32> {
    %c48_i64 = arith.constant 48 : i64
    %c4_i64 = arith.constant 4 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 1.920000e+02 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %c192_i64 = arith.constant 192 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x192xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_4 = tensor.dim %arg0, %c1 : tensor<?x?x192xf32>
    %1 = arith.index_cast %dim_4 : index to i64
    %2 = tensor.empty(%dim, %dim_4) : tensor<?x?x192xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg0 : tensor<?x?x192xf32>, tensor<?x?x192xf32>) outs(%2 : tensor<?x?x192xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x192xf32>
    %4 = tensor.empty(%dim, %dim_4) : tensor<?x?x1xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3 : tensor<?x?x192xf32>) outs(%5 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<?x?x1xf32>) outs(%4 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.divf %in, %cst_2 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<?x?x1xf32>) outs(%4 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<?x?x1xf32>) outs(%4 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = math.rsqrt %in : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %9 : tensor<?x?x192xf32>, tensor<?x?x1xf32>) outs(%2 : tensor<?x?x192xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x192xf32>
    %11 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %11, "negative values not allowed in new dimensions"
    %12 = tensor.empty(%dim) : tensor<?x192x24xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<192x24xf32>) outs(%12 : tensor<?x192x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x192x24xf32>
    %14 = tensor.empty(%dim, %dim_4) : tensor<?x?x24xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
    %16 = linalg.batch_matmul ins(%10, %13 : tensor<?x?x192xf32>, tensor<?x192x24xf32>) outs(%15 : tensor<?x?x24xf32>) -> tensor<?x?x24xf32>
    %extracted_slice = tensor.extract_slice %arg2[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_5 = tensor.extract_slice %16[0, 0, 0] [%dim, %dim_4, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %17 = tensor.empty(%dim, %dim_4) : tensor<?x?x4xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed, %extracted_slice_5 : tensor<f32>, tensor<?x?x4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_6 = tensor.extract_slice %arg3[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %extracted_slice_6 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.addf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<?x?x4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.negf %in : f32
      %202 = math.exp %201 : f32
      %203 = arith.addf %202, %cst_0 : f32
      %204 = arith.divf %cst_0, %203 : f32
      linalg.yield %204 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_7 = tensor.extract_slice %arg2[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice_7 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_9 = tensor.extract_slice %16[0, 0, 4] [%dim, %dim_4, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_8, %extracted_slice_9 : tensor<f32>, tensor<?x?x4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_10 = tensor.extract_slice %arg3[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %extracted_slice_10 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.addf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<?x?x4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.negf %in : f32
      %202 = math.exp %201 : f32
      %203 = arith.addf %202, %cst_0 : f32
      %204 = arith.divf %cst_0, %203 : f32
      linalg.yield %204 : f32
    } -> tensor<?x?x4xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<?x?x4xf32>) outs(%17 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.mulf %in, %cst_3 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg2[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_13 = tensor.extract_slice %16[0, 0, 8] [%dim, %dim_4, 16] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x16xf32>
    %25 = tensor.empty(%dim, %dim_4) : tensor<?x?x16xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_12, %extracted_slice_13 : tensor<f32>, tensor<?x?x16xf32>) outs(%25 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x16xf32>
    %extracted_slice_14 = tensor.extract_slice %arg3[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %extracted_slice_14 : tensor<?x?x16xf32>, tensor<16xf32>) outs(%25 : tensor<?x?x16xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.addf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x16xf32>
    %28 = arith.cmpi slt, %0, %c0_i64 : i64
    %29 = arith.select %28, %c1_i64, %0 : i64
    %30 = arith.extui %28 : i1 to i64
    %31 = arith.muli %29, %1 : i64
    %32 = arith.addi %30, %c1_i64 : i64
    %33 = arith.cmpi slt, %1, %c0_i64 : i64
    %34 = arith.select %33, %29, %31 : i64
    %35 = arith.select %33, %32, %30 : i64
    %36 = arith.muli %34, %c16_i64 : i64
    %37 = arith.cmpi sle, %35, %c1_i64 : i64
    cf.assert %37, "must have at most one inferred (negative) dimension"
    %38 = arith.muli %0, %1 : i64
    %39 = arith.muli %38, %c16_i64 : i64
    %40 = arith.divsi %39, %36 : i64
    %41 = arith.select %28, %40, %0 : i64
    %42 = arith.select %33, %40, %1 : i64
    %from_elements = tensor.from_elements %41, %42, %c4_i64, %c4_i64 : tensor<4xi64>
    %reshape = tensor.reshape %27(%from_elements) : (tensor<?x?x16xf32>, tensor<4xi64>) -> tensor<?x?x4x4xf32>
    %43 = arith.index_cast %41 : i64 to index
    %44 = arith.index_cast %42 : i64 to index
    %45 = tensor.empty(%43, %44) : tensor<?x?x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<?x?x4x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = math.exp %in : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %47 = tensor.empty(%43, %44) : tensor<?x?x4x1xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%47 : tensor<?x?x4x1xf32>) -> tensor<?x?x4x1xf32>
    %49 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %50 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %50 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %52 = tensor.empty(%43, %44) : tensor<?x?x1x4xf32>
    %53 = linalg.fill ins(%cst : f32) outs(%52 : tensor<?x?x1x4xf32>) -> tensor<?x?x1x4xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%51 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %55 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %55 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %57 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%56 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %58 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %59 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %58 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %60 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%59 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %61 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %62 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59, %61 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%62 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %65 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62, %64 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %66 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%65 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %67 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %68 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %67 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %69 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%68 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %70 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %71 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %70 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %72 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%71 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %73 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %74 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71, %73 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %75 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%74 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %76 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %77 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74, %76 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %78 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%77 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%78 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %80 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %79 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %81 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%80 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %82 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%81 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %83 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%80, %82 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %84 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%83 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %85 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%84 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %86 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%83, %85 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %87 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%86 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %88 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%87 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %89 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%86, %88 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %90 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%89 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %91 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%90 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %92 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%89, %91 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %93 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%92 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %94 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%93 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %95 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%92, %94 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %96 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%95 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %97 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%96 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %98 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%95, %97 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %99 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%98 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %100 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%99 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %101 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%98, %100 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %102 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%101 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %103 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%102 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %104 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%101, %103 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %105 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%104 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %106 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%105 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %107 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%104, %106 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %108 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%107 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %109 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%108 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %110 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%107, %109 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %111 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%110 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %112 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%111 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %113 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%110, %112 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %114 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%113 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %115 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%114 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %116 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%113, %115 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %117 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%116 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %118 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%117 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %119 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%116, %118 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %120 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%119 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %121 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%120 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %122 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%119, %121 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %123 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%122 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %124 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%123 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %125 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%122, %124 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %126 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%125 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %127 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%126 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %128 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%125, %127 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %129 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%128 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %130 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%129 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %131 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%128, %130 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %132 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%131 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %133 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%132 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %134 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%131, %133 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %135 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%134 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %136 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%135 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %137 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%134, %136 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %138 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%137 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %139 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%138 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %140 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%137, %139 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %141 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%140 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %142 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%141 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %143 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%140, %142 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %144 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%143 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %145 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%144 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %146 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%143, %145 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %147 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%146 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %148 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%147 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %149 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%146, %148 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %150 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%149 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %151 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%150 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %152 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%149, %151 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %153 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%152 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %154 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%153 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %155 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%152, %154 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %156 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%155 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %157 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%156 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %158 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%155, %157 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %159 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%158 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %160 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%159 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %161 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%158, %160 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %162 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%161 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %163 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%162 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %164 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%161, %163 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %165 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%164 : tensor<?x?x4x4xf32>) outs(%48 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x1xf32>
    %166 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%165 : tensor<?x?x4x1xf32>) outs(%47 : tensor<?x?x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x1xf32>
    %167 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%164, %166 : tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %168 = linalg.generic {indexing_maps = [#map5, #map7], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%167 : tensor<?x?x4x4xf32>) outs(%53 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x1x4xf32>
    %169 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%168 : tensor<?x?x1x4xf32>) outs(%52 : tensor<?x?x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.truncf %cst_1 : f64 to f32
      %202 = arith.addf %in, %201 : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x1x4xf32>
    %170 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%167, %169 : tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) outs(%45 : tensor<?x?x4x4xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.divf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x4xf32>
    %extracted_slice_15 = tensor.extract_slice %arg0[0, 0, 0] [%dim, %dim_4, 48] [1, 1, 1] : tensor<?x?x192xf32> to tensor<?x?x48xf32>
    %extracted_slice_16 = tensor.extract_slice %arg0[0, 0, 48] [%dim, %dim_4, 48] [1, 1, 1] : tensor<?x?x192xf32> to tensor<?x?x48xf32>
    %extracted_slice_17 = tensor.extract_slice %arg0[0, 0, 96] [%dim, %dim_4, 48] [1, 1, 1] : tensor<?x?x192xf32> to tensor<?x?x48xf32>
    %extracted_slice_18 = tensor.extract_slice %arg0[0, 0, 144] [%dim, %dim_4, 48] [1, 1, 1] : tensor<?x?x192xf32> to tensor<?x?x48xf32>
    %concat = tensor.concat dim(2) %extracted_slice_15, %extracted_slice_16, %extracted_slice_17, %extracted_slice_18 : (tensor<?x?x48xf32>, tensor<?x?x48xf32>, tensor<?x?x48xf32>, tensor<?x?x48xf32>) -> tensor<?x?x192xf32>
    %171 = arith.muli %34, %c192_i64 : i64
    cf.assert %37, "must have at most one inferred (negative) dimension"
    %172 = arith.index_cast %dim : index to i64
    %173 = arith.index_cast %dim_4 : index to i64
    %174 = arith.muli %172, %173 : i64
    %175 = arith.muli %174, %c192_i64 : i64
    %176 = arith.divsi %175, %171 : i64
    %177 = arith.select %28, %176, %0 : i64
    %178 = arith.select %33, %176, %1 : i64
    %from_elements_19 = tensor.from_elements %177, %178, %c4_i64, %c48_i64 : tensor<4xi64>
    %reshape_20 = tensor.reshape %concat(%from_elements_19) : (tensor<?x?x192xf32>, tensor<4xi64>) -> tensor<?x?x4x48xf32>
    %expanded = tensor.expand_shape %20 [[0], [1], [2, 3]] output_shape [%dim, %dim_4, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %179 = arith.index_cast %177 : i64 to index
    %180 = arith.cmpi eq, %dim, %179 : index
    cf.assert %180, "mismatched size for broadcast"
    %181 = arith.index_cast %178 : i64 to index
    %182 = arith.cmpi eq, %dim_4, %181 : index
    cf.assert %182, "mismatched size for broadcast"
    %183 = tensor.empty(%dim, %dim_4) : tensor<?x?x4x48xf32>
    %184 = linalg.generic {indexing_maps = [#map6, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %reshape_20 : tensor<?x?x4x1xf32>, tensor<?x?x4x48xf32>) outs(%183 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x48xf32>
    %185 = tensor.empty(%dim, %dim_4) : tensor<?x?x48xf32>
    %186 = linalg.fill ins(%cst : f32) outs(%185 : tensor<?x?x48xf32>) -> tensor<?x?x48xf32>
    %187 = linalg.generic {indexing_maps = [#map5, #map8], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%184 : tensor<?x?x4x48xf32>) outs(%186 : tensor<?x?x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %201 = arith.addf %in, %out : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x48xf32>
    %188 = tensor.empty() : tensor<48x48xf32>
    %transposed = linalg.transpose ins(%arg4 : tensor<48x48xf32>) outs(%188 : tensor<48x48xf32>) permutation = [1, 0] 
    cf.assert %11, "negative values not allowed in new dimensions"
    %189 = tensor.empty(%dim) : tensor<?x48x48xf32>
    %190 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed : tensor<48x48xf32>) outs(%189 : tensor<?x48x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x48x48xf32>
    %191 = linalg.batch_matmul ins(%187, %190 : tensor<?x?x48xf32>, tensor<?x48x48xf32>) outs(%186 : tensor<?x?x48xf32>) -> tensor<?x?x48xf32>
    %192 = arith.maxui %44, %181 : index
    %193 = arith.maxui %43, %179 : index
    %194 = tensor.empty(%193, %192) : tensor<?x?x4x48xf32>
    %195 = linalg.fill ins(%cst : f32) outs(%194 : tensor<?x?x4x48xf32>) -> tensor<?x?x4x48xf32>
    %196 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%170, %reshape_20 : tensor<?x?x4x4xf32>, tensor<?x?x4x48xf32>) outs(%195 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      %202 = arith.addf %201, %out : f32
      linalg.yield %202 : f32
    } -> tensor<?x?x4x48xf32>
    %expanded_21 = tensor.expand_shape %24 [[0], [1], [2, 3]] output_shape [%dim, %dim_4, 4, 1] : tensor<?x?x4xf32> into tensor<?x?x4x1xf32>
    %expanded_22 = tensor.expand_shape %191 [[0], [1], [2, 3]] output_shape [%dim, %dim_4, 1, 48] : tensor<?x?x48xf32> into tensor<?x?x1x48xf32>
    %197 = linalg.generic {indexing_maps = [#map6, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_21, %expanded_22 : tensor<?x?x4x1xf32>, tensor<?x?x1x48xf32>) outs(%183 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.mulf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x48xf32>
    %198 = arith.cmpi eq, %193, %dim : index
    cf.assert %198, "mismatched size for broadcast"
    %199 = arith.cmpi eq, %192, %dim_4 : index
    cf.assert %199, "mismatched size for broadcast"
    %200 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%196, %197 : tensor<?x?x4x48xf32>, tensor<?x?x4x48xf32>) outs(%194 : tensor<?x?x4x48xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %201 = arith.addf %in, %in_32 : f32
      linalg.yield %201 : f32
    } -> tensor<?x?x4x48xf32>
    %extracted_slice_23 = tensor.extract_slice %200[0, 0, 0, 0] [%193, %192, 1, 48] [1, 1, 1, 1] : tensor<?x?x4x48xf32> to tensor<?x?x1x48xf32>
    %extracted_slice_24 = tensor.extract_slice %200[0, 0, 1, 0] [%193, %192, 1, 48] [1, 1, 1, 1] : tensor<?x?x4x48xf32> to tensor<?x?x1x48xf32>
    %extracted_slice_25 = tensor.extract_slice %200[0, 0, 2, 0] [%193, %192, 1, 48] [1, 1, 1, 1] : tensor<?x?x4x48xf32> to tensor<?x?x1x48xf32>
    %extracted_slice_26 = tensor.extract_slice %200[0, 0, 3, 0] [%193, %192, 1, 48] [1, 1, 1, 1] : tensor<?x?x4x48xf32> to tensor<?x?x1x48xf32>
    %collapsed_27 = tensor.collapse_shape %extracted_slice_23 [[0], [1, 2], [3]] : tensor<?x?x1x48xf32> into tensor<?x?x48xf32>
    %collapsed_28 = tensor.collapse_shape %extracted_slice_24 [[0], [1, 2], [3]] : tensor<?x?x1x48xf32> into tensor<?x?x48xf32>
    %collapsed_29 = tensor.collapse_shape %extracted_slice_25 [[0], [1, 2], [3]] : tensor<?x?x1x48xf32> into tensor<?x?x48xf32>
    %collapsed_30 = tensor.collapse_shape %extracted_slice_26 [[0], [1, 2], [3]] : tensor<?x?x1x48xf32> into tensor<?x?x48xf32>
    %concat_31 = tensor.concat dim(2) %collapsed_27, %collapsed_28, %collapsed_29, %collapsed_30 : (tensor<?x?x48xf32>, tensor<?x?x48xf32>, tensor<?x?x48xf32>, tensor<?x?x48xf32>) -> tensor<?x?x192xf32>
    return %concat_31 : tensor<?x?x192xf32>
  }
}
