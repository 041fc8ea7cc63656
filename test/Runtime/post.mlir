// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry bf16_bias
// CHECK-NEXT: result0: verified
func.func @bf16_bias(%f: tensor<?x64xbf16>, %bias: tensor<64xbf16>, %h_post: tensor<?x4xf32>,
                     %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>)
    -> tensor<?x4x64xbf16> {
  %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  return %out : tensor<?x4x64xbf16>
}

// CHECK: entry odd_f16_f32_bias
// CHECK-NEXT: result0: verified
func.func @odd_f16_f32_bias(%f: tensor<?x33xf16>, %bias: tensor<33xf32>, %h_post: tensor<?x3xf32>,
                            %x: tensor<?x33x3xf16>, %h_res: tensor<?x3x3xf32>)
    -> tensor<?x33x3xf16> {
  %out = mhc.post(f = %f : tensor<?x33xf16>, bias = %bias : tensor<33xf32>,
      h_post = %h_post : tensor<?x3xf32>, x = %x : tensor<?x33x3xf16>,
      h_res = %h_res : tensor<?x3x3xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x33x3xf16>)
  return %out : tensor<?x33x3xf16>
}

// CHECK: entry f32
// CHECK-NEXT: result0: verified
func.func @f32(%f: tensor<?x129xf32>, %h_post: tensor<?x5xf32>, %x: tensor<?x5x129xf32>, %h_res: tensor<?x5x5xf32>)
    -> tensor<?x5x129xf32> {
  %out = mhc.post(f = %f : tensor<?x129xf32>,
      h_post = %h_post : tensor<?x5xf32>, x = %x : tensor<?x5x129xf32>,
      h_res = %h_res : tensor<?x5x5xf32>) <layout = nC, orient = oi> -> (out : tensor<?x5x129xf32>)
  return %out : tensor<?x5x129xf32>
}

// CHECK: entry f32_streams_last
// CHECK-NEXT: result0: verified
func.func @f32_streams_last(%f: tensor<?x129xf32>, %bias: tensor<129xf32>, %h_post: tensor<?x4xf32>,
                            %x: tensor<?x129x4xf32>, %h_res: tensor<?x4x4xf32>)
    -> tensor<?x129x4xf32> {
  %out = mhc.post(f = %f : tensor<?x129xf32>, bias = %bias : tensor<129xf32>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x129x4xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = io> -> (out : tensor<?x129x4xf32>)
  return %out : tensor<?x129x4xf32>
}

// Two gradients of the same streams grow in one buffer; the first is f32, the second rounds.
// CHECK: entry bwd_accumulates
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
// CHECK-NEXT: result3: verified
// CHECK-NEXT: result4: verified
func.func @bwd_accumulates(%d_out: tensor<?x4x300xbf16>, %f: tensor<?x300xbf16>, %bias: tensor<300xbf16>,
                           %h_post: tensor<?x4xf32>, %x: tensor<?x4x300xbf16>, %h_res: tensor<?x4x4xf32>,
                           %d_u: tensor<?x300xbf16>, %grad: tensor<300xf32>)
    -> (tensor<?x300xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x300xf32>, tensor<300xf32>) {
  %d_f, %d_h_post, %d_h_res, %d_x, %d_bias = mhc.post_bwd(d_out = %d_out : tensor<?x4x300xbf16>,
      f = %f : tensor<?x300xbf16>, bias = %bias : tensor<300xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x300xbf16>, h_res = %h_res : tensor<?x4x4xf32>, d_bias_in = %grad : tensor<300xf32>)
    <layout = nC, orient = io>
    -> (d_f : tensor<?x300xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>,
        d_x : tensor<?x4x300xf32>, d_bias : tensor<300xf32>)
  %all = mhc.aggregate_bwd(d_u = %d_u : tensor<?x300xbf16>, x = %x : tensor<?x4x300xbf16>,
      h_pre = %h_post : tensor<?x4xf32>, d_x_in = %d_x : tensor<?x4x300xf32>) <layout = nC>
    -> (d_x : tensor<?x4x300xf32>)
  return %d_f, %d_h_post, %d_h_res, %all, %d_bias
    : tensor<?x300xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x300xf32>, tensor<300xf32>
}

// A dropout of the branch, forwards and in the gradients.
// CHECK: entry bf16_dropout
// CHECK-NEXT: result0: verified
func.func @bf16_dropout(%f: tensor<?x64xbf16>, %bias: tensor<64xbf16>, %h_post: tensor<?x4xf32>,
                        %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>)
    -> tensor<?x4x64xbf16> {
  %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.25, stream = 9> -> (out : tensor<?x4x64xbf16>)
  return %out : tensor<?x4x64xbf16>
}

// CHECK: entry odd_dropout_bwd
// CHECK-COUNT-4: verified
func.func @odd_dropout_bwd(%d_out: tensor<?x33x3xf32>, %f: tensor<?x33xf32>, %h_post: tensor<?x3xf32>,
                           %x: tensor<?x33x3xf32>, %h_res: tensor<?x3x3xf32>, %seed: tensor<2xi64>)
    -> (tensor<?x33xf32>, tensor<?x3xf32>, tensor<?x3x3xf32>, tensor<?x33x3xf32>) {
  %d_f, %d_h_post, %d_h_res, %d_x = mhc.post_bwd(d_out = %d_out : tensor<?x33x3xf32>, f = %f : tensor<?x33xf32>,
      h_post = %h_post : tensor<?x3xf32>, x = %x : tensor<?x33x3xf32>, h_res = %h_res : tensor<?x3x3xf32>,
      seed = %seed : tensor<2xi64>) <layout = Cn, orient = oi, rate = 0.5, stream = 1>
    -> (d_f : tensor<?x33xf32>, d_h_post : tensor<?x3xf32>, d_h_res : tensor<?x3x3xf32>, d_x : tensor<?x33x3xf32>)
  return %d_f, %d_h_post, %d_h_res, %d_x : tensor<?x33xf32>, tensor<?x3xf32>, tensor<?x3x3xf32>, tensor<?x33x3xf32>
}
