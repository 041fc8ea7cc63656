// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// sum_i h[m,i] x[m,i,c]

// CHECK-LABEL: @product_and_sum
func.func @product_and_sum(%x: tensor<?x4x64xf32>, %h: tensor<?x4xf32>) -> tensor<?x64xf32> {
  // CHECK: %[[U:.*]] = mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>, h_pre = %arg1 : tensor<?x4xf32>) <layout = nC>
  // CHECK: return %[[U]]
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<?x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// CHECK-LABEL: @batched_matrix_product
func.func @batched_matrix_product(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>) -> tensor<8x64xf32> {
  // CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x64xf32>, h_pre = %arg1 : tensor<8x4xf32>) <layout = nC>
  %0 = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %1 = mhc.batch_matmul %0, %x : (tensor<8x1x4xf32>, tensor<8x4x64xf32>) -> tensor<8x1x64xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<8x1x64xf32> into tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// CHECK-LABEL: @inner_streams_in_bf16
func.func @inner_streams_in_bf16(%x: tensor<8x64x4xbf16>, %h: tensor<8x4xf32>) -> tensor<8x64xbf16> {
  // CHECK: mhc.aggregate(x = %arg0 : tensor<8x64x4xbf16>, h_pre = %arg1 : tensor<8x4xf32>) <layout = Cn>
  %wide = arith.extf %x : tensor<8x64x4xbf16> to tensor<8x64x4xf32>
  %0 = mhc.broadcast %h dims = [0, 2] : tensor<8x4xf32> -> tensor<8x64x4xf32>
  %1 = arith.mulf %0, %wide : tensor<8x64x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x64x4xf32> -> tensor<8x64xf32>
  %3 = arith.truncf %2 : tensor<8x64xf32> to tensor<8x64xbf16>
  return %3 : tensor<8x64xbf16>
}

// CHECK-LABEL: @batch_and_sequence_dimensions
func.func @batch_and_sequence_dimensions(%x: tensor<2x3x4x64xf32>, %h: tensor<2x3x4xf32>) -> tensor<2x3x64xf32> {
  // CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2], [3]]
  // CHECK-DAG: %[[H:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]]
  // CHECK: mhc.aggregate(x = %[[X]] : tensor<6x4x64xf32>, h_pre = %[[H]] : tensor<6x4xf32>) <layout = nC>
  %0 = mhc.broadcast %h dims = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<2x3x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<2x3x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<2x3x4x64xf32> -> tensor<2x3x64xf32>
  return %2 : tensor<2x3x64xf32>
}

// Both results stay right when the products are used as well.
// CHECK-LABEL: @products_with_another_user
func.func @products_with_another_user(%x: tensor<?x4x64xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4x64xf32>) {
  // CHECK: %[[B:.*]] = mhc.broadcast %arg1
  // CHECK: %[[P:.*]] = arith.mulf %arg0, %[[B]]
  // CHECK: %[[U:.*]] = mhc.aggregate(
  // CHECK: return %[[U]], %[[P]]
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<?x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %2, %1 : tensor<?x64xf32>, tensor<?x4x64xf32>
}

// One weight per stream for all tokens is a static mix, which has no kernel.
// CHECK-LABEL: @no_aggregate_with_weights_that_no_token_has
func.func @no_aggregate_with_weights_that_no_token_has(%x: tensor<8x4x64xf32>, %h: tensor<4xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = mhc.broadcast %h dims = [1] : tensor<4xf32> -> tensor<8x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<8x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// CHECK-LABEL: @no_aggregate_with_weights_per_channel
func.func @no_aggregate_with_weights_per_channel(%x: tensor<8x4x64xf32>, %h: tensor<8x4x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = arith.mulf %x, %h : tensor<8x4x64xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// CHECK-LABEL: @no_aggregate_of_the_maximum
func.func @no_aggregate_of_the_maximum(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<8x4x64xf32>
  %2 = mhc.reduce max %1 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// A kernel stores its result in the type of the streams.
// REMARK: [Missed] result-wider | {{.*}}Found="'mhc.reduce', [8, 64] of f32", Needed="elements of bf16"
// CHECK-LABEL: @no_aggregate_when_the_result_is_kept_wider
func.func @no_aggregate_when_the_result_is_kept_wider(%x: tensor<8x4x64xbf16>, %h: tensor<8x4xf32>)
    -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %wide = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %1 = arith.mulf %wide, %0 : tensor<8x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// The first row of a product that mixes several things at once, which is shown in another order of units.
// CHECK-LABEL: @row_of_a_shown_product
// CHECK: mhc.aggregate(x = %arg2 : tensor<8x4x16xf32>, h_pre = %arg0 : tensor<8x4xf32>)
func.func @row_of_a_shown_product(%gate: tensor<8x4xf32>, %r: tensor<8x4x4xf32>, %x: tensor<8x4x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x4x16xf32>) {
  %first = tensor.expand_shape %gate [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %h = tensor.concat dim(1) %first, %r : (tensor<8x1x4xf32>, tensor<8x4x4xf32>) -> tensor<8x5x4xf32>
  %all = mhc.batch_matmul %h, %x : (tensor<8x5x4xf32>, tensor<8x4x16xf32>) -> tensor<8x5x16xf32>
  %units = tensor.expand_shape %all [[0], [1, 2], [3]] output_shape [8, 5, 1, 16] : tensor<8x5x16xf32> into tensor<8x5x1x16xf32>
  %turned = mhc.transpose %units perm = [0, 1, 3, 2] : tensor<8x5x1x16xf32> -> tensor<8x5x16x1xf32>
  %row = tensor.extract_slice %turned[0, 0, 0, 0] [8, 1, 16, 1] [1, 1, 1, 1] : tensor<8x5x16x1xf32> to tensor<8x16xf32>
  %rest = tensor.extract_slice %turned[0, 1, 0, 0] [8, 4, 16, 1] [1, 1, 1, 1] : tensor<8x5x16x1xf32> to tensor<8x4x16xf32>
  return %row, %rest : tensor<8x16xf32>, tensor<8x4x16xf32>
}

// Images have channels before rows and columns: known streams are aggregated all the same.
// CHECK-LABEL: @channels_before_some_tokens
func.func @channels_before_some_tokens(%x: tensor<2x4x64x3x5xf32>, %phi: tensor<4x256xf32>, %h: tensor<2x4x3x5xf32>)
    -> (tensor<2x64x3x5xf32>, tensor<30x4xf32>) {
  // CHECK: mhc.aggregate(x = %{{.*}} : tensor<30x4x64xf32>, h_pre = %{{.*}} : tensor<30x4xf32>) <layout = nC>
  %moved = mhc.transpose %x perm = [0, 3, 4, 1, 2] : tensor<2x4x64x3x5xf32> -> tensor<2x3x5x4x64xf32>
  %tokens = tensor.collapse_shape %moved [[0, 1, 2], [3], [4]] : tensor<2x3x5x4x64xf32> into tensor<30x4x64xf32>
  %proj, %stat = mhc.projection(x = %tokens : tensor<30x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<30x4xf32>, stat : tensor<30xf32>)
  %each = mhc.broadcast %h dims = [0, 1, 3, 4] : tensor<2x4x3x5xf32> -> tensor<2x4x64x3x5xf32>
  %weighed = arith.mulf %x, %each : tensor<2x4x64x3x5xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<2x4x64x3x5xf32> -> tensor<2x64x3x5xf32>
  return %u, %proj : tensor<2x64x3x5xf32>, tensor<30x4xf32>
}

// Gates that are divided by their sum: one op reads the streams for gates and aggregate, and a token's result is divided.
// CHECK-LABEL: @gates_over_their_sum
// CHECK: %[[H:.*]] = mhc.gates(
// CHECK: %[[U:.*]] = mhc.aggregate(x = %arg0 : tensor<8x4x64xf32>, h_pre = %[[H]] : tensor<8x4xf32>)
// CHECK: arith.mulf %[[U]]
// CHECK-NOT: mhc.aggregate
// CHECK: return
func.func @gates_over_their_sum(%x: tensor<8x4x64xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<8x64xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<8xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0> -> (h_pre : tensor<8x4xf32>)
  %sum = mhc.reduce sum %h dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %all = arith.addf %sum, %eps : tensor<8xf32>
  %each = mhc.broadcast %all dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %share = arith.divf %h, %each : tensor<8x4xf32>
  %weights = mhc.broadcast %share dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %x, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %u : tensor<8x64xf32>
}

// The same of streams that are a sum of the program's still.
// CHECK-LABEL: @gates_over_their_sum_behind_a_mix(
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: %[[H:.*]] = mhc.gates(
// CHECK: mhc.aggregate(x = %[[OUT]] : tensor<8x4x64xf32>, h_pre = %[[H]] : tensor<8x4xf32>)
func.func @gates_over_their_sum_behind_a_mix(%f: tensor<8x64xf32>, %g: tensor<8x4xf32>, %r: tensor<8x4x4xf32>,
                                             %old: tensor<8x4x64xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>,
                                             %beta: tensor<4xf32>) -> (tensor<8x64xf32>, tensor<8x4x64xf32>) {
  %go = mhc.broadcast %g dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %go, %fo : tensor<8x4x64xf32>
  %mixed = mhc.batch_matmul %r, %old : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %x = arith.addf %branch, %mixed : tensor<8x4x64xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0> -> (h_pre : tensor<8x4xf32>)
  %sum = mhc.reduce sum %h dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %each = mhc.broadcast %sum dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %share = arith.divf %h, %each : tensor<8x4xf32>
  %weights = mhc.broadcast %share dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %x, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %u, %x : tensor<8x64xf32>, tensor<8x4x64xf32>
}

// Shares of other streams than those that are projected are gates as they are.
// CHECK-LABEL: @shares_of_other_streams
// CHECK: %[[SHARE:.*]] = arith.divf
// CHECK: mhc.aggregate(x = %arg1 : tensor<8x4x64xf32>, h_pre = %[[SHARE]] : tensor<8x4xf32>)
func.func @shares_of_other_streams(%x: tensor<8x4x64xf32>, %y: tensor<8x4x64xf32>, %phi: tensor<4x256xf32>,
                                   %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<8x64xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x64xf32>, phi = %phi : tensor<4x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0> -> (h_pre : tensor<8x4xf32>)
  %sum = mhc.reduce sum %h dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %each = mhc.broadcast %sum dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %share = arith.divf %h, %each : tensor<8x4xf32>
  %weights = mhc.broadcast %share dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %y, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %u : tensor<8x64xf32>
}

// Streams that are rounded for one product are read as they are kept, also where a view of them is rounded.
// CHECK-LABEL: @narrowed_for_one_product(
// CHECK: %[[X:.*]] = mhc.expand(x = %arg0 : tensor<12x32xf32>)
// CHECK: mhc.aggregate(x = %[[X]] : tensor<12x4x32xf32>
func.func @narrowed_for_one_product(%x: tensor<12x32xf32>, %w: tensor<4xf32>)
    -> (tensor<12x1x32xbf16>, tensor<12x4x32xf32>) {
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<12x32xf32> -> tensor<12x4x32xf32>
  %shown = tensor.expand_shape %streams [[0, 1], [2], [3]] output_shape [2, 6, 4, 32] : tensor<12x4x32xf32> into tensor<2x6x4x32xf32>
  %narrow = arith.truncf %shown : tensor<2x6x4x32xf32> to tensor<2x6x4x32xbf16>
  %flat = tensor.collapse_shape %narrow [[0, 1], [2], [3]] : tensor<2x6x4x32xbf16> into tensor<12x4x32xbf16>
  %narrow_w = arith.truncf %w : tensor<4xf32> to tensor<4xbf16>
  %ws = mhc.broadcast %narrow_w dims = [2] : tensor<4xbf16> -> tensor<12x1x4xbf16>
  %u = mhc.batch_matmul %ws, %flat : (tensor<12x1x4xbf16>, tensor<12x4x32xbf16>) -> tensor<12x1x32xbf16>
  return %u, %streams : tensor<12x1x32xbf16>, tensor<12x4x32xf32>
}

// Streams that are projected narrow are kept so: a wider sum of it is none that the op has, and takes no unrounded streams.
// CHECK-LABEL: @wide_sum_of_narrow_streams(
// CHECK: mhc.post({{.*}} -> (out : tensor<8x4x64xbf16>)
// CHECK-NOT: mhc.aggregate
// CHECK: return
func.func @wide_sum_of_narrow_streams(%f: tensor<8x64xbf16>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xbf16>,
                                      %r: tensor<8x4x4xf32>, %w: tensor<8x4xf32>, %phi: tensor<24x256xbf16>)
    -> (tensor<8x64xf32>, tensor<8x24xf32>) {
  %wide_f = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %wide_x = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %wide_f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %wide_x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %sum = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %out = arith.truncf %sum : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  %wide = arith.extf %out : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %wo = mhc.broadcast %w dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %wide, %wo : tensor<8x4x64xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %p, %s = mhc.projection(x = %out : tensor<8x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
      <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
      -> (proj : tensor<8x24xf32>, stat : tensor<8xf32>)
  return %u, %p : tensor<8x64xf32>, tensor<8x24xf32>
}

// Streams whose number of tokens is told in two ways, once by a view that raising makes, are one tensor: its sums are one.
// CHECK-LABEL: @sums_of_one_tensor
func.func @sums_of_one_tensor(%s: index, %b: index, %n: index, %x: tensor<?x64xf32>, %h: tensor<?x4x1xf32>)
    -> (tensor<?x4x16xf32>, tensor<?x?x16xf32>) {
  // CHECK: %[[U:.*]] = mhc.aggregate(
  // CHECK-DAG: mhc.expand(x = %[[U]] :
  // CHECK-DAG: tensor.expand_shape %[[U]] {{\[\[}}0, 1], [2]]
  %M = tensor.dim %x, %n : tensor<?x64xf32>
  %rows = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %gate = mhc.broadcast %h dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x16xf32>
  %rows_of = tensor.expand_shape %rows [[0, 1], [2], [3]] output_shape [%s, %b, 4, 16]
      : tensor<?x4x16xf32> into tensor<?x?x4x16xf32>
  %gate_of = tensor.expand_shape %gate [[0, 1], [2], [3]] output_shape [%s, %b, 4, 16]
      : tensor<?x4x16xf32> into tensor<?x?x4x16xf32>
  %weighed_of = arith.mulf %rows_of, %gate_of : tensor<?x?x4x16xf32>
  %weighed = tensor.collapse_shape %weighed_of [[0, 1], [2], [3]] : tensor<?x?x4x16xf32> into tensor<?x4x16xf32>
  %turned = mhc.transpose %weighed perm = [1, 0, 2] : tensor<?x4x16xf32> -> tensor<4x?x16xf32>
  %pairs = tensor.expand_shape %turned [[0, 1], [2], [3]] output_shape [2, 2, %M, 16]
      : tensor<4x?x16xf32> into tensor<2x2x?x16xf32>
  %0 = mhc.reduce sum %pairs dims = [1] : tensor<2x2x?x16xf32> -> tensor<2x?x16xf32>
  %1 = mhc.reduce sum %0 dims = [0] : tensor<2x?x16xf32> -> tensor<?x16xf32>
  %halves = tensor.expand_shape %weighed [[0], [1, 2], [3]] output_shape [%M, 2, 2, 16]
      : tensor<?x4x16xf32> into tensor<?x2x2x16xf32>
  %2 = mhc.reduce sum %halves dims = [2] : tensor<?x2x2x16xf32> -> tensor<?x2x16xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<?x2x16xf32> -> tensor<?x16xf32>
  %4 = mhc.broadcast %1 dims = [0, 2] : tensor<?x16xf32> -> tensor<?x4x16xf32>
  %5 = tensor.expand_shape %3 [[0, 1], [2]] output_shape [%s, %b, 16] : tensor<?x16xf32> into tensor<?x?x16xf32>
  return %4, %5 : tensor<?x4x16xf32>, tensor<?x?x16xf32>
}
