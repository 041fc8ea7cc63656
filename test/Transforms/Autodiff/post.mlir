// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// All gradients, from one kernel.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x8x4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[D_F:.*]], %[[D_POST:.*]], %[[D_RES:.*]], %[[D_X:.*]], %[[D_BIAS:.*]] = mhc.post_bwd(d_out = %[[G]] :
// CHECK-SAME: <layout = Cn, orient = oi> ->
// CHECK-NEXT: return %[[D_F]], %[[D_BIAS]], %[[D_POST]], %[[D_X]], %[[D_RES]]
func.func @f(%f: tensor<?x8xf32>, %bias: tensor<8xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x8x4xf32>,
             %h_res: tensor<?x4x4xf32>) -> tensor<?x8x4xf32> {
  %out = mhc.post(f = %f : tensor<?x8xf32>, bias = %bias : tensor<8xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x8x4xf32>, h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = oi>
    -> (out : tensor<?x8x4xf32>)
  return %out : tensor<?x8x4xf32>
}

// -----

// Only what is wanted.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[D_F:.*]] = mhc.post_bwd(
// CHECK-SAME: <layout = nC, orient = io> -> (d_f : tensor<?x8xf32>)
// CHECK-NEXT: return %[[D_F]]
func.func @f(%f: tensor<?x8xf32>, %h_post: tensor<?x4xf32> {mhc.no_grad}, %x: tensor<?x4x8xf32> {mhc.no_grad},
             %h_res: tensor<?x4x4xf32> {mhc.no_grad}) -> tensor<?x4x8xf32> {
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %out : tensor<?x4x8xf32>
}

// -----

// A bias that two ops add has one gradient, which the second kernel starts from.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-NOT: arith.addf
// CHECK: %{{.*}}, %[[BIAS:.*]] = mhc.post_bwd(
// CHECK-NOT: arith.addf
// CHECK: mhc.post_bwd({{.*}}d_bias_in = %[[BIAS]] :
// CHECK-NOT: arith.addf
func.func @f(%f: tensor<?x8xf32> {mhc.no_grad}, %bias: tensor<8xf32>, %h_post: tensor<?x4xf32> {mhc.no_grad},
             %x: tensor<?x4x8xf32>, %h_res: tensor<?x4x4xf32> {mhc.no_grad}) -> tensor<?x4x8xf32> {
  %one = mhc.post(f = %f : tensor<?x8xf32>, bias = %bias : tensor<8xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x8xf32>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io>
    -> (out : tensor<?x4x8xf32>)
  %two = mhc.post(f = %f : tensor<?x8xf32>, bias = %bias : tensor<8xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %one : tensor<?x4x8xf32>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io>
    -> (out : tensor<?x4x8xf32>)
  return %two : tensor<?x4x8xf32>
}

// -----

// The backward kernel draws the numbers of a dropout again; no mask is saved.
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: -> (tensor<?x4x8xf32> {
// CHECK-LABEL: func.func @f_bwd(
// CHECK: mhc.post_bwd({{.*}}seed = %{{.*}} : tensor<2xi64>) <layout = nC, orient = io, rate = 2.5e-01, stream = 6>
// CHECK-SAME: d_f :
// CHECK-SAME: d_h_post :
func.func @f(%f: tensor<?x8xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %h_res: tensor<?x4x4xf32>,
             %seed: tensor<2xi64>) -> tensor<?x4x8xf32> {
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.25, stream = 6> -> (out : tensor<?x4x8xf32>)
  return %out : tensor<?x4x8xf32>
}
