// The front end of a gated delta net layer in plain ops, as Qwen3-Next and Megatron-LM compute it: everything between the
// input projection and the recurrence (docs/math.md 3.11). 2 key heads and 4 value heads of 16 channels, bf16. The compiler
// makes one kernel of each function:
//
//   mhc-opt examples/gated_delta.mlir --mhc-raise --mhc-fuse
//   mhcc examples/gated_delta.mlir --grad=layer --verify --explain

// A batch of sequences of one length.
func.func @layer(%qkvzba: tensor<?x2x200xbf16> {mhc.name = "qkvzba"}, %conv_weight: tensor<128x4xbf16> {mhc.name =
      "conv_weight"},
    %A_log: tensor<4xf32> {mhc.name = "A_log"}, %dt_bias: tensor<4xf32> {mhc.name = "dt_bias"})
    -> (tensor<2x?x4x16xbf16> {mhc.name = "query"}, tensor<2x?x4x16xbf16> {mhc.name = "key"}, tensor<2x?x4x16xbf16>
      {mhc.name = "value"},
        tensor<2x?x4x16xbf16> {mhc.name = "gate"}, tensor<2x?x4xbf16> {mhc.name = "beta"}, tensor<2x?x4xf32>
      {mhc.name = "g"}) {
  %c0 = arith.constant 0 : index
  %eps = arith.constant 1.0e-06 : f32
  %twenty = arith.constant 2.0e+01 : f32
  %M = tensor.dim %qkvzba, %c0 : tensor<?x2x200xbf16>
  %x = mhc.transpose %qkvzba perm = [1, 0, 2] : tensor<?x2x200xbf16> -> tensor<2x?x200xbf16>

  // A causal convolution of the channels of q, k and v, each for itself; the last tap meets the token itself.
  %narrow = tensor.extract_slice %x[0, 0, 0] [2, %M, 128] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x128xbf16>
  %c = arith.extf %narrow : tensor<2x?x128xbf16> to tensor<2x?x128xf32>
  %weight = arith.extf %conv_weight : tensor<128x4xbf16> to tensor<128x4xf32>
  %c_0 = mhc.shift %c dim = 1 by = 3 : tensor<2x?x128xf32>
  %w_0 = tensor.extract_slice %weight[0, 0] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_0_each = mhc.broadcast %w_0[%M] dims = [2] : tensor<128xf32> -> tensor<2x?x128xf32>
  %term_0 = arith.mulf %c_0, %w_0_each : tensor<2x?x128xf32>
  %c_1 = mhc.shift %c dim = 1 by = 2 : tensor<2x?x128xf32>
  %w_1 = tensor.extract_slice %weight[0, 1] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_1_each = mhc.broadcast %w_1[%M] dims = [2] : tensor<128xf32> -> tensor<2x?x128xf32>
  %term_1 = arith.mulf %c_1, %w_1_each : tensor<2x?x128xf32>
  %sum_1 = arith.addf %term_0, %term_1 : tensor<2x?x128xf32>
  %c_2 = mhc.shift %c dim = 1 by = 1 : tensor<2x?x128xf32>
  %w_2 = tensor.extract_slice %weight[0, 2] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_2_each = mhc.broadcast %w_2[%M] dims = [2] : tensor<128xf32> -> tensor<2x?x128xf32>
  %term_2 = arith.mulf %c_2, %w_2_each : tensor<2x?x128xf32>
  %sum_2 = arith.addf %sum_1, %term_2 : tensor<2x?x128xf32>
  %w_3 = tensor.extract_slice %weight[0, 3] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_3_each = mhc.broadcast %w_3[%M] dims = [2] : tensor<128xf32> -> tensor<2x?x128xf32>
  %term_3 = arith.mulf %c, %w_3_each : tensor<2x?x128xf32>
  %sum_3 = arith.addf %sum_2, %term_3 : tensor<2x?x128xf32>
  %conv = arith.truncf %sum_3 : tensor<2x?x128xf32> to tensor<2x?x128xbf16>
  %u = mhc.silu %conv : tensor<2x?x128xbf16>

  // query: heads of length one, each repeated for the 2 value heads that it serves.
  %query_flat = tensor.extract_slice %u[0, 0, 0] [2, %M, 32] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x32xbf16>
  %query_heads = tensor.expand_shape %query_flat [[0], [1], [2, 3]] output_shape [2, %M, 2, 16] : tensor<2x?x32xbf16>
      into tensor<2x?x2x16xbf16>
  %query_wide = arith.extf %query_heads : tensor<2x?x2x16xbf16> to tensor<2x?x2x16xf32>
  %query_squares = arith.mulf %query_wide, %query_wide : tensor<2x?x2x16xf32>
  %query_sum = mhc.reduce sum %query_squares dims = [3] : tensor<2x?x2x16xf32> -> tensor<2x?x2xf32>
  %query_eps = tensor.splat %eps[%M] : tensor<2x?x2xf32>
  %query_safe = arith.addf %query_sum, %query_eps : tensor<2x?x2xf32>
  %query_scale = math.rsqrt %query_safe : tensor<2x?x2xf32>
  %query_scales = mhc.broadcast %query_scale dims = [0, 1, 2] : tensor<2x?x2xf32> -> tensor<2x?x2x16xf32>
  %query_unit = arith.mulf %query_wide, %query_scales : tensor<2x?x2x16xf32>
  %query_once = arith.truncf %query_unit : tensor<2x?x2x16xf32> to tensor<2x?x2x16xbf16>
  %query_each = mhc.broadcast %query_once dims = [0, 1, 2, 4] : tensor<2x?x2x16xbf16> -> tensor<2x?x2x2x16xbf16>
  %query = tensor.collapse_shape %query_each [[0], [1], [2, 3], [4]] : tensor<2x?x2x2x16xbf16> into
      tensor<2x?x4x16xbf16>

  // key: heads of length one, each repeated for the 2 value heads that it serves.
  %key_flat = tensor.extract_slice %u[0, 0, 32] [2, %M, 32] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x32xbf16>
  %key_heads = tensor.expand_shape %key_flat [[0], [1], [2, 3]] output_shape [2, %M, 2, 16] : tensor<2x?x32xbf16>
      into tensor<2x?x2x16xbf16>
  %key_wide = arith.extf %key_heads : tensor<2x?x2x16xbf16> to tensor<2x?x2x16xf32>
  %key_squares = arith.mulf %key_wide, %key_wide : tensor<2x?x2x16xf32>
  %key_sum = mhc.reduce sum %key_squares dims = [3] : tensor<2x?x2x16xf32> -> tensor<2x?x2xf32>
  %key_eps = tensor.splat %eps[%M] : tensor<2x?x2xf32>
  %key_safe = arith.addf %key_sum, %key_eps : tensor<2x?x2xf32>
  %key_scale = math.rsqrt %key_safe : tensor<2x?x2xf32>
  %key_scales = mhc.broadcast %key_scale dims = [0, 1, 2] : tensor<2x?x2xf32> -> tensor<2x?x2x16xf32>
  %key_unit = arith.mulf %key_wide, %key_scales : tensor<2x?x2x16xf32>
  %key_once = arith.truncf %key_unit : tensor<2x?x2x16xf32> to tensor<2x?x2x16xbf16>
  %key_each = mhc.broadcast %key_once dims = [0, 1, 2, 4] : tensor<2x?x2x16xbf16> -> tensor<2x?x2x2x16xbf16>
  %key = tensor.collapse_shape %key_each [[0], [1], [2, 3], [4]] : tensor<2x?x2x2x16xbf16> into tensor<2x?x4x16xbf16>

  // Values and the gate of the output: heads as they are.
  %value_flat = tensor.extract_slice %u[0, 0, 64] [2, %M, 64] [1, 1, 1] : tensor<2x?x128xbf16> to tensor<2x?x64xbf16>
  %value = tensor.expand_shape %value_flat [[0], [1], [2, 3]] output_shape [2, %M, 4, 16] : tensor<2x?x64xbf16> into
      tensor<2x?x4x16xbf16>
  %gate_flat = tensor.extract_slice %x[0, 0, 128] [2, %M, 64] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x64xbf16>
  %gate = tensor.expand_shape %gate_flat [[0], [1], [2, 3]] output_shape [2, %M, 4, 16] : tensor<2x?x64xbf16> into
      tensor<2x?x4x16xbf16>

  // beta, and g = -exp(A_log) * softplus(alpha + dt_bias).
  %beta_raw = tensor.extract_slice %x[0, 0, 192] [2, %M, 4] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x4xbf16>
  %beta = mhc.sigmoid %beta_raw : tensor<2x?x4xbf16>
  %alpha_raw = tensor.extract_slice %x[0, 0, 196] [2, %M, 4] [1, 1, 1] : tensor<2x?x200xbf16> to tensor<2x?x4xbf16>
  %alpha = arith.extf %alpha_raw : tensor<2x?x4xbf16> to tensor<2x?x4xf32>
  %dt_bias_each = mhc.broadcast %dt_bias[%M] dims = [2] : tensor<4xf32> -> tensor<2x?x4xf32>
  %p = arith.addf %alpha, %dt_bias_each : tensor<2x?x4xf32>
  %threshold = tensor.splat %twenty[%M] : tensor<2x?x4xf32>
  %is_large = arith.cmpf ogt, %p, %threshold : tensor<2x?x4xf32>
  %log = mhc.softplus %p : tensor<2x?x4xf32>
  %softplus = arith.select %is_large, %p, %log : tensor<2x?x4xi1>, tensor<2x?x4xf32>
  %exp = math.exp %A_log : tensor<4xf32>
  %rate = arith.negf %exp : tensor<4xf32>
  %rate_each = mhc.broadcast %rate[%M] dims = [2] : tensor<4xf32> -> tensor<2x?x4xf32>
  %g = arith.mulf %rate_each, %softplus : tensor<2x?x4xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>,
      tensor<2x?x4x16xbf16>, tensor<2x?x4x16xbf16>, tensor<2x?x4xbf16>, tensor<2x?x4xf32>
}

