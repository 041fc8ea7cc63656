// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @with_bias
func.func @with_bias(%f: tensor<?x64xbf16>, %bias: tensor<64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
                     %h_res: tensor<?x4x4xf32>) -> tensor<?x4x64xbf16> {
  // CHECK: %out = mhc.post(f = %{{.*}} : tensor<?x64xbf16>, bias = %{{.*}} : tensor<64xbf16>,
  // CHECK-SAME: h_post = %{{.*}} : tensor<?x4xf32>, x = %{{.*}} : tensor<?x4x64xbf16>, h_res = %{{.*}} : tensor<?x4x4xf32>)
  // CHECK-SAME: <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io>
    -> (out : tensor<?x4x64xbf16>)
  return %out : tensor<?x4x64xbf16>
}

// CHECK-LABEL: @f32_bias
func.func @f32_bias(%f: tensor<?x64xf16>, %bias: tensor<64xf32>, %h_post: tensor<?x2xf32>, %x: tensor<?x64x2xf16>,
                    %h_res: tensor<?x2x2xf32>) -> tensor<?x64x2xf16> {
  // CHECK: mhc.post({{.*}}bias = %{{.*}} : tensor<64xf32>{{.*}}) <layout = Cn, orient = oi>
  %out = mhc.post(f = %f : tensor<?x64xf16>, bias = %bias : tensor<64xf32>, h_post = %h_post : tensor<?x2xf32>,
      x = %x : tensor<?x64x2xf16>, h_res = %h_res : tensor<?x2x2xf32>) <layout = Cn, orient = oi>
    -> (out : tensor<?x64x2xf16>)
  return %out : tensor<?x64x2xf16>
}

// CHECK-LABEL: @without_bias
func.func @without_bias(%f: tensor<3x?xf32>, %h_post: tensor<3x4xf32>, %x: tensor<3x4x?xf32>, %h_res: tensor<3x4x4xf32>)
    -> tensor<3x4x?xf32> {
  // CHECK: mhc.post(f = %{{.*}} : tensor<3x?xf32>, h_post = %{{.*}} : tensor<3x4xf32>, x =
  // CHECK-NOT: bias
  %out = mhc.post(f = %f : tensor<3x?xf32>, h_post = %h_post : tensor<3x4xf32>, x = %x : tensor<3x4x?xf32>,
      h_res = %h_res : tensor<3x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<3x4x?xf32>)
  return %out : tensor<3x4x?xf32>
}

// CHECK-LABEL: @gradients
func.func @gradients(%d_out: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %bias: tensor<64xf32>, %h_post: tensor<?x4xf32>,
                     %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>, %grad: tensor<64xf32>)
    -> (tensor<?x4x64xf32>, tensor<64xf32>) {
  // CHECK: %d_x, %d_bias = mhc.post_bwd(d_out = %{{.*}}, bias = %{{.*}}, d_bias_in = %{{[^ ]*}} : tensor<64xf32>)
  // CHECK-SAME: <layout = nC, orient = oi> -> (d_x : tensor<?x4x64xf32>, d_bias : tensor<64xf32>)
  %d_x, %d_bias = mhc.post_bwd(d_out = %d_out : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xf32>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      d_bias_in = %grad : tensor<64xf32>) <layout = nC, orient = oi> -> (d_x : tensor<?x4x64xf32>, d_bias : tensor<64xf32>)
  return %d_x, %d_bias : tensor<?x4x64xf32>, tensor<64xf32>
}

// CHECK-LABEL: @with_dropout
func.func @with_dropout(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x64x4xbf16>,
                        %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>) -> (tensor<?x64x4xbf16>, tensor<?x4xf32>) {
  // CHECK: mhc.post({{.*}}, seed = %{{.*}} : tensor<2xi64>) <layout = Cn, orient = io, rate = 1.0e-01, stream = 3> ->
  %out = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = Cn, orient = io, rate = 0.1, stream = 3> -> (out : tensor<?x64x4xbf16>)
  // CHECK: mhc.post_bwd({{.*}}, seed = %{{.*}} : tensor<2xi64>) <layout = Cn, orient = io, rate = 1.0e-01, stream = 3> ->
  %d_h_post = mhc.post_bwd(d_out = %out : tensor<?x64x4xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      seed = %seed : tensor<2xi64>) <layout = Cn, orient = io, rate = 0.1, stream = 3> -> (d_h_post : tensor<?x4xf32>)
  return %out, %d_h_post : tensor<?x64x4xbf16>, tensor<?x4xf32>
}

// CHECK-LABEL: @equal_streams
func.func @equal_streams(%e: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x64x4xbf16>, tensor<?x4xf32>) {
  // CHECK: mhc.post({{.*}}x = %arg0 : tensor<?x64xbf16>, {{.*}}) <layout = Cn, orient = io, equal_x> -> (out : tensor<?x64x4xbf16>)
  %out = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %e : tensor<?x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = io, equal_x> -> (out : tensor<?x64x4xbf16>)
  // CHECK: mhc.post_bwd(d_out = %arg0 : tensor<?x64xbf16>, {{.*}}) <layout = nC, orient = io, equal_x, equal_d_out> ->
  %d_h_post = mhc.post_bwd(d_out = %e : tensor<?x64xbf16>, f = %e : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %e : tensor<?x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io, equal_x, equal_d_out>
    -> (d_h_post : tensor<?x4xf32>)
  return %out, %d_h_post : tensor<?x64x4xbf16>, tensor<?x4xf32>
}

// CHECK-LABEL: @contracted
func.func @contracted(%e: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x64x4xbf16>, %h_res: tensor<?x4x4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>) {
  // CHECK: mhc.post({{.*}}) <layout = Cn, orient = io, contracted = mean> -> (out : tensor<?x64xbf16>)
  %out = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = io, contracted = mean> -> (out : tensor<?x64xbf16>)
  // CHECK: mhc.post({{.*}}) <layout = nC, orient = io, equal_x, contracted = none> -> (out : tensor<?x4x64xbf16>)
  %streams = mhc.post(f = %e : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %e : tensor<?x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io, equal_x, contracted = none> -> (out : tensor<?x4x64xbf16>)
  return %out, %streams : tensor<?x64xbf16>, tensor<?x4x64xbf16>
}
