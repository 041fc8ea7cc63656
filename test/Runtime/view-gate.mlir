// A gate that loops read where it lies: the numbers of the unfused program, forward and backward, the kernel without the
// bytes of z, and no copy of it elsewhere.
// RUN: mhcc %s --grad=layer --verify | FileCheck %s
// RUN: mhcc %s --grad=layer --explain | FileCheck %s --check-prefix=BYTES
// RUN: mhcc %s --compile-to=bufferize | FileCheck %s --check-prefix=BUFFERS

// CHECK: entry layer
// CHECK-NEXT: y: verified
// CHECK: entry layer_grad
// CHECK-NEXT: y: verified
// CHECK: d_x: verified
// CHECK: entry token_first
// CHECK-NEXT: y: verified

// BYTES-LABEL: @layer,
// BYTES: bare front end {{.*}} 320 {{ *}}320
// BYTES-LABEL: @layer_grad,
// BYTES: bare front end {{.*}} 320 {{ *}}320
// BYTES-NEXT: gradient

// BUFFERS-LABEL: func.func @layer
// BUFFERS: %[[PART:[^ ]*]] = memref.subview %arg0[0, 0, 28]
// BUFFERS: %[[Z:[^ ]*]] = memref.expand_shape %[[PART]]
// BUFFERS-NOT: copy
// BUFFERS: linalg.generic {{.*}} ins(%[[Z]],
// BUFFERS-NOT: copy
// BUFFERS-LABEL: func.func @token_first
// BUFFERS-NOT: copy
func.func @layer(%x: tensor<1x?x44xf32> {mhc.name = "x"}, %w: tensor<28x4xf32>, %A: tensor<2xf32>)
    -> (tensor<1x?x2x6xf32> {mhc.name = "y"}) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x44xf32>,
      conv_weight = %w : tensor<28x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<1x?x2x8xf32>, key : tensor<1x?x2x8xf32>, value : tensor<1x?x2x6xf32>, gate : tensor<1x?x2x6xf32>,
        beta : tensor<1x?x2xf32>, g : tensor<1x?x2xf32>)
  %silu = mhc.silu %gate : tensor<1x?x2x6xf32>
  %y = arith.mulf %silu, %value : tensor<1x?x2x6xf32>
  return %y : tensor<1x?x2x6xf32>
}

func.func @token_first(%x: tensor<?x3x44xbf16>, %w: tensor<28x4xbf16>, %A: tensor<2xf32>)
    -> (tensor<3x?x2x6xbf16> {mhc.name = "y"}) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x3x44xbf16>,
      conv_weight = %w : tensor<28x4xbf16>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<3x?x2x8xbf16>, key : tensor<3x?x2x8xbf16>, value : tensor<3x?x2x6xbf16>,
        gate : tensor<3x?x2x6xbf16>, beta : tensor<3x?x2xbf16>, g : tensor<3x?x2xf32>)
  %silu = mhc.silu %gate : tensor<3x?x2x6xbf16>
  %y = arith.mulf %silu, %value : tensor<3x?x2x6xbf16>
  return %y : tensor<3x?x2x6xbf16>
}
