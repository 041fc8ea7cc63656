// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// Normalisations that look like a Sinkhorn iteration and are none: one remark for each chain, at the step at fault.

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="eps = 1e-05 in normalisation 3 of 4", Needed="eps = 1e-06 as in the first"
func.func @one_eps_differs(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-05> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="no eps in normalisation 4 of 4", Needed="eps = 1e-06 as in the first"
func.func @one_eps_is_missing(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b4 = mhc.broadcast %s4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="eps = 1e-06 in normalisation 2 of 4", Needed="eps = 0.001 as behind the softmax"
func.func @eps_differs_from_that_behind_the_softmax(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %soft = mhc.softmax %z dim = 2 : tensor<8x4x4xf32>
  %c = arith.constant dense<1.0e-03> : tensor<8x4x4xf32>
  %a0 = arith.addf %soft, %c : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  return %a3 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="sums of at least 1e-06 in normalisation 2 of 2", Needed="eps = 1e-06 as behind the softmax"
func.func @bounded_sums_behind_an_eps(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %soft = mhc.softmax %z dim = 2 : tensor<8x4x4xf32>
  %c = arith.constant dense<1.0e-06> : tensor<8x4x4xf32>
  %a0 = arith.addf %soft, %c : tensor<8x4x4xf32>
  %e = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.maximumf %s1, %e : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  return %a1 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="eps = 1e-06 in normalisation 2 of 3", Needed="no eps as in the softmax, or softmax(z) + eps in its place"
func.func @softmax_in_place_of_an_exponential(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = mhc.softmax %z dim = 1 : tensor<8x4x4xf32>
  %e = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %e : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %e : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  return %a2 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-order | Category:mhc-raise:sinkhorn | {{.*}}Found="columns in normalisation 3 of 5 and before it", Needed=rows,
func.func @one_step_is_missing(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  %s5 = mhc.reduce sum %a4 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e5 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p5 = arith.addf %s5, %e5 : tensor<8x4xf32>
  %b5 = mhc.broadcast %p5 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a5 = arith.divf %a4, %b5 : tensor<8x4x4xf32>
  return %a5 : tensor<8x4x4xf32>
}

// Half a turn more stays behind an iteration, but not where it rounds.
// CHECK: remark: [Missed] sinkhorn-odd | Category:mhc-raise:sinkhorn | {{.*}}Found="3 normalisations", Needed="as many of rows as of columns"
func.func @the_last_step_is_missing(%z: tensor<8x4x4xbf16>) -> tensor<8x4x4xbf16> {
  %a0 = math.exp %z : tensor<8x4x4xbf16>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xbf16> -> tensor<8x4xbf16>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xbf16>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xbf16>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xbf16> -> tensor<8x4x4xbf16>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xbf16>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xbf16> -> tensor<8x4xbf16>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xbf16>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xbf16>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xbf16> -> tensor<8x4x4xbf16>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xbf16>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xbf16> -> tensor<8x4xbf16>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xbf16>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xbf16>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xbf16> -> tensor<8x4x4xbf16>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xbf16>
  return %a3 : tensor<8x4x4xbf16>
}

// The last step divides the columns by the sums of the rows.
// CHECK: remark: [Missed] sinkhorn-divisor | Category:mhc-raise:sinkhorn | {{.*}}Found="a division by 'arith.addf', [8, 4] of f32", Needed="division by sums of rows or of columns"
func.func @the_last_sums_are_transposed(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p4 = arith.addf %s4, %e1 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// The last step multiplies by reciprocals of the sums of all elements.
// CHECK: remark: [Missed] sinkhorn-divisor | Category:mhc-raise:sinkhorn | {{.*}}Found="a division by 'arith.divf', [8] of f32", Needed="division by sums of rows or of columns"
func.func @the_last_sums_are_of_the_matrix(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %s4 = mhc.reduce sum %a3 dims = [1, 2] : tensor<8x4x4xf32> -> tensor<8xf32>
  %p4 = arith.divf %one, %s4 : tensor<8xf32>
  %b4 = mhc.broadcast %p4 dims = [0] : tensor<8xf32> -> tensor<8x4x4xf32>
  %a4 = arith.mulf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// A number behind it is no step, and the three in front of it are one turn and a half.
func.func @a_number_behind_three_steps(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %half = arith.constant dense<0.5> : tensor<8x4x4xf32>
  %a4 = arith.mulf %a3, %half : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-axis | Category:mhc-raise:sinkhorn | {{.*}}Found="sums over dimension 0 in normalisation 3 of 4", Needed="sums of rows (dimension 2) or of columns (dimension 1)"
func.func @one_sum_runs_over_the_tokens(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [0] : tensor<8x4x4xf32> -> tensor<4x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<4x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<4x4xf32>
  %b3 = mhc.broadcast %p3 dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-divisor | Category:mhc-raise:sinkhorn | {{.*}}Found="a division by 'arith.addf', [8, 4] of f32", Needed="division by sums of rows or of columns"
func.func @one_step_divides_by_a_maximum(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce max %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  %s5 = mhc.reduce sum %a4 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e5 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p5 = arith.addf %s5, %e5 : tensor<8x4xf32>
  %b5 = mhc.broadcast %p5 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a5 = arith.divf %a4, %b5 : tensor<8x4x4xf32>
  %s6 = mhc.reduce sum %a5 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e6 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p6 = arith.addf %s6, %e6 : tensor<8x4xf32>
  %b6 = mhc.broadcast %p6 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a6 = arith.divf %a5, %b6 : tensor<8x4x4xf32>
  return %a6 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-start | Category:mhc-raise:sinkhorn | {{.*}}Found="'math.absf', [8, 4, 4] of f32", Needed="exp(z), exp(z - max(z)), or softmax(z) or sigmoid(z), with the eps of the sums or none"
func.func @magnitudes_in_place_of_exponentials(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.absf %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-rounds | Category:mhc-raise:sinkhorn | {{.*}}Found="rounding to bf16", Needed="elements of f32, or each result rounded as by 'mhc.sinkhorn' with a format"
func.func @rounded_in_between(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %r2 = arith.truncf %a2 : tensor<8x4x4xf32> to tensor<8x4x4xbf16>
  %w2 = arith.extf %r2 : tensor<8x4x4xbf16> to tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %w2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %w2, %b3 : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf32>
  return %a4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-type | Category:mhc-raise:sinkhorn | {{.*}}Found="[8, 4, 4] of f64", Needed="elements of f32"
func.func @in_f64(%z: tensor<8x4x4xf64>) -> tensor<8x4x4xf64> {
  %a0 = math.exp %z : tensor<8x4x4xf64>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf64>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf64>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf64>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf64>
  return %a2 : tensor<8x4x4xf64>
}

// Attention of few tokens: one normalisation says nothing.
func.func @softmax_of_square_matrices_is_no_near_miss(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %a0 = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  return %a1 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-guard | Category:mhc-raise:sinkhorn | {{.*}}Found="a selection in normalisation 1 of 2", Needed="division by the sums, with an eps added or as their least value"
func.func @reciprocals_guarded_by_a_selection(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %k dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %i1 = arith.divf %one, %s1 : tensor<8x4xf32>
  %c1 = arith.cmpf oeq, %s1, %zero : tensor<8x4xf32>
  %g1 = arith.select %c1, %zero, %i1 : tensor<8x4xi1>, tensor<8x4xf32>
  %b1 = mhc.broadcast %g1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %p1 = arith.mulf %k, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %p1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %i2 = arith.divf %one, %s2 : tensor<8x4xf32>
  %c2 = arith.cmpf oeq, %s2, %zero : tensor<8x4xf32>
  %g2 = arith.select %c2, %zero, %i2 : tensor<8x4xi1>, tensor<8x4xf32>
  %b2 = mhc.broadcast %g2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %p2 = arith.mulf %p1, %b2 : tensor<8x4x4xf32>
  return %p2 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-guard | Category:mhc-raise:sinkhorn | {{.*}}Found="a selection in normalisation 2 of 2", Needed="division by the sums, with an eps added or as their least value"
func.func @a_sum_guarded_by_a_selection(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %k dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %p1 = arith.divf %k, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %p1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %c2 = arith.cmpf ogt, %s2, %zero : tensor<8x4xf32>
  %g2 = arith.select %c2, %s2, %one : tensor<8x4xi1>, tensor<8x4xf32>
  %b2 = mhc.broadcast %g2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %p2 = arith.divf %p1, %b2 : tensor<8x4x4xf32>
  return %p2 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-scaling | Category:mhc-raise:sinkhorn | {{.*}}Found="a division by 'arith.maximumf', [8, 4] of f32", Needed="1 / (K v) and 1 / (K^T u) in turn, from ones"
func.func @factors_with_a_least_sum(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %k = math.exp %z : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %k dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e1 = arith.maximumf %s1, %eps : tensor<8x4xf32>
  %u1 = arith.divf %one, %e1 : tensor<8x4xf32>
  %ub1 = mhc.broadcast %u1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %uk1 = arith.mulf %k, %ub1 : tensor<8x4x4xf32>
  %t1 = mhc.reduce sum %uk1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %f1 = arith.maximumf %t1, %eps : tensor<8x4xf32>
  %v1 = arith.divf %one, %f1 : tensor<8x4xf32>
  %vb1 = mhc.broadcast %v1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %kv1 = arith.mulf %k, %vb1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %kv1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %e2 = arith.maximumf %s2, %eps : tensor<8x4xf32>
  %u2 = arith.divf %one, %e2 : tensor<8x4xf32>
  %ub2 = mhc.broadcast %u2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %uk2 = arith.mulf %ub2, %k : tensor<8x4x4xf32>
  %t2 = mhc.reduce sum %uk2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %f2 = arith.maximumf %t2, %eps : tensor<8x4xf32>
  %v2 = arith.divf %one, %f2 : tensor<8x4xf32>
  %vb2 = mhc.broadcast %v2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %r = arith.mulf %uk2, %vb2 : tensor<8x4x4xf32>
  return %r : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] logits-not-a-value | Category:mhc-raise:sinkhorn | {{.*}}Found="exponentials of logits in parts", Needed="the exponential of one tensor of logits"
func.func @logits_in_two_parts(%a: tensor<8x4x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  %e = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %x = math.exp %a : tensor<8x4x4xf32>
  %y0 = math.exp %b : tensor<8x4xf32>
  %y = mhc.broadcast %y0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a0 = arith.mulf %x, %y : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %e : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %e : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  return %a2 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | {{.*}}Found="no eps in normalisation 2 of 4", Needed="eps = 0.001 as behind the softmax"
func.func @no_eps_behind_that_of_the_softmax(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %soft = mhc.softmax %z dim = 2 : tensor<8x4x4xf32>
  %c = arith.constant dense<1.0e-03> : tensor<8x4x4xf32>
  %a0 = arith.addf %soft, %c : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b2 = mhc.broadcast %s2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %a2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b3 = mhc.broadcast %s3 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf32>
  return %a3 : tensor<8x4x4xf32>
}

// Divided by a maximum, the matrix may be negative, and stays so where magnitudes are summed.
// CHECK: [Missed] sinkhorn-divisor | {{.*}}Function=magnitudes_of_negative_rows | Found="a division by 'mhc.reduce', [?, 4] of f32"
func.func @magnitudes_of_negative_rows(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %max = mhc.reduce max %z dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %maxima = mhc.broadcast %max dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %shifted = arith.subf %z, %maxima : tensor<?x4x4xf32>
  %exp = math.exp %shifted : tensor<?x4x4xf32>
  %start = arith.divf %exp, %maxima : tensor<?x4x4xf32>
  %size = math.absf %start : tensor<?x4x4xf32>
  %rows = mhc.reduce sum %size dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %by_row = mhc.broadcast %rows dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %first = arith.divf %start, %by_row : tensor<?x4x4xf32>
  %size1 = math.absf %first : tensor<?x4x4xf32>
  %columns = mhc.reduce sum %size1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %by_column = mhc.broadcast %columns dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %second = arith.divf %first, %by_column : tensor<?x4x4xf32>
  %size2 = math.absf %second : tensor<?x4x4xf32>
  %rows2 = mhc.reduce sum %size2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %by_row2 = mhc.broadcast %rows2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %third = arith.divf %second, %by_row2 : tensor<?x4x4xf32>
  %size3 = math.absf %third : tensor<?x4x4xf32>
  %columns2 = mhc.reduce sum %size3 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %by_column2 = mhc.broadcast %columns2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %mix = arith.divf %third, %by_column2 : tensor<?x4x4xf32>
  return %mix : tensor<?x4x4xf32>
}


// An eps is added behind the division, in each step.
// CHECK: remark: [Missed] sinkhorn-eps-place | Category:mhc-raise:sinkhorn | {{.*}}Found="quotients and 1e-06", Needed="division by sums of rows or of columns"
func.func @eps_behind_each(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %all = arith.constant dense<1.0e-06> : tensor<8x4x4xf32>
  %a = math.exp %z : tensor<8x4x4xf32>
  %s0 = mhc.reduce sum %a dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b0 = mhc.broadcast %s0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q0 = arith.divf %a, %b0 : tensor<8x4x4xf32>
  %m0 = arith.addf %q0, %all : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %m0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q1 = arith.divf %m0, %b1 : tensor<8x4x4xf32>
  %m1 = arith.addf %q1, %all : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %m1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b2 = mhc.broadcast %s2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q2 = arith.divf %m1, %b2 : tensor<8x4x4xf32>
  %m2 = arith.addf %q2, %all : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %m2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b3 = mhc.broadcast %s3 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q3 = arith.divf %m2, %b3 : tensor<8x4x4xf32>
  %m3 = arith.addf %q3, %all : tensor<8x4x4xf32>
  return %m3 : tensor<8x4x4xf32>
}

// Behind the rows alone: what is left of one turn is no start of the next.
// CHECK: remark: [Missed] sinkhorn-eps-place | Category:mhc-raise:sinkhorn | {{.*}}Found="quotients and 1e-06", Needed="division by sums of rows or of columns"
func.func @eps_behind_rows(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %all = arith.constant dense<1.0e-06> : tensor<8x4x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %softmax = mhc.softmax %z dim = 2 : tensor<8x4x4xf32>
  %a = arith.addf %softmax, %all : tensor<8x4x4xf32>
  %s0 = mhc.reduce sum %a dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p0 = arith.addf %s0, %eps : tensor<8x4xf32>
  %b0 = mhc.broadcast %p0 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q0 = arith.divf %a, %b0 : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %q0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<8x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q1 = arith.divf %q0, %b1 : tensor<8x4x4xf32>
  %m1 = arith.addf %q1, %all : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %m1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q2 = arith.divf %m1, %b2 : tensor<8x4x4xf32>
  %s3 = mhc.reduce sum %q2 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p3 = arith.addf %s3, %eps : tensor<8x4xf32>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q3 = arith.divf %q2, %b3 : tensor<8x4x4xf32>
  %m3 = arith.addf %q3, %all : tensor<8x4x4xf32>
  %s4 = mhc.reduce sum %m3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p4 = arith.addf %s4, %eps : tensor<8x4xf32>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %q4 = arith.divf %m3, %b4 : tensor<8x4x4xf32>
  return %q4 : tensor<8x4x4xf32>
}

// CHECK: remark: [Missed] sinkhorn-type | Category:mhc-raise:sinkhorn | {{.*}}Found="[8, 4, 4] of f64", Needed="elements of f32"
func.func @magnitudes_of_double_precision(%z: tensor<8x4x4xf64>) -> tensor<8x4x4xf64> {
  %a0 = math.absf %z : tensor<8x4x4xf64>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e1 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p1 = arith.addf %s1, %e1 : tensor<8x4xf64>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf64>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e2 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p2 = arith.addf %s2, %e2 : tensor<8x4xf64>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf64>
  %s3 = mhc.reduce sum %a2 dims = [2] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e3 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p3 = arith.addf %s3, %e3 : tensor<8x4xf64>
  %b3 = mhc.broadcast %p3 dims = [0, 1] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a3 = arith.divf %a2, %b3 : tensor<8x4x4xf64>
  %s4 = mhc.reduce sum %a3 dims = [1] : tensor<8x4x4xf64> -> tensor<8x4xf64>
  %e4 = arith.constant dense<1.0e-06> : tensor<8x4xf64>
  %p4 = arith.addf %s4, %e4 : tensor<8x4xf64>
  %b4 = mhc.broadcast %p4 dims = [0, 2] : tensor<8x4xf64> -> tensor<8x4x4xf64>
  %a4 = arith.divf %a3, %b4 : tensor<8x4x4xf64>
  return %a4 : tensor<8x4x4xf64>
}
