// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4x8xbf16> {mhc.name = "arg0"}, %[[H:[a-z0-9]+]]: tensor<?x4xf32> {mhc.name = "arg1"},
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x8xbf16> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[D_X:.*]], %[[D_H:.*]] = mhc.aggregate_bwd(d_u = %[[G]] : tensor<?x8xbf16>, x = %[[X]] :
// CHECK-SAME: h_pre = %[[H]] : tensor<?x4xf32>) <layout = nC> -> (d_x : tensor<?x4x8xbf16>, d_h_pre : tensor<?x4xf32>)
// CHECK-NEXT: return %[[D_X]], %[[D_H]]
func.func @f(%x: tensor<?x4x8xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x8xbf16> {
  %u = mhc.aggregate(x = %x : tensor<?x4x8xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  return %u : tensor<?x8xbf16>
}

// -----

// The kernel starts from the share of a leaf op.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-NOT: arith.addf
// CHECK: %[[SHARE:.*]] = arith.mulf
// CHECK-NOT: arith.addf
// CHECK: mhc.aggregate_bwd({{.*}}d_x_in = %[[SHARE]] : tensor<?x4x8xf32>) <layout = nC> -> (d_x :
// CHECK-NOT: arith.addf
func.func @f(%x: tensor<?x4x8xf32>, %h_pre: tensor<?x4xf32> {mhc.no_grad}) -> (tensor<?x8xf32>, tensor<?x4x8xf32>) {
  %u = mhc.aggregate(x = %x : tensor<?x4x8xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  %s = math.exp %x : tensor<?x4x8xf32>
  return %u, %s : tensor<?x8xf32>, tensor<?x4x8xf32>
}
