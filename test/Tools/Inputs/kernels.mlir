func.func @kernels(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}
