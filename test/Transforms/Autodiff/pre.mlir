// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// The differentiated forward pass keeps the raw product and the multiplier, and nothing else that it would not have.
// CHECK-LABEL: func.func @f(
// CHECK: mhc.pre({{.*}} -> (u : tensor<?x8xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
// CHECK-LABEL: func.func @f_fwd(
// CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]], %[[PROJ:.*]], %[[STAT:.*]] = mhc.pre(
// CHECK-SAME: -> (u : tensor<?x8xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>, proj : tensor<?x24xf32>, stat : tensor<?xf32>)
// CHECK-NEXT: return %[[U]], %[[POST]], %[[RES]], %[[PROJ]], %[[STAT]] :
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4x8xf32> {mhc.name = "arg0"}, %[[PHI:[a-z0-9]+]]: tensor<24x32xf32> {mhc.name = "arg1"}
// CHECK-SAME: %[[ALPHA:[a-z0-9]+]]: tensor<3xf32> {mhc.name = "arg2"}, %[[BETA:[a-z0-9]+]]: tensor<24xf32> {mhc.name = "arg3"}
// CHECK-SAME: %[[WEIGHT:[a-z0-9]+]]: tensor<32xf32> {mhc.name = "arg4"}
// CHECK-SAME: %[[PROJ:[a-z0-9]+]]: tensor<?x24xf32> {mhc.name = "saved0"}, %[[STAT:[a-z0-9]+]]: tensor<?xf32> {mhc.name = "saved1"}
// CHECK-SAME: %[[DU:[a-z0-9]+]]: tensor<?x8xf32> {mhc.name = "d_result0"}, %[[DPOST:[a-z0-9]+]]: tensor<?x4xf32> {mhc.name = "d_result1"}
// CHECK-SAME: %[[DRES:[a-z0-9]+]]: tensor<?x4x4xf32> {mhc.name = "d_result2"})
// CHECK-NEXT: %[[D_X:.*]], %[[D_PHI:.*]], %[[D_WEIGHT:.*]], %[[D_ALPHA:.*]], %[[D_BETA:.*]] = mhc.pre_bwd(d_u = %[[DU]] : tensor<?x8xf32>, d_h_post = %[[DPOST]] : tensor<?x4xf32>,
// CHECK-SAME: d_h_res = %[[DRES]] : tensor<?x4x4xf32>, x = %[[X]] : {{.*}}, phi = %[[PHI]] : {{.*}}, norm_weight = %[[WEIGHT]] :
// CHECK-SAME: alpha = %[[ALPHA]] : {{.*}}, beta = %[[BETA]] : {{.*}}, proj = %[[PROJ]] : {{.*}}, stat = %[[STAT]] : tensor<?xf32>)
// CHECK-SAME: <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0,
// CHECK-SAME: res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-05, iters = 20, fold_pre = true, orient = oi>
// CHECK-NEXT: return %[[D_X]], %[[D_PHI]], %[[D_ALPHA]], %[[D_BETA]], %[[D_WEIGHT]] :
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<24x32xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
             %weight: tensor<32xf32>) -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<24x32xf32>,
      norm_weight = %weight : tensor<32xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-05, iters = 20, fold_pre = true>
    -> (u : tensor<?x8xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// Gates and matrices without a cotangent count as zero, u has no terms then; what needs no gradient gets none.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK-DAG: %[[DPOST:.*]] = tensor.splat %{{.*}} : tensor<?x4xf32>
// CHECK-DAG: %[[DRES:.*]] = tensor.splat %{{.*}} : tensor<?x4x4xf32>
// CHECK: mhc.pre_bwd(d_h_pre = %[[G]] : tensor<?x4xf32>,
// CHECK-SAME: d_h_post = %[[DPOST]] : tensor<?x4xf32>, d_h_res = %[[DRES]] : tensor<?x4x4xf32>,
// CHECK-SAME: -> (d_phi : tensor<24x32xf32>)
func.func @f(%x: tensor<?x4x8xbf16> {mhc.no_grad}, %phi: tensor<24x32xf32>, %alpha: tensor<3xf32> {mhc.no_grad},
             %beta: tensor<24xf32> {mhc.no_grad}) -> tensor<?x4xf32> {
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<24x32xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = none, sk_eps = 0.0, iters = 0, fold_pre = false>
    -> (u : tensor<?x8xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %h_pre : tensor<?x4xf32>
}

// -----

// Somebody else reads the product: its gradient has a second share, and the chain takes over.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: mhc.aggregate_bwd
// CHECK: mhc.gates_bwd
// CHECK: mhc.projection_bwd
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x8xf32>, tensor<?x4xf32>) {
  %out, %proj = mhc.head(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x8xf32>, proj : tensor<?x4xf32>)
  return %out, %proj : tensor<?x8xf32>, tensor<?x4xf32>
}

// -----

// Two contractions of the same streams: the second gradient starts from the first, for x and for the weight.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-NOT: arith.addf
// CHECK: %[[X1:.*]], %[[PHI1:.*]] = mhc.head_bwd(d_out = %{{.*}} : tensor<?x8xbf16>, x =
// CHECK-NOT: arith.addf
// CHECK: %[[X2:.*]], %[[PHI2:.*]] = mhc.head_bwd(d_out = %{{.*}} : tensor<?x8xbf16>, d_h_pre = %{{.*}} : tensor<?x4xf32>
// CHECK-SAME: d_x_in = %[[X1]] : {{.*}}, d_phi_in = %[[PHI1]] : tensor<4x32xf32>)
// CHECK-NEXT: return %[[X2]], %[[PHI2]]
func.func @f(%x: tensor<?x4x8xbf16>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32> {mhc.no_grad},
             %beta: tensor<4xf32> {mhc.no_grad}) -> (tensor<?x8xbf16>, tensor<?x4xf32>, tensor<?x8xbf16>) {
  %a, %h_pre = mhc.head(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x8xbf16>, h_pre : tensor<?x4xf32>)
  %b = mhc.head(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = none, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x8xbf16>)
  return %a, %h_pre, %b : tensor<?x8xbf16>, tensor<?x4xf32>, tensor<?x8xbf16>
}

// -----

// The gradient computes with the gates and the logits that were rounded; a rounding of h_res needs nothing of it.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: mhc.pre_bwd({{.*}} orient = oi, h_pre_format = bf16, h_post_format = f16, sk_format = bf16>
func.func @f(%x: tensor<?x4x8xbf16>, %phi: tensor<24x32xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x8xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<24x32xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = outside, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-05, iters = 20, fold_pre = true,
     h_pre_format = bf16, h_post_format = f16, h_res_format = bf16, sk_format = bf16>
    -> (u : tensor<?x8xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x8xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd(
// CHECK: mhc.head_bwd({{.*}} pre_eps = 1.0e-06, h_pre_format = f16>
func.func @f(%x: tensor<?x4x8xf16>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x8xf16> {
  %out = mhc.head(x = %x : tensor<?x4x8xf16>, phi = %phi : tensor<4x32xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06, h_pre_format = f16>
    -> (out : tensor<?x8xf16>)
  return %out : tensor<?x8xf16>
}

// -----

// In the single-pass form u is mixed by other weights: its gradients are those of an aggregate, added last.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[D_X:.*]] = mhc.pre_bwd(d_h_pre = %{{.*}} : tensor<?x4xf32>, d_h_post = %{{.*}} : tensor<?x4xf32>, d_h_res =
// CHECK-SAME: -> (d_x : tensor<?x4x8xf32>)
// CHECK-NEXT: %[[SUM:.*]], %[[D_H:.*]] = mhc.aggregate_bwd(d_u = %{{.*}} : tensor<?x8xf32>, x = %{{.*}}, h_pre = %{{.*}} : tensor<?x4xf32>, d_x_in = %[[D_X]] :
// CHECK-NEXT: return %[[SUM]], %[[D_H]]
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<24x32xf32> {mhc.no_grad}, %alpha: tensor<3xf32> {mhc.no_grad},
             %beta: tensor<24xf32> {mhc.no_grad}, %h: tensor<?x4xf32>)
    -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<24x32xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x8xf32>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre, %h_post, %h_res : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}
