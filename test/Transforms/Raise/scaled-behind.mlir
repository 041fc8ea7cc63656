// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISS --implicit-check-not='[Missed]'

// Whatever scales the streams behind a post, or is added to them, the sum inside is found: nothing is missed.

// CHECK-LABEL: func.func @by_a_mask
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: arith.mulf %[[OUT]]
func.func @by_a_mask(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                     %mask: tensor<8xf32>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %wide = mhc.broadcast %mask dims = [0] : tensor<8xf32> -> tensor<8x4x64xf32>
  %out = arith.mulf %sum, %wide : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// Before and behind
// CHECK-LABEL: func.func @by_numbers
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: arith.mulf %[[OUT]]
func.func @by_numbers(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>)
    -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %number = arith.constant dense<0.5> : tensor<8x4x64xf32>
  %half = arith.mulf %x, %number : tensor<8x4x64xf32>
  %mixed = mhc.batch_matmul %map, %half : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = arith.mulf %sum, %number : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The weights of a head that no token enters
// CHECK-LABEL: func.func @by_weights_of_the_streams
// CHECK: mhc.post(
func.func @by_weights_of_the_streams(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>,
                                     %f: tensor<8x64xf32>, %weights: tensor<4xf32>) -> tensor<8x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %wide = mhc.broadcast %weights dims = [1] : tensor<4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %sum, %wide : tensor<8x4x64xf32>
  %out = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %out : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @beside_a_skip
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: arith.addf %{{.*}}, %[[OUT]]
func.func @beside_a_skip(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                         %first: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = arith.addf %first, %sum : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// One mask of the mix and another of the branch: no post is inside.
// MISS: scaled-behind.mlir:[[#@LINE+15]]:{{[0-9]+}}: remark: [Missed] mix-not-a-value | {{.*}}Function=by_two_masks
// CHECK-LABEL: func.func @by_two_masks
// CHECK-NOT: mhc.post
func.func @by_two_masks(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                        %mask: tensor<8xf32>, %other: tensor<8xf32>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %wide = mhc.broadcast %mask dims = [0] : tensor<8xf32> -> tensor<8x4x64xf32>
  %mixes = arith.mulf %mixed, %wide : tensor<8x4x64xf32>
  %others = mhc.broadcast %other dims = [0] : tensor<8xf32> -> tensor<8x4x64xf32>
  %branches = arith.mulf %branch, %others : tensor<8x4x64xf32>
  %out = arith.addf %mixes, %branches : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The streams are mixed by the map twice: the second sum is missed also behind the first one.
// MISS: remark: [Missed] factor-per-channel | {{.*}}Function=twice_by_one_map
// CHECK-LABEL: func.func @twice_by_one_map
// CHECK: mhc.post(
// CHECK-NOT: mhc.post(
func.func @twice_by_one_map(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                            %gain: tensor<8x4x64xf32>) -> (tensor<8x4x64xf32>, tensor<8x4x64xf32>) {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %again = mhc.batch_matmul %map, %sum : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gained = arith.mulf %branch, %gain : tensor<8x4x64xf32>
  %out = arith.addf %again, %gained : tensor<8x4x64xf32>
  return %sum, %out : tensor<8x4x64xf32>, tensor<8x4x64xf32>
}
