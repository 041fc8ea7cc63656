// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @channels(%x: tensor<?x1x56xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{dimension 'D' is 56 in 'qkvzba'; needed 52 = E + hv*dv + 2*hv}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x56xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @convolved(%x: tensor<?x1x50xbf16>, %w: tensor<30x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{dimension 'E' is 30 in 'conv_weight'; needed 32 = 2*num_key_heads*dk + hv*dv}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x50xbf16>, conv_weight = %w : tensor<30x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @heads(%x: tensor<?x1x86xbf16>, %w: tensor<56x4xf32>, %A: tensor<3xf32>, %dt: tensor<3xf32>) {
  // expected-error @below {{has 3 value heads and 'num_key_heads' 2; needed a multiple of it}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x86xbf16>, conv_weight = %w : tensor<56x4xf32>, A_log = %A : tensor<3xf32>, dt_bias = %dt : tensor<3xf32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x3x8xbf16>, key : tensor<1x?x3x8xbf16>, value : tensor<1x?x3x8xbf16>, gate : tensor<1x?x3x8xbf16>, beta : tensor<1x?x3xbf16>, g : tensor<1x?x3xf32>)
  return
}

// -----

func.func @no_heads(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{attribute 'num_key_heads' failed to satisfy constraint: 64-bit signless integer attribute that is 1 to 65536 (found 0 : i64)}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 0, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @taps(%x: tensor<?x1x52xbf16>, %w: tensor<32x9xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{dimension 'k' is 9 in 'conv_weight'; needed 1 to 8}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x9xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @batch_of_packed(%x: tensor<?x2x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>, %cu: tensor<?xi32>) {
  // expected-error @below {{has 'cu_seqlens' and dimension 'b' is 2; needed 1}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x2x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>, cu_seqlens = %cu : tensor<?xi32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<2x?x2x8xbf16>, key : tensor<2x?x2x8xbf16>, value : tensor<2x?x2x8xbf16>, gate : tensor<2x?x2x8xbf16>, beta : tensor<2x?x2xbf16>, g : tensor<2x?x2xf32>)
  return
}

// -----

func.func @open_batch_of_packed(%x: tensor<?x?x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>, %cu: tensor<?xi32>) {
  // expected-error @below {{has 'cu_seqlens' and dimension 'b' is dynamic; needed 1}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x?x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>, cu_seqlens = %cu : tensor<?xi32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<?x?x2x8xbf16>, key : tensor<?x?x2x8xbf16>, value : tensor<?x?x2x8xbf16>, gate : tensor<?x?x2x8xbf16>, beta : tensor<?x?x2xbf16>, g : tensor<?x?x2xf32>)
  return
}

// -----

func.func @packed_boundary(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>, %cu: tensor<?xi32>, %left: tensor<3x1x32xbf16>) {
  // expected-error @below {{has 'cu_seqlens' and 'left_boundary'; needed one of them}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>, cu_seqlens = %cu : tensor<?xi32>, left_boundary = %left : tensor<3x1x32xbf16>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @short_boundary(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>, %left: tensor<2x1x32xbf16>) {
  // expected-error @below {{dimension 'p' is 2 in 'left_boundary'; needed 3 = k - 1}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>, left_boundary = %left : tensor<2x1x32xbf16>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @boundary_type(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>, %left: tensor<3x1x32xf32>) {
  // expected-error @below {{'left_boundary' has elements of type 'f32'; needed 'bf16', the type of 'qkvzba'}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>, left_boundary = %left : tensor<3x1x32xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @open_taps(%x: tensor<?x1x52xbf16>, %w: tensor<32x?xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{dimension 'k' is dynamic in 'conv_weight'; needed a static size}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x?xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @weight_type(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf16>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{'conv_weight' has elements of type 'f16'; needed 'bf16', the type of 'qkvzba', or f32}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf16>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @eps(%x: tensor<?x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>, %dt: tensor<2xf32>) {
  // expected-error @below {{attribute 'l2_eps' failed to satisfy constraint: 64-bit float attribute that is finite and at least 0 (found -1.000000e+00 : f64)}}
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %dt : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = -1.0, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x8xbf16>, key : tensor<1x?x2x8xbf16>, value : tensor<1x?x2x8xbf16>, gate : tensor<1x?x2x8xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return
}

// -----

func.func @bias_gradient(%q: tensor<1x6x2x8xbf16>, %v: tensor<1x6x2x8xbf16>, %b: tensor<1x6x2xbf16>, %g: tensor<1x6x2xf32>,
    %x: tensor<6x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>) {
  // expected-error @below {{has 'd_conv_bias' but no 'conv_bias'}}
  %d_qkvzba, %more = mhc.pre_gated_delta_rule_bwd(d_query = %q : tensor<1x6x2x8xbf16>, d_key = %q : tensor<1x6x2x8xbf16>,
      d_value = %v : tensor<1x6x2x8xbf16>, d_gate = %v : tensor<1x6x2x8xbf16>, d_beta = %b : tensor<1x6x2xbf16>,
      d_g = %g : tensor<1x6x2xf32>, qkvzba = %x : tensor<6x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>,
      A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (d_qkvzba : tensor<6x1x52xbf16>, d_conv_bias : tensor<32xf32>)
  return
}

// -----

func.func @boundary_gradient(%q: tensor<1x6x2x8xbf16>, %v: tensor<1x6x2x8xbf16>, %b: tensor<1x6x2xbf16>, %g: tensor<1x6x2xf32>,
    %x: tensor<6x1x52xbf16>, %w: tensor<32x4xf32>, %A: tensor<2xf32>) {
  // expected-error @below {{has 'd_left_boundary' but no 'left_boundary'}}
  %d_qkvzba, %more = mhc.pre_gated_delta_rule_bwd(d_query = %q : tensor<1x6x2x8xbf16>, d_key = %q : tensor<1x6x2x8xbf16>,
      d_value = %v : tensor<1x6x2x8xbf16>, d_gate = %v : tensor<1x6x2x8xbf16>, d_beta = %b : tensor<1x6x2xbf16>,
      d_g = %g : tensor<1x6x2xf32>, qkvzba = %x : tensor<6x1x52xbf16>, conv_weight = %w : tensor<32x4xf32>,
      A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (d_qkvzba : tensor<6x1x52xbf16>, d_left_boundary : tensor<3x1x32xbf16>)
  return
}

// -----

func.func @starts(%x: tensor<6x8xf32>, %starts: tensor<8xi32>) {
  // expected-error @below {{has starts of type 'tensor<8xi32>'; needed the size of dimension 0 of 'tensor<6x8xf32>'}}
  %out = mhc.shift %x, %starts dim = 0 by = 1 : tensor<6x8xf32>, tensor<8xi32>
  return
}

// -----

func.func @dim(%x: tensor<6x8xf32>) {
  // expected-error @below {{has dim 2; the operand has rank 2}}
  %out = mhc.shift %x dim = 2 by = 1 : tensor<6x8xf32>
  return
}

// -----

func.func @size(%cu: tensor<3xi32>) {
  // expected-error @below {{has a result of type 'tensor<?xi32>' without a size; needed one where the type leaves it open}}
  %starts = mhc.sequence_starts %cu : tensor<3xi32> -> tensor<?xi32>
  return
}

// -----

func.func @far(%x: tensor<6x8xf32>) {
  // expected-error @below {{attribute 'by' failed to satisfy constraint: 64-bit signless integer attribute that is -1048576 to 1048576 (found -9223372036854775808 : i64)}}
  %out = mhc.shift %x dim = 0 by = -9223372036854775808 : tensor<6x8xf32>
  return
}
