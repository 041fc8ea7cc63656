// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry softmax
// CHECK-NEXT: result0: verified
func.func @softmax(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry softmax_once
// CHECK-NEXT: result0: verified
func.func @softmax_once(%logits: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x2x2xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1> -> (mix : tensor<?x2x2xf32>)
  return %mix : tensor<?x2x2xf32>
}

// CHECK: entry exp
// CHECK-NEXT: result0: verified
func.func @exp(%logits: tensor<?x3x3xf32>) -> tensor<?x3x3xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x3x3xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<?x3x3xf32>)
  return %mix : tensor<?x3x3xf32>
}

// CHECK: entry exp_rowmax
// CHECK-NEXT: result0: verified
func.func @exp_rowmax(%logits: tensor<?x5x5xf32>) -> tensor<?x5x5xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x5x5xf32>)
    <init = exp_rowmax, order = row_col, denom = clamp, eps = 1.0e-12, iters = 7> -> (mix : tensor<?x5x5xf32>)
  return %mix : tensor<?x5x5xf32>
}

// CHECK: entry exp_colmax
// CHECK-NEXT: result0: verified
func.func @exp_colmax(%logits: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x8x8xf32>)
    <init = exp_colmax, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x8x8xf32>)
  return %mix : tensor<?x8x8xf32>
}

// CHECK: entry log
// CHECK-NEXT: result0: verified
func.func @log(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry one_stream
// CHECK-NEXT: result0: verified
func.func @one_stream(%logits: tensor<?x1x1xf32>) -> tensor<?x1x1xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x1x1xf32>)
    <init = log, order = col_row, denom = none, eps = 0.0, iters = 3> -> (mix : tensor<?x1x1xf32>)
  return %mix : tensor<?x1x1xf32>
}

// CHECK: entry no_steps
// CHECK-NEXT: result0: verified
func.func @no_steps(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 0> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry many_steps
// CHECK-NEXT: result0: verified
func.func @many_steps(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1000> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry permutations_of_one
// CHECK-NEXT: result0: verified
func.func @permutations_of_one(%logits: tensor<?x1xf32>) -> tensor<?x1x1xf32> {
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x1xf32>) -> (mix : tensor<?x1x1xf32>)
  return %mix : tensor<?x1x1xf32>
}

// CHECK: entry permutations_of_three
// CHECK-NEXT: result0: verified
func.func @permutations_of_three(%logits: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x6xf32>) -> (mix : tensor<?x3x3xf32>)
  return %mix : tensor<?x3x3xf32>
}

// CHECK: entry permutations_of_four
// CHECK-NEXT: result0: verified
func.func @permutations_of_four(%logits: tensor<?x24xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry bwd
// CHECK-NEXT: result0: verified
func.func @bwd(%d_mix: tensor<?x4x4xf32>, %logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %d_logits = mhc.sinkhorn_bwd(d_mix = %d_mix : tensor<?x4x4xf32>, logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (d_logits : tensor<?x4x4xf32>)
  return %d_logits : tensor<?x4x4xf32>
}

// CHECK: entry permutation_bwd
// CHECK-NEXT: result0: verified
func.func @permutation_bwd(%d_mix: tensor<?x4x4xf32>, %logits: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %d_logits = mhc.permutation_mix_bwd(d_mix = %d_mix : tensor<?x4x4xf32>, logits = %logits : tensor<?x24xf32>)
    -> (d_logits : tensor<?x24xf32>)
  return %d_logits : tensor<?x24xf32>
}

// CHECK: entry exp_max
// CHECK-NEXT: result0: verified
func.func @exp_max(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp_max, order = row_col, denom = add, eps = 1.0e-03, iters = 10> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry potentials
// CHECK-NEXT: result0: verified
func.func @potentials(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp_rowmax, order = col_row, denom = potentials, eps = 1.0e-01, iters = 5> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// The softmax stands for the first factors of the rows. More turns than are written out.
// CHECK: entry potentials_of_a_softmax
// CHECK-NEXT: result0: verified
func.func @potentials_of_a_softmax(%logits: tensor<?x5x5xf32>) -> tensor<?x5x5xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x5x5xf32>)
    <init = softmax_eps, order = row_col, denom = potentials, eps = 1.0e-02, iters = 40> -> (mix : tensor<?x5x5xf32>)
  return %mix : tensor<?x5x5xf32>
}

// CHECK: entry sigmoid_eps
// CHECK-NEXT: result0: verified
func.func @sigmoid_eps(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = sigmoid_eps, order = row_col, denom = add, eps = 1.0e-02, iters = 3> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}
