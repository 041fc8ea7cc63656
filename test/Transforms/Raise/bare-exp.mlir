// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-analyse='mhc.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=NOTE --implicit-check-not='] bare-exp'

// exp of logits overflows above 88. Where an eps follows, that is the meaning of the code: it is found as it is, with a
// note.

// NOTE: bare-exp.mlir:[[#@LINE+4]]:{{[0-9]+}}: remark: [Analysis] bare-exp | Category:mhc-raise | Function=nothing_subtracted | Remark="exp overflows where logits are above 88: subtract the maximum of each row first"
// CHECK-LABEL: func.func @nothing_subtracted
func.func @nothing_subtracted(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp,
  %m = math.exp %z : tensor<8x4x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %rows = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_eps = arith.addf %rows, %eps : tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows_eps dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %rows_all : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_eps = arith.addf %cols, %eps : tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols_eps dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
  return %map : tensor<8x4x4xf32>
}

// CHECK-LABEL: func.func @maximum_subtracted
func.func @maximum_subtracted(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp_rowmax,
  %max = mhc.reduce max %z dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %max_all = mhc.broadcast %max dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %shifted = arith.subf %z, %max_all : tensor<8x4x4xf32>
  %m = math.exp %shifted : tensor<8x4x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %rows = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_eps = arith.addf %rows, %eps : tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows_eps dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %rows_all : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_eps = arith.addf %cols, %eps : tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols_eps dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
  return %map : tensor<8x4x4xf32>
}

// Without an eps the maximum cancels: the op that is found subtracts it, of rows where these come first.
// NOTE: bare-exp.mlir:[[#@LINE+4]]:{{[0-9]+}}: remark: [Analysis] bare-exp | Category:mhc-raise | Function=nothing_added | Remark="exp overflows where logits are above 88: the op subtracts a maximum, which cancels; of logits 88 apart a sum may still be 0, as in the program, and divide 0: add an eps"
// CHECK-LABEL: func.func @nothing_added
func.func @nothing_added(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp_rowmax,
  %m = math.exp %z : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %rows_all : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
  return %map : tensor<8x4x4xf32>
}

// NOTE: bare-exp.mlir:[[#@LINE+4]]:{{[0-9]+}}: remark: [Analysis] bare-exp | Category:mhc-raise | Function=columns_first | Remark="exp overflows where logits are above 88: the op subtracts
// CHECK-LABEL: func.func @columns_first
func.func @columns_first(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp_colmax, order = col_row,
  %m = math.exp %z : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %m dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %cols_all : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %normal dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %rows_all : tensor<8x4x4xf32>
  return %map : tensor<8x4x4xf32>
}

// The program's own maximum says that it thought of it.
// CHECK-LABEL: func.func @maximum_subtracted_and_nothing_added
func.func @maximum_subtracted_and_nothing_added(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp_rowmax,
  %max = mhc.reduce max %z dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %max_all = mhc.broadcast %max dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %shifted = arith.subf %z, %max_all : tensor<8x4x4xf32>
  %m = math.exp %shifted : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %rows_all : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
  return %map : tensor<8x4x4xf32>
}
