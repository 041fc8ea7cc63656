// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry bf16_inputs
// CHECK-COUNT-5: verified
func.func @bf16_inputs(%x: tensor<?x4x72xbf16>, %f0: tensor<?x72xbf16>, %f1: tensor<?x72xbf16>, %b0: tensor<72xbf16>,
                       %b1: tensor<72xbf16>, %h0: tensor<?x4xf32>, %h1: tensor<?x4xf32>, %h2: tensor<?x4xf32>,
                       %p0: tensor<?x4xf32>, %p1: tensor<?x4xf32>, %r0: tensor<?x4x4xf32>, %r1: tensor<?x4x4xf32>)
    -> (tensor<?x72xbf16>, tensor<?x72xbf16>, tensor<?x72xbf16>, tensor<?x4x72xbf16>, tensor<?x4x72xbf16>) {
  %u0, %u1, %u2, %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x72xbf16>, h_pre = [%h0, %h1, %h2] : tensor<?x4xf32>,
      f = [%f0, %f1] : tensor<?x72xbf16>, bias = [%b0, %b1] : tensor<72xbf16>, h_post = [%p0, %p1] : tensor<?x4xf32>,
      h_res = [%r0, %r1] : tensor<?x4x4xf32>) <layout = nC, orient = io>
    -> (u : 3 of tensor<?x72xbf16>, out : 2 of tensor<?x4x72xbf16>)
  return %u0, %u1, %u2, %out0, %out1
    : tensor<?x72xbf16>, tensor<?x72xbf16>, tensor<?x72xbf16>, tensor<?x4x72xbf16>, tensor<?x4x72xbf16>
}

// CHECK: entry odd_f32
// CHECK-COUNT-2: verified
func.func @odd_f32(%x: tensor<?x33x3xf32>, %f0: tensor<?x33xf32>, %f1: tensor<?x33xf32>, %p0: tensor<?x3xf32>,
                   %p1: tensor<?x3xf32>, %r0: tensor<?x3x3xf32>, %r1: tensor<?x3x3xf32>)
    -> (tensor<?x33x3xf32>, tensor<?x33x3xf32>) {
  %out0, %out1 = mhc.rebuild(x = %x : tensor<?x33x3xf32>, f = [%f0, %f1] : tensor<?x33xf32>,
      h_post = [%p0, %p1] : tensor<?x3xf32>, h_res = [%r0, %r1] : tensor<?x3x3xf32>) <layout = Cn, orient = oi>
    -> (out : 2 of tensor<?x33x3xf32>)
  return %out0, %out1 : tensor<?x33x3xf32>, tensor<?x33x3xf32>
}

// CHECK: entry dropouts
// CHECK-COUNT-2: verified
func.func @dropouts(%x: tensor<?x4x72xbf16>, %f0: tensor<?x72xbf16>, %f1: tensor<?x72xbf16>, %p: tensor<?x4xf32>,
                    %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) -> (tensor<?x4x72xbf16>, tensor<?x4x72xbf16>) {
  %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x72xbf16>, f = [%f0, %f1] : tensor<?x72xbf16>,
      h_post = [%p, %p] : tensor<?x4xf32>, h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s, %s] : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.25, stream = 3, stream_step = 2> -> (out : 2 of tensor<?x4x72xbf16>)
  return %out0, %out1 : tensor<?x4x72xbf16>, tensor<?x4x72xbf16>
}
