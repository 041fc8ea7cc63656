// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// A maximum of all matrices together is none of the start.
// CHECK-LABEL: @maximum_of_all_matrices
func.func @maximum_of_all_matrices(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[SHIFTED:.*]] = arith.subf %arg0
  // CHECK: mhc.sinkhorn(logits = %[[SHIFTED]] : tensor<8x4x4xf32>) <init = exp,
  // CHECK: return
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %max = mhc.reduce max %z dims = [0, 1, 2] : tensor<8x4x4xf32> -> tensor<f32>
  %all = mhc.broadcast %max dims = [] : tensor<f32> -> tensor<8x4x4xf32>
  %shifted = arith.subf %z, %all : tensor<8x4x4xf32>
  %k = math.exp %shifted : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %k dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %d1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %d1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %x1 = arith.divf %k, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %x1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %d2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %d2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %x2 = arith.divf %x1, %b2 : tensor<8x4x4xf32>
  return %x2 : tensor<8x4x4xf32>
}

// Vectors as they are in a program: u = 1 / (K v + eps), v = 1 / (K^T u + eps).
// CHECK-LABEL: @two_turns
func.func @two_turns(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = potentials, eps = 1.0e-06, iters = 2>
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.reduce sum %16 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %18 = arith.addf %17, %eps : tensor<8x4xf32>
  %19 = arith.divf %one, %18 : tensor<8x4xf32>
  %20 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %21 = arith.mulf %1, %20 : tensor<8x4x4xf32>
  %22 = mhc.broadcast %19 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %21, %22 : tensor<8x4x4xf32>
  return %23 : tensor<8x4x4xf32>
}

// Columns first.
// CHECK-LABEL: @three_turns
func.func @three_turns(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = col_row, denom = potentials, eps = 1.0e-06, iters = 3>
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %14 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.reduce sum %16 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %18 = arith.addf %17, %eps : tensor<8x4xf32>
  %19 = arith.divf %one, %18 : tensor<8x4xf32>
  %20 = mhc.broadcast %19 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %21 = arith.mulf %1, %20 : tensor<8x4x4xf32>
  %22 = mhc.reduce sum %21 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %23 = arith.addf %22, %eps : tensor<8x4xf32>
  %24 = arith.divf %one, %23 : tensor<8x4xf32>
  %25 = mhc.broadcast %24 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %26 = arith.mulf %1, %25 : tensor<8x4x4xf32>
  %27 = mhc.reduce sum %26 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %28 = arith.addf %27, %eps : tensor<8x4xf32>
  %29 = arith.divf %one, %28 : tensor<8x4xf32>
  %30 = mhc.broadcast %29 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %31 = arith.mulf %1, %30 : tensor<8x4x4xf32>
  %32 = mhc.broadcast %24 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %33 = arith.mulf %31, %32 : tensor<8x4x4xf32>
  return %33 : tensor<8x4x4xf32>
}

// A single turn is what dividing the matrix makes.
// CHECK-LABEL: @one_turn
func.func @one_turn(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %13 = arith.mulf %11, %12 : tensor<8x4x4xf32>
  return %13 : tensor<8x4x4xf32>
}

// Each turn begins with the matrix that the one before it made: these are divisions.
// CHECK-LABEL: @divided_twice
func.func @divided_twice(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 2>
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %13 = arith.mulf %11, %12 : tensor<8x4x4xf32>
  %14 = mhc.reduce sum %13 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %15 = arith.addf %14, %eps : tensor<8x4xf32>
  %16 = arith.divf %one, %15 : tensor<8x4xf32>
  %17 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %18 = arith.mulf %13, %17 : tensor<8x4x4xf32>
  %19 = mhc.reduce sum %18 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %20 = arith.addf %19, %eps : tensor<8x4xf32>
  %21 = arith.divf %one, %20 : tensor<8x4xf32>
  %22 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %13, %22 : tensor<8x4x4xf32>
  %24 = mhc.broadcast %21 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %25 = arith.mulf %23, %24 : tensor<8x4x4xf32>
  return %25 : tensor<8x4x4xf32>
}

// The factors of the rows are those of the turn before.
// CHECK-LABEL: @older_factors
func.func @older_factors(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.reduce sum %16 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %18 = arith.addf %17, %eps : tensor<8x4xf32>
  %19 = arith.divf %one, %18 : tensor<8x4xf32>
  %20 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %21 = arith.mulf %1, %20 : tensor<8x4x4xf32>
  %22 = mhc.broadcast %19 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %21, %22 : tensor<8x4x4xf32>
  return %23 : tensor<8x4x4xf32>
}

