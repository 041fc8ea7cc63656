// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// x . phi beside the mean square of x, without gates.

// CHECK-LABEL: @product_beside_the_mean_square
func.func @product_beside_the_mean_square(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>)
    -> (tensor<8x24xf32>, tensor<8xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = mean_square>
  // CHECK: return %[[P]], %[[S]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  return %proj, %ms : tensor<8x24xf32>, tensor<8xf32>
}

// CHECK-LABEL: @product_beside_the_multiplier
func.func @product_beside_the_multiplier(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>)
    -> (tensor<8x24xf32>, tensor<8xf32>) {
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %arg1 : tensor<24x256xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
  // CHECK: return %[[P]], %[[S]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  return %proj, %s : tensor<8x24xf32>, tensor<8xf32>
}

// CHECK-LABEL: @product_times_the_multiplier
func.func @product_times_the_multiplier(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>) -> tensor<8x24xf32> {
  // CHECK: %[[P:.*]] = mhc.projection(x = %arg0
  // CHECK-SAME: norm = inside, norm_eps = 1.0e-06, stat_form = applied>
  // CHECK: return %[[P]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  return %p : tensor<8x24xf32>
}

// A norm before phi keeps its own statistic.
// CHECK-LABEL: @statistic_that_is_used_before_phi_is_known
func.func @statistic_that_is_used_before_phi_is_known(%x: tensor<8x4x64xf32>, %raw: tensor<24x256xf32>)
    -> (tensor<8x24xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[MS:.*]] = mhc.reduce mean
  // CHECK: %[[E:.*]] = math.exp %[[MS]]
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection(
  // CHECK: return %[[P]], %[[S]], %[[E]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %e = math.exp %ms : tensor<8xf32>
  %phi = math.tanh %raw : tensor<24x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  return %proj, %ms, %e : tensor<8x24xf32>, tensor<8xf32>, tensor<8xf32>
}

// A narrow matrix product is not enough.
// CHECK-LABEL: @no_projection_without_a_statistic
func.func @no_projection_without_a_statistic(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>) -> tensor<8x24xf32> {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  return %proj : tensor<8x24xf32>
}

// The mean squares run over C values.
// CHECK-LABEL: @no_projection_beside_the_norm_of_single_streams
func.func @no_projection_beside_the_norm_of_single_streams(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>)
    -> (tensor<8x24xf32>, tensor<8x4xf32>) {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %x, %x : tensor<8x4x64xf32>
  %ms = mhc.reduce mean %square dims = [2] : tensor<8x4x64xf32> -> tensor<8x4xf32>
  %eps4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %ms_eps = arith.addf %ms, %eps4 : tensor<8x4xf32>
  %s = math.rsqrt %ms_eps : tensor<8x4xf32>
  return %proj, %s : tensor<8x24xf32>, tensor<8x4xf32>
}

// 16 tokens of 16 values: only the dimensions tell the averages apart.
// CHECK-LABEL: @no_projection_beside_the_mean_square_over_tokens
func.func @no_projection_beside_the_mean_square_over_tokens(%x: tensor<16x4x4xf32>, %phi: tensor<24x16xf32>)
    -> (tensor<16x24xf32>, tensor<4x4xf32>) {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<16x4x4xf32> into tensor<16x16xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<16x16xf32>, tensor<24x16xf32>) -> tensor<16x24xf32>
  %square = arith.mulf %x, %x : tensor<16x4x4xf32>
  %ms = mhc.reduce mean %square dims = [0] : tensor<16x4x4xf32> -> tensor<4x4xf32>
  return %proj, %ms : tensor<16x24xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @no_projection_beside_a_mean_of_reciprocal_squares
func.func @no_projection_beside_a_mean_of_reciprocal_squares(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>)
    -> (tensor<8x24xf32>, tensor<8xf32>) {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %ones = arith.constant dense<1.0> : tensor<8x256xf32>
  %inverse = arith.divf %ones, %flat : tensor<8x256xf32>
  %square = arith.mulf %inverse, %inverse : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  return %proj, %ms : tensor<8x24xf32>, tensor<8xf32>
}

// CHECK-LABEL: @no_projection_onto_a_number_of_rows_that_no_n_has
func.func @no_projection_onto_a_number_of_rows_that_no_n_has(%x: tensor<8x4x64xf32>, %phi: tensor<25x256xf32>)
    -> (tensor<8x25xf32>, tensor<8xf32>) {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<25x256xf32>) -> tensor<8x25xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  return %proj, %ms : tensor<8x25xf32>, tensor<8xf32>
}

// Queries, keys and values behind a norm: 288 happens to be 2n + n^2 for n = 16.
// CHECK-LABEL: @no_projection_onto_more_columns_than_channels
func.func @no_projection_onto_more_columns_than_channels(%x: tensor<?x96xf32>, %w: tensor<96x288xf32>)
    -> tensor<?x288xf32> {
  // CHECK-NOT: mhc.projection(
  // CHECK: return
  %norm = mhc.rms_norm %x eps = 1.0e-06 : tensor<?x96xf32>
  %qkv = mhc.matmul %norm, %w : (tensor<?x96xf32>, tensor<96x288xf32>) -> tensor<?x288xf32>
  return %qkv : tensor<?x288xf32>
}

// Streams whose terms all have a number: they are projected as they are there, with the epsilon of their own norm.
// CHECK-LABEL: @scaled_streams(
// CHECK: %[[X:.*]] = arith.addf
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x64xf32>, phi = %arg2 : tensor<24x256xf32>) <{{.*}} norm = inside, norm_eps = 1.0e-06, stat_form = applied>
func.func @scaled_streams(%a: tensor<8x4x64xf32>, %b: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>) -> tensor<8x24xf32> {
  %two = arith.constant dense<2.0> : tensor<8x4x64xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %a2 = arith.mulf %a, %two : tensor<8x4x64xf32>
  %b2 = arith.mulf %b, %two : tensor<8x4x64xf32>
  %x = arith.addf %a2, %b2 : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %r = math.rsqrt %mean_eps : tensor<8xf32>
  %rs = mhc.broadcast %r dims = [0] : tensor<8xf32> -> tensor<8x256xf32>
  %n = arith.mulf %flat, %rs : tensor<8x256xf32>
  %p = mhc.matmul %n, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  return %p : tensor<8x24xf32>
}

// A hidden layer has as many rows as two streams would have coefficients. There are four.
// CHECK-LABEL: @hidden_layer
// CHECK-NOT: mhc.projection
// CHECK: mhc.matmul
// CHECK: return
func.func @hidden_layer(%x: tensor<12x4x16xf32>, %w: tensor<8x64xf32>) -> tensor<12x8xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<12x4x16xf32> into tensor<12x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<12x64xf32>
  %mean = mhc.reduce mean %squares dims = [1] : tensor<12x64xf32> -> tensor<12xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<12xf32>
  %safe = arith.addf %mean, %eps : tensor<12xf32>
  %scale = math.rsqrt %safe : tensor<12xf32>
  %scales = mhc.broadcast %scale dims = [0] : tensor<12xf32> -> tensor<12x64xf32>
  %normed = arith.mulf %flat, %scales : tensor<12x64xf32>
  %p = mhc.matmul %normed, %w transpose_rhs : (tensor<12x64xf32>, tensor<8x64xf32>) -> tensor<12x8xf32>
  return %p : tensor<12x8xf32>
}
