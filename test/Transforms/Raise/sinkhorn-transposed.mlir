// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK

// Iterations of transposed logits, and of the transposes of all matrices.

// The op has softmaxes of rows only: those of the columns are of the transposes.
// CHECK-LABEL: @softmax_of_columns
func.func @softmax_of_columns(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NEXT: %[[LOGITS:.*]] = mhc.transpose %arg0 perm = [0, 2, 1]
  // CHECK-NEXT: %[[MIX:.*]] = mhc.sinkhorn(logits = %[[LOGITS]] : tensor<8x4x4xf32>) <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 2>
  // CHECK-NEXT: %[[BACK:.*]] = mhc.transpose %[[MIX]] perm = [0, 2, 1]
  // CHECK-NEXT: return %[[BACK]]
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %shift = arith.constant dense<1.0e-06> : tensor<8x4x4xf32>
  %softmax = mhc.softmax %z dim = 1 : tensor<8x4x4xf32>
  %a0 = arith.addf %softmax, %shift : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p3 = arith.addf %s3, %eps : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  return %a3 : tensor<8x4x4xf32>
}

// Another number is added to the softmax than to the sums.
// REMARK: [Missed] sinkhorn-eps | {{.*}}Function=another_number_behind_the_softmax | Found="eps = 1e-06 in normalisation 2 of 4", Needed="eps = 1e-05 as behind the softmax"
// CHECK-LABEL: @another_number_behind_the_softmax
func.func @another_number_behind_the_softmax(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.sinkhorn
  // CHECK: return
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %shift = arith.constant dense<1.0e-05> : tensor<8x4x4xf32>
  %softmax = mhc.softmax %z dim = 1 : tensor<8x4x4xf32>
  %a0 = arith.addf %softmax, %shift : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p3 = arith.addf %s3, %eps : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  return %a3 : tensor<8x4x4xf32>
}

// The logits are taken as they are stored: rows of the transposes are their columns.
// CHECK-LABEL: @rows_of_the_transposes
func.func @rows_of_the_transposes(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp_colmax, order = col_row, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK-NEXT: %[[BACK:.*]] = mhc.transpose %[[MIX]] perm = [0, 2, 1]
  // CHECK-NEXT: return %[[BACK]]
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %t = mhc.transpose %z perm = [0, 2, 1] : tensor<8x4x4xf32> -> tensor<8x4x4xf32>
  %max = mhc.reduce max %t dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %maxb = mhc.broadcast %max dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %d = arith.subf %t, %maxb : tensor<8x4x4xf32>
  %a0 = math.exp %d : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  return %a2 : tensor<8x4x4xf32>
}

// CHECK-LABEL: @columns_of_the_transposes
func.func @columns_of_the_transposes(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
  // CHECK-NEXT: %[[BACK:.*]] = mhc.transpose %[[MIX]] perm = [0, 2, 1]
  // CHECK-NEXT: return %[[BACK]]
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %t = mhc.transpose %z perm = [0, 2, 1] : tensor<8x4x4xf32> -> tensor<8x4x4xf32>
  %a0 = math.exp %t : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  return %a2 : tensor<8x4x4xf32>
}

// Flat logits with tokens behind are no transposed matrices: the iteration takes them as they are, also where a maximum is
// of their transpose.
// CHECK-LABEL: @flat_logits_with_tokens_behind(
func.func @flat_logits_with_tokens_behind(%z: tensor<16x?xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[FLAT:.*]] = mhc.transpose %arg0 perm = [1, 0]
  // CHECK: %[[Z:.*]] = tensor.expand_shape %[[FLAT]]
  // CHECK-NEXT: %[[MIX:.*]] = mhc.sinkhorn(logits = %[[Z]] : tensor<?x4x4xf32>) <init = log, order = row_col
  // CHECK-NEXT: return %[[MIX]]
  %c1 = arith.constant 1 : index
  %M = tensor.dim %z, %c1 : tensor<16x?xf32>
  %flat = mhc.transpose %z perm = [1, 0] : tensor<16x?xf32> -> tensor<?x16xf32>
  %m = tensor.expand_shape %flat [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %turned = mhc.transpose %m perm = [2, 0, 1] : tensor<?x4x4xf32> -> tensor<4x?x4xf32>
  %max = mhc.reduce max %turned dims = [0] : tensor<4x?x4xf32> -> tensor<?x4xf32>
  %maxima = mhc.broadcast %max dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %shifted = arith.subf %m, %maxima : tensor<?x4x4xf32>
  %e_a = math.exp %shifted : tensor<?x4x4xf32>
  %s_a = mhc.reduce sum %e_a dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_a = math.log %s_a : tensor<?x4xf32>
  %b_a = mhc.broadcast %l_a dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a = arith.subf %shifted, %b_a : tensor<?x4x4xf32>
  %e_b = math.exp %a : tensor<?x4x4xf32>
  %s_b = mhc.reduce sum %e_b dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %l_b = math.log %s_b : tensor<?x4xf32>
  %b_b = mhc.broadcast %l_b dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %b = arith.subf %a, %b_b : tensor<?x4x4xf32>
  %r = math.exp %b : tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}
