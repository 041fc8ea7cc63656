// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @not_square(%logits: tensor<?x4x3xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'logits' but 3 in 'logits'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x3xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @dynamic_streams(%logits: tensor<?x?x?xf32>) {
  // expected-error @below {{dimension 'n' is dynamic in 'logits'; needed a static size}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x?x?xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

// C1
func.func @softmax_with_other_order(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps', whose softmax is the first row step; needed 'row_col'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = col_row, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

// C1
func.func @softmax_without_iterations(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has 0 iterations with init 'softmax_eps'; needed at least 1}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 0> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

// C2
func.func @log_with_divisor(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has denom 'add' with init 'log', which divides by nothing; needed 'none'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @negative_iterations(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{attribute 'iters' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 1000 (found -1 : i64)}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = -1> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @too_many_iterations(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{attribute 'iters' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 1000 (found 1001 : i64)}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1001> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @most_iterations(%g: tensor<?x4x4xf32>, %logits: tensor<?x4x4xf32>) {
  // expected-error @below {{attribute 'iters' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 1000 (found 9223372036854775807 : i64)}}
  %d = mhc.sinkhorn_bwd(d_mix = %g : tensor<?x4x4xf32>, logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 9223372036854775807> -> (d_logits : tensor<?x4x4xf32>)
  return
}

// -----

func.func @negative_eps(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{attribute 'eps' failed to satisfy constraint: 64-bit float attribute that is finite and at least 0 (found -5.000000e-01 : f64)}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = -0.5, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @eps_is_no_number(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{attribute 'eps' failed to satisfy constraint: 64-bit float attribute that is finite and at least 0 (found 0x7FF8000000000000 : f64)}}
  %mix = "mhc.sinkhorn"(%logits) <{init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<add>,
    eps = 0x7FF8000000000000 : f64, iters = 20 : i64}> : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return
}

// -----

func.func @unknown_start(%logits: tensor<?x4x4xf32>) {
  // expected-error @+2 {{'init' is 'softmax'; expected 'softmax_eps', 'exp', 'exp_rowmax', 'exp_colmax', 'log', 'exp_max', 'sigmoid', 'sigmoid_eps'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @number_of_permutations(%logits: tensor<?x23xf32>) {
  // expected-error @below {{dimension 'R' is 23 in 'logits'; needed 24 = factorial(n)}}
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x23xf32>) -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @too_many_permutations(%logits: tensor<?x5040xf32>) {
  // expected-error @below {{has 7 streams; needed at most 6, for there are n! permutations}}
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x5040xf32>) -> (mix : tensor<?x7x7xf32>)
  return
}

// -----

func.func @gradient_of_an_illegal_order(%g: tensor<2x4x4xf32>, %logits: tensor<2x4x4xf32>) {
  // expected-error @below {{has order 'col_row' with init 'softmax_eps', whose softmax is the first row step; needed 'row_col'}}
  %d = mhc.sinkhorn_bwd(d_mix = %g : tensor<2x4x4xf32>, logits = %logits : tensor<2x4x4xf32>)
    <init = softmax_eps, order = col_row, denom = add, eps = 1.0e-06, iters = 2> -> (d_logits : tensor<2x4x4xf32>)
  return
}

// -----

func.func @format(%logits: tensor<?x4x4xf32>) {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    // expected-error @below {{'format' is 'f64'; expected 'f32', 'bf16', 'f16'}}
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 20, format = f64> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @potentials_that_are_rounded(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has format 'bf16' with denom 'potentials', whose factors are not rounded; needed 'f32'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = potentials, eps = 1.0e-06, iters = 20, format = bf16>
    -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @limit_with_a_start(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has init 'softmax_eps' with solver 'newton', whose limit has no start; needed 'log'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20, solver = newton>
    -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @limit_with_an_order(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has order 'col_row' with solver 'newton', whose limit has no order; needed 'row_col'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = col_row, denom = none, eps = 0.0, iters = 20, solver = newton> -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @limit_that_is_rounded(%logits: tensor<?x4x4xf32>) {
  // expected-error @below {{has format 'bf16' with solver 'newton', which rounds nothing; needed 'f32'}}
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20, format = bf16, solver = newton>
    -> (mix : tensor<?x4x4xf32>)
  return
}

// -----

func.func @gradient_of_a_limit_with_a_divisor(%g: tensor<2x4x4xf32>, %logits: tensor<2x4x4xf32>) {
  // expected-error @below {{has denom 'add' with init 'log', which divides by nothing; needed 'none'}}
  %d = mhc.sinkhorn_bwd(d_mix = %g : tensor<2x4x4xf32>, logits = %logits : tensor<2x4x4xf32>)
    <init = log, order = row_col, denom = add, eps = 1.0e-06, iters = 2, solver = newton>
    -> (d_logits : tensor<2x4x4xf32>)
  return
}
