// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// Nothing of the iterations is saved: the logits are enough.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[Z:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "arg0"}, %[[G:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[D:.*]] = mhc.sinkhorn_bwd(d_mix = %[[G]] : tensor<?x4x4xf32>, logits = %[[Z]] : tensor<?x4x4xf32>)
// CHECK-SAME: <init = exp_rowmax, order = col_row, denom = clamp, eps = {{.*}}, iters = 7>
// CHECK-NEXT: return %[[D]]
func.func @f(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp_rowmax, order = col_row, denom = clamp, eps = 1.0e-06, iters = 7> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[Z:[a-z0-9]+]]: tensor<?x24xf32> {mhc.name = "arg0"}, %[[G:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[D:.*]] = mhc.permutation_mix_bwd(d_mix = %[[G]] : tensor<?x4x4xf32>, logits = %[[Z]] : tensor<?x24xf32>)
// CHECK-NEXT: return %[[D]]
func.func @f(%logits: tensor<?x24xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// -----

// Gradient of an iteration in bf16: that of the iteration in f32, at the rounded logits.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[Z:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "arg0"}, %[[G:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[HALF:.*]] = arith.truncf %[[Z]] : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[HALF]]
// CHECK: mhc.sinkhorn_bwd(d_mix = %[[G]] : tensor<?x4x4xf32>, logits = %[[WIDE]] : tensor<?x4x4xf32>)
func.func @f(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp_rowmax, order = col_row, denom = clamp, eps = 1.0e-06, iters = 7, format = bf16>
    -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}
