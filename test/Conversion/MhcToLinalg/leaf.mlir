// RUN: mhc-opt %s -convert-mhc-to-linalg | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: @sigmoid_of_bf16_is_computed_in_f32
func.func @sigmoid_of_bf16_is_computed_in_f32(%x: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
  // CHECK: arith.extf {{.*}} : bf16 to f32
  // CHECK: math.exp {{.*}} : f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  %out = mhc.sigmoid %x : tensor<?x4xbf16>
  return %out : tensor<?x4xbf16>
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: linalg.generic {{.*}}["parallel", "reduction"]
  // CHECK: arith.maximumf
  // CHECK: linalg.generic {{.*}}["parallel", "reduction"]
  // CHECK: math.exp
  // CHECK: linalg.generic {{.*}}["parallel", "parallel"]
  // CHECK: arith.divf
  %out = mhc.softmax %x dim = 1 : tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// CHECK-LABEL: @rms_norm_counts_a_dynamic_row
func.func @rms_norm_counts_a_dynamic_row(%x: tensor<4x?xf32>, %weight: tensor<?xf32>) -> tensor<4x?xf32> {
  // CHECK: linalg.generic {{.*}}["parallel", "reduction"]
  // CHECK: %[[COUNT:.*]] = arith.sitofp
  // CHECK: linalg.generic {{.*}}["parallel", "parallel"]
  // CHECK-SAME: %[[COUNT]]
  // CHECK: math.sqrt
  %out = mhc.rms_norm %x, %weight eps = 1.0e-06 : tensor<4x?xf32>, tensor<?xf32>
  return %out : tensor<4x?xf32>
}

// CHECK-LABEL: @sum_over_what_was_repeated
func.func @sum_over_what_was_repeated(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.empty() : tensor<3xi8>
  // CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]{{.*}} ins(%{{.*}}, %[[EXTENT]] :
  %repeated = mhc.broadcast %x dims = [0, 1] : tensor<?x5xf32> -> tensor<?x5x3xf32>
  %out = mhc.reduce sum %repeated dims = [2] : tensor<?x5x3xf32> -> tensor<?x5xf32>
  return %out : tensor<?x5xf32>
}

// CHECK-LABEL: @mean_of_bf16_is_summed_in_f32
func.func @mean_of_bf16_is_summed_in_f32(%x: tensor<?x8xbf16>) -> tensor<?xbf16> {
  // CHECK: linalg.fill ins({{.*}} : f32)
  // CHECK: arith.addf {{.*}}fastmath<reassoc>
  // CHECK: arith.divf {{.*}} : f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  %out = mhc.reduce mean %x dims = [1] : tensor<?x8xbf16> -> tensor<?xbf16>
  return %out : tensor<?xbf16>
}

// CHECK-LABEL: @max_starts_at_minus_infinity
func.func @max_starts_at_minus_infinity(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: arith.maximumf
  %out = mhc.reduce max %x dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %out : tensor<?xf32>
}

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<?x4xf32>) -> tensor<4x?xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]], #[[ROW]]]
  %out = mhc.transpose %x perm = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  return %out : tensor<4x?xf32>
}

// A broadcast is read through an index map and a splat as a scalar; neither is stored.
// CHECK-LABEL: @broadcast_and_splat_are_read_through
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[H:.*]]: tensor<?x1xf32>
func.func @broadcast_and_splat_are_read_through(%x: tensor<?x4xf32>, %h: tensor<?x1xf32>, %M: index)
    -> tensor<?x4xf32> {
  %two = arith.constant 2.0 : f32
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[FIRST]], #[[ROW]]]
  // CHECK-SAME: ins(%[[X]], %[[H]] :
  // CHECK: arith.mulf
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[ROW]]]
  // CHECK: %[[TWO:.*]] = arith.constant 2.0
  // CHECK: arith.addf %{{.*}}, %[[TWO]]
  // CHECK-NOT: linalg.{{generic|fill}}
  %wide = mhc.broadcast %h dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
  %twos = tensor.splat %two[%M] : tensor<?x4xf32>
  %product = arith.mulf %x, %wide : tensor<?x4xf32>
  %out = arith.addf %product, %twos : tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// Each use of a large constant of one number fills a buffer that it may write into; a small one is a table.
// CHECK-LABEL: @large_splats_are_filled
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @large_splats_are_filled(%x: tensor<4xf32>)
    -> (tensor<1025xf32>, tensor<1025xf32>, tensor<1025xf32>, tensor<1024xf32>) {
  // CHECK: %[[SMALL:.*]] = arith.constant dense<0.000000e+00> : tensor<1024xf32>
  // CHECK-NOT: arith.constant dense
  %zeros = arith.constant dense<0.0> : tensor<1025xf32>
  %small = arith.constant dense<0.0> : tensor<1024xf32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1025xf32>
  // CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] : tensor<1025xf32>)
  // CHECK: tensor.insert_slice %[[X]] into %[[FILLED]][0]
  %a = tensor.insert_slice %x into %zeros[0] [4] [1] : tensor<4xf32> into tensor<1025xf32>
  // CHECK: linalg.fill
  // CHECK: tensor.insert_slice %[[X]] into %{{.*}}[4]
  %b = tensor.insert_slice %x into %zeros[4] [4] [1] : tensor<4xf32> into tensor<1025xf32>
  // CHECK-NOT: linalg.fill
  // CHECK: linalg.generic
  %c = arith.maximumf %b, %zeros : tensor<1025xf32>
  // CHECK: linalg.fill
  // CHECK: return
  // CHECK-SAME: %[[SMALL]]
  return %a, %c, %zeros, %small : tensor<1025xf32>, tensor<1025xf32>, tensor<1025xf32>, tensor<1024xf32>
}

// CHECK-LABEL: @broadcast_that_is_returned_is_stored
func.func @broadcast_that_is_returned_is_stored(%h: tensor<?x1xf32>) -> tensor<?x4xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[ROW]]]
  %wide = mhc.broadcast %h dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
  return %wide : tensor<?x4xf32>
}

// CHECK-LABEL: @concat
func.func @concat(%a: tensor<?x4xf32>, %b: tensor<?x8xf32>) -> tensor<?x12xf32> {
  // CHECK: tensor.empty
  // CHECK: tensor.insert_slice
  // CHECK: tensor.insert_slice
  %out = tensor.concat dim(1) %a, %b : (tensor<?x4xf32>, tensor<?x8xf32>) -> tensor<?x12xf32>
  return %out : tensor<?x12xf32>
}

// CHECK-LABEL: @kernel_ops_stay
func.func @kernel_ops_stay(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>) -> tensor<?x4xf32> {
  // CHECK: mhc.matmul
  %out = mhc.matmul %a, %b : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// No more tokens move out than there are.
// CHECK-LABEL: @shift(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
func.func @shift(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[GONE:.*]] = arith.minsi
  // CHECK: tensor.pad %[[X]] low[%[[GONE]], 0] high[0, 0]
  %out = mhc.shift %x dim = 0 by = 1048576 : tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// A few more than an open size cost next to nothing.
// CHECK-LABEL: @shift_few(
func.func @shift_few(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: tensor.pad %{{.*}} low[3, 0] high[0, 0]
  %out = mhc.shift %x dim = 0 by = 3 : tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// CHECK-LABEL: @shift_all_out(
func.func @shift_all_out(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: tensor.pad %{{.*}} low[0, 0] high[8, 0]
  // CHECK: tensor.extract_slice %{{.*}}[8, 0] [8, 4]
  %out = mhc.shift %x dim = 0 by = -1048576 : tensor<8x4xf32>
  return %out : tensor<8x4xf32>
}
