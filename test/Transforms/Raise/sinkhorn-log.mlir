// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Sinkhorn in the log domain: log-sum-exps that are subtracted in turn, and the iteration of two potentials.

// CHECK-LABEL: @log_domain_steps
func.func @log_domain_steps(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %t_a = arith.addf %m_a, %l_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %t_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
  %x_b = math.exp %d_b : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %t_b = arith.addf %m_b, %l_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %t_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Each exponential is of rows and columns in halves: matrices of 2 x 2 to look at, and none of the iteration.
// CHECK-LABEL: @exponentials_of_halves
func.func @exponentials_of_halves(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %z_a = tensor.expand_shape %z [[0], [1, 2], [3, 4]] output_shape [%M, 2, 2, 2, 2]
      : tensor<?x4x4xf32> into tensor<?x2x2x2x2xf32>
  %x_a = math.exp %z_a : tensor<?x2x2x2x2xf32>
  %e_a = tensor.collapse_shape %x_a [[0], [1, 2], [3, 4]] : tensor<?x2x2x2x2xf32> into tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %z_b = tensor.expand_shape %a [[0], [1, 2], [3, 4]] output_shape [%M, 2, 2, 2, 2]
      : tensor<?x4x4xf32> into tensor<?x2x2x2x2xf32>
  %x_b = math.exp %z_b : tensor<?x2x2x2x2xf32>
  %e_b = tensor.collapse_shape %x_b [[0], [1, 2], [3, 4]] : tensor<?x2x2x2x2xf32> into tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %e_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %l_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %z_r = tensor.expand_shape %b [[0], [1, 2], [3, 4]] output_shape [%M, 2, 2, 2, 2]
      : tensor<?x4x4xf32> into tensor<?x2x2x2x2xf32>
  %x_r = math.exp %z_r : tensor<?x2x2x2x2xf32>
  %r = tensor.collapse_shape %x_r [[0], [1, 2], [3, 4]] : tensor<?x2x2x2x2xf32> into tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The logarithm is subtracted first, then the maximum.
// CHECK-LABEL: @log_domain_in_two_subtractions
func.func @log_domain_in_two_subtractions(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %t_a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %a = arith.subf %t_a, %mb_a : tensor<?x4x4xf32>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
  %x_b = math.exp %d_b : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %l_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %t_b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %b = arith.subf %t_b, %mb_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_log_step_that_subtracts_the_logarithm_twice
func.func @no_log_step_that_subtracts_the_logarithm_twice(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: init = log
  // CHECK: return
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %t_a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %a = arith.subf %t_a, %mb_a : tensor<?x4x4xf32>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
  %x_b = math.exp %d_b : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %l_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %t_b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %b = arith.subf %t_b, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @log_domain_loop
func.func @log_domain_loop(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = col_row, denom = none, eps = 0.0, iters = 19>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %l = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %z) -> (tensor<?x4x4xf32>) {
    %m_a = mhc.reduce max %it dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_a = mhc.broadcast %m_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_a = arith.subf %it, %mb_a : tensor<?x4x4xf32>
    %x_a = math.exp %d_a : tensor<?x4x4xf32>
    %s_a = mhc.reduce sum %x_a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_a = math.log %s_a : tensor<?x4xf32>
    %t_a = arith.addf %m_a, %l_a : tensor<?x4xf32>
    %b_a = mhc.broadcast %t_a dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %a = arith.subf %it, %b_a : tensor<?x4x4xf32>
    %m_b = mhc.reduce max %a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_b = mhc.broadcast %m_b dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
    %x_b = math.exp %d_b : tensor<?x4x4xf32>
    %s_b = mhc.reduce sum %x_b dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_b = math.log %s_b : tensor<?x4xf32>
    %t_b = arith.addf %m_b, %l_b : tensor<?x4xf32>
    %b_b = mhc.broadcast %t_b dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
    scf.yield %b : tensor<?x4x4xf32>
  }
  %r = math.exp %l : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @log_domain_without_shift
func.func @log_domain_without_shift(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %x_a = math.exp %z : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %x_b = math.exp %a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %l_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The maximum that is added back is that of columns, what was subtracted that of rows.
// CHECK-LABEL: @no_log_step_with_two_different_maxima
func.func @no_log_step_with_two_different_maxima(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %cmax = mhc.reduce max %z dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %t_a = arith.addf %cmax, %l_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %t_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
  %x_b = math.exp %d_b : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %t_b = arith.addf %m_b, %l_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %t_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_log_step_without_the_maximum_added_back
func.func @no_log_step_without_the_maximum_added_back(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_b = arith.subf %a, %mb_b : tensor<?x4x4xf32>
  %x_b = math.exp %d_b : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %t_b = arith.addf %m_b, %l_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %t_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_log_sinkhorn_without_the_final_exponential
func.func @no_log_sinkhorn_without_the_final_exponential(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_a = arith.subf %z, %mb_a : tensor<?x4x4xf32>
  %x_a = math.exp %d_a : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %t_a = arith.addf %m_a, %l_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %t_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %m_r = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_r = mhc.broadcast %m_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_r = arith.subf %a, %mb_r : tensor<?x4x4xf32>
  %x_r = math.exp %d_r : tensor<?x4x4xf32>
  %s_r = mhc.reduce sum %x_r dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_r = math.log %s_r : tensor<?x4xf32>
  %t_r = arith.addf %m_r, %l_r : tensor<?x4xf32>
  %b_r = mhc.broadcast %t_r dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %r = arith.subf %a, %b_r : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// f of rows and g of columns, which a loop carries.
// CHECK-LABEL: @potentials
func.func @potentials(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 19>
  // CHECK: return %[[MIX]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %zeros = tensor.splat %zero[%M] : tensor<?x4xf32>
  %p:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%f0 = %zeros, %g0 = %zeros) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %p_f = mhc.broadcast %g0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_f = arith.addf %z, %p_f : tensor<?x4x4xf32>
    %m_f = mhc.reduce max %y_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_f = mhc.broadcast %m_f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_f = arith.subf %y_f, %mb_f : tensor<?x4x4xf32>
    %x_f = math.exp %d_f : tensor<?x4x4xf32>
    %s_f = mhc.reduce sum %x_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_f = math.log %s_f : tensor<?x4xf32>
    %t_f = arith.addf %m_f, %l_f : tensor<?x4xf32>
    %f = arith.negf %t_f : tensor<?x4xf32>
    %p_g = mhc.broadcast %f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_g = arith.addf %z, %p_g : tensor<?x4x4xf32>
    %m_g = mhc.reduce max %y_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_g = mhc.broadcast %m_g dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_g = arith.subf %y_g, %mb_g : tensor<?x4x4xf32>
    %x_g = math.exp %d_g : tensor<?x4x4xf32>
    %s_g = mhc.reduce sum %x_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_g = math.log %s_g : tensor<?x4xf32>
    %t_g = arith.addf %m_g, %l_g : tensor<?x4xf32>
    %g = arith.negf %t_g : tensor<?x4xf32>
    scf.yield %f, %g : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %fb = mhc.broadcast %p#0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %p#1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Two turns written one after the other.
// CHECK-LABEL: @potentials_without_a_loop
func.func @potentials_without_a_loop(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 2>
  // CHECK: return %[[MIX]]
  %m_f1 = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_f1 = mhc.broadcast %m_f1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_f1 = arith.subf %z, %mb_f1 : tensor<?x4x4xf32>
  %x_f1 = math.exp %d_f1 : tensor<?x4x4xf32>
  %s_f1 = mhc.reduce sum %x_f1 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_f1 = math.log %s_f1 : tensor<?x4xf32>
  %t_f1 = arith.addf %m_f1, %l_f1 : tensor<?x4xf32>
  %f1 = arith.negf %t_f1 : tensor<?x4xf32>
  %p_g1 = mhc.broadcast %f1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_g1 = arith.addf %z, %p_g1 : tensor<?x4x4xf32>
  %m_g1 = mhc.reduce max %y_g1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g1 = mhc.broadcast %m_g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g1 = arith.subf %y_g1, %mb_g1 : tensor<?x4x4xf32>
  %x_g1 = math.exp %d_g1 : tensor<?x4x4xf32>
  %s_g1 = mhc.reduce sum %x_g1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g1 = math.log %s_g1 : tensor<?x4xf32>
  %t_g1 = arith.addf %m_g1, %l_g1 : tensor<?x4xf32>
  %g1 = arith.negf %t_g1 : tensor<?x4xf32>
  %p_f2 = mhc.broadcast %g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_f2 = arith.addf %z, %p_f2 : tensor<?x4x4xf32>
  %m_f2 = mhc.reduce max %y_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_f2 = mhc.broadcast %m_f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_f2 = arith.subf %y_f2, %mb_f2 : tensor<?x4x4xf32>
  %x_f2 = math.exp %d_f2 : tensor<?x4x4xf32>
  %s_f2 = mhc.reduce sum %x_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_f2 = math.log %s_f2 : tensor<?x4xf32>
  %t_f2 = arith.addf %m_f2, %l_f2 : tensor<?x4xf32>
  %f2 = arith.negf %t_f2 : tensor<?x4xf32>
  %p_g2 = mhc.broadcast %f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_g2 = arith.addf %z, %p_g2 : tensor<?x4x4xf32>
  %m_g2 = mhc.reduce max %y_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g2 = mhc.broadcast %m_g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g2 = arith.subf %y_g2, %mb_g2 : tensor<?x4x4xf32>
  %x_g2 = math.exp %d_g2 : tensor<?x4x4xf32>
  %s_g2 = mhc.reduce sum %x_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g2 = math.log %s_g2 : tensor<?x4xf32>
  %t_g2 = arith.addf %m_g2, %l_g2 : tensor<?x4xf32>
  %g2 = arith.negf %t_g2 : tensor<?x4xf32>
  %fb = mhc.broadcast %f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The summand is the potential of the turn before the last.
// CHECK-LABEL: @no_potentials_of_two_turns
func.func @no_potentials_of_two_turns(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %m_f1 = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_f1 = mhc.broadcast %m_f1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_f1 = arith.subf %z, %mb_f1 : tensor<?x4x4xf32>
  %x_f1 = math.exp %d_f1 : tensor<?x4x4xf32>
  %s_f1 = mhc.reduce sum %x_f1 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_f1 = math.log %s_f1 : tensor<?x4xf32>
  %t_f1 = arith.addf %m_f1, %l_f1 : tensor<?x4xf32>
  %f1 = arith.negf %t_f1 : tensor<?x4xf32>
  %p_g1 = mhc.broadcast %f1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_g1 = arith.addf %z, %p_g1 : tensor<?x4x4xf32>
  %m_g1 = mhc.reduce max %y_g1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g1 = mhc.broadcast %m_g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g1 = arith.subf %y_g1, %mb_g1 : tensor<?x4x4xf32>
  %x_g1 = math.exp %d_g1 : tensor<?x4x4xf32>
  %s_g1 = mhc.reduce sum %x_g1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g1 = math.log %s_g1 : tensor<?x4xf32>
  %t_g1 = arith.addf %m_g1, %l_g1 : tensor<?x4xf32>
  %g1 = arith.negf %t_g1 : tensor<?x4xf32>
  %p_f2 = mhc.broadcast %g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_f2 = arith.addf %z, %p_f2 : tensor<?x4x4xf32>
  %m_f2 = mhc.reduce max %y_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_f2 = mhc.broadcast %m_f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_f2 = arith.subf %y_f2, %mb_f2 : tensor<?x4x4xf32>
  %x_f2 = math.exp %d_f2 : tensor<?x4x4xf32>
  %s_f2 = mhc.reduce sum %x_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_f2 = math.log %s_f2 : tensor<?x4xf32>
  %t_f2 = arith.addf %m_f2, %l_f2 : tensor<?x4xf32>
  %f2 = arith.negf %t_f2 : tensor<?x4xf32>
  %p_g2 = mhc.broadcast %f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_g2 = arith.addf %z, %p_g2 : tensor<?x4x4xf32>
  %m_g2 = mhc.reduce max %y_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g2 = mhc.broadcast %m_g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g2 = arith.subf %y_g2, %mb_g2 : tensor<?x4x4xf32>
  %x_g2 = math.exp %d_g2 : tensor<?x4x4xf32>
  %s_g2 = mhc.reduce sum %x_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g2 = math.log %s_g2 : tensor<?x4xf32>
  %t_g2 = arith.addf %m_g2, %l_g2 : tensor<?x4xf32>
  %g2 = arith.negf %t_g2 : tensor<?x4xf32>
  %fb = mhc.broadcast %f1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// Half a turn before the first.
// CHECK-LABEL: @potentials_of_one_and_a_half_turns
func.func @potentials_of_one_and_a_half_turns(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn({{.*}} order = col_row, {{.*}} iters = 1>
  // CHECK: %[[SUM:.*]] = mhc.reduce sum %[[MIX]] dims = [1]
  // CHECK: %[[ALL:.*]] = mhc.broadcast %[[SUM]]
  // CHECK: arith.divf %[[MIX]], %[[ALL]]
  %m_g1 = mhc.reduce max %z dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g1 = mhc.broadcast %m_g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g1 = arith.subf %z, %mb_g1 : tensor<?x4x4xf32>
  %x_g1 = math.exp %d_g1 : tensor<?x4x4xf32>
  %s_g1 = mhc.reduce sum %x_g1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g1 = math.log %s_g1 : tensor<?x4xf32>
  %t_g1 = arith.addf %m_g1, %l_g1 : tensor<?x4xf32>
  %g1 = arith.negf %t_g1 : tensor<?x4xf32>
  %p_f2 = mhc.broadcast %g1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_f2 = arith.addf %z, %p_f2 : tensor<?x4x4xf32>
  %m_f2 = mhc.reduce max %y_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_f2 = mhc.broadcast %m_f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_f2 = arith.subf %y_f2, %mb_f2 : tensor<?x4x4xf32>
  %x_f2 = math.exp %d_f2 : tensor<?x4x4xf32>
  %s_f2 = mhc.reduce sum %x_f2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_f2 = math.log %s_f2 : tensor<?x4xf32>
  %t_f2 = arith.addf %m_f2, %l_f2 : tensor<?x4xf32>
  %f2 = arith.negf %t_f2 : tensor<?x4xf32>
  %p_g2 = mhc.broadcast %f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %y_g2 = arith.addf %z, %p_g2 : tensor<?x4x4xf32>
  %m_g2 = mhc.reduce max %y_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mb_g2 = mhc.broadcast %m_g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_g2 = arith.subf %y_g2, %mb_g2 : tensor<?x4x4xf32>
  %x_g2 = math.exp %d_g2 : tensor<?x4x4xf32>
  %s_g2 = mhc.reduce sum %x_g2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_g2 = math.log %s_g2 : tensor<?x4xf32>
  %t_g2 = arith.addf %m_g2, %l_g2 : tensor<?x4xf32>
  %g2 = arith.negf %t_g2 : tensor<?x4xf32>
  %fb = mhc.broadcast %f2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %g2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// n x n: the potential of row i is added to column i.
// CHECK-LABEL: @no_potentials_that_are_spread_along_the_wrong_dimension
func.func @no_potentials_that_are_spread_along_the_wrong_dimension(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %zeros = tensor.splat %zero[%M] : tensor<?x4xf32>
  %p:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%f0 = %zeros, %g0 = %zeros) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %p_f = mhc.broadcast %g0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_f = arith.addf %z, %p_f : tensor<?x4x4xf32>
    %m_f = mhc.reduce max %y_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_f = mhc.broadcast %m_f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_f = arith.subf %y_f, %mb_f : tensor<?x4x4xf32>
    %x_f = math.exp %d_f : tensor<?x4x4xf32>
    %s_f = mhc.reduce sum %x_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_f = math.log %s_f : tensor<?x4xf32>
    %t_f = arith.addf %m_f, %l_f : tensor<?x4xf32>
    %f = arith.negf %t_f : tensor<?x4xf32>
    %p_g = mhc.broadcast %f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_g = arith.addf %z, %p_g : tensor<?x4x4xf32>
    %m_g = mhc.reduce max %y_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_g = mhc.broadcast %m_g dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_g = arith.subf %y_g, %mb_g : tensor<?x4x4xf32>
    %x_g = math.exp %d_g : tensor<?x4x4xf32>
    %s_g = mhc.reduce sum %x_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_g = math.log %s_g : tensor<?x4xf32>
    %t_g = arith.addf %m_g, %l_g : tensor<?x4xf32>
    %g = arith.negf %t_g : tensor<?x4xf32>
    scf.yield %f, %g : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %fb = mhc.broadcast %p#0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %p#1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// A summand that is the same in all rows drops out in the first sums.
// CHECK-LABEL: @potentials_that_start_from_a_number
func.func @potentials_that_start_from_a_number(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = log, order = row_col, denom = none, eps = 0.0, iters = 19>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %zero = arith.constant 1.0 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %zeros = tensor.splat %zero[%M] : tensor<?x4xf32>
  %p:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%f0 = %zeros, %g0 = %zeros) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %p_f = mhc.broadcast %g0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_f = arith.addf %z, %p_f : tensor<?x4x4xf32>
    %m_f = mhc.reduce max %y_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_f = mhc.broadcast %m_f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_f = arith.subf %y_f, %mb_f : tensor<?x4x4xf32>
    %x_f = math.exp %d_f : tensor<?x4x4xf32>
    %s_f = mhc.reduce sum %x_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_f = math.log %s_f : tensor<?x4xf32>
    %t_f = arith.addf %m_f, %l_f : tensor<?x4xf32>
    %f = arith.negf %t_f : tensor<?x4xf32>
    %p_g = mhc.broadcast %f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_g = arith.addf %z, %p_g : tensor<?x4x4xf32>
    %m_g = mhc.reduce max %y_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_g = mhc.broadcast %m_g dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_g = arith.subf %y_g, %mb_g : tensor<?x4x4xf32>
    %x_g = math.exp %d_g : tensor<?x4x4xf32>
    %s_g = mhc.reduce sum %x_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_g = math.log %s_g : tensor<?x4xf32>
    %t_g = arith.addf %m_g, %l_g : tensor<?x4xf32>
    %g = arith.negf %t_g : tensor<?x4xf32>
    scf.yield %f, %g : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %fb = mhc.broadcast %p#0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %p#1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// CHECK-LABEL: @no_potentials_that_start_from_a_tensor
func.func @no_potentials_that_start_from_a_tensor(%z: tensor<?x4x4xf32>, %start: tensor<?x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %p:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%f0 = %start, %g0 = %start) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %p_f = mhc.broadcast %g0 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_f = arith.addf %z, %p_f : tensor<?x4x4xf32>
    %m_f = mhc.reduce max %y_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_f = mhc.broadcast %m_f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_f = arith.subf %y_f, %mb_f : tensor<?x4x4xf32>
    %x_f = math.exp %d_f : tensor<?x4x4xf32>
    %s_f = mhc.reduce sum %x_f dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_f = math.log %s_f : tensor<?x4xf32>
    %t_f = arith.addf %m_f, %l_f : tensor<?x4xf32>
    %f = arith.negf %t_f : tensor<?x4xf32>
    %p_g = mhc.broadcast %f dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %y_g = arith.addf %z, %p_g : tensor<?x4x4xf32>
    %m_g = mhc.reduce max %y_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %mb_g = mhc.broadcast %m_g dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %d_g = arith.subf %y_g, %mb_g : tensor<?x4x4xf32>
    %x_g = math.exp %d_g : tensor<?x4x4xf32>
    %s_g = mhc.reduce sum %x_g dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %l_g = math.log %s_g : tensor<?x4xf32>
    %t_g = arith.addf %m_g, %l_g : tensor<?x4xf32>
    %g = arith.negf %t_g : tensor<?x4xf32>
    scf.yield %f, %g : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %fb = mhc.broadcast %p#0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %gb = mhc.broadcast %p#1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %zf = arith.addf %z, %fb : tensor<?x4x4xf32>
  %zfg = arith.addf %zf, %gb : tensor<?x4x4xf32>
  %r = math.exp %zfg : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// The maximum as something that is added.
// CHECK-LABEL: @negative_maximum_added
func.func @negative_maximum_added(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  %m_row = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %n_row = arith.negf %m_row : tensor<?x4xf32>
  %b_row = mhc.broadcast %n_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_row = arith.addf %z, %b_row : tensor<?x4x4xf32>
  %e_row = math.exp %d_row : tensor<?x4x4xf32>
  %s_row = mhc.reduce sum %e_row dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_row = math.log %s_row : tensor<?x4xf32>
  %lb_row = mhc.broadcast %l_row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %row = arith.subf %d_row, %lb_row : tensor<?x4x4xf32>
  %m_col = mhc.reduce max %row dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %n_col = arith.negf %m_col : tensor<?x4xf32>
  %b_col = mhc.broadcast %n_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %c_col = mhc.broadcast %m_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %d_col = arith.addf %row, %b_col : tensor<?x4x4xf32>
  %same_col = arith.subf %row, %c_col : tensor<?x4x4xf32>
  %e_col = math.exp %d_col : tensor<?x4x4xf32>
  %s_col = mhc.reduce sum %e_col dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_col = math.log %s_col : tensor<?x4xf32>
  %lb_col = mhc.broadcast %l_col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %col = arith.subf %same_col, %lb_col : tensor<?x4x4xf32>
  %h = math.exp %col : tensor<?x4x4xf32>
  return %h : tensor<?x4x4xf32>
}

// The log-sum-exps in f64, rounded.
// CHECK-LABEL: @log_sum_exps_in_f64
func.func @log_sum_exps_in_f64(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
  // CHECK-SAME: <init = log, order = row_col, denom = none, eps = 0.0, iters = 1>
  // CHECK: return %[[MIX]]
  %w_a = arith.extf %z : tensor<?x4x4xf32> to tensor<?x4x4xf64>
  %m_a = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mw_a = arith.extf %m_a : tensor<?x4xf32> to tensor<?x4xf64>
  %mb0_a = mhc.broadcast %m_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %mb_a = arith.extf %mb0_a : tensor<?x4x4xf32> to tensor<?x4x4xf64>
  %d_a = arith.subf %w_a, %mb_a : tensor<?x4x4xf64>
  %x_a = math.exp %d_a : tensor<?x4x4xf64>
  %s_a = mhc.reduce sum %x_a dims = [2] : tensor<?x4x4xf64> -> tensor<?x4xf64>
  %l_a = math.log %s_a : tensor<?x4xf64>
  %t64_a = arith.addf %mw_a, %l_a : tensor<?x4xf64>
  %t_a = arith.truncf %t64_a : tensor<?x4xf64> to tensor<?x4xf32>
  %b_a = mhc.broadcast %t_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %z, %b_a : tensor<?x4x4xf32>
  %w_b = arith.extf %a : tensor<?x4x4xf32> to tensor<?x4x4xf64>
  %m_b = mhc.reduce max %a dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %mw_b = arith.extf %m_b : tensor<?x4xf32> to tensor<?x4xf64>
  %mb0_b = mhc.broadcast %m_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %mb_b = arith.extf %mb0_b : tensor<?x4x4xf32> to tensor<?x4x4xf64>
  %d_b = arith.subf %w_b, %mb_b : tensor<?x4x4xf64>
  %x_b = math.exp %d_b : tensor<?x4x4xf64>
  %s_b = mhc.reduce sum %x_b dims = [1] : tensor<?x4x4xf64> -> tensor<?x4xf64>
  %l_b = math.log %s_b : tensor<?x4xf64>
  %t64_b = arith.addf %mw_b, %l_b : tensor<?x4xf64>
  %t_b = arith.truncf %t64_b : tensor<?x4xf64> to tensor<?x4xf32>
  %b_b = mhc.broadcast %t_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}
