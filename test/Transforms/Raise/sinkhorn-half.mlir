// RUN: mhc-opt %s -mhc-raise -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-raise -split-input-file -remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not='remark: [Missed]'

// An odd number of normalisations, in a loop or, as in sinkhorn.mlir, written out.

// A softmax, which normalises rows, and turns of columns and rows: half a turn stays behind those of rows and columns.
// REMARK: found sinkhorn: exp_rowmax, 20 iterations and a half
// CHECK-LABEL: @softmax_and_turns
// CHECK: %[[MIX:.*]] = mhc.sinkhorn({{.*}}) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 20>
// CHECK: %[[SUM:.*]] = mhc.reduce sum %[[MIX]] dims = [2]
// CHECK: %[[ALL:.*]] = mhc.broadcast %[[SUM]]
// CHECK: %[[ROWS:.*]] = arith.divf %[[MIX]], %[[ALL]]
// CHECK-NOT: scf.for
// CHECK: return %[[ROWS]]
func.func @softmax_and_turns(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %turns = arith.constant 20 : index
  %start = mhc.softmax %z dim = 2 : tensor<8x4x4xf32>
  %out = scf.for %i = %zero to %turns step %one iter_args(%m = %start) -> (tensor<8x4x4xf32>) {
    %col = mhc.reduce sum %m dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %m, %col_all : tensor<8x4x4xf32>
    %row = mhc.reduce sum %by_col dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %by_col, %row_all : tensor<8x4x4xf32>
    scf.yield %by_row : tensor<8x4x4xf32>
  }
  return %out : tensor<8x4x4xf32>
}

// -----

// The same with a least value of the sums, columns first.
// REMARK: found sinkhorn: exp, 3 iterations and a half
// CHECK-LABEL: @least_sums
// CHECK: %[[MIX:.*]] = mhc.sinkhorn({{.*}}) <init = exp, order = col_row, denom = clamp, eps = 1.0e-06, iters = 3>
// CHECK: %[[SUM:.*]] = mhc.reduce sum %[[MIX]] dims = [1]
// CHECK: %[[ALL:.*]] = mhc.broadcast %[[SUM]]
// CHECK: %[[LEAST:.*]] = arith.maximumf %[[ALL]]
// CHECK: arith.divf %[[MIX]], %[[LEAST]]
func.func @least_sums(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %turns = arith.constant 3 : index
  %least = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %e = math.exp %z : tensor<8x4x4xf32>
  %first = mhc.reduce sum %e dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %first_least = arith.maximumf %first, %least : tensor<8x4xf32>
  %first_all = mhc.broadcast %first_least dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %start = arith.divf %e, %first_all : tensor<8x4x4xf32>
  %out = scf.for %i = %zero to %turns step %one iter_args(%m = %start) -> (tensor<8x4x4xf32>) {
    %row = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_least = arith.maximumf %row, %least : tensor<8x4xf32>
    %row_all = mhc.broadcast %row_least dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %m, %row_all : tensor<8x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_least = arith.maximumf %col, %least : tensor<8x4xf32>
    %col_all = mhc.broadcast %col_least dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
    scf.yield %by_col : tensor<8x4x4xf32>
  }
  return %out : tensor<8x4x4xf32>
}
