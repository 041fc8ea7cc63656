// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// One op computes the gradients that are wanted; cotangents that nobody has are zeros, but for that of the gate.
// CHECK-LABEL: func.func @f_bwd
// CHECK: %[[ZEROS:[^ ]*]] = arith.constant dense<0.000000e+00> : tensor<1x6x2x16xf32>
// CHECK: %d_qkvzba, %d_conv_weight, %d_A_log = mhc.pre_gated_delta_rule_bwd(d_query = %[[ZEROS]] : tensor<1x6x2x16xf32>,
// CHECK-NOT: d_gate
// CHECK-SAME: d_g = %{{[^ ]*}} : tensor<1x6x2xf32>, qkvzba = %{{[^ ]*}} : tensor<6x1x100xf32>,
// CHECK-SAME: seq_layout = MbD> -> (d_qkvzba : tensor<6x1x100xf32>, d_conv_weight : tensor<64x4xf32>, d_A_log : tensor<2xf32>)
func.func @f(%x: tensor<6x1x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32> {mhc.no_grad})
    -> (tensor<1x6x2x16xf32>, tensor<1x6x2xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<6x1x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x6x2x16xf32>, key : tensor<1x6x2x16xf32>, value : tensor<1x6x2x16xf32>,
        gate : tensor<1x6x2x16xf32>, beta : tensor<1x6x2xf32>, g : tensor<1x6x2xf32>)
  return %value, %g : tensor<1x6x2x16xf32>, tensor<1x6x2xf32>
}

// -----

// Where something beside the gradient reads u, it goes through the chain.
// CHECK-LABEL: func.func @f_bwd
// CHECK-NOT: mhc.pre_gated_delta_rule_bwd
// CHECK: mhc.shift %{{.*}} dim = 1 by = -3
func.func @f(%x: tensor<6x1x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>) -> tensor<1x6x32xf32> {
  %query, %key, %value, %gate, %beta, %g, %silu = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<6x1x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x6x2x16xf32>, key : tensor<1x6x2x16xf32>, value : tensor<1x6x2x16xf32>,
        gate : tensor<1x6x2x16xf32>, beta : tensor<1x6x2xf32>, g : tensor<1x6x2xf32>, silu : tensor<1x6x32xf32>)
  return %silu : tensor<1x6x32xf32>
}
