// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-autodiff=function=f -canonicalize | FileCheck %s

// The caller's sums are the starts of gradients: a kernel takes one as it takes any start, other shares are added in f32.
// The forward function does not see them.
// CHECK-LABEL: func.func @f_grad(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x4xf32> {mhc.name = "d_result0"}
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x32xf32> {mhc.name = "d_phi"}, %{{[a-z0-9]+}}: tensor<4x4xf32> {mhc.name = "d_w"}
// CHECK-SAME: tensor<4x32xf32> {mhc.in_place, mhc.name = "d_phi"}, tensor<4x4xf32> {mhc.in_place, mhc.name = "d_w"})
// CHECK-LABEL: func.func @f_fwd(
// CHECK-NOT: "d_phi"
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[PHI:[a-z0-9]+]]: tensor<4x32xf32> {mhc.name = "d_phi"}, %[[W:[a-z0-9]+]]: tensor<4x4xf32> {mhc.name = "d_w"})
// CHECK-SAME: -> (tensor<?x4x8xbf16> {mhc.name = "d_x"}, tensor<4x32xf32> {mhc.in_place, mhc.name = "d_phi"},
// CHECK-SAME: tensor<4x4xf32> {mhc.in_place, mhc.name = "d_w"})
// CHECK: %[[SHARE:.*]] = mhc.matmul {{.*}} -> tensor<4x4xf32>
// CHECK: %[[D_W:.*]] = arith.addf %[[W]], %[[SHARE]] : tensor<4x4xf32>
// CHECK: %[[D_X:.*]], %[[D_PHI:.*]] = mhc.projection_bwd({{.*}} d_phi_in = %[[PHI]] : tensor<4x32xf32>)
// CHECK: return %[[D_X]], %[[D_PHI]], %[[D_W]]
func.func @f(%x: tensor<?x4x8xbf16> {mhc.name = "x"}, %phi: tensor<4x32xbf16> {mhc.name = "phi", mhc.main_grad},
             %w: tensor<4x4xbf16> {mhc.name = "w", mhc.main_grad}) -> tensor<?x4xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<4x32xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %out = mhc.matmul %proj, %w : (tensor<?x4xf32>, tensor<4x4xbf16>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// -----

// A gradient that nothing contributes to leaves the sum as it is.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: tensor<4xf32> {mhc.name = "d_arg1"})
// CHECK: return %{{.*}}, %[[SUM]] :
func.func @f(%x: tensor<4xf32>, %unused: tensor<4xf32> {mhc.main_grad}) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{argument 'arg1' has 'mhc.main_grad' but no gradient}}
func.func @f(%x: tensor<4xf32>, %w: tensor<4xf32> {mhc.main_grad, mhc.no_grad}) -> tensor<4xf32> {
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
