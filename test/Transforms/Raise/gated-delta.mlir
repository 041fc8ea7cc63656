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

// CHECK-LABEL: @left_boundary
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}left_boundary = %arg4 : tensor<3x2x128xf32>) <{{.*}}seq_layout = MbD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @left_boundary(%qkvzba: tensor<?x2x200xf32>, %conv_weight: tensor<128x4xf32>, %A_log: tensor<4xf32>,
                         %dt_bias: tensor<4xf32>, %left_boundary: tensor<3x2x128xf32>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4xf32>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x200xf32>,
      conv_weight = %conv_weight : tensor<128x4xf32>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>, left_boundary = %left_boundary : tensor<3x2x128xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf32>, key : tensor<2x?x4x16xf32>, value : tensor<2x?x4x16xf32>,
        gate : tensor<2x?x4x16xf32>, beta : tensor<2x?x4xf32>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>,
      tensor<2x?x4x16xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @left_boundary_and_bias_in_bf16
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}left_boundary = %arg5 : tensor<2x2x128xbf16>) <{{.*}}seq_layout = bMD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @left_boundary_and_bias_in_bf16(%qkvzba: tensor<2x12x200xbf16>, %conv_weight: tensor<128x3xbf16>,
                                          %conv_bias: tensor<128xbf16>, %A_log: tensor<4xf32>,
                                          %dt_bias: tensor<4xf32>, %left_boundary: tensor<2x2x128xbf16>)
    -> (tensor<2x12x4x16xbf16>, tensor<2x12x4x16xbf16>, tensor<2x12x4x16xbf16>, tensor<2x12x4x16xbf16>,
        tensor<2x12x4xbf16>, tensor<2x12x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<2x12x200xbf16>,
      conv_weight = %conv_weight : tensor<128x3xbf16>, conv_bias = %conv_bias : tensor<128xbf16>,
      A_log = %A_log : tensor<4xf32>, dt_bias = %dt_bias : tensor<4xf32>,
      left_boundary = %left_boundary : tensor<2x2x128xbf16>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<2x12x4x16xbf16>, key : tensor<2x12x4x16xbf16>, value : tensor<2x12x4x16xbf16>,
        gate : tensor<2x12x4x16xbf16>, beta : tensor<2x12x4xbf16>, g : tensor<2x12x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x12x4x16xbf16>, tensor<2x12x4x16xbf16>,
      tensor<2x12x4x16xbf16>, tensor<2x12x4x16xbf16>, tensor<2x12x4xbf16>, tensor<2x12x4xf32>
}

