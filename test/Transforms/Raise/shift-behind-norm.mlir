// RUN: mhc-opt %s --mhc-raise --split-input-file | FileCheck %s

// A vector that is added behind the norm is multiplied with phi alone, and a part of beta.
// CHECK-LABEL: @shift_behind_norm(
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = inside, norm_eps = 1.0e-05
// CHECK: %[[SHIFTS:.*]] = mhc.broadcast %arg2 dims = [1] : tensor<64xf32> -> tensor<4x64xf32>
// CHECK: %[[PRODUCTS:.*]] = arith.mulf %arg1, %[[SHIFTS]]
// CHECK: %[[SHIFT:.*]] = mhc.reduce sum %[[PRODUCTS]] dims = [1]
// CHECK: %[[BETA:.*]] = arith.addf %arg3, %[[SHIFT]]
// CHECK: mhc.gates({{.*}}beta = %[[BETA]]
func.func @shift_behind_norm(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %shift: tensor<64xf32>,
                             %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  %eps = arith.constant dense<1.0e-05> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %inverse = math.rsqrt %mean_eps : tensor<8xf32>
  %inverses = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %normed = arith.mulf %flat, %inverses : tensor<8x64xf32>
  %shifts = mhc.broadcast %shift dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %shifted = arith.addf %normed, %shifts : tensor<8x64xf32>
  %p = mhc.matmul %shifted, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %betas = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %betas : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// -----

// A vector of the streams' channels, under a weight.
// CHECK-LABEL: @shift_of_channels(
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, {{.*}}norm_weight =
// CHECK: %[[SHIFTS:.*]] = mhc.broadcast %arg2 dims = [2] : tensor<16xf32> -> tensor<4x4x16xf32>
// CHECK: mhc.reduce sum %{{.*}} dims = [1, 2] : tensor<4x4x16xf32> -> tensor<4xf32>
func.func @shift_of_channels(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %shift: tensor<16xf32>,
                             %weight: tensor<16xf32>, %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  %eps = arith.constant dense<1.0e-05> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x4x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x4x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %inverse = math.rsqrt %mean_eps : tensor<8xf32>
  %inverses = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x4x16xf32>
  %normed = arith.mulf %x, %inverses : tensor<8x4x16xf32>
  %weights = mhc.broadcast %weight dims = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %weighted = arith.mulf %normed, %weights : tensor<8x4x16xf32>
  %shifts = mhc.broadcast %shift dims = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %shifted = arith.addf %weighted, %shifts : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %shifted [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %betas = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %betas : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// -----

// Added in front of the norm, it is a part of the streams.
// CHECK-LABEL: @shift_before_norm(
// CHECK: %[[X:.*]] = arith.addf %arg0,
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, {{.*}}norm = inside
// CHECK: mhc.gates({{.*}}beta = %arg3
func.func @shift_before_norm(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %shift: tensor<64xf32>,
                             %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  %eps = arith.constant dense<1.0e-05> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %shifts = mhc.broadcast %shift dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %shifted = arith.addf %flat, %shifts : tensor<8x64xf32>
  %square = arith.mulf %shifted, %shifted : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %inverse = math.rsqrt %mean_eps : tensor<8xf32>
  %inverses = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %normed = arith.mulf %shifted, %inverses : tensor<8x64xf32>
  %p = mhc.matmul %normed, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %betas = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %betas : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// -----

// One vector for each token is no bias, and what it is added to has no norm of its own.
// CHECK-LABEL: @shift_of_tokens(
// CHECK: %[[SHIFTS:.*]] = tensor.expand_shape %arg2
// CHECK: %[[SHIFTED:.*]] = arith.addf %{{.*}}, %[[SHIFTS]] : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[SHIFTED]] : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = none
// CHECK: mhc.gates({{.*}}beta = %arg3
func.func @shift_of_tokens(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %shift: tensor<8x64xf32>,
                           %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  %eps = arith.constant dense<1.0e-05> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %inverse = math.rsqrt %mean_eps : tensor<8xf32>
  %inverses = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %normed = arith.mulf %flat, %inverses : tensor<8x64xf32>
  %shifted = arith.addf %normed, %shift : tensor<8x64xf32>
  %p = mhc.matmul %shifted, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %betas = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %betas : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}
