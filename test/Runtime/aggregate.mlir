// The compiled kernel against the decomposition, in the float64 evaluator.
// RUN: mhcc %s --fuse=none --verify --size=d1=33 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=1 --size=d1=1 | FileCheck %s
// RUN: mhcc %s --fuse=none --verify --size=M=0 --size=d1=33 | FileCheck %s

// CHECK: entry bf16
// CHECK-NEXT: result0: verified
func.func @bf16(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u : tensor<?x64xbf16>
}

// CHECK: entry odd_f16
// CHECK-NEXT: result0: verified
func.func @odd_f16(%x: tensor<?x33x3xf16>, %h_pre: tensor<?x3xf32>) -> tensor<?x33xf16> {
  %u = mhc.aggregate(x = %x : tensor<?x33x3xf16>, h_pre = %h_pre : tensor<?x3xf32>) <layout = Cn>
    -> (u : tensor<?x33xf16>)
  return %u : tensor<?x33xf16>
}

// CHECK: entry f32_any_channels
// CHECK-NEXT: result0: verified
func.func @f32_any_channels(%x: tensor<?x8x?xf32>, %h_pre: tensor<?x8xf32>) -> tensor<?x?xf32> {
  %u = mhc.aggregate(x = %x : tensor<?x8x?xf32>, h_pre = %h_pre : tensor<?x8xf32>) <layout = nC>
    -> (u : tensor<?x?xf32>)
  return %u : tensor<?x?xf32>
}

// CHECK: entry one_stream
// CHECK-NEXT: result0: verified
func.func @one_stream(%x: tensor<?x7x1xf32>, %h_pre: tensor<?x1xf32>) -> tensor<?x7xf32> {
  %u = mhc.aggregate(x = %x : tensor<?x7x1xf32>, h_pre = %h_pre : tensor<?x1xf32>) <layout = Cn>
    -> (u : tensor<?x7xf32>)
  return %u : tensor<?x7xf32>
}

// CHECK: entry bwd_accumulates
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @bwd_accumulates(%d_u: tensor<?x300xbf16>, %x: tensor<?x4x300xbf16>, %h_pre: tensor<?x4xf32>,
                           %sum: tensor<?x4x300xf32>) -> (tensor<?x4x300xbf16>, tensor<?x4xf32>) {
  %d_x, %d_h_pre = mhc.aggregate_bwd(d_u = %d_u : tensor<?x300xbf16>, x = %x : tensor<?x4x300xbf16>,
      h_pre = %h_pre : tensor<?x4xf32>, d_x_in = %sum : tensor<?x4x300xf32>) <layout = nC>
    -> (d_x : tensor<?x4x300xbf16>, d_h_pre : tensor<?x4xf32>)
  return %d_x, %d_h_pre : tensor<?x4x300xbf16>, tensor<?x4xf32>
}
