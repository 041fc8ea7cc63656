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