// The first factors are none of an iteration from ones.
// CHECK-LABEL: @from_a_vector
func.func @from_a_vector(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.broadcast %w dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<8x4x4xf32>
  %4 = mhc.reduce sum %3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %5 = arith.addf %4, %eps : tensor<8x4xf32>
  %6 = arith.divf %one, %5 : tensor<8x4xf32>
  %7 = mhc.broadcast %6 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %8 = arith.mulf %1, %7 : tensor<8x4x4xf32>
  %9 = mhc.reduce sum %8 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %10 = arith.addf %9, %eps : tensor<8x4xf32>
  %11 = arith.divf %one, %10 : tensor<8x4xf32>
  %12 = mhc.broadcast %11 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %13 = arith.mulf %1, %12 : tensor<8x4x4xf32>
  %14 = mhc.reduce sum %13 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %15 = arith.addf %14, %eps : tensor<8x4xf32>
  %16 = arith.divf %one, %15 : tensor<8x4xf32>
  %17 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %18 = arith.mulf %1, %17 : tensor<8x4x4xf32>
  %19 = mhc.reduce sum %18 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %20 = arith.addf %19, %eps : tensor<8x4xf32>
  %21 = arith.divf %one, %20 : tensor<8x4xf32>
  %22 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %1, %22 : tensor<8x4x4xf32>
  %24 = mhc.broadcast %21 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %25 = arith.mulf %23, %24 : tensor<8x4x4xf32>
  return %25 : tensor<8x4x4xf32>
}

// One step has another eps.
// CHECK-LABEL: @another_eps
func.func @another_eps(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %large : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.reduce sum %16 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %18 = arith.addf %17, %eps : tensor<8x4xf32>
  %19 = arith.divf %one, %18 : tensor<8x4xf32>
  %20 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %21 = arith.mulf %1, %20 : tensor<8x4x4xf32>
  %22 = mhc.broadcast %19 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %21, %22 : tensor<8x4x4xf32>
  return %23 : tensor<8x4x4xf32>
}

// More steps of columns than of rows.
// CHECK-LABEL: @three_steps
func.func @three_steps(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %9 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.broadcast %14 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %18 = arith.mulf %16, %17 : tensor<8x4x4xf32>
  return %18 : tensor<8x4x4xf32>
}

// The first step sums another matrix.
// CHECK-LABEL: @another_kernel
func.func @another_kernel(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.broadcast %w dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<8x4x4xf32>
  %4 = mhc.reduce sum %3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %5 = arith.addf %4, %eps : tensor<8x4xf32>
  %6 = arith.divf %one, %5 : tensor<8x4xf32>
  %7 = mhc.broadcast %6 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %8 = arith.mulf %1, %7 : tensor<8x4x4xf32>
  %9 = mhc.reduce sum %8 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %10 = arith.addf %9, %eps : tensor<8x4xf32>
  %11 = arith.divf %one, %10 : tensor<8x4xf32>
  %12 = mhc.broadcast %11 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %13 = arith.mulf %1, %12 : tensor<8x4x4xf32>
  %14 = mhc.reduce sum %13 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %15 = arith.addf %14, %eps : tensor<8x4xf32>
  %16 = arith.divf %one, %15 : tensor<8x4xf32>
  %17 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %18 = arith.mulf %1, %17 : tensor<8x4x4xf32>
  %19 = mhc.reduce sum %18 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %20 = arith.addf %19, %eps : tensor<8x4xf32>
  %21 = arith.divf %one, %20 : tensor<8x4xf32>
  %22 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %1, %22 : tensor<8x4x4xf32>
  %24 = mhc.broadcast %21 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %25 = arith.mulf %23, %24 : tensor<8x4x4xf32>
  return %25 : tensor<8x4x4xf32>
}

// The last factors are squared.
// CHECK-LABEL: @squared_factors
func.func @squared_factors(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %3 = arith.addf %2, %eps : tensor<8x4xf32>
  %4 = arith.divf %one, %3 : tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.mulf %1, %5 : tensor<8x4x4xf32>
  %7 = mhc.reduce sum %6 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %8 = arith.addf %7, %eps : tensor<8x4xf32>
  %9 = arith.divf %one, %8 : tensor<8x4xf32>
  %10 = mhc.broadcast %9 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %11 = arith.mulf %1, %10 : tensor<8x4x4xf32>
  %12 = mhc.reduce sum %11 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %13 = arith.addf %12, %eps : tensor<8x4xf32>
  %14 = arith.divf %one, %13 : tensor<8x4xf32>
  %15 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %16 = arith.mulf %1, %15 : tensor<8x4x4xf32>
  %17 = mhc.reduce sum %16 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %18 = arith.addf %17, %eps : tensor<8x4xf32>
  %19 = arith.divf %one, %18 : tensor<8x4xf32>
  %20 = arith.mulf %19, %19 : tensor<8x4xf32>
  %21 = mhc.broadcast %14 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %22 = arith.mulf %1, %21 : tensor<8x4x4xf32>
  %23 = mhc.broadcast %20 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %24 = arith.mulf %22, %23 : tensor<8x4x4xf32>
  return %24 : tensor<8x4x4xf32>
}

