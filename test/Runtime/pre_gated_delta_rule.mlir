// The compiled kernels against the float64 evaluator, forward and backward, in all three implementations. Random cuts are
// evenly spaced, with an empty sequence.
// RUN: mhcc %s --fuse=none --grad=dense --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --grad=dense --verify --gdn-impl=streamed | FileCheck %s
// RUN: mhcc %s --fuse=none --grad=dense --verify --gdn-impl=ref | FileCheck %s
// RUN: mhcc %s --fuse=none --grad=packed --verify --size=M=3 | FileCheck %s --check-prefix=PACKED
// RUN: mhcc %s --fuse=none --grad=packed --verify --gdn-impl=ref | FileCheck %s --check-prefix=PACKED

// CHECK: entry dense
// CHECK-COUNT-6: : verified
// CHECK: entry dense_grad
// CHECK-COUNT-6: : verified
// CHECK-DAG: d_x: verified
// CHECK-DAG: d_conv_weight: verified
// CHECK-DAG: d_conv_bias: verified
// CHECK-DAG: d_A_log: verified
// CHECK-DAG: d_dt_bias: verified
// CHECK-DAG: d_left: verified
// CHECK: entry packed
// CHECK-COUNT-6: : verified
func.func @dense(%x: tensor<?x2x44xf32> {mhc.name = "x"}, %w: tensor<28x4xf32> {mhc.name = "conv_weight"},
                 %bias: tensor<28xf32> {mhc.name = "conv_bias"}, %A: tensor<2xf32> {mhc.name = "A_log"},
                 %dt: tensor<2xf32> {mhc.name = "dt_bias"}, %left: tensor<3x2x28xf32> {mhc.name = "left"})
    -> (tensor<2x?x2x8xf32>, tensor<2x?x2x8xf32>, tensor<2x?x2x6xf32>, tensor<2x?x2x6xf32>, tensor<2x?x2xf32>,
        tensor<2x?x2xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x2x44xf32>,
      conv_weight = %w : tensor<28x4xf32>, conv_bias = %bias : tensor<28xf32>, A_log = %A : tensor<2xf32>,
      dt_bias = %dt : tensor<2xf32>, left_boundary = %left : tensor<3x2x28xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x2x8xf32>, key : tensor<2x?x2x8xf32>, value : tensor<2x?x2x6xf32>, gate : tensor<2x?x2x6xf32>,
        beta : tensor<2x?x2xf32>, g : tensor<2x?x2xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x2x8xf32>, tensor<2x?x2x8xf32>, tensor<2x?x2x6xf32>,
      tensor<2x?x2x6xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>
}

// PACKED: entry packed
// PACKED-COUNT-6: : verified
// PACKED: entry packed_grad
// PACKED-COUNT-6: : verified
// PACKED: d_x: verified
// PACKED: d_conv_weight: verified
func.func @packed(%x: tensor<1x?x44xbf16> {mhc.name = "x"}, %w: tensor<28x4xbf16> {mhc.name = "conv_weight"},
                  %A: tensor<2xf32> {mhc.name = "A_log"}, %cu: tensor<?xi32> {mhc.name = "cu_seqlens"})
    -> (tensor<1x?x2x8xbf16>, tensor<1x?x2x8xbf16>, tensor<1x?x2x6xbf16>, tensor<1x?x2x6xbf16>, tensor<1x?x2xbf16>,
        tensor<1x?x2xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x44xbf16>,
      conv_weight = %w : tensor<28x4xbf16>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>,
      cu_seqlens = %cu : tensor<?xi32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x6xbf16>,
        gate : tensor<1x?x2x6xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<1x?x2x8xbf16>, tensor<1x?x2x8xbf16>, tensor<1x?x2x6xbf16>,
      tensor<1x?x2x6xbf16>, tensor<1x?x2xbf16>, tensor<1x?x2xf32>
}

// A gradient that nobody wants is not computed, and the others have the numbers that they have beside it.
// CHECK: entry weights
// CHECK-NEXT: d_conv_weight: verified
// CHECK-NEXT: d_dt_bias: verified
func.func @weights(%dq: tensor<1x?x2x8xbf16>, %dv: tensor<1x?x2x6xbf16>, %db: tensor<1x?x2xbf16>, %dg: tensor<1x?x2xf32>,
                   %x: tensor<?x1x44xbf16>, %w: tensor<28x4xf32>, %A: tensor<2xf32>)
    -> (tensor<28x4xf32> {mhc.name = "d_conv_weight"}, tensor<2xf32> {mhc.name = "d_dt_bias"}) {
  %d_conv_weight, %d_dt_bias = mhc.pre_gated_delta_rule_bwd(d_query = %dq : tensor<1x?x2x8xbf16>,
      d_key = %dq : tensor<1x?x2x8xbf16>, d_value = %dv : tensor<1x?x2x6xbf16>, d_gate = %dv : tensor<1x?x2x6xbf16>,
      d_beta = %db : tensor<1x?x2xbf16>, d_g = %dg : tensor<1x?x2xf32>, qkvzba = %x : tensor<?x1x44xbf16>,
      conv_weight = %w : tensor<28x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = false, l2_eps = 0.0, softplus_threshold = 20.0, seq_layout = MbD>
    -> (d_conv_weight : tensor<28x4xf32>, d_dt_bias : tensor<2xf32>)
  return %d_conv_weight, %d_dt_bias : tensor<28x4xf32>, tensor<2xf32>
}
