// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 | FileCheck %s

// CHECK: entry expand_bf16
// CHECK-NEXT: result0: verified
func.func @expand_bf16(%x: tensor<?x64xbf16>) -> tensor<?x4x64xbf16> {
  %streams = mhc.expand(x = %x : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  return %streams : tensor<?x4x64xbf16>
}

// CHECK: entry expand_odd_f16
// CHECK-NEXT: result0: verified
func.func @expand_odd_f16(%x: tensor<?x33xf16>) -> tensor<?x33x3xf16> {
  %streams = mhc.expand(x = %x : tensor<?x33xf16>) <layout = Cn> -> (streams : tensor<?x33x3xf16>)
  return %streams : tensor<?x33x3xf16>
}

// CHECK: entry expand_f32
// CHECK-NEXT: result0: verified
func.func @expand_f32(%x: tensor<?x129xf32>) -> tensor<?x5x129xf32> {
  %streams = mhc.expand(x = %x : tensor<?x129xf32>) <layout = nC> -> (streams : tensor<?x5x129xf32>)
  return %streams : tensor<?x5x129xf32>
}

// CHECK: entry contract_mean_bf16
// CHECK-NEXT: result0: verified
func.func @contract_mean_bf16(%x: tensor<?x4x64xbf16>) -> tensor<?x64xbf16> {
  %out = mhc.contract(x = %x : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// CHECK: entry contract_sum_odd_f16
// CHECK-NEXT: result0: verified
func.func @contract_sum_odd_f16(%x: tensor<?x33x3xf16>) -> tensor<?x33xf16> {
  %out = mhc.contract(x = %x : tensor<?x33x3xf16>) <layout = Cn, mode = sum> -> (out : tensor<?x33xf16>)
  return %out : tensor<?x33xf16>
}

// CHECK: entry contract_mean_f32
// CHECK-NEXT: result0: verified
func.func @contract_mean_f32(%x: tensor<?x129x5xf32>) -> tensor<?x129xf32> {
  %out = mhc.contract(x = %x : tensor<?x129x5xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x129xf32>)
  return %out : tensor<?x129xf32>
}

// The row stands for the streams; the reference writes them out.
// CHECK: entry equal_streams
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @equal_streams(%e: tensor<?x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>) {
  %u, %h_post, %h_res = mhc.pre(x = %e : tensor<?x64xbf16>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false, equal_x>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %e : tensor<?x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi, equal_x> -> (out : tensor<?x4x64xbf16>)
  return %u, %y : tensor<?x64xbf16>, tensor<?x4x64xbf16>
}

// A post that writes the mean.
// CHECK: entry post_mean_bf16
// CHECK-NEXT: result0: verified
func.func @post_mean_bf16(%f: tensor<?x300xbf16>, %h: tensor<?x4xf32>, %x: tensor<?x4x300xbf16>, %m: tensor<?x4x4xf32>)
    -> tensor<?x300xbf16> {
  %out = mhc.post(f = %f : tensor<?x300xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x300xbf16>,
      h_res = %m : tensor<?x4x4xf32>) <layout = nC, orient = oi, contracted = mean> -> (out : tensor<?x300xbf16>)
  return %out : tensor<?x300xbf16>
}