// The start is exp(z) times a vector.
// CHECK-LABEL: @scaled_start
func.func @scaled_start(%z: tensor<8x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %large = arith.constant dense<1.0e-3> : tensor<8x4xf32>
  %1 = math.exp %z : tensor<8x4x4xf32>
  %2 = mhc.broadcast %w dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<8x4x4xf32>
  %4 = mhc.reduce sum %3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %5 = arith.addf %4, %eps : tensor<8x4xf32>
  %6 = arith.divf %one, %5 : tensor<8x4xf32>
  %7 = mhc.broadcast %6 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %8 = arith.mulf %3, %7 : tensor<8x4x4xf32>
  %9 = mhc.reduce sum %8 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %10 = arith.addf %9, %eps : tensor<8x4xf32>
  %11 = arith.divf %one, %10 : tensor<8x4xf32>
  %12 = mhc.broadcast %11 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %13 = arith.mulf %3, %12 : tensor<8x4x4xf32>
  %14 = mhc.reduce sum %13 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %15 = arith.addf %14, %eps : tensor<8x4xf32>
  %16 = arith.divf %one, %15 : tensor<8x4xf32>
  %17 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %18 = arith.mulf %3, %17 : tensor<8x4x4xf32>
  %19 = mhc.reduce sum %18 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %20 = arith.addf %19, %eps : tensor<8x4xf32>
  %21 = arith.divf %one, %20 : tensor<8x4xf32>
  %22 = mhc.broadcast %16 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %23 = arith.mulf %3, %22 : tensor<8x4x4xf32>
  %24 = mhc.broadcast %21 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %25 = arith.mulf %23, %24 : tensor<8x4x4xf32>
  return %25 : tensor<8x4x4xf32>
}

// A loop that carries both, by products of matrices. The first factors of the rows are read by nothing.
// CHECK-LABEL: @in_a_loop
func.func @in_a_loop(%z: tensor<8x4x4xf32>, %w: tensor<8x4x1xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = potentials, eps = 1.0e-06, iters = 12>
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 12 : index
  %one = arith.constant dense<1.0> : tensor<8x4x1xf32>
  %two = arith.constant dense<2.0> : tensor<8x4x1xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4x1xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %uv:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%u = %w, %v = %one) -> (tensor<8x4x1xf32>, tensor<8x4x1xf32>) {
    %s = mhc.batch_matmul %k, %v : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %d = arith.addf %s, %eps : tensor<8x4x1xf32>
    %u1 = arith.divf %one, %d : tensor<8x4x1xf32>
    %t = mhc.batch_matmul %k, %u1 transpose_lhs : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %e = arith.addf %t, %eps : tensor<8x4x1xf32>
    %v1 = arith.divf %one, %e : tensor<8x4x1xf32>
    scf.yield %u1, %v1 : tensor<8x4x1xf32>, tensor<8x4x1xf32>
  }
  %us = tensor.collapse_shape %uv#0 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %vs = tensor.collapse_shape %uv#1 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %ub = mhc.broadcast %us dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %vb = mhc.broadcast %vs dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %uk = arith.mulf %ub, %k : tensor<8x4x4xf32>
  %r = arith.mulf %uk, %vb : tensor<8x4x4xf32>
  return %r : tensor<8x4x4xf32>
}

// A turn yields other factors than the next one reads: u / 2 and 2 v are as good for the result alone.
// CHECK-LABEL: @scaled_in_a_loop
func.func @scaled_in_a_loop(%z: tensor<8x4x4xf32>, %w: tensor<8x4x1xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 12 : index
  %one = arith.constant dense<1.0> : tensor<8x4x1xf32>
  %two = arith.constant dense<2.0> : tensor<8x4x1xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4x1xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %uv:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%u = %one, %v = %one) -> (tensor<8x4x1xf32>, tensor<8x4x1xf32>) {
    %s = mhc.batch_matmul %k, %v : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %d = arith.addf %s, %eps : tensor<8x4x1xf32>
    %u1 = arith.divf %one, %d : tensor<8x4x1xf32>
    %t = mhc.batch_matmul %k, %u1 transpose_lhs : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %e = arith.addf %t, %eps : tensor<8x4x1xf32>
    %v1 = arith.divf %one, %e : tensor<8x4x1xf32>
    %u2 = arith.divf %u1, %two : tensor<8x4x1xf32>
    %v2 = arith.mulf %v1, %two : tensor<8x4x1xf32>
    scf.yield %u2, %v2 : tensor<8x4x1xf32>, tensor<8x4x1xf32>
  }
  %us = tensor.collapse_shape %uv#0 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %vs = tensor.collapse_shape %uv#1 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %ub = mhc.broadcast %us dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %vb = mhc.broadcast %vs dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %uk = arith.mulf %ub, %k : tensor<8x4x4xf32>
  %r = arith.mulf %uk, %vb : tensor<8x4x4xf32>
  return %r : tensor<8x4x4xf32>
}

