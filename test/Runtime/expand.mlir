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
