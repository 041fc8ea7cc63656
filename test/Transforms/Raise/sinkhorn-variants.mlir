// Each iteration is written out, and found again with the same attributes.
// RUN: mhc-opt %s --mhc-decompose | mhc-opt --mhc-raise | FileCheck %s

// CHECK-LABEL: @whole_maximum
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = exp_max, order = row_col, denom = add, eps = 1.0e-03, iters = 3>
// CHECK-NEXT: return
func.func @whole_maximum(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp_max, order = row_col, denom = add, eps = 1.0e-03, iters = 3> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @whole_maximum_clamp
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = exp_max, order = col_row, denom = clamp, eps = 1.0e-02, iters = 2>
// CHECK-NEXT: return
func.func @whole_maximum_clamp(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp_max, order = col_row, denom = clamp, eps = 1.0e-02, iters = 2> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @whole_maximum_rounded
// CHECK: mhc.sinkhorn(logits = {{.*}} : tensor<6x4x4xf32>) <init = exp_max, order = col_row, denom = add, eps = 7.8125e-03, iters = 2, format = bf16>
// CHECK: return
func.func @whole_maximum_rounded(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp_max, order = col_row, denom = add, eps = 7.8125e-03, iters = 2, format = bf16> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @potentials
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = exp, order = row_col, denom = potentials, eps = 1.0e-06, iters = 4>
// CHECK-NEXT: return
func.func @potentials(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp, order = row_col, denom = potentials, eps = 1.0e-06, iters = 4> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @potentials_of_columns_first
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = exp_max, order = col_row, denom = potentials, eps = 1.0e-06, iters = 2>
// CHECK-NEXT: return
func.func @potentials_of_columns_first(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp_max, order = col_row, denom = potentials, eps = 1.0e-06, iters = 2> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @potentials_in_a_loop
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = exp_rowmax, order = col_row, denom = potentials, eps = 1.0e-06, iters = 40>
// CHECK-NEXT: return
func.func @potentials_in_a_loop(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = exp_rowmax, order = col_row, denom = potentials, eps = 1.0e-06, iters = 40> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @sigmoid
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = sigmoid, order = row_col, denom = add, eps = 1.0e-03, iters = 3>
// CHECK-NEXT: return
func.func @sigmoid(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = sigmoid, order = row_col, denom = add, eps = 1.0e-03, iters = 3> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @sigmoid_clamp
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = sigmoid, order = col_row, denom = clamp, eps = 1.0e-03, iters = 3>
// CHECK-NEXT: return
func.func @sigmoid_clamp(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = sigmoid, order = col_row, denom = clamp, eps = 1.0e-03, iters = 3> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @sigmoid_exact
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = sigmoid, order = row_col, denom = none, eps = 0.0, iters = 2>
// CHECK-NEXT: return
func.func @sigmoid_exact(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = sigmoid, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @sigmoid_with_eps
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<6x4x4xf32>) <init = sigmoid_eps, order = col_row, denom = add, eps = 1.0e-03, iters = 3>
// CHECK-NEXT: return
func.func @sigmoid_with_eps(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = sigmoid_eps, order = col_row, denom = add, eps = 1.0e-03, iters = 3> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// CHECK-LABEL: @sigmoid_with_eps_rounded
// CHECK: mhc.sinkhorn(logits = {{.*}} : tensor<6x4x4xf32>) <init = sigmoid_eps, order = row_col, denom = add, eps = 7.8125e-03, iters = 2, format = bf16>
// CHECK: return
func.func @sigmoid_with_eps_rounded(%z: tensor<6x4x4xf32>) -> tensor<6x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>)
    <init = sigmoid_eps, order = row_col, denom = add, eps = 7.8125e-03, iters = 2, format = bf16> -> (mix : tensor<6x4x4xf32>)
  return %mix : tensor<6x4x4xf32>
}

// The sigmoid that is found takes the place of what the loop starts from: the loop is read again.
// CHECK-LABEL: @sigmoids_in_a_loop(
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = sigmoid, order = col_row, {{.*}}iters = 11>
func.func @sigmoids_in_a_loop(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %one = arith.constant 1.0 : f32
  %M = tensor.dim %logits, %c0 : tensor<?x4x4xf32>
  %ones = tensor.splat %one[%M] : tensor<?x4x4xf32>
  %0 = arith.negf %logits : tensor<?x4x4xf32>
  %1 = math.exp %0 : tensor<?x4x4xf32>
  %2 = arith.addf %1, %ones : tensor<?x4x4xf32>
  %3 = arith.divf %ones, %2 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c11 step %c1 iter_args(%it = %3) -> (tensor<?x4x4xf32>) {
    %sum = mhc.reduce sum %it dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %4 = mhc.broadcast %sum dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %5 = arith.divf %it, %4 : tensor<?x4x4xf32>
    %sums = mhc.reduce sum %5 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %6 = mhc.broadcast %sums dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %7 = arith.divf %5, %6 : tensor<?x4x4xf32>
    scf.yield %7 : tensor<?x4x4xf32>
  }
  return %sk : tensor<?x4x4xf32>
}

// A softmax divides by sums of at least 1, which a smaller bound leaves as they are.
// CHECK-LABEL: @bounded_sums_behind_a_softmax(
// CHECK-NEXT: mhc.sinkhorn(logits = %arg0 : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = clamp, eps = 1.0e-03, iters = 1>
// CHECK-NEXT: return
func.func @bounded_sums_behind_a_softmax(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = arith.constant 1.0e-03 : f32
  %least = tensor.splat %eps[%M] : tensor<?x4xf32>
  %rows = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %sums = mhc.reduce sum %rows dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %bounded = arith.maximumf %sums, %least : tensor<?x4xf32>
  %divisors = mhc.broadcast %bounded dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %mix = arith.divf %rows, %divisors : tensor<?x4x4xf32>
  return %mix : tensor<?x4x4xf32>
}

// A larger one would have been met before.
// CHECK-LABEL: @larger_bound_behind_a_softmax(
// CHECK-NOT: mhc.sinkhorn
// CHECK: return
func.func @larger_bound_behind_a_softmax(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %eps = arith.constant 1.5 : f32
  %least = tensor.splat %eps[%M] : tensor<?x4xf32>
  %rows = mhc.softmax %z dim = 2 : tensor<?x4x4xf32>
  %sums = mhc.reduce sum %rows dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %bounded = arith.maximumf %sums, %least : tensor<?x4xf32>
  %divisors = mhc.broadcast %bounded dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %mix = arith.divf %rows, %divisors : tensor<?x4x4xf32>
  return %mix : tensor<?x4x4xf32>
}

// Dimensions of one element may stand between rows and columns, and behind them.
// CHECK-LABEL: @rows_apart_from_columns(
// CHECK: %[[Z:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1, 2], [3, 4]] : tensor<?x4x1x4x1xf32> into tensor<?x4x4xf32>
// CHECK: mhc.sinkhorn(logits = %[[Z]] : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1>
// CHECK-NEXT: %[[OUT:.*]] = tensor.expand_shape
// CHECK-NEXT: return %[[OUT]]
func.func @rows_apart_from_columns(%z: tensor<?x4x1x4x1xf32>) -> tensor<?x4x1x4x1xf32> {
  %exp = math.exp %z : tensor<?x4x1x4x1xf32>
  %rows = mhc.reduce sum %exp dims = [3] : tensor<?x4x1x4x1xf32> -> tensor<?x4x1x1xf32>
  %row = mhc.broadcast %rows dims = [0, 1, 2, 4] : tensor<?x4x1x1xf32> -> tensor<?x4x1x4x1xf32>
  %half = arith.divf %exp, %row : tensor<?x4x1x4x1xf32>
  %columns = mhc.reduce sum %half dims = [1] : tensor<?x4x1x4x1xf32> -> tensor<?x1x4x1xf32>
  %column = mhc.broadcast %columns dims = [0, 2, 3, 4] : tensor<?x1x4x1xf32> -> tensor<?x4x1x4x1xf32>
  %mix = arith.divf %half, %column : tensor<?x4x1x4x1xf32>
  return %mix : tensor<?x4x1x4x1xf32>
}

// The last exponential and what is subtracted from it in parts of the rows.
// CHECK-LABEL: @in_parts_of_rows
// CHECK: %[[MIX:.*]] = mhc.sinkhorn({{.*}} iters = 1>
// CHECK: arith.subf %[[MIX]], %arg1
// CHECK-NOT: math.exp
// CHECK: return
func.func @in_parts_of_rows(%z: tensor<8x4x4xf32>, %less: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %e0 = math.exp %z : tensor<8x4x4xf32>
  %s0 = mhc.reduce sum %e0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l0 = math.log %s0 : tensor<8x4xf32>
  %b0 = mhc.broadcast %l0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a0 = arith.subf %z, %b0 : tensor<8x4x4xf32>
  %e1 = math.exp %a0 : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %e1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %l1 = math.log %s1 : tensor<8x4xf32>
  %b1 = mhc.broadcast %l1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.subf %a0, %b1 : tensor<8x4x4xf32>
  %parts = tensor.expand_shape %a1 [[0], [1, 2], [3]] output_shape [8, 2, 2, 4] : tensor<8x4x4xf32> into tensor<8x2x2x4xf32>
  %mix = math.exp %parts : tensor<8x2x2x4xf32>
  %other = tensor.expand_shape %less [[0], [1, 2], [3]] output_shape [8, 2, 2, 4] : tensor<8x4x4xf32> into tensor<8x2x2x4xf32>
  %rest = arith.subf %mix, %other : tensor<8x2x2x4xf32>
  %joined = tensor.collapse_shape %rest [[0], [1, 2], [3]] : tensor<8x2x2x4xf32> into tensor<8x4x4xf32>
  return %joined : tensor<8x4x4xf32>
}

// Behind two exact normalisations no sum is below 1 / n: a smaller bound leaves those of a last turn as they are.
// CHECK-LABEL: @bounded_sums_behind_a_turn(
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2>
// CHECK-NEXT: return
func.func @bounded_sums_behind_a_turn(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %least = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %turn = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1> -> (mix : tensor<8x4x4xf32>)
  %rows = mhc.reduce sum %turn dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %some = arith.maximumf %rows, %least : tensor<8x4xf32>
  %of_rows = mhc.broadcast %some dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_rows = arith.divf %turn, %of_rows : tensor<8x4x4xf32>
  %columns = mhc.reduce sum %by_rows dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %others = arith.maximumf %columns, %least : tensor<8x4xf32>
  %of_columns = mhc.broadcast %others dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_rows, %of_columns : tensor<8x4x4xf32>
  return %mix : tensor<8x4x4xf32>
}

// A bound near 1 / n is met.
// CHECK-LABEL: @met_bound_behind_a_turn(
// CHECK-NOT: iters = 2>
// CHECK: return
func.func @met_bound_behind_a_turn(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %least = arith.constant dense<0.5> : tensor<8x4xf32>
  %turn = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1> -> (mix : tensor<8x4x4xf32>)
  %rows = mhc.reduce sum %turn dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %some = arith.maximumf %rows, %least : tensor<8x4xf32>
  %of_rows = mhc.broadcast %some dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_rows = arith.divf %turn, %of_rows : tensor<8x4x4xf32>
  %columns = mhc.reduce sum %by_rows dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %others = arith.maximumf %columns, %least : tensor<8x4xf32>
  %of_columns = mhc.broadcast %others dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_rows, %of_columns : tensor<8x4x4xf32>
  return %mix : tensor<8x4x4xf32>
}

// Logits by a hyperbolic tangent, which is read as 2 sigmoid(2 z) - 1: the number before the first eps is one of theirs.
// CHECK-LABEL: @hyperbolic_tangent_as_logits(
// CHECK: %[[Z:.*]] = math.tanh %arg0
// CHECK: mhc.sinkhorn(logits = %[[Z]] : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-03, iters = 1>
// CHECK-NEXT: return
func.func @hyperbolic_tangent_as_logits(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %logits = math.tanh %z : tensor<8x4x4xf32>
  %start = math.exp %logits : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %start dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %some = arith.addf %rows, %eps : tensor<8x4xf32>
  %of_rows = mhc.broadcast %some dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_rows = arith.divf %start, %of_rows : tensor<8x4x4xf32>
  %columns = mhc.reduce sum %by_rows dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %others = arith.addf %columns, %eps : tensor<8x4xf32>
  %of_columns = mhc.broadcast %others dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_rows, %of_columns : tensor<8x4x4xf32>
  return %mix : tensor<8x4x4xf32>
}

// Another eps in the second step is none of the logits.
// CHECK-LABEL: @other_eps_behind_hyperbolic_tangent(
// CHECK-NOT: mhc.sinkhorn
// CHECK: return
func.func @other_eps_behind_hyperbolic_tangent(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %other = arith.constant dense<2.0e-03> : tensor<8x4xf32>
  %logits = math.tanh %z : tensor<8x4x4xf32>
  %start = math.exp %logits : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %start dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %some = arith.addf %rows, %eps : tensor<8x4xf32>
  %of_rows = mhc.broadcast %some dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_rows = arith.divf %start, %of_rows : tensor<8x4x4xf32>
  %columns = mhc.reduce sum %by_rows dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %others = arith.addf %columns, %other : tensor<8x4xf32>
  %of_columns = mhc.broadcast %others dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_rows, %of_columns : tensor<8x4x4xf32>
  return %mix : tensor<8x4x4xf32>
}