// CHECK-LABEL: @no_norm
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}<num_key_heads = 2, qk_l2norm = false
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @no_norm(%qkvzba: tensor<?x2x200xf32>, %conv_weight: tensor<128x4xf32>, %A_log: tensor<4xf32>,
                   %dt_bias: tensor<4xf32>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4xf32>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x200xf32>,
      conv_weight = %conv_weight : tensor<128x4xf32>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 2, qk_l2norm = false, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf32>, key : tensor<2x?x4x16xf32>, value : tensor<2x?x4x16xf32>,
        gate : tensor<2x?x4x16xf32>, beta : tensor<2x?x4xf32>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>,
      tensor<2x?x4x16xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @no_norm_behind_a_boundary
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}<num_key_heads = 1, qk_l2norm = false
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @no_norm_behind_a_boundary(%qkvzba: tensor<?x2x168xf32>, %conv_weight: tensor<96x8xf32>,
                                     %conv_bias: tensor<96xf32>, %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>,
                                     %left_boundary: tensor<7x2x96xf32>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4xf32>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x168xf32>,
      conv_weight = %conv_weight : tensor<96x8xf32>, conv_bias = %conv_bias : tensor<96xf32>,
      A_log = %A_log : tensor<4xf32>, dt_bias = %dt_bias : tensor<4xf32>,
      left_boundary = %left_boundary : tensor<7x2x96xf32>)
    <num_key_heads = 1, qk_l2norm = false, l2_eps = 1.0e-06, softplus_threshold = 5.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf32>, key : tensor<2x?x4x16xf32>, value : tensor<2x?x4x16xf32>,
        gate : tensor<2x?x4x16xf32>, beta : tensor<2x?x4xf32>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>,
      tensor<2x?x4x16xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @no_norm_and_as_many_heads
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}<num_key_heads = 4, qk_l2norm = false
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @no_norm_and_as_many_heads(%qkvzba: tensor<?x2x264xf16>, %conv_weight: tensor<192x4xf16>,
                                     %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>)
    -> (tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4xf16>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x264xf16>,
      conv_weight = %conv_weight : tensor<192x4xf16>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 4, qk_l2norm = false, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf16>, key : tensor<2x?x4x16xf16>, value : tensor<2x?x4x16xf16>,
        gate : tensor<2x?x4x16xf16>, beta : tensor<2x?x4xf16>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>,
      tensor<2x?x4x16xf16>, tensor<2x?x4xf16>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @one_tap
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}conv_weight = %arg1 : tensor<128x1xf32>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @one_tap(%qkvzba: tensor<?x2x200xf32>, %conv_weight: tensor<128x1xf32>, %A_log: tensor<4xf32>,
                   %dt_bias: tensor<4xf32>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4xf32>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x200xf32>,
      conv_weight = %conv_weight : tensor<128x1xf32>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf32>, key : tensor<2x?x4x16xf32>, value : tensor<2x?x4x16xf32>,
        gate : tensor<2x?x4x16xf32>, beta : tensor<2x?x4xf32>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>,
      tensor<2x?x4x16xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// CHECK-LABEL: @one_tap_with_a_bias
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}conv_weight = %arg1 : tensor<128x1xf16>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @one_tap_with_a_bias(%qkvzba: tensor<2x12x200xf16>, %conv_weight: tensor<128x1xf16>,
                               %conv_bias: tensor<128xf16>, %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>)
    -> (tensor<2x12x4x16xf16>, tensor<2x12x4x16xf16>, tensor<2x12x4x16xf16>, tensor<2x12x4x16xf16>,
        tensor<2x12x4xf16>, tensor<2x12x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<2x12x200xf16>,
      conv_weight = %conv_weight : tensor<128x1xf16>, conv_bias = %conv_bias : tensor<128xf16>,
      A_log = %A_log : tensor<4xf32>, dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<2x12x4x16xf16>, key : tensor<2x12x4x16xf16>, value : tensor<2x12x4x16xf16>,
        gate : tensor<2x12x4x16xf16>, beta : tensor<2x12x4xf16>, g : tensor<2x12x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x12x4x16xf16>, tensor<2x12x4x16xf16>, tensor<2x12x4x16xf16>,
      tensor<2x12x4x16xf16>, tensor<2x12x4xf16>, tensor<2x12x4xf32>
}

// CHECK-LABEL: @eight_taps
// CHECK-NEXT: mhc.pre_gated_delta_rule({{.*}}conv_weight = %arg1 : tensor<128x8xf16>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @eight_taps(%qkvzba: tensor<?x2x200xf16>, %conv_weight: tensor<128x8xf16>, %A_log: tensor<4xf32>,
                      %dt_bias: tensor<4xf32>)
    -> (tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4xf16>,
        tensor<2x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x2x200xf16>,
      conv_weight = %conv_weight : tensor<128x8xf16>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x4x16xf16>, key : tensor<2x?x4x16xf16>, value : tensor<2x?x4x16xf16>,
        gate : tensor<2x?x4x16xf16>, beta : tensor<2x?x4xf16>, g : tensor<2x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>, tensor<2x?x4x16xf16>,
      tensor<2x?x4x16xf16>, tensor<2x?x4xf16>, tensor<2x?x4xf32>
}
