// RUN: mhc-opt %s -mhc-decompose -mhc-raise | FileCheck %s

// The front end of a gated delta net in the leaf ops that define it is the op again.

// CHECK-LABEL: @token_first
// CHECK-NEXT: %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<?x2x200xf32>, conv_weight = %arg1 : tensor<128x4xf32>, conv_bias = %arg2 : tensor<128xf32>, A_log = %arg3 : tensor<4xf32>, dt_bias = %arg4 : tensor<4xf32>) <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = MbD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @token_first(%qkvzba: tensor<?x2x200xf32>, %conv_weight: tensor<128x4xf32>, %conv_bias: tensor<128xf32>,
                       %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4xf32>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x200xf32>,
      conv_weight = %conv_weight : tensor<128x4xf32>, conv_bias = %conv_bias : tensor<128xf32>,
      A_log = %A_log : tensor<4xf32>, dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf32>, key : tensor<2x?x4x16xf32>, value : tensor<2x?x4x16xf32>,
        gate : tensor<2x?x4x16xf32>, beta : tensor<2x?x4xf32>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>,
      tensor<2x?x4x16xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @sequence_first_in_bf16
// CHECK-NEXT: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<1x?x100xbf16>, conv_weight = %arg1 : tensor<64x3xbf16>
// CHECK-SAME: softplus_threshold = 1.5e+01, seq_layout = bMD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @sequence_first_in_bf16(%qkvzba: tensor<1x?x100xbf16>, %conv_weight: tensor<64x3xbf16>,
                                  %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>,
        tensor<1x?x2xbf16>, tensor<1x?x2xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<1x?x100xbf16>,
      conv_weight = %conv_weight : tensor<64x3xbf16>, A_log = %A_log : tensor<2xf32>, dt_bias = %dt_bias : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-05, softplus_threshold = 15.0, seq_layout = bMD>
    -> (query : tensor<1x?x2x16xbf16>, key : tensor<1x?x2x16xbf16>, value : tensor<1x?x2x16xbf16>,
        gate : tensor<1x?x2x16xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>,
      tensor<1x?x2x16xbf16>, tensor<1x?x2xbf16>, tensor<1x?x2xf32>
}
