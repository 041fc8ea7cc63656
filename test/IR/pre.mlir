// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @pre
func.func @pre(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %u, %h_post, %h_res = mhc.pre(x = %{{.*}} : tensor<?x4x64xbf16>, phi = %{{.*}} : tensor<24x256xf32>,
  // CHECK-SAME: alpha = %{{.*}} : tensor<3xf32>, beta = %{{.*}} : tensor<24xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
  // CHECK-SAME: res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
  // CHECK-SAME: fold_pre = false>
  // CHECK-SAME: -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// With every optional tensor, attributes in another order.
// CHECK-LABEL: @permutation
func.func @permutation(%x: tensor<2x64x3xf16>, %phi: tensor<192x12xf16>, %w: tensor<192xf32>, %alpha: tensor<3xf32>,
                       %beta: tensor<12xf32>) -> (tensor<2x64xf16>, tensor<2x3xf32>) {
  // CHECK: %u, %h_pre, %h_post, %h_res = mhc.pre({{.*}}norm_weight = %{{.*}} : tensor<192xf32>, alpha =
  // CHECK-SAME: <layout = Cn, phi_layout = in_out, norm = outside,
  // CHECK-SAME: res_map = permutation,
  // CHECK-SAME: fold_pre = true>
  // CHECK-SAME: h_pre : tensor<2x3xf32>, h_post
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<2x64x3xf16>, phi = %phi : tensor<192x12xf16>,
      norm_weight = %w : tensor<192xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <res_map = permutation, fold_pre = true, layout = Cn, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06,
     pre_eps = 0.0, post_mult = 2.0, init = exp, order = row_col, denom = add, sk_eps = 0.0, iters = 0>
    -> (u : tensor<2x64xf16>, h_pre : tensor<2x3xf32>, h_post : tensor<2x3xf32>, h_res : tensor<2x3x3xf32>)
  return %u, %h_pre : tensor<2x64xf16>, tensor<2x3xf32>
}

// The constraints of sinkhorn hold for res_map = sinkhorn only.
// CHECK-LABEL: @identity
func.func @identity(%x: tensor<?x4x?xf32>, %phi: tensor<24x?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<?x?xf32> {
  // CHECK: res_map = identity, init = log, order = row_col, denom = add
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x?xf32>, phi = %phi : tensor<24x?xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = none, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = log, order = row_col, denom = add, sk_eps = 0.0, iters = 0, fold_pre = false>
    -> (u : tensor<?x?xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u : tensor<?x?xf32>
}

// CHECK-LABEL: @head
func.func @head(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>) {
  // CHECK: %out, %h_pre = mhc.head(x = {{.*}}, alpha = %{{.*}} : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
  // CHECK-SAME: -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  %out, %h_pre = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  return %out, %h_pre : tensor<?x64xbf16>, tensor<?x4xf32>
}