// Sequences of any length one behind the other, cut at cu_seqlens.
func.func @packed(%qkvzba: tensor<?x1x200xbf16> {mhc.name = "qkvzba"}, %conv_weight: tensor<128x4xbf16> {mhc.name =
      "conv_weight"},
    %A_log: tensor<4xf32> {mhc.name = "A_log"}, %dt_bias: tensor<4xf32> {mhc.name = "dt_bias"}, %cu_seqlens:
      tensor<?xi32> {mhc.name = "cu_seqlens"})
    -> (tensor<1x?x4x16xbf16> {mhc.name = "query"}, tensor<1x?x4x16xbf16> {mhc.name = "key"}, tensor<1x?x4x16xbf16>
      {mhc.name = "value"},
        tensor<1x?x4x16xbf16> {mhc.name = "gate"}, tensor<1x?x4xbf16> {mhc.name = "beta"}, tensor<1x?x4xf32>
      {mhc.name = "g"}) {
  %c0 = arith.constant 0 : index
  %eps = arith.constant 1.0e-06 : f32
  %twenty = arith.constant 2.0e+01 : f32
  %M = tensor.dim %qkvzba, %c0 : tensor<?x1x200xbf16>
  %x = mhc.transpose %qkvzba perm = [1, 0, 2] : tensor<?x1x200xbf16> -> tensor<1x?x200xbf16>
  %starts = mhc.sequence_starts %cu_seqlens[%M] : tensor<?xi32> -> tensor<?xi32>

  // A causal convolution of the channels of q, k and v, each for itself; the last tap meets the token itself.
  %narrow = tensor.extract_slice %x[0, 0, 0] [1, %M, 128] [1, 1, 1] : tensor<1x?x200xbf16> to tensor<1x?x128xbf16>
  %c = arith.extf %narrow : tensor<1x?x128xbf16> to tensor<1x?x128xf32>
  %weight = arith.extf %conv_weight : tensor<128x4xbf16> to tensor<128x4xf32>
  %c_0 = mhc.shift %c, %starts dim = 1 by = 3 : tensor<1x?x128xf32>, tensor<?xi32>
  %w_0 = tensor.extract_slice %weight[0, 0] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_0_each = mhc.broadcast %w_0[%M] dims = [2] : tensor<128xf32> -> tensor<1x?x128xf32>
  %term_0 = arith.mulf %c_0, %w_0_each : tensor<1x?x128xf32>
  %c_1 = mhc.shift %c, %starts dim = 1 by = 2 : tensor<1x?x128xf32>, tensor<?xi32>
  %w_1 = tensor.extract_slice %weight[0, 1] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_1_each = mhc.broadcast %w_1[%M] dims = [2] : tensor<128xf32> -> tensor<1x?x128xf32>
  %term_1 = arith.mulf %c_1, %w_1_each : tensor<1x?x128xf32>
  %sum_1 = arith.addf %term_0, %term_1 : tensor<1x?x128xf32>
  %c_2 = mhc.shift %c, %starts dim = 1 by = 1 : tensor<1x?x128xf32>, tensor<?xi32>
  %w_2 = tensor.extract_slice %weight[0, 2] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_2_each = mhc.broadcast %w_2[%M] dims = [2] : tensor<128xf32> -> tensor<1x?x128xf32>
  %term_2 = arith.mulf %c_2, %w_2_each : tensor<1x?x128xf32>
  %sum_2 = arith.addf %sum_1, %term_2 : tensor<1x?x128xf32>
  %w_3 = tensor.extract_slice %weight[0, 3] [128, 1] [1, 1] : tensor<128x4xf32> to tensor<128xf32>
  %w_3_each = mhc.broadcast %w_3[%M] dims = [2] : tensor<128xf32> -> tensor<1x?x128xf32>
  %term_3 = arith.mulf %c, %w_3_each : tensor<1x?x128xf32>
  %sum_3 = arith.addf %sum_2, %term_3 : tensor<1x?x128xf32>
  %conv = arith.truncf %sum_3 : tensor<1x?x128xf32> to tensor<1x?x128xbf16>
  %u = mhc.silu %conv : tensor<1x?x128xbf16>

  // query: heads of length one, each repeated for the 2 value heads that it serves.
  %query_flat = tensor.extract_slice %u[0, 0, 0] [1, %M, 32] [1, 1, 1] : tensor<1x?x128xbf16> to tensor<1x?x32xbf16>
  %query_heads = tensor.expand_shape %query_flat [[0], [1], [2, 3]] output_shape [1, %M, 2, 16] : tensor<1x?x32xbf16>
      into tensor<1x?x2x16xbf16>
  %query_wide = arith.extf %query_heads : tensor<1x?x2x16xbf16> to tensor<1x?x2x16xf32>
  %query_squares = arith.mulf %query_wide, %query_wide : tensor<1x?x2x16xf32>
  %query_sum = mhc.reduce sum %query_squares dims = [3] : tensor<1x?x2x16xf32> -> tensor<1x?x2xf32>
  %query_eps = tensor.splat %eps[%M] : tensor<1x?x2xf32>
  %query_safe = arith.addf %query_sum, %query_eps : tensor<1x?x2xf32>
  %query_scale = math.rsqrt %query_safe : tensor<1x?x2xf32>
  %query_scales = mhc.broadcast %query_scale dims = [0, 1, 2] : tensor<1x?x2xf32> -> tensor<1x?x2x16xf32>
  %query_unit = arith.mulf %query_wide, %query_scales : tensor<1x?x2x16xf32>
  %query_once = arith.truncf %query_unit : tensor<1x?x2x16xf32> to tensor<1x?x2x16xbf16>
  %query_each = mhc.broadcast %query_once dims = [0, 1, 2, 4] : tensor<1x?x2x16xbf16> -> tensor<1x?x2x2x16xbf16>
  %query = tensor.collapse_shape %query_each [[0], [1], [2, 3], [4]] : tensor<1x?x2x2x16xbf16> into
      tensor<1x?x4x16xbf16>

  // key: heads of length one, each repeated for the 2 value heads that it serves.
  %key_flat = tensor.extract_slice %u[0, 0, 32] [1, %M, 32] [1, 1, 1] : tensor<1x?x128xbf16> to tensor<1x?x32xbf16>
  %key_heads = tensor.expand_shape %key_flat [[0], [1], [2, 3]] output_shape [1, %M, 2, 16] : tensor<1x?x32xbf16>
      into tensor<1x?x2x16xbf16>
  %key_wide = arith.extf %key_heads : tensor<1x?x2x16xbf16> to tensor<1x?x2x16xf32>
  %key_squares = arith.mulf %key_wide, %key_wide : tensor<1x?x2x16xf32>
  %key_sum = mhc.reduce sum %key_squares dims = [3] : tensor<1x?x2x16xf32> -> tensor<1x?x2xf32>
  %key_eps = tensor.splat %eps[%M] : tensor<1x?x2xf32>
  %key_safe = arith.addf %key_sum, %key_eps : tensor<1x?x2xf32>
  %key_scale = math.rsqrt %key_safe : tensor<1x?x2xf32>
  %key_scales = mhc.broadcast %key_scale dims = [0, 1, 2] : tensor<1x?x2xf32> -> tensor<1x?x2x16xf32>
  %key_unit = arith.mulf %key_wide, %key_scales : tensor<1x?x2x16xf32>
  %key_once = arith.truncf %key_unit : tensor<1x?x2x16xf32> to tensor<1x?x2x16xbf16>
  %key_each = mhc.broadcast %key_once dims = [0, 1, 2, 4] : tensor<1x?x2x16xbf16> -> tensor<1x?x2x2x16xbf16>
  %key = tensor.collapse_shape %key_each [[0], [1], [2, 3], [4]] : tensor<1x?x2x2x16xbf16> into tensor<1x?x4x16xbf16>

  // Values and the gate of the output: heads as they are.
  %value_flat = tensor.extract_slice %u[0, 0, 64] [1, %M, 64] [1, 1, 1] : tensor<1x?x128xbf16> to tensor<1x?x64xbf16>
  %value = tensor.expand_shape %value_flat [[0], [1], [2, 3]] output_shape [1, %M, 4, 16] : tensor<1x?x64xbf16> into
      tensor<1x?x4x16xbf16>
  %gate_flat = tensor.extract_slice %x[0, 0, 128] [1, %M, 64] [1, 1, 1] : tensor<1x?x200xbf16> to tensor<1x?x64xbf16>
  %gate = tensor.expand_shape %gate_flat [[0], [1], [2, 3]] output_shape [1, %M, 4, 16] : tensor<1x?x64xbf16> into
      tensor<1x?x4x16xbf16>

  // beta, and g = -exp(A_log) * softplus(alpha + dt_bias).
  %beta_raw = tensor.extract_slice %x[0, 0, 192] [1, %M, 4] [1, 1, 1] : tensor<1x?x200xbf16> to tensor<1x?x4xbf16>
  %beta = mhc.sigmoid %beta_raw : tensor<1x?x4xbf16>
  %alpha_raw = tensor.extract_slice %x[0, 0, 196] [1, %M, 4] [1, 1, 1] : tensor<1x?x200xbf16> to tensor<1x?x4xbf16>
  %alpha = arith.extf %alpha_raw : tensor<1x?x4xbf16> to tensor<1x?x4xf32>
  %dt_bias_each = mhc.broadcast %dt_bias[%M] dims = [2] : tensor<4xf32> -> tensor<1x?x4xf32>
  %p = arith.addf %alpha, %dt_bias_each : tensor<1x?x4xf32>
  %threshold = tensor.splat %twenty[%M] : tensor<1x?x4xf32>
  %is_large = arith.cmpf ogt, %p, %threshold : tensor<1x?x4xf32>
  %log = mhc.softplus %p : tensor<1x?x4xf32>
  %softplus = arith.select %is_large, %p, %log : tensor<1x?x4xi1>, tensor<1x?x4xf32>
  %exp = math.exp %A_log : tensor<4xf32>
  %rate = arith.negf %exp : tensor<4xf32>
  %rate_each = mhc.broadcast %rate[%M] dims = [2] : tensor<4xf32> -> tensor<1x?x4xf32>
  %g = arith.mulf %rate_each, %softplus : tensor<1x?x4xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<1x?x4x16xbf16>, tensor<1x?x4x16xbf16>,
      tensor<1x?x4x16xbf16>, tensor<1x?x4x16xbf16>, tensor<1x?x4xbf16>, tensor<1x?x4xf32>
}