// From other factors than ones.
// CHECK-LABEL: @from_a_vector_in_a_loop
func.func @from_a_vector_in_a_loop(%z: tensor<8x4x4xf32>, %w: tensor<8x4x1xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 12 : index
  %one = arith.constant dense<1.0> : tensor<8x4x1xf32>
  %two = arith.constant dense<2.0> : tensor<8x4x1xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8x4x1xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %uv:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%u = %one, %v = %w) -> (tensor<8x4x1xf32>, tensor<8x4x1xf32>) {
    %s = mhc.batch_matmul %k, %v : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %d = arith.addf %s, %eps : tensor<8x4x1xf32>
    %u1 = arith.divf %one, %d : tensor<8x4x1xf32>
    %t = mhc.batch_matmul %k, %u1 transpose_lhs : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %e = arith.addf %t, %eps : tensor<8x4x1xf32>
    %v1 = arith.divf %one, %e : tensor<8x4x1xf32>
    scf.yield %u1, %v1 : tensor<8x4x1xf32>, tensor<8x4x1xf32>
  }
  %us = tensor.collapse_shape %uv#0 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %vs = tensor.collapse_shape %uv#1 [[0], [1, 2]] : tensor<8x4x1xf32> into tensor<8x4xf32>
  %ub = mhc.broadcast %us dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %vb = mhc.broadcast %vs dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %uk = arith.mulf %ub, %k : tensor<8x4x4xf32>
  %r = arith.mulf %uk, %vb : tensor<8x4x4xf32>
  return %r : tensor<8x4x4xf32>
}

// Potentials whose marginals are 1 / n, as f32 has its logarithm, and n times the matrix that they make.
// CHECK-LABEL: @marginals
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1>
// CHECK-NEXT: return
func.func @marginals(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %mu = arith.constant dense<-1.38629436> : tensor<8x4xf32>
  %n = arith.constant dense<4.0> : tensor<8x4x4xf32>
  %e1 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %e1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l1 = math.log %s1 : tensor<8x4xf32>
  %u = arith.subf %mu, %l1 : tensor<8x4xf32>
  %ub = mhc.broadcast %u dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %zu = arith.addf %z, %ub : tensor<8x4x4xf32>
  %e2 = math.exp %zu : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %e2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l2 = math.log %s2 : tensor<8x4xf32>
  %v = arith.subf %mu, %l2 : tensor<8x4xf32>
  %vb = mhc.broadcast %v dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %zuv = arith.addf %zu, %vb : tensor<8x4x4xf32>
  %p = math.exp %zuv : tensor<8x4x4xf32>
  %o = arith.mulf %p, %n : tensor<8x4x4xf32>
  return %o : tensor<8x4x4xf32>
}

// Another number scales the matrix.
// CHECK-LABEL: @other_marginals
// CHECK: %[[P:.*]] = {{.*}}
// CHECK: %[[OUT:.*]] = arith.mulf
// CHECK: return %[[OUT]]
func.func @other_marginals(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %mu = arith.constant dense<-1.38629436> : tensor<8x4xf32>
  %n = arith.constant dense<3.0> : tensor<8x4x4xf32>
  %e1 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %e1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l1 = math.log %s1 : tensor<8x4xf32>
  %u = arith.subf %mu, %l1 : tensor<8x4xf32>
  %ub = mhc.broadcast %u dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %zu = arith.addf %z, %ub : tensor<8x4x4xf32>
  %e2 = math.exp %zu : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %e2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l2 = math.log %s2 : tensor<8x4xf32>
  %v = arith.subf %mu, %l2 : tensor<8x4xf32>
  %vb = mhc.broadcast %v dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %zuv = arith.addf %zu, %vb : tensor<8x4x4xf32>
  %p = math.exp %zuv : tensor<8x4x4xf32>
  %o = arith.mulf %p, %n : tensor<8x4x4xf32>
  return %o : tensor<8x4x4xf32>
}
