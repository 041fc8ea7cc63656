module {
  func.func @f(%arg0: tensor<5x4x4xf32>) -> tensor<5x4x4xf32> {
    %mix = mhc.sinkhorn(logits = %arg0 : tensor<5x4x4xf32>) <init = exp_rowmax, order = col_row, denom = clamp, eps = -1.0e-06, iters = 7> -> (mix : tensor<5x4x4xf32>)
    return %mix : tensor<5x4x4xf32>
  }
}