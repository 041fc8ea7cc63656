// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Alternating divisions by row and column sums, in the spellings of the public implementations.

// The softmax with eps is the first row step, and the loop turns 19 times.
// CHECK-LABEL: @softmax_and_a_loop
func.func @softmax_and_a_loop(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %eps_all = tensor.splat %number[%M] : tensor<?x4x4xf32>
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_first = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_first = arith.addf %s_first, %eps : tensor<?x4xf32>
  %b_first = mhc.broadcast %e_first dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %first = arith.divf %start, %b_first : tensor<?x4x4xf32>
  %r = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %first) -> (tensor<?x4x4xf32>) {
    %s_row = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_row = arith.addf %s_row, %eps : tensor<?x4xf32>
    %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %row = arith.divf %it, %b_row : tensor<?x4x4xf32>
    %s_col = mhc.reduce sum %row dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_col = arith.addf %s_col, %eps : tensor<?x4xf32>
    %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %col = arith.divf %row, %b_col : tensor<?x4x4xf32>
    scf.yield %col : tensor<?x4x4xf32>
  }
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @softmax_and_unrolled_steps
func.func @softmax_and_unrolled_steps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 2>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %eps_all = tensor.splat %number[%M] : tensor<?x4x4xf32>
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %start, %b_a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_b = arith.addf %s_b, %eps : tensor<?x4xf32>
  %b_b = mhc.broadcast %e_b dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.divf %a, %b_b : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %b, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @one_iteration
func.func @one_iteration(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %eps_all = tensor.splat %number[%M] : tensor<?x4x4xf32>
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %start, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The loop begins with the column step; one row step stands before it.
// CHECK-LABEL: @loop_of_half_steps
func.func @loop_of_half_steps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 21>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_b = arith.addf %s_b, %eps : tensor<?x4xf32>
  %b_b = mhc.broadcast %e_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.divf %a, %b_b : tensor<?x4x4xf32>
  %s_c = mhc.reduce sum %b dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_c = arith.addf %s_c, %eps : tensor<?x4xf32>
  %b_c = mhc.broadcast %e_c dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %c = arith.divf %b, %b_c : tensor<?x4x4xf32>
  %l = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %c) -> (tensor<?x4x4xf32>) {
    %s_col = mhc.reduce sum %it dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_col = arith.addf %s_col, %eps : tensor<?x4xf32>
    %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %col = arith.divf %it, %b_col : tensor<?x4x4xf32>
    %s_row = mhc.reduce sum %col dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_row = arith.addf %s_row, %eps : tensor<?x4xf32>
    %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %row = arith.divf %col, %b_row : tensor<?x4x4xf32>
    scf.yield %row : tensor<?x4x4xf32>
  }
  %s_r = mhc.reduce sum %l dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %l, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Without eps the first step is a softmax, whose shift drops out.
