// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s
// RUN: mhc-opt %s | FileCheck %s --check-prefix=NOBIAS

// CHECK-LABEL: @streams
// NOBIAS-LABEL: @streams
func.func @streams(%x: tensor<?x4x64xbf16>, %f0: tensor<?x64xbf16>, %f1: tensor<?x64xbf16>, %p0: tensor<?x4xf32>,
                   %p1: tensor<?x4xf32>, %r0: tensor<?x4x4xf32>, %r1: tensor<?x4x4xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  // CHECK: %out, %out_0 = mhc.rebuild(x = %{{[^ ]*}} : tensor<?x4x64xbf16>, f = [%{{[^ ]*}}, %{{[^ ]*}}] : tensor<?x64xbf16>,
  // CHECK-SAME: h_post = [%{{[^ ]*}}, %{{[^ ]*}}] : tensor<?x4xf32>, h_res = [%{{[^ ]*}}, %{{[^ ]*}}] : tensor<?x4x4xf32>)
  // CHECK-SAME: <layout = nC, orient = io> -> (out : 2 of tensor<?x4x64xbf16>)
  // NOBIAS-NOT: bias
  // NOBIAS: return
  %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x64xbf16>, f = [%f0, %f1] : tensor<?x64xbf16>,
      h_post = [%p0, %p1] : tensor<?x4xf32>, h_res = [%r0, %r1] : tensor<?x4x4xf32>) <layout = nC, orient = io>
    -> (out : 2 of tensor<?x4x64xbf16>)
  return %out0, %out1 : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// One layer, and the inputs of it and of the one behind it.
// CHECK-LABEL: @inputs
func.func @inputs(%x: tensor<?x8x2xf16>, %h0: tensor<?x2xf32>, %h1: tensor<?x2xf32>, %f: tensor<?x8xf16>,
                  %bias: tensor<8xf32>, %p: tensor<?x2xf32>, %r: tensor<?x2x2xf32>)
    -> (tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x8x2xf16>) {
  // CHECK: %u, %u_0, %out = mhc.rebuild({{.*}}bias = [%{{[^ ]*}}] : tensor<8xf32>{{.*}}) <layout = Cn, orient = oi>
  // CHECK-SAME: -> (u : 2 of tensor<?x8xf16>, out : 1 of tensor<?x8x2xf16>)
  %u0, %u1, %out = mhc.rebuild(x = %x : tensor<?x8x2xf16>, h_pre = [%h0, %h1] : tensor<?x2xf32>, f = [%f] : tensor<?x8xf16>,
      bias = [%bias] : tensor<8xf32>, h_post = [%p] : tensor<?x2xf32>, h_res = [%r] : tensor<?x2x2xf32>)
    <layout = Cn, orient = oi> -> (u : 2 of tensor<?x8xf16>, out : 1 of tensor<?x8x2xf16>)
  return %u0, %u1, %out : tensor<?x8xf16>, tensor<?x8xf16>, tensor<?x8x2xf16>
}

// CHECK-LABEL: @dropouts
func.func @dropouts(%x: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>,
                    %s0: tensor<2xi64>, %s1: tensor<2xi64>) -> tensor<?x4x64xbf16> {
  // CHECK: mhc.rebuild({{.*}}, seed = [%{{[^ ]*}}, %{{[^ ]*}}] : tensor<2xi64>)
  // CHECK-SAME: <layout = nC, orient = io, rate = 5.0e-01, stream = 4, stream_step = -1> ->
  %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x64xbf16>, f = [%f, %f] : tensor<?x64xbf16>,
      h_post = [%p, %p] : tensor<?x4xf32>, h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s0, %s1] : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.5, stream = 4, stream_step = -1> -> (out : 2 of tensor<?x4x64xbf16>)
  return %out1 : tensor<?x4x64xbf16>
}
