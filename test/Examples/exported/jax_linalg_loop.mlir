// RUN: mhc-opt %s --mhc-raise --mhc-fuse --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// JAX's fori_loop: a while loop that counts in a tensor, whose body is a function; silu is a function as well.
// CHECK: func.func public @main
// CHECK-NOT: {{linalg|scf|call}}
// CHECK: mhc.pre({{.*}}iters = 20
// CHECK-NOT: {{linalg|scf|call}}
// CHECK: mhc.post(
// CHECK-NEXT: return
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<() -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map12 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map13 = affine_map<(d0, d1, d2) -> ()>
module @jit_layer attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<3xf32>) -> (tensor<8x4x16xf32> {jax.result_info = "result"}) {
    %c1_i32 = arith.constant 1 : i32
    %c20_i32 = arith.constant 20 : i32
    %cst = arith.constant dense<0> : tensor<i32>
    %cst_0 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_3 = arith.constant dense<6.400000e+01> : tensor<f32>
    %cst_4 = arith.constant 0.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %collapsed : tensor<8x64xf32>, tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x64xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst_4 : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.addf %out, %in : f32
      linalg.yield %64 : f32
    } -> tensor<8xf32>
    %5 = tensor.empty() : tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.divf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x1xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %9 : tensor<8x1xf32>, tensor<8x1xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<8x1xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.rsqrt %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x1xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<8x1xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x64xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %12 : tensor<8x64xf32>, tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x64xf32>
    %14 = tensor.empty() : tensor<8x24xf32>
    %15 = linalg.fill ins(%cst_4 : f32) outs(%14 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %16 = linalg.matmul ins(%13, %arg1 : tensor<8x64xf32>, tensor<64x24xf32>) outs(%15 : tensor<8x24xf32>) -> tensor<8x24xf32>
    %extracted_slice = tensor.extract_slice %arg3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_5 = tensor.collapse_shape %extracted_slice [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_6 = tensor.extract_slice %16[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %17 = tensor.empty() : tensor<8x4xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_5 : tensor<f32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %extracted_slice_6 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_7 = tensor.extract_slice %arg2[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %20 = tensor.empty() : tensor<1x4xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_7 : tensor<4xf32>) outs(%20 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %22 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<1x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %22 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.negf %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %25 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %27 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.divf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_8 = tensor.extract_slice %arg3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_9 = tensor.collapse_shape %extracted_slice_8 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_10 = tensor.extract_slice %16[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_9 : tensor<f32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%29, %extracted_slice_10 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_11 = tensor.extract_slice %arg2[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_11 : tensor<4xf32>) outs(%20 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<1x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %32 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = arith.negf %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%34 : tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %35 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%26, %36 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.divf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %37 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%17 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4xf32>
    %extracted_slice_12 = tensor.extract_slice %arg3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_12 [] : tensor<1xf32> into tensor<f32>
    %extracted_slice_14 = tensor.extract_slice %16[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
    %40 = tensor.empty() : tensor<8x16xf32>
    %41 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_13 : tensor<f32>) outs(%40 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%41, %extracted_slice_14 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%40 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x16xf32>
    %extracted_slice_15 = tensor.extract_slice %arg2[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
    %43 = tensor.empty() : tensor<1x16xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_15 : tensor<16xf32>) outs(%43 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<1x16xf32>) outs(%40 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %46 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%42, %45 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%40 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x16xf32>
    %expanded = tensor.expand_shape %46 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %47 = tensor.empty() : tensor<8x4x4xf32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x4x4xf32>) outs(%47 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %64 = math.exp %in : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x4xf32>
    %49:2 = scf.while (%arg4 = %cst, %arg5 = %48) : (tensor<i32>, tensor<8x4x4xf32>) -> (tensor<i32>, tensor<8x4x4xf32>) {
      %64 = tensor.empty() : tensor<i1>
      %65 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%64 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %66 = arith.cmpi slt, %in, %c20_i32 : i32
        linalg.yield %66 : i1
      } -> tensor<i1>
      %extracted = tensor.extract %65[] : tensor<i1>
      scf.condition(%extracted) %arg4, %arg5 : tensor<i32>, tensor<8x4x4xf32>
    } do {
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<8x4x4xf32>):
      %64 = func.call @closed_call(%arg5) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
      %65 = tensor.empty() : tensor<i32>
      %66 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = []} ins(%arg4 : tensor<i32>) outs(%65 : tensor<i32>) {
      ^bb0(%in: i32, %out: i32):
        %67 = arith.addi %in, %c1_i32 : i32
        linalg.yield %67 : i32
      } -> tensor<i32>
      scf.yield %66, %64 : tensor<i32>, tensor<8x4x4xf32>
    }
    %50 = linalg.fill ins(%cst_4 : f32) outs(%40 : tensor<8x16xf32>) -> tensor<8x16xf32>
    %51 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%28, %arg0 : tensor<8x4xf32>, tensor<8x4x16xf32>) outs(%50 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      %65 = arith.addf %out, %64 : f32
      linalg.yield %65 : f32
    } -> tensor<8x16xf32>
    %52 = call @silu(%51) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %53 = tensor.empty() : tensor<8x4x16xf32>
    %54 = linalg.fill ins(%cst_4 : f32) outs(%53 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %55 = linalg.batch_matmul ins(%49#1, %arg0 : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%54 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %56 = tensor.empty() : tensor<8x4x1xf32>
    %57 = linalg.generic {indexing_maps = [#map10, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<8x4xf32>) outs(%56 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %58 = tensor.empty() : tensor<8x1x16xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<8x16xf32>) outs(%58 : tensor<8x1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x16xf32>
    %60 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%57 : tensor<8x4x1xf32>) outs(%53 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %61 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<8x1x16xf32>) outs(%53 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x16xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60, %61 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%53 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.mulf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x16xf32>
    %63 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55, %62 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%53 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_16: f32, %out: f32):
      %64 = arith.addf %in, %in_16 : f32
      linalg.yield %64 : f32
    } -> tensor<8x4x16xf32>
    return %63 : tensor<8x4x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
    %cst = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x4xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = linalg.generic {indexing_maps = [#map6, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<8x4x4xf32>) outs(%1 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x4xf32>
    %3 = tensor.empty() : tensor<8x4x1xf32>
    %4 = linalg.generic {indexing_maps = [#map10, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<8x4xf32>) outs(%3 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %5 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%3 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %6 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%3 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.addf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<8x4x1xf32>
    %7 = tensor.empty() : tensor<8x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x4x1xf32>) outs(%7 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %9 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %8 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%7 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.divf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<8x4x4xf32>
    %10 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<8x4x4xf32>) outs(%1 : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x4xf32>
    %11 = tensor.empty() : tensor<8x1x4xf32>
    %12 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<8x4xf32>) outs(%11 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %13 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%11 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x4xf32>
    %14 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %13 : tensor<8x1x4xf32>, tensor<8x1x4xf32>) outs(%11 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.addf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<8x1x4xf32>
    %15 = linalg.generic {indexing_maps = [#map12, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<8x1x4xf32>) outs(%7 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %16 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %15 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%7 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.divf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<8x4x4xf32>
    return %16 : tensor<8x4x4xf32>
  }
  func.func private @silu(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %cst = arith.constant dense<1.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = arith.negf %in : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = math.exp %in : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %2 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.addf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.divf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %5 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.mulf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x16xf32>
    return %6 : tensor<8x16xf32>
  }
}