// CHECK-LABEL: @exp_with_columns_first
func.func @exp_with_columns_first(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_colmax, order = col_row, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @exp_shifted_by_the_row_maximum
func.func @exp_shifted_by_the_row_maximum(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_rowmax, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %max = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %max_all = mhc.broadcast %max dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d = arith.subf %z, %max_all : tensor<?x4x4xf32>
  %e = math.exp %d : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @exp_shifted_by_the_column_maximum_with_clamped_sums
func.func @exp_shifted_by_the_column_maximum_with_clamped_sums(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_colmax, order = col_row, denom = clamp, eps = 1.0e-06, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %max = mhc.reduce max %z dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %max_all = mhc.broadcast %max dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d = arith.subf %z, %max_all : tensor<?x4x4xf32>
  %e = math.exp %d : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.maximumf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.maximumf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @softmax_without_eps_is_a_row_step
func.func @softmax_without_eps_is_a_row_step(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %soft dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %soft, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @multiplication_by_reciprocals
func.func @multiplication_by_reciprocals(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %one = arith.constant 1.0 : f32
  %ones = tensor.splat %one[%M] : tensor<?x4xf32>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %i_a = arith.divf %ones, %e_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %i_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.mulf %b_a, %e : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %i_r = arith.divf %ones, %e_r : tensor<?x4xf32>
  %b_r = mhc.broadcast %i_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.mulf %b_r, %a : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Stacks of matrices in more than one dimension are flattened.
// CHECK-LABEL: @batch_and_sequence_dimensions
func.func @batch_and_sequence_dimensions(%z: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2], [3]]
  // CHECK: mhc.sinkhorn(logits = %[[FLAT]]
  // CHECK: tensor.expand_shape
  %e = math.exp %z : tensor<2x3x4x4xf32>
  %s = mhc.reduce sum %e dims = [3] : tensor<2x3x4x4xf32> -> tensor<2x3x4xf32>
  %b = mhc.broadcast %s dims = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<2x3x4x4xf32>
  %rows = arith.divf %e, %b : tensor<2x3x4x4xf32>
  %t = mhc.reduce sum %rows dims = [2] : tensor<2x3x4x4xf32> -> tensor<2x3x4xf32>
  %c = mhc.broadcast %t dims = [0, 1, 3] : tensor<2x3x4xf32> -> tensor<2x3x4x4xf32>
  %r = arith.divf %rows, %c : tensor<2x3x4x4xf32>
  return %r : tensor<2x3x4x4xf32>
}

// Code that reads an intermediate matrix gets what it had.
// CHECK-LABEL: @beginning_that_is_used_stays
func.func @beginning_that_is_used_stays(%z: tensor<?x4x4xf32>) -> (tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
  // CHECK-DAG: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2>
  // CHECK-DAG: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_b = mhc.broadcast %s_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.divf %a, %b_b : tensor<?x4x4xf32>
  %s_c = mhc.reduce sum %b dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_c = mhc.broadcast %s_c dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %c = arith.divf %b, %b_c : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %c dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %c, %b_r : tensor<?x4x4xf32>
  return %r, %b : tensor<?x4x4xf32>, tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_of_an_odd_number_of_steps
func.func @no_sinkhorn_of_an_odd_number_of_steps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %e, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @only_the_even_part_of_an_odd_chain
func.func @only_the_even_part_of_an_odd_chain(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: iters = 1>
  // CHECK: arith.divf %[[MIX]]
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_b = mhc.broadcast %s_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.divf %a, %b_b : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %b dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %b, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_with_the_same_axis_twice
func.func @no_sinkhorn_with_the_same_axis_twice(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_when_eps_changes_between_steps
func.func @no_sinkhorn_when_eps_changes_between_steps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %other = arith.constant 1.0e-03 : f32
  %eps_2 = tensor.splat %other[%M] : tensor<?x4xf32>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps_2 : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_when_the_softmax_has_another_eps
func.func @no_sinkhorn_when_the_softmax_has_another_eps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %other = arith.constant 1.0e-03 : f32
  %eps_all = tensor.splat %other[%M] : tensor<?x4x4xf32>
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %start, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// A reduction over the dimension of the stack mixes tokens.
// CHECK-LABEL: @no_sinkhorn_over_the_tokens
func.func @no_sinkhorn_over_the_tokens(%z: tensor<3x4x4xf32>) -> tensor<3x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %e = math.exp %z : tensor<3x4x4xf32>
  %s = mhc.reduce sum %e dims = [0] : tensor<3x4x4xf32> -> tensor<4x4xf32>
  %b = mhc.broadcast %s dims = [1, 2] : tensor<4x4xf32> -> tensor<3x4x4xf32>
  %rows = arith.divf %e, %b : tensor<3x4x4xf32>
  %t = mhc.reduce sum %rows dims = [1] : tensor<3x4x4xf32> -> tensor<3x4xf32>
  %c = mhc.broadcast %t dims = [0, 2] : tensor<3x4xf32> -> tensor<3x4x4xf32>
  %r = arith.divf %rows, %c : tensor<3x4x4xf32>
  return %r : tensor<3x4x4xf32>
}

// n x n: the sum of row i divides column i.
// CHECK-LABEL: @no_sinkhorn_when_row_sums_divide_columns
func.func @no_sinkhorn_when_row_sums_divide_columns(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_when_clamped_row_sums_divide_columns
func.func @no_sinkhorn_when_clamped_row_sums_divide_columns(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.maximumf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.maximumf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_when_the_clamped_sum_is_doubled
func.func @no_sinkhorn_when_the_clamped_sum_is_doubled(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %two = arith.constant 2.0 : f32
  %twos = tensor.splat %two[%M] : tensor<?x4xf32>
  %e = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.maximumf %s_a, %eps : tensor<?x4xf32>
  %d_a = arith.mulf %e_a, %twos : tensor<?x4xf32>
  %b_a = mhc.broadcast %d_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.maximumf %s_r, %eps : tensor<?x4xf32>
  %d_r = arith.mulf %e_r, %twos : tensor<?x4xf32>
  %b_r = mhc.broadcast %d_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_sinkhorn_by_the_sum_of_another_tensor
func.func @no_sinkhorn_by_the_sum_of_another_tensor(%z: tensor<?x4x4xf32>, %other: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %e = math.exp %z : tensor<?x4x4xf32>
  %o = math.exp %other : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %o dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The column sums are those of the transposed matrix.
// CHECK-LABEL: @no_sinkhorn_of_a_transposed_sum
func.func @no_sinkhorn_of_a_transposed_sum(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %e = math.exp %z : tensor<?x4x4xf32>
  %t = mhc.transpose %e perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %t dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_a = mhc.broadcast %s_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b_r = mhc.broadcast %s_r dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @only_the_steps_before_a_loop_with_a_dynamic_trip_count
func.func @only_the_steps_before_a_loop_with_a_dynamic_trip_count(%z: tensor<?x4x4xf32>, %turns: index) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: iters = 1>
  // CHECK: scf.for
  // CHECK: arith.divf
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %eps_all = tensor.splat %number[%M] : tensor<?x4x4xf32>
  %c1 = arith.constant 1 : index
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_first = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_first = arith.addf %s_first, %eps : tensor<?x4xf32>
  %b_first = mhc.broadcast %e_first dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %first = arith.divf %start, %b_first : tensor<?x4x4xf32>
  %r = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %first) -> (tensor<?x4x4xf32>) {
    %s_row = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_row = arith.addf %s_row, %eps : tensor<?x4xf32>
    %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %row = arith.divf %it, %b_row : tensor<?x4x4xf32>
    %s_col = mhc.reduce sum %row dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_col = arith.addf %s_col, %eps : tensor<?x4xf32>
    %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %col = arith.divf %row, %b_col : tensor<?x4x4xf32>
    scf.yield %col : tensor<?x4x4xf32>
  }
  return %r : tensor<?x4x4xf32>
}

// The loop also adds to the matrix.
// CHECK-LABEL: @only_the_steps_before_a_loop_that_does_more
func.func @only_the_steps_before_a_loop_that_does_more(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: iters = 1>
  // CHECK: scf.for
  // CHECK: arith.divf
  // CHECK: return
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %eps_all = tensor.splat %number[%M] : tensor<?x4x4xf32>
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %soft = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %soft, %eps_all : tensor<?x4x4xf32>
  %s_first = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_first = arith.addf %s_first, %eps : tensor<?x4xf32>
  %b_first = mhc.broadcast %e_first dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %first = arith.divf %start, %b_first : tensor<?x4x4xf32>
  %r = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %first) -> (tensor<?x4x4xf32>) {
    %s_row = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_row = arith.addf %s_row, %eps : tensor<?x4xf32>
    %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %row = arith.divf %it, %b_row : tensor<?x4x4xf32>
    %s_col = mhc.reduce sum %row dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %e_col = arith.addf %s_col, %eps : tensor<?x4xf32>
    %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %col = arith.divf %row, %b_col : tensor<?x4x4xf32>
    %plus = arith.addf %col, %eps_all : tensor<?x4x4xf32>
    scf.yield %plus : tensor<?x4x4xf32>
  }
  return %r : tensor<?x4x4xf32>
}

// With eps in the sums, a shift by the maximum of all entries is no row maximum.
// CHECK-LABEL: @exp_shifted_by_the_maximum_of_the_matrix
func.func @exp_shifted_by_the_maximum_of_the_matrix(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_max, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?x4xf32>
  %max = mhc.reduce max %z dims = [1, 2] : tensor<?x4x4xf32> -> tensor<?xf32>
  %max_all = mhc.broadcast %max dims = [0] : tensor<?xf32> -> tensor<?x4x4xf32>
  %d = arith.subf %z, %max_all : tensor<?x4x4xf32>
  %e = math.exp %d : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_a = arith.addf %s_a, %eps : tensor<?x4xf32>
  %b_a = mhc.broadcast %e_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.divf %e, %b_a : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %e_r = arith.addf %s_r, %eps : tensor<?x4xf32>
  %b_r = mhc.broadcast %e_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.divf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Each turn multiplies by the product of both reciprocals.
// CHECK-LABEL: @both_factors_at_once
func.func @both_factors_at_once(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 6>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %ones = arith.constant dense<1.0> : tensor<8x4x4xf32>
  %start = math.exp %z : tensor<8x4x4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%it = %start) -> (tensor<8x4x4xf32>) {
    %s_row = mhc.reduce sum %it dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %b_row = mhc.broadcast %s_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %of_row = arith.divf %ones, %b_row : tensor<8x4x4xf32>
    %row = arith.mulf %it, %of_row : tensor<8x4x4xf32>
    %s_col = mhc.reduce sum %row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %b_col = mhc.broadcast %s_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %of_col = arith.divf %ones, %b_col : tensor<8x4x4xf32>
    %both = arith.mulf %of_col, %of_row : tensor<8x4x4xf32>
    %next = arith.mulf %it, %both : tensor<8x4x4xf32>
    scf.yield %next : tensor<8x4x4xf32>
  }
  return %r : tensor<8x4x4xf32>
}

// The last division is computed with a unit dimension between the rows and the columns.
// CHECK-LABEL: func.func @last_step_with_unit_dimension
// CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %{{.*}}) <init = exp, order = row_col, denom = add, eps = 1.0e-03, iters = 1>
// CHECK-NEXT: return %[[MIX]]
func.func @last_step_with_unit_dimension(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %eps = arith.constant dense<1.0e-03> : tensor<6x4xf32>
  %exp = math.exp %z : tensor<6x4x4xf32>
  %row_sums = mhc.reduce sum %exp dims = [2] : tensor<6x4x4xf32> -> tensor<6x4xf32>
  %rows = arith.addf %row_sums, %eps : tensor<6x4xf32>
  %by_rows = mhc.broadcast %rows dims = [0, 1] : tensor<6x4xf32> -> tensor<6x4x4xf32>
  %first = arith.divf %exp, %by_rows : tensor<6x4x4xf32>
  %column_sums = mhc.reduce sum %first dims = [1] : tensor<6x4x4xf32> -> tensor<6x4xf32>
  %columns = arith.addf %column_sums, %eps : tensor<6x4xf32>
  %one = arith.constant dense<1.0> : tensor<6x4xf32>
  %factors = arith.divf %one, %columns : tensor<6x4xf32>
  %by_columns = mhc.broadcast %factors dims = [0, 3] : tensor<6x4xf32> -> tensor<6x4x1x4xf32>
  %apart = tensor.expand_shape %first [[0], [1], [2, 3]] output_shape [6, 4, 1, 4] : tensor<6x4x4xf32> into tensor<6x4x1x4xf32>
  %second = arith.mulf %apart, %by_columns : tensor<6x4x1x4xf32>
  %mix = tensor.collapse_shape %second [[0], [1], [2, 3]] : tensor<6x4x1x4xf32> into tensor<6x4x4xf32>
  return %mix : tensor<6x4x4xf32>
}
