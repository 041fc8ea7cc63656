// RUN: mhc-opt %s -mhc-autodiff=function=f -canonicalize | FileCheck %s

// The two ops take the place of the one, and their gradients are made.
// CHECK-LABEL: @f_grad
// CHECK-NOT: mhc.post_head
// CHECK: %[[Y:.*]] = mhc.post(
// CHECK: mhc.head(x = %[[Y]]
// CHECK-NOT: mhc.post_head
// CHECK: mhc.head_bwd(
// CHECK: mhc.post_bwd(
func.func @f(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<?x64xbf16> {
  %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}
