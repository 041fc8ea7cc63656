// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s
// RUN: mhcc %s --verify

// x in bf16 is cast to f32 before the norm: the projection reads bf16. One gate alone, of the first columns of phi, whose
// others nothing reads.
// CHECK: func.func @main
// CHECK: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [64, 4] [1, 1]
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xbf16>, phi = %[[PHI]] : tensor<64x4xf32>) <{{.*}}norm_eps = 1.0e-06, stat_form = inv_rms>
// CHECK-NOT: linalg
// CHECK: mhc.gates(
// CHECK-NOT: linalg

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<8x4x16xbf16>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> tensor<8x4xbf16> {
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.9999999999999995E-7 : f64
    %cst_2 = arith.constant 6.400000e+01 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xbf16> into tensor<8x64xbf16>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<8x64xbf16>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %19 = arith.extf %in : bf16 to f32
      linalg.yield %19 : f32
    } -> tensor<8x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %19 : f32
    } -> tensor<8x64xf32>
    %3 = tensor.empty() : tensor<8x1xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<8x1xf32>) -> tensor<8x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<8x64xf32>) outs(%4 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<8x1xf32>) outs(%3 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.divf %in, %cst_2 : f32
      linalg.yield %19 : f32
    } -> tensor<8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x1xf32>) outs(%3 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.truncf %cst_1 : f64 to f32
      %20 = arith.addf %in, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<8x1xf32>) outs(%3 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.rsqrt %in : f32
      linalg.yield %19 : f32
    } -> tensor<8x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %8 : tensor<8x64xf32>, tensor<8x1xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %19 = arith.mulf %in, %in_6 : f32
      linalg.yield %19 : f32
    } -> tensor<8x64xf32>
    %10 = tensor.empty() : tensor<8x24xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %12 = linalg.matmul ins(%9, %arg1 : tensor<8x64xf32>, tensor<64x24xf32>) outs(%11 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_3 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_4 = tensor.extract_slice %12[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %13 = tensor.empty() : tensor<8x4xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_3, %extracted_slice_4 : tensor<f32>, tensor<8x4xf32>) outs(%13 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %19 = arith.mulf %in, %in_6 : f32
      linalg.yield %19 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_5 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%14, %extracted_slice_5 : tensor<8x4xf32>, tensor<4xf32>) outs(%13 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %19 = arith.addf %in, %in_6 : f32
      linalg.yield %19 : f32
    } -> tensor<8x4xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<8x4xf32>) outs(%13 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.negf %in : f32
      %20 = math.exp %19 : f32
      %21 = arith.addf %20, %cst_0 : f32
      %22 = arith.divf %cst_0, %21 : f32
      linalg.yield %22 : f32
    } -> tensor<8x4xf32>
    %17 = tensor.empty() : tensor<8x4xbf16>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<8x4xf32>) outs(%17 : tensor<8x4xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %19 = arith.truncf %in : f32 to bf16
      linalg.yield %19 : bf16
    } -> tensor<8x4xbf16>
    return %18 : tensor<8x4xbf16>
  }
}
