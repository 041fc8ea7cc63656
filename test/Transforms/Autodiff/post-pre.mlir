// RUN: mhc-opt %s -mhc-autodiff=function=f -canonicalize | FileCheck %s
// RUN: mhc-opt %s -mhc-autodiff=function=f -canonicalize -mhc-fuse=level=model | FileCheck %s --check-prefix=FUSED

// The two ops take the place of the one, and their gradients are made. Both boundaries are found again behind that.
// CHECK-LABEL: @f_grad
// CHECK-NOT: mhc.post_pre
// CHECK: %[[Y:.*]] = mhc.post(
// CHECK: mhc.pre(x = %[[Y]]
// CHECK-NOT: mhc.post_pre
// CHECK: mhc.pre_bwd(
// CHECK: mhc.post_bwd(
// FUSED-LABEL: @f_grad
// FUSED: mhc.post_pre(
// FUSED: mhc.post_pre_bwd(
// FUSED: @f_fwd
// FUSED: mhc.post_pre(
// FUSED: @f_bwd
// FUSED: mhc.post_pre_bwd(
func.func @f(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %y, %u, %p, %r = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
  return %u, %p, %r : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}
