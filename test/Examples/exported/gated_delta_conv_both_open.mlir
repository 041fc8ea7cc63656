// RUN: mhc-opt %s --mhc-import | FileCheck %s
// RUN: mhcc %s --grad=main --verify | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG

// The front end of a gated delta net layer with batch and tokens open: a depthwise convolution behind a padding, SiLU, the
// length of each head of q and k, repeated heads, gates. The convolution becomes a slice for each of its tokens.
// CHECK: func.func @main
// CHECK-NOT: {{linalg|tensor.reshape|cf.assert}}
// CHECK: tensor.pad
// CHECK-COUNT-4: : tensor<?x128x?x1xf32> to tensor<?x128x?x1xf32>
// VERIFY: entry main_bwd
// VERIFY: d_arg0: verified
// VERIFY: d_arg4: verified
#map = affine_map<()[s0] -> (s0 + 3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, 0, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (0, 0, 0, d3, 0)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map7 = affine_map<(d0) -> (d0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
#map9 = affine_map<(d0, d1, d2) -> ()>
module {
  func.func @main(%arg0: tensor<?x?x200xf32>, %arg1: tensor<128x1x4xf32>, %arg2: tensor<128xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
    %true = arith.constant true
    %c2_i64 = arith.constant 2 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c3_i64 = arith.constant 3 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c4_i64 = arith.constant 4 : i64
    %cst_0 = arith.constant 1.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %cst_1 = arith.constant 0x7FF0000000000000 : f64
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant 9.9999999999999995E-7 : f64
    %c32_i64 = arith.constant 32 : i64
    %c64_i64 = arith.constant 64 : i64
    %cst_4 = arith.constant dense<1.000000e+00> : tensor<1x1x1x2x1xf32>
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x200xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_5 = tensor.dim %arg0, %c1 : tensor<?x?x200xf32>
    %1 = arith.index_cast %dim_5 : index to i64
    %extracted_slice = tensor.extract_slice %arg0[0, 0, 0] [%dim, %dim_5, 128] [1, 1, 1] : tensor<?x?x200xf32> to tensor<?x?x128xf32>
    %extracted_slice_6 = tensor.extract_slice %arg0[0, 0, 128] [%dim, %dim_5, 64] [1, 1, 1] : tensor<?x?x200xf32> to tensor<?x?x64xf32>
    %extracted_slice_7 = tensor.extract_slice %arg0[0, 0, 192] [%dim, %dim_5, 4] [1, 1, 1] : tensor<?x?x200xf32> to tensor<?x?x4xf32>
    %extracted_slice_8 = tensor.extract_slice %arg0[0, 0, 196] [%dim, %dim_5, 4] [1, 1, 1] : tensor<?x?x200xf32> to tensor<?x?x4xf32>
    %2 = tensor.empty(%dim, %dim_5) : tensor<?x128x?xf32>
    %transposed = linalg.transpose ins(%extracted_slice : tensor<?x?x128xf32>) outs(%2 : tensor<?x128x?xf32>) permutation = [0, 2, 1] 
    %padded = tensor.pad %transposed low[0, 0, 3] high[0, 0, 0] {
    ^bb0(%arg5: index, %arg6: index, %arg7: index):
      tensor.yield %cst : f32
    } : tensor<?x128x?xf32> to tensor<?x128x?xf32>
    %3 = affine.apply #map()[%dim_5]
    %expanded = tensor.expand_shape %padded [[0], [1], [2, 3]] output_shape [%dim, 128, %3, 1] : tensor<?x128x?xf32> into tensor<?x128x?x1xf32>
    %expanded_9 = tensor.expand_shape %arg1 [[0], [1], [2, 3]] output_shape [128, 1, 4, 1] : tensor<128x1x4xf32> into tensor<128x1x4x1xf32>
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.subi %4, %c3_i64 : i64
    %6 = arith.index_cast %5 : i64 to index
    %7 = tensor.empty(%dim, %6) : tensor<?x128x?x1xf32>
    %broadcasted = linalg.broadcast ins(%arg2 : tensor<128xf32>) outs(%7 : tensor<?x128x?x1xf32>) dimensions = [0, 2, 3] 
    %collapsed = tensor.collapse_shape %expanded_9 [[0, 1], [2], [3]] : tensor<128x1x4x1xf32> into tensor<128x4x1xf32>
    %8 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%expanded, %collapsed : tensor<?x128x?x1xf32>, tensor<128x4x1xf32>) outs(%broadcasted : tensor<?x128x?x1xf32>) -> tensor<?x128x?x1xf32>
    %collapsed_10 = tensor.collapse_shape %8 [[0], [1], [2, 3]] : tensor<?x128x?x1xf32> into tensor<?x128x?xf32>
    %9 = tensor.empty(%dim, %6) : tensor<?x?x128xf32>
    %transposed_11 = linalg.transpose ins(%collapsed_10 : tensor<?x128x?xf32>) outs(%9 : tensor<?x?x128xf32>) permutation = [0, 2, 1] 
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_11 : tensor<?x?x128xf32>) outs(%9 : tensor<?x?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.negf %in : f32
      %84 = math.exp %83 : f32
      %85 = arith.addf %84, %cst_0 : f32
      %86 = arith.divf %cst_0, %85 : f32
      linalg.yield %86 : f32
    } -> tensor<?x?x128xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_11, %10 : tensor<?x?x128xf32>, tensor<?x?x128xf32>) outs(%9 : tensor<?x?x128xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x128xf32>
    %extracted_slice_12 = tensor.extract_slice %11[0, 0, 0] [%dim, %6, 32] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x32xf32>
    %extracted_slice_13 = tensor.extract_slice %11[0, 0, 32] [%dim, %6, 32] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x32xf32>
    %extracted_slice_14 = tensor.extract_slice %11[0, 0, 64] [%dim, %6, 64] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x64xf32>
    %12 = arith.cmpi slt, %0, %c0_i64 : i64
    %13 = arith.select %12, %c1_i64, %0 : i64
    %14 = arith.extui %12 : i1 to i64
    %15 = arith.muli %13, %1 : i64
    %16 = arith.addi %14, %c1_i64 : i64
    %17 = arith.cmpi slt, %1, %c0_i64 : i64
    %18 = arith.select %17, %13, %15 : i64
    %19 = arith.select %17, %16, %14 : i64
    %20 = arith.muli %18, %c32_i64 : i64
    %21 = arith.cmpi sle, %19, %c1_i64 : i64
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %22 = arith.muli %0, %5 : i64
    %23 = arith.muli %22, %c32_i64 : i64
    %24 = arith.divsi %23, %20 : i64
    %25 = arith.select %12, %24, %0 : i64
    %26 = arith.select %17, %24, %1 : i64
    %from_elements = tensor.from_elements %25, %26, %c2_i64, %c16_i64 : tensor<4xi64>
    %reshape = tensor.reshape %extracted_slice_12(%from_elements) : (tensor<?x?x32xf32>, tensor<4xi64>) -> tensor<?x?x2x16xf32>
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %reshape_15 = tensor.reshape %extracted_slice_13(%from_elements) : (tensor<?x?x32xf32>, tensor<4xi64>) -> tensor<?x?x2x16xf32>
    %27 = arith.muli %18, %c64_i64 : i64
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %28 = arith.muli %22, %c64_i64 : i64
    %29 = arith.divsi %28, %27 : i64
    %30 = arith.select %12, %29, %0 : i64
    %31 = arith.select %17, %29, %1 : i64
    %from_elements_16 = tensor.from_elements %30, %31, %c4_i64, %c16_i64 : tensor<4xi64>
    %reshape_17 = tensor.reshape %extracted_slice_14(%from_elements_16) : (tensor<?x?x64xf32>, tensor<4xi64>) -> tensor<?x?x4x16xf32>
    %32 = arith.index_cast %25 : i64 to index
    %33 = arith.index_cast %26 : i64 to index
    %34 = tensor.empty(%32, %33) : tensor<?x?x2x16xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape : tensor<?x?x2x16xf32>) outs(%34 : tensor<?x?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %83 : f32
    } -> tensor<?x?x2x16xf32>
    %36 = tensor.empty(%32, %33) : tensor<?x?x2x1xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<?x?x2x1xf32>) -> tensor<?x?x2x1xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%35 : tensor<?x?x2x16xf32>) outs(%37 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %out : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x1xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<?x?x2x1xf32>) outs(%36 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.truncf %cst_3 : f64 to f32
      %84 = arith.addf %in, %83 : f32
      linalg.yield %84 : f32
    } -> tensor<?x?x2x1xf32>
    %40 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<?x?x2x1xf32>) outs(%36 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.rsqrt %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x1xf32>
    %41 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape, %40 : tensor<?x?x2x16xf32>, tensor<?x?x2x1xf32>) outs(%34 : tensor<?x?x2x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x16xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_15 : tensor<?x?x2x16xf32>) outs(%34 : tensor<?x?x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %83 : f32
    } -> tensor<?x?x2x16xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%42 : tensor<?x?x2x16xf32>) outs(%37 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.addf %in, %out : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x1xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<?x?x2x1xf32>) outs(%36 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.truncf %cst_3 : f64 to f32
      %84 = arith.addf %in, %83 : f32
      linalg.yield %84 : f32
    } -> tensor<?x?x2x1xf32>
    %45 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44 : tensor<?x?x2x1xf32>) outs(%36 : tensor<?x?x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.rsqrt %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x1xf32>
    %46 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%reshape_15, %45 : tensor<?x?x2x16xf32>, tensor<?x?x2x1xf32>) outs(%34 : tensor<?x?x2x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x16xf32>
    %expanded_18 = tensor.expand_shape %41 [[0], [1], [2], [3, 4]] output_shape [%32, %33, 2, 16, 1] : tensor<?x?x2x16xf32> into tensor<?x?x2x16x1xf32>
    %47 = tensor.empty(%32, %33) : tensor<?x?x2x1x16xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<?x?x2x16x1xf32>) outs(%47 : tensor<?x?x2x1x16xf32>) permutation = [0, 1, 2, 4, 3] 
    %48 = tensor.empty(%32, %33) : tensor<?x?x2x2x16xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19, %cst_4 : tensor<?x?x2x1x16xf32>, tensor<1x1x1x2x1xf32>) outs(%48 : tensor<?x?x2x2x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x2x16xf32>
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %50 = arith.muli %25, %26 : i64
    %51 = arith.muli %50, %c64_i64 : i64
    %52 = arith.divsi %51, %27 : i64
    %53 = arith.select %12, %52, %0 : i64
    %54 = arith.select %17, %52, %1 : i64
    %from_elements_20 = tensor.from_elements %53, %54, %c4_i64, %c16_i64 : tensor<4xi64>
    %reshape_21 = tensor.reshape %49(%from_elements_20) : (tensor<?x?x2x2x16xf32>, tensor<4xi64>) -> tensor<?x?x4x16xf32>
    %expanded_22 = tensor.expand_shape %46 [[0], [1], [2], [3, 4]] output_shape [%32, %33, 2, 16, 1] : tensor<?x?x2x16xf32> into tensor<?x?x2x16x1xf32>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<?x?x2x16x1xf32>) outs(%47 : tensor<?x?x2x1x16xf32>) permutation = [0, 1, 2, 4, 3] 
    %55 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_23, %cst_4 : tensor<?x?x2x1x16xf32>, tensor<1x1x1x2x1xf32>) outs(%48 : tensor<?x?x2x2x16xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x2x2x16xf32>
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %reshape_24 = tensor.reshape %55(%from_elements_20) : (tensor<?x?x2x2x16xf32>, tensor<4xi64>) -> tensor<?x?x4x16xf32>
    %56 = tensor.empty() : tensor<4xf32>
    %57 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel"]} ins(%arg3 : tensor<4xf32>) outs(%56 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.exp %in : f32
      linalg.yield %83 : f32
    } -> tensor<4xf32>
    %58 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel"]} ins(%57 : tensor<4xf32>) outs(%56 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.negf %in : f32
      linalg.yield %83 : f32
    } -> tensor<4xf32>
    %59 = tensor.empty(%dim, %dim_5) : tensor<?x?x4xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_8, %arg4 : tensor<?x?x4xf32>, tensor<4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.addf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %61 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %61, "negative values not allowed in new dimensions"
    %62 = arith.cmpi sge, %1, %c0_i64 : i64
    cf.assert %62, "negative values not allowed in new dimensions"
    %63 = tensor.empty(%dim, %dim_5) : tensor<?x?x4xf32>
    %64 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%63 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x?x4xf32>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %65 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %64 : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.subf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %66 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.absf %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.negf %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    cf.assert %true, "mismatched size for broadcast"
    cf.assert %true, "mismatched size for broadcast"
    %68 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %64 : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.cmpf ogt, %in, %in_27 : f32
      %84 = arith.select %83, %in, %in_27 : f32
      linalg.yield %84 : f32
    } -> tensor<?x?x4xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.exp %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %70 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.log1p %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %71 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %70 : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.addf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = math.absf %in : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %73 = tensor.empty(%dim, %dim_5) : tensor<?x?x4xi1>
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<?x?x4xf32>) outs(%73 : tensor<?x?x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %83 = arith.extf %in : f32 to f64
      %84 = arith.cmpf oeq, %83, %cst_1 : f64
      linalg.yield %84 : i1
    } -> tensor<?x?x4xi1>
    %75 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %68, %71 : tensor<?x?x4xi1>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: i1, %in_27: f32, %in_28: f32, %out: f32):
      %83 = arith.select %in, %in_27, %in_28 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    %76 = linalg.generic {indexing_maps = [#map8, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %75 : tensor<4xf32>, tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %83 = arith.mulf %in, %in_27 : f32
      linalg.yield %83 : f32
    } -> tensor<?x?x4xf32>
    cf.assert %21, "must have at most one inferred (negative) dimension"
    %77 = arith.muli %0, %1 : i64
    %78 = arith.muli %77, %c64_i64 : i64
    %79 = arith.divsi %78, %27 : i64
    %80 = arith.select %12, %79, %0 : i64
    %81 = arith.select %17, %79, %1 : i64
    %from_elements_25 = tensor.from_elements %80, %81, %c4_i64, %c16_i64 : tensor<4xi64>
    %reshape_26 = tensor.reshape %extracted_slice_6(%from_elements_25) : (tensor<?x?x64xf32>, tensor<4xi64>) -> tensor<?x?x4x16xf32>
    %82 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice_7 : tensor<?x?x4xf32>) outs(%59 : tensor<?x?x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %83 = arith.negf %in : f32
      %84 = math.exp %83 : f32
      %85 = arith.addf %84, %cst_0 : f32
      %86 = arith.divf %cst_0, %85 : f32
      linalg.yield %86 : f32
    } -> tensor<?x?x4xf32>
    return %reshape_21, %reshape_24, %reshape_17, %reshape_26, %82, %76 : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}
