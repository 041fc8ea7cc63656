// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// The sum or the mean of all streams.

// CHECK-LABEL: @mean_of_streams
func.func @mean_of_streams(%x: tensor<?x4x64xf32>) -> tensor<?x64xf32> {
  // CHECK: mhc.contract(x = %arg0 : tensor<?x4x64xf32>) <layout = nC, mode = mean>
  %0 = mhc.reduce mean %x dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: @sum_of_inner_streams
func.func @sum_of_inner_streams(%x: tensor<?x64x4xf32>) -> tensor<?x64xf32> {
  // CHECK: mhc.contract(x = %arg0 : tensor<?x64x4xf32>) <layout = Cn, mode = sum>
  %0 = mhc.reduce sum %x dims = [2] : tensor<?x64x4xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: @sum_divided_by_the_number_of_streams
func.func @sum_divided_by_the_number_of_streams(%x: tensor<8x256xbf16>) -> tensor<8x64xbf16> {
  // CHECK: mhc.contract(x = %{{.*}} : tensor<8x4x64xbf16>) <layout = nC, mode = mean>
  %four = arith.constant dense<4.0> : tensor<8x64xf32>
  %streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xbf16> into tensor<8x4x64xbf16>
  %wide = arith.extf %streams : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %0 = mhc.reduce sum %wide dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %1 = arith.divf %0, %four : tensor<8x64xf32>
  %2 = arith.truncf %1 : tensor<8x64xf32> to tensor<8x64xbf16>
  return %2 : tensor<8x64xbf16>
}

// CHECK-LABEL: @sum_of_slices
func.func @sum_of_slices(%x: tensor<8x2x64xf32>) -> tensor<8x64xf32> {
  // CHECK: mhc.contract(x = %arg0 : tensor<8x2x64xf32>) <layout = nC, mode = sum>
  %0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x2x64xf32> to tensor<8x64xf32>
  %1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 64] [1, 1, 1] : tensor<8x2x64xf32> to tensor<8x64xf32>
  %2 = arith.addf %0, %1 : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// CHECK-LABEL: @no_contract_of_one_slice_twice
func.func @no_contract_of_one_slice_twice(%x: tensor<8x2x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.contract
  // CHECK: return
  %0 = tensor.extract_slice %x[0, 1, 0] [8, 1, 64] [1, 1, 1] : tensor<8x2x64xf32> to tensor<8x64xf32>
  %1 = arith.addf %0, %0 : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// CHECK-LABEL: @no_contract_of_three_of_four_slices
func.func @no_contract_of_three_of_four_slices(%x: tensor<8x4x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.contract
  // CHECK: return
  %0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x4x64xf32> to tensor<8x64xf32>
  %1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 64] [1, 1, 1] : tensor<8x4x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %x[0, 2, 0] [8, 1, 64] [1, 1, 1] : tensor<8x4x64xf32> to tensor<8x64xf32>
  %3 = arith.addf %0, %1 : tensor<8x64xf32>
  %4 = arith.addf %3, %2 : tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}

// A short sum of what no mHC op made is left alone: it may be the heads of an attention.
// CHECK-LABEL: @no_contract_of_a_short_sum_of_something_else
func.func @no_contract_of_a_short_sum_of_something_else(%x: tensor<?x4x64xf32>) -> tensor<?x64xf32> {
  // CHECK-NOT: mhc.contract
  // CHECK: return
  %0 = math.exp %x : tensor<?x4x64xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// CHECK-LABEL: @another_factor_stays_outside
func.func @another_factor_stays_outside(%x: tensor<8x4x64xf32>) -> tensor<8x64xf32> {
  // CHECK: %[[SUM:.*]] = mhc.contract(x = %arg0 : tensor<8x4x64xf32>) <layout = nC, mode = sum>
  // CHECK: arith.mulf %[[SUM]]
  %half = arith.constant dense<0.5> : tensor<8x64xf32>
  %0 = mhc.reduce sum %x dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %1 = arith.mulf %0, %half : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// A kernel stores its result in the type of the streams.
// CHECK-LABEL: @no_contract_when_the_result_is_kept_wider
func.func @no_contract_when_the_result_is_kept_wider(%x: tensor<8x4x64xbf16>) -> tensor<8x64xf32> {
  // CHECK-NOT: mhc.contract
  // CHECK: return
  %wide = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %0 = mhc.reduce sum %wide dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// Streams that are mixed with all tokens in one dimension, and added up with those of a batch apart

// CHECK-LABEL: @mean_of_mixed_streams_of_a_batch
func.func @mean_of_mixed_streams_of_a_batch(%x: tensor<12x4x32xf32>, %logits: tensor<12x4x4xf32>, %gates: tensor<12x4xf32>, %f: tensor<12x32xf32>) -> tensor<2x6x32xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post
  // CHECK: mhc.contract(x = %[[OUT]] : tensor<12x4x32xf32>) <layout = nC, mode = mean>
  %mix = mhc.sinkhorn(logits = %logits : tensor<12x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1> -> (mix : tensor<12x4x4xf32>)
  %mixed = mhc.batch_matmul %mix, %x : (tensor<12x4x4xf32>, tensor<12x4x32xf32>) -> tensor<12x4x32xf32>
  %column = tensor.expand_shape %gates [[0], [1, 2]] output_shape [12, 4, 1] : tensor<12x4xf32> into tensor<12x4x1xf32>
  %row = tensor.expand_shape %f [[0], [1, 2]] output_shape [12, 1, 32] : tensor<12x32xf32> into tensor<12x1x32xf32>
  %added = mhc.batch_matmul %column, %row : (tensor<12x4x1xf32>, tensor<12x1x32xf32>) -> tensor<12x4x32xf32>
  %0 = arith.addf %mixed, %added : tensor<12x4x32xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 6, 4, 32] : tensor<12x4x32xf32> into tensor<2x6x4x32xf32>
  %2 = mhc.reduce mean %1 dims = [2] : tensor<2x6x4x32xf32> -> tensor<2x6x32xf32>
  return %2 : tensor<2x6x32xf32>
}

// Those of some tokens, such as the last one of each sequence; channels of each stream are no streams.

// CHECK-LABEL: @last_token_of_mixed_streams
func.func @last_token_of_mixed_streams(%x: tensor<12x4x32xf32>, %map: tensor<12x4x4xf32>, %gates: tensor<12x4x1xf32>, %f: tensor<12x1x32xf32>) -> tensor<2x32xf32> {
  // CHECK: mhc.post
  // CHECK: %[[LAST:.*]] = tensor.extract_slice %{{.*}}[0, 5, 0, 0] [2, 1, 4, 32] [1, 1, 1, 1]
  // CHECK: mhc.contract(x = %[[LAST]] : tensor<2x4x32xf32>) <layout = nC, mode = mean>
  %mixed = mhc.batch_matmul %map, %x : (tensor<12x4x4xf32>, tensor<12x4x32xf32>) -> tensor<12x4x32xf32>
  %added = mhc.batch_matmul %gates, %f : (tensor<12x4x1xf32>, tensor<12x1x32xf32>) -> tensor<12x4x32xf32>
  %0 = arith.addf %mixed, %added : tensor<12x4x32xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 6, 4, 32] : tensor<12x4x32xf32> into tensor<2x6x4x32xf32>
  %2 = tensor.extract_slice %1[0, 5, 0, 0] [2, 1, 4, 32] [1, 1, 1, 1] : tensor<2x6x4x32xf32> to tensor<2x4x32xf32>
  %3 = mhc.reduce mean %2 dims = [1] : tensor<2x4x32xf32> -> tensor<2x32xf32>
  return %3 : tensor<2x32xf32>
}

// CHECK-LABEL: @last_token_of_streams
func.func @last_token_of_streams(%x: tensor<2x6x4x16xf32>) -> tensor<2x16xf32> {
  // CHECK: %[[LAST:.*]] = tensor.extract_slice
  // CHECK: mhc.contract(x = %[[LAST]] : tensor<2x4x16xf32>) <layout = nC, mode = sum>
  %0 = tensor.extract_slice %x[0, 5, 0, 0] [2, 1, 4, 16] [1, 1, 1, 1] : tensor<2x6x4x16xf32> to tensor<2x4x16xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<2x4x16xf32> -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}

// CHECK-LABEL: @no_contract_of_some_channels
func.func @no_contract_of_some_channels(%x: tensor<12x4x16xf32>) -> tensor<12x8xf32> {
  // CHECK: mhc.reduce
  %0 = tensor.extract_slice %x[0, 0, 0] [12, 4, 8] [1, 1, 1] : tensor<12x4x16xf32> to tensor<12x4x8xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<12x4x8xf32> -> tensor<12x8xf32>
  return %1 : tensor<12x8xf32>
}

// Those in front of their tokens

// CHECK-LABEL: @streams_in_front
func.func @streams_in_front(%x: tensor<4x12x32xf32>, %map: tensor<12x4x4xf32>, %gates: tensor<12x4xf32>, %f: tensor<12x32xf32>) -> tensor<12x32xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post
  // CHECK-NEXT: %[[SUM:.*]] = mhc.contract(x = %[[OUT]] : tensor<12x4x32xf32>) <layout = nC, mode = sum>
  // CHECK-NEXT: return %[[SUM]]
  %0 = mhc.transpose %x perm = [1, 0, 2] : tensor<4x12x32xf32> -> tensor<12x4x32xf32>
  %1 = mhc.batch_matmul %map, %0 : (tensor<12x4x4xf32>, tensor<12x4x32xf32>) -> tensor<12x4x32xf32>
  %mixed = mhc.transpose %1 perm = [1, 0, 2] : tensor<12x4x32xf32> -> tensor<4x12x32xf32>
  %turned = mhc.transpose %gates perm = [1, 0] : tensor<12x4xf32> -> tensor<4x12xf32>
  %gate = mhc.broadcast %turned dims = [0, 1] : tensor<4x12xf32> -> tensor<4x12x32xf32>
  %row = mhc.broadcast %f dims = [1, 2] : tensor<12x32xf32> -> tensor<4x12x32xf32>
  %added = arith.mulf %gate, %row : tensor<4x12x32xf32>
  %2 = arith.addf %mixed, %added : tensor<4x12x32xf32>
  %3 = mhc.reduce sum %2 dims = [0] : tensor<4x12x32xf32> -> tensor<12x32xf32>
  return %3 : tensor<12x32xf32>
}
