// RUN: mhc-opt %s --mhc-raise --split-input-file --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// A gain of each stream and channel is in front of the mean.
// CHECK: [Missed] contract-form | Category:mhc-raise:contract | Function=behind_a_gain | {{.*}}Found="a sum of 'arith.mulf', [8, 4, 32] of f32", Needed="a sum or a mean over the streams of 'mhc.post', [8, 4, 32] of f32", Reason="the last streams are added up behind other code, or together with tokens", Suggestion="add up the streams as mhc.post writes them, and scale or norm what that gives"
func.func @behind_a_gain(%x: tensor<8x4x32xf32>, %map: tensor<8x4x4xf32>, %gates: tensor<8x4x1xf32>, %f: tensor<8x1x32xf32>, %gain: tensor<4x32xf32>) -> tensor<8x32xf32> {
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  %added = mhc.batch_matmul %gates, %f : (tensor<8x4x1xf32>, tensor<8x1x32xf32>) -> tensor<8x4x32xf32>
  %out = arith.addf %mixed, %added : tensor<8x4x32xf32>
  %gains = mhc.broadcast %gain dims = [1, 2] : tensor<4x32xf32> -> tensor<8x4x32xf32>
  %scaled = arith.mulf %out, %gains : tensor<8x4x32xf32>
  %mean = mhc.reduce mean %scaled dims = [1] : tensor<8x4x32xf32> -> tensor<8x32xf32>
  return %mean : tensor<8x32xf32>
}

// -----

// A mean over tokens as well
// CHECK: [Missed] contract-form | Category:mhc-raise:contract | Function=with_tokens |
func.func @with_tokens(%x: tensor<12x4x32xf32>, %map: tensor<12x4x4xf32>, %gates: tensor<12x4x1xf32>, %f: tensor<12x1x32xf32>) -> tensor<2x32xf32> {
  %mixed = mhc.batch_matmul %map, %x : (tensor<12x4x4xf32>, tensor<12x4x32xf32>) -> tensor<12x4x32xf32>
  %added = mhc.batch_matmul %gates, %f : (tensor<12x4x1xf32>, tensor<12x1x32xf32>) -> tensor<12x4x32xf32>
  %out = arith.addf %mixed, %added : tensor<12x4x32xf32>
  %apart = tensor.expand_shape %out [[0, 1], [2], [3]] output_shape [2, 6, 4, 32] : tensor<12x4x32xf32> into tensor<2x6x4x32xf32>
  %mean = mhc.reduce mean %apart dims = [1, 2] : tensor<2x6x4x32xf32> -> tensor<2x32xf32>
  return %mean : tensor<2x32xf32>
}

// -----

// Sums over channels, as of a norm of each stream, are none of streams.
func.func @of_channels(%x: tensor<8x4x32xf32>, %map: tensor<8x4x4xf32>, %gates: tensor<8x4x1xf32>, %f: tensor<8x1x32xf32>) -> tensor<8x4xf32> {
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  %added = mhc.batch_matmul %gates, %f : (tensor<8x4x1xf32>, tensor<8x1x32xf32>) -> tensor<8x4x32xf32>
  %out = arith.addf %mixed, %added : tensor<8x4x32xf32>
  %square = arith.mulf %out, %out : tensor<8x4x32xf32>
  %mean = mhc.reduce mean %square dims = [2] : tensor<8x4x32xf32> -> tensor<8x4xf32>
  return %mean : tensor<8x4xf32>
}
