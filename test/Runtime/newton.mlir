// The limit of Sinkhorn's iterations by Newton's steps: kernels against the decomposition, in the float64 evaluator, and
// the gradient of a whole chain against the same.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --grad=chain --verify | FileCheck %s --check-prefix=GRAD --implicit-check-not=WRONG
// RUN: mhcc %s --grad=chain --fuse=model --compile-to=fuse | FileCheck %s --check-prefix=FUSED

// CHECK: entry four
// CHECK-NEXT: result0: verified
func.func @four(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK: entry seven
// CHECK-NEXT: result0: verified
func.func @seven(%logits: tensor<?x7x7xf32>) -> tensor<?x7x7xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x7x7xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 40, solver = newton> -> (mix : tensor<?x7x7xf32>)
  return %mix : tensor<?x7x7xf32>
}

// CHECK: entry one
// CHECK-NEXT: result0: verified
func.func @one(%logits: tensor<?x1x1xf32>) -> tensor<?x1x1xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x1x1xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton> -> (mix : tensor<?x1x1xf32>)
  return %mix : tensor<?x1x1xf32>
}

// CHECK: entry four_bwd
// CHECK-NEXT: result0: verified
func.func @four_bwd(%g: tensor<?x4x4xf32>, %logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %d = mhc.sinkhorn_bwd(d_mix = %g : tensor<?x4x4xf32>, logits = %logits : tensor<?x4x4xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton> -> (d_logits : tensor<?x4x4xf32>)
  return %d : tensor<?x4x4xf32>
}

// CHECK: entry five_bwd
// CHECK-NEXT: result0: verified
func.func @five_bwd(%g: tensor<?x5x5xf32>, %logits: tensor<?x5x5xf32>) -> tensor<?x5x5xf32> {
  %d = mhc.sinkhorn_bwd(d_mix = %g : tensor<?x5x5xf32>, logits = %logits : tensor<?x5x5xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 20, solver = newton> -> (d_logits : tensor<?x5x5xf32>)
  return %d : tensor<?x5x5xf32>
}

// Two sublayers: pre, post and pre of what it wrote, which are fused, and the gradients of all.
// CHECK: entry chain
// CHECK-NEXT: result0: verified
// GRAD: entry chain_bwd
// GRAD: d_phi: verified
// FUSED-LABEL: func.func @chain_fwd
// FUSED: mhc.pre({{.*}}solver = newton
// FUSED: mhc.post_pre({{.*}}solver = newton
// FUSED-LABEL: func.func @chain_bwd
// FUSED: mhc.post_pre_bwd({{.*}}solver = newton
// FUSED: mhc.pre_bwd({{.*}}solver = newton
func.func @chain(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %phi: tensor<24x256xf32> {mhc.name = "phi"},
                 %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> tensor<?x4x64xf32> {
  %u, %p, %h = mhc.pre(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = log, order = row_col, denom = none, sk_eps = 0.0, iters = 20, fold_pre = false,
     solver = newton>
    -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
      h_res = %h : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  %v, %q, %r = mhc.pre(x = %y : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = log, order = row_col, denom = none, sk_eps = 0.0, iters = 20, fold_pre = false,
     solver = newton>
    -> (u : tensor<?x64xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %z = mhc.post(f = %v : tensor<?x64xf32>, h_post = %q : tensor<?x4xf32>, x = %y : tensor<?x4x64xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  return %z : tensor<?x4x64xf32>
}
