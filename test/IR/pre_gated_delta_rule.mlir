// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// Sequence first, with all operands that may be absent, and kernels of its own for each branch.
// CHECK-LABEL: @bounded
// CHECK: %query, %key, %value, %gate, %beta, %g, %silu = mhc.pre_gated_delta_rule(
// CHECK-SAME: conv_bias = %{{.*}} : tensor<32xbf16>, {{.*}} left_boundary = %{{.*}} : tensor<?x3x32xbf16>)
// CHECK-SAME: <num_key_heads = 1, qk_l2norm = false, l2_eps = 0.0, softplus_threshold = 2.0e+01, seq_layout = bMD, impl = streamed>
// CHECK-SAME: silu : tensor<?x?x16xbf16>
func.func @bounded(%x: tensor<?x?x52xbf16>, %w: tensor<32x4xf32>, %bias: tensor<32xbf16>, %A: tensor<2xf32>,
                   %left: tensor<?x3x32xbf16>) -> tensor<?x?x2xf32> {
  %query, %key, %value, %gate, %beta, %g, %silu = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x?x52xbf16>,
      conv_weight = %w : tensor<32x4xf32>, conv_bias = %bias : tensor<32xbf16>, A_log = %A : tensor<2xf32>,
      dt_bias = %A : tensor<2xf32>, left_boundary = %left : tensor<?x3x32xbf16>)
    <num_key_heads = 1, qk_l2norm = false, l2_eps = 0.0, softplus_threshold = 2.0e+01, seq_layout = bMD, impl = streamed>
    -> (query : tensor<?x?x2x8xbf16>, key : tensor<?x?x2x8xbf16>, value : tensor<?x?x2x8xbf16>,
        gate : tensor<?x?x2x8xbf16>, beta : tensor<?x?x2xbf16>, g : tensor<?x?x2xf32>, silu : tensor<?x?x16xbf16>)
  return %g : tensor<?x?x2xf32>
}

// The results that are there keep their order.
// CHECK-LABEL: @without_gate
// CHECK: %query, %key, %value, %beta, %g, %silu = mhc.pre_gated_delta_rule(
// CHECK-SAME: -> (query : {{.*}}, key : {{.*}}, value : {{.*}}, beta : {{.*}}, g : {{.*}}, silu : tensor<1x6x16xbf16>)
// CHECK: mhc.pre_gated_delta_rule_bwd({{.*}}d_value = %{{[^ ]*}} : tensor<1x6x2x8xbf16>, d_beta =
func.func @without_gate(%x: tensor<6x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>) -> tensor<6x1x52xbf16> {
  %query, %key, %value, %beta, %g, %silu = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<6x1x52xbf16>,
      conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = MbD>
    -> (query : tensor<1x6x2x8xbf16>, key : tensor<1x6x2x8xbf16>, value : tensor<1x6x2x8xbf16>,
        beta : tensor<1x6x2xbf16>, g : tensor<1x6x2xf32>, silu : tensor<1x6x16xbf16>)
  %d_qkvzba = mhc.pre_gated_delta_rule_bwd(d_query = %query : tensor<1x6x2x8xbf16>,
      d_key = %key : tensor<1x6x2x8xbf16>, d_value = %value : tensor<1x6x2x8xbf16>, d_beta = %beta : tensor<1x6x2xbf16>,
      d_g = %g : tensor<1x6x2xf32>, qkvzba = %x : tensor<6x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>,
      A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = MbD>
    -> (d_qkvzba : tensor<6x1x52xbf16>)
  return %d_qkvzba : tensor<6x1x52xbf16>
}

// CHECK-LABEL: @packed
// CHECK: mhc.sequence_starts %{{.*}}[%{{.*}}] : tensor<?xi32> -> tensor<?xi32>
// CHECK: mhc.shift %{{.*}}, %{{.*}} dim = 1 by = -2 : tensor<1x?x8xf32>, tensor<?xi32>
// CHECK: mhc.shift %{{.*}} dim = 0 by = 9 : tensor<6x8xf32>
func.func @packed(%x: tensor<1x?x8xf32>, %cu: tensor<?xi32>, %M: index, %y: tensor<6x8xf32>) {
  %starts = mhc.sequence_starts %cu[%M] : tensor<?xi32> -> tensor<?xi32>
  %0 = mhc.shift %x, %starts dim = 1 by = -2 : tensor<1x?x8xf32>, tensor<?xi32>
  %1 = mhc.shift %y dim = 0 by = 9 : tensor<6x8xf32>
  return
}
