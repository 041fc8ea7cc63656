// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s --implicit-check-not=linalg.
// RUN: mhcc %s --grad=layer --verify | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG

// The module of docs/guides/gated-delta.md as torch-mlir writes it: two sequences of open length, bf16.
// CHECK: mhc.pre_gated_delta_rule(
// CHECK-SAME: <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = bMD>
// VERIFY: entry layer_bwd
// VERIFY: d_arg0: verified
// VERIFY: d_arg3: verified
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
module {
  func.func @layer(%arg0: tensor<2x?x200xbf16>, %arg1: tensor<128x1x4xbf16>, %arg2: tensor<4xf32>, %arg3: tensor<4xf32>) -> (tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4xbf16>, tensor<2x?x4xf32>) {
    %c2_i64 = arith.constant 2 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c-1 = arith.constant -1 : index
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+00 : bf16
    %cst_3 = arith.constant 9.9999999999999995E-7 : f64
    %c3_i64 = arith.constant 3 : i64
    %cst_4 = arith.constant 2.000000e+01 : f32
    %dim = tensor.dim %arg0, %c1 : tensor<2x?x200xbf16>
    %0 = arith.index_cast %dim : index to i64
    %extracted_slice = tensor.extract_slice %arg0[0, 0, 0] [2, %dim, 128] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x128xbf16>
    %extracted_slice_5 = tensor.extract_slice %arg0[0, 0, 128] [2, %dim, 64] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x64xbf16>
    %extracted_slice_6 = tensor.extract_slice %arg0[0, 0, 192] [2, %dim, 4] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x4xbf16>
    %extracted_slice_7 = tensor.extract_slice %arg0[0, 0, 196] [2, %dim, 4] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x4xbf16>
    %1 = tensor.empty(%dim) : tensor<2x128x?xbf16>
    %transposed = linalg.transpose ins(%extracted_slice : tensor<2x?x128xbf16>) outs(%1 : tensor<2x128x?xbf16>) permutation = [0, 2, 1] 
    %expanded = tensor.expand_shape %transposed [[0], [1], [2, 3]] output_shape [2, 128, %dim, 1] : tensor<2x128x?xbf16> into tensor<2x128x?x1xbf16>
    %expanded_8 = tensor.expand_shape %arg1 [[0], [1], [2, 3]] output_shape [128, 1, 4, 1] : tensor<128x1x4xbf16> into tensor<128x1x4x1xbf16>
    %padded = tensor.pad %expanded low[0, 0, 3, 0] high[0, 0, 3, 0] {
    ^bb0(%arg4: index, %arg5: index, %arg6: index, %arg7: index):
      tensor.yield %cst : bf16
    } : tensor<2x128x?x1xbf16> to tensor<2x128x?x1xbf16>
    %2 = arith.addi %0, %c3_i64 : i64
    %3 = arith.index_cast %2 : i64 to index
    %4 = tensor.empty(%3) : tensor<2x128x?x1xf32>
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<2x128x?x1xf32>) -> tensor<2x128x?x1xf32>
    %collapsed = tensor.collapse_shape %expanded_8 [[0, 1], [2], [3]] : tensor<128x1x4x1xbf16> into tensor<128x4x1xbf16>
    %6 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %collapsed : tensor<2x128x?x1xbf16>, tensor<128x4x1xbf16>) outs(%5 : tensor<2x128x?x1xf32>) -> tensor<2x128x?x1xf32>
    %7 = tensor.empty(%3) : tensor<2x128x?x1xbf16>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x128x?x1xf32>) outs(%7 : tensor<2x128x?x1xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %59 = arith.truncf %in : f32 to bf16
      linalg.yield %59 : bf16
    } -> tensor<2x128x?x1xbf16>
    %collapsed_9 = tensor.collapse_shape %8 [[0], [1], [2, 3]] : tensor<2x128x?x1xbf16> into tensor<2x128x?xbf16>
    %9 = arith.cmpi slt, %dim, %c0 : index
    %10 = arith.addi %dim, %3 : index
    %11 = arith.select %9, %10, %dim : index
    %12 = arith.cmpi slt, %11, %c0 : index
    %13 = arith.select %12, %c-1, %11 : index
    %14 = arith.minsi %13, %3 : index
    %15 = arith.maxsi %14, %c0 : index
    %extracted_slice_10 = tensor.extract_slice %collapsed_9[0, 0, 0] [2, 128, %15] [1, 1, 1] : tensor<2x128x?xbf16> to tensor<2x128x?xbf16>
    %16 = tensor.empty(%15) : tensor<2x128x?xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_10 : tensor<2x128x?xbf16>) outs(%16 : tensor<2x128x?xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %59 = arith.extf %in : bf16 to f32
      linalg.yield %59 : f32
    } -> tensor<2x128x?xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<2x128x?xf32>) outs(%16 : tensor<2x128x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.negf %in : f32
      %60 = math.exp %59 : f32
      %61 = arith.addf %60, %cst_1 : f32
      %62 = arith.divf %cst_1, %61 : f32
      linalg.yield %62 : f32
    } -> tensor<2x128x?xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %18 : tensor<2x128x?xf32>, tensor<2x128x?xf32>) outs(%16 : tensor<2x128x?xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %59 = arith.mulf %in, %in_23 : f32
      linalg.yield %59 : f32
    } -> tensor<2x128x?xf32>
    %20 = tensor.empty(%15) : tensor<2x128x?xbf16>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<2x128x?xf32>) outs(%20 : tensor<2x128x?xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %59 = arith.truncf %in : f32 to bf16
      linalg.yield %59 : bf16
    } -> tensor<2x128x?xbf16>
    %22 = tensor.empty(%15) : tensor<2x?x128xbf16>
    %transposed_11 = linalg.transpose ins(%21 : tensor<2x128x?xbf16>) outs(%22 : tensor<2x?x128xbf16>) permutation = [0, 2, 1] 
    %extracted_slice_12 = tensor.extract_slice %transposed_11[0, 0, 0] [2, %15, 32] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x32xbf16>
    %extracted_slice_13 = tensor.extract_slice %transposed_11[0, 0, 32] [2, %15, 32] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x32xbf16>
    %extracted_slice_14 = tensor.extract_slice %transposed_11[0, 0, 64] [2, %15, 64] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x64xbf16>
    %expanded_15 = tensor.expand_shape %extracted_slice_12 [[0], [1], [2, 3]] output_shape [2, %15, 2, 16] : tensor<2x?x32xbf16> into tensor<2x?x2x16xbf16>
    %23 = tensor.empty(%15) : tensor<2x?x2x16xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15 : tensor<2x?x2x16xbf16>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %59 = arith.extf %in : bf16 to f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24 : tensor<2x?x2x16xf32>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %26 = tensor.empty(%15) : tensor<2x?x2x1xf32>
    %27 = linalg.fill ins(%cst_0 : f32) outs(%26 : tensor<2x?x2x1xf32>) -> tensor<2x?x2x1xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<2x?x2x16xf32>) outs(%27 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.addf %in, %out : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x1xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x?x2x1xf32>) outs(%26 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.truncf %cst_3 : f64 to f32
      %60 = arith.addf %in, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<2x?x2x1xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<2x?x2x1xf32>) outs(%26 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.rsqrt %in : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x1xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %30 : tensor<2x?x2x16xf32>, tensor<2x?x2x1xf32>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %59 = arith.mulf %in, %in_23 : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %32 = tensor.empty(%15) : tensor<2x?x2x16xbf16>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<2x?x2x16xf32>) outs(%32 : tensor<2x?x2x16xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %59 = arith.truncf %in : f32 to bf16
      linalg.yield %59 : bf16
    } -> tensor<2x?x2x16xbf16>
    %expanded_16 = tensor.expand_shape %extracted_slice_13 [[0], [1], [2, 3]] output_shape [2, %15, 2, 16] : tensor<2x?x32xbf16> into tensor<2x?x2x16xbf16>
    %34 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<2x?x2x16xbf16>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %59 = arith.extf %in : bf16 to f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<2x?x2x16xf32>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<2x?x2x16xf32>) outs(%27 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.addf %in, %out : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x1xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<2x?x2x1xf32>) outs(%26 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.truncf %cst_3 : f64 to f32
      %60 = arith.addf %in, %59 : f32
      linalg.yield %60 : f32
    } -> tensor<2x?x2x1xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37 : tensor<2x?x2x1xf32>) outs(%26 : tensor<2x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.rsqrt %in : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x1xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %38 : tensor<2x?x2x16xf32>, tensor<2x?x2x1xf32>) outs(%23 : tensor<2x?x2x16xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %59 = arith.mulf %in, %in_23 : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x2x16xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x?x2x16xf32>) outs(%32 : tensor<2x?x2x16xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %59 = arith.truncf %in : f32 to bf16
      linalg.yield %59 : bf16
    } -> tensor<2x?x2x16xbf16>
    %expanded_17 = tensor.expand_shape %33 [[0], [1], [2], [3, 4]] output_shape [2, %15, 2, 1, 16] : tensor<2x?x2x16xbf16> into tensor<2x?x2x1x16xbf16>
    %41 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %41, "unimplemented: dynamic negative broadcast sizes"
    %42 = tensor.empty(%dim) : tensor<2x?x2x2x16xbf16>
    %43 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%42 : tensor<2x?x2x2x16xbf16>) {
    ^bb0(%out: bf16):
      %59 = linalg.index 0 : index
      %60 = linalg.index 1 : index
      %61 = linalg.index 2 : index
      %62 = linalg.index 4 : index
      %63 = arith.cmpi eq, %15, %c1 : index
      %64 = arith.select %63, %c0, %60 : index
      %extracted = tensor.extract %expanded_17[%59, %64, %61, %c0, %62] : tensor<2x?x2x1x16xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<2x?x2x2x16xbf16>
    %collapsed_18 = tensor.collapse_shape %43 [[0], [1], [2, 3], [4]] : tensor<2x?x2x2x16xbf16> into tensor<2x?x4x16xbf16>
    %expanded_19 = tensor.expand_shape %40 [[0], [1], [2], [3, 4]] output_shape [2, %15, 2, 1, 16] : tensor<2x?x2x16xbf16> into tensor<2x?x2x1x16xbf16>
    cf.assert %41, "unimplemented: dynamic negative broadcast sizes"
    %44 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%42 : tensor<2x?x2x2x16xbf16>) {
    ^bb0(%out: bf16):
      %59 = linalg.index 0 : index
      %60 = linalg.index 1 : index
      %61 = linalg.index 2 : index
      %62 = linalg.index 4 : index
      %63 = arith.cmpi eq, %15, %c1 : index
      %64 = arith.select %63, %c0, %60 : index
      %extracted = tensor.extract %expanded_19[%59, %64, %61, %c0, %62] : tensor<2x?x2x1x16xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<2x?x2x2x16xbf16>
    %collapsed_20 = tensor.collapse_shape %44 [[0], [1], [2, 3], [4]] : tensor<2x?x2x2x16xbf16> into tensor<2x?x4x16xbf16>
    %45 = tensor.empty() : tensor<4xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%arg2 : tensor<4xf32>) outs(%45 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.exp %in : f32
      linalg.yield %59 : f32
    } -> tensor<4xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel"]} ins(%46 : tensor<4xf32>) outs(%45 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = arith.negf %in : f32
      linalg.yield %59 : f32
    } -> tensor<4xf32>
    %48 = tensor.empty(%dim) : tensor<2x?x4xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_7 : tensor<2x?x4xbf16>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %59 = arith.extf %in : bf16 to f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %50 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49, %arg3 : tensor<2x?x4xf32>, tensor<4xf32>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %59 = arith.addf %in, %in_23 : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %51 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<2x?x4xf32>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.exp %in : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<2x?x4xf32>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %59 = math.log1p %in : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %53 = tensor.empty(%dim) : tensor<2x?x4xi1>
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%50 : tensor<2x?x4xf32>) outs(%53 : tensor<2x?x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %59 = arith.cmpf ogt, %in, %cst_4 : f32
      linalg.yield %59 : i1
    } -> tensor<2x?x4xi1>
    %55 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %50, %52 : tensor<2x?x4xi1>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: i1, %in_23: f32, %in_24: f32, %out: f32):
      %59 = arith.select %in, %in_23, %in_24 : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %55 : tensor<4xf32>, tensor<2x?x4xf32>) outs(%48 : tensor<2x?x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %59 = arith.mulf %in, %in_23 : f32
      linalg.yield %59 : f32
    } -> tensor<2x?x4xf32>
    %expanded_21 = tensor.expand_shape %extracted_slice_14 [[0], [1], [2, 3]] output_shape [2, %15, 4, 16] : tensor<2x?x64xbf16> into tensor<2x?x4x16xbf16>
    %expanded_22 = tensor.expand_shape %extracted_slice_5 [[0], [1], [2, 3]] output_shape [2, %dim, 4, 16] : tensor<2x?x64xbf16> into tensor<2x?x4x16xbf16>
    %57 = tensor.empty(%dim) : tensor<2x?x4xbf16>
    %58 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_6 : tensor<2x?x4xbf16>) outs(%57 : tensor<2x?x4xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %59 = arith.negf %in : bf16
      %60 = math.exp %59 : bf16
      %61 = arith.addf %60, %cst_2 : bf16
      %62 = arith.divf %cst_2, %61 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x?x4xbf16>
    return %collapsed_18, %collapsed_20, %expanded_21, %expanded_22, %58, %56 : tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4xbf16>, tensor<2x?x4xf32>
  }
}

