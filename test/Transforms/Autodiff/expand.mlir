// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x4x8xbf16> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[D:.*]] = mhc.contract(x = %[[G]] : tensor<?x4x8xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x8xbf16>)
// CHECK-NEXT: return %[[D]]
func.func @f(%x: tensor<?x8xbf16>) -> tensor<?x4x8xbf16> {
  %streams = mhc.expand(x = %x : tensor<?x8xbf16>) <layout = nC> -> (streams : tensor<?x4x8xbf16>)
  return %streams : tensor<?x4x8xbf16>
}

// -----

// The streams hold no more than x: the backward function makes them again.
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: -> (tensor<?x8xf32> {mhc.name = "result0"})
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[STREAMS:.*]] = mhc.expand(
// CHECK: mhc.aggregate_bwd({{.*}}x = %[[STREAMS]] :
func.func @f(%x: tensor<?x8xf32>, %h_pre: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %streams = mhc.expand(x = %x : tensor<?x8xf32>) <layout = nC> -> (streams : tensor<?x4x8xf32>)
  %u = mhc.aggregate(x = %streams : tensor<?x4x8xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x8xf32>)
  return %u : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x8xf32> {mhc.name = "d_result0"})
// CHECK: %[[D:.*]] = mhc.expand(x = %[[G]] : tensor<?x8xf32>) <layout = Cn> -> (streams : tensor<?x8x4xf32>)
// CHECK-NEXT: return %[[D]]
func.func @f(%x: tensor<?x8x4xf32>) -> tensor<?x8xf32> {
  %out = mhc.contract(x = %x : tensor<?x8x4xf32>) <layout = Cn, mode = sum> -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}

// -----

// The mean divides by n, here 4 of two different sizes.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[QUARTER:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: %[[FACTOR:.*]] = tensor.splat %[[QUARTER]]
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: mhc.expand(x = %[[SCALED]] : tensor<?x8xf32>) <layout = Cn> -> (streams : tensor<?x8x4xf32>)
func.func @f(%x: tensor<?x8x4xf32>) -> tensor<?x8xf32> {
  %out = mhc.contract(x = %x : tensor<?x8x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}

// -----

// Equal streams are written out before they are differentiated: each has its gradient.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[STREAMS:.*]] = mhc.expand(x = %{{.*}} : tensor<?x8xf32>) <layout = nC>
// CHECK: mhc.post_bwd({{.*}}x = %[[STREAMS]] : tensor<?x4x8xf32>, {{.*}}<layout = nC, orient = oi> ->
// CHECK: mhc.contract(
func.func @f(%x: tensor<?x8xf32>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>) -> tensor<?x4x8xf32> {
  %out = mhc.post(f = %x : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x8xf32>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi, equal_x> -> (out : tensor<?x4x8xf32>)
  return %out : tensor<?x4x8xf32>
}

// -----

// Streams that are added up are written out, too: their gradient is that of the sum.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: %[[D:.*]] = mhc.expand(x = %{{.*}} : tensor<?x8xf32>) <layout = nC>
// CHECK: mhc.post_bwd(d_out = %[[D]] : tensor<?x4x8xf32>, {{.*}}<layout = nC, orient = oi> ->
func.func @f(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %h: tensor<?x4xf32>, %m: tensor<?x4x4xf32>) -> tensor<?x8xf32> {
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi, contracted = sum> -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}
