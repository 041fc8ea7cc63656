// RUN: mhc-opt %s -mhc-view-gate --remarks-filter-analyse='mhc-view-gate.*' 2>%t | FileCheck %s --implicit-check-not=', gate :'
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t --implicit-check-not=gate-copied

// Loops over elements read the gate where it lies, all of them.
// CHECK-LABEL: func.func @read_by_loops
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, 64] [1, %[[M:.*]], 32] [1, 1, 1]
// CHECK: %[[Z:.*]] = tensor.expand_shape %[[PART]] {{\[\[}}0], [1], [2, 3]] output_shape [1, %[[M]], 2, 16]
// CHECK: %query, %key, %value, %beta, %g = mhc.pre_gated_delta_rule(
// CHECK: mhc.silu %[[Z]] : tensor<1x?x2x16xbf16>
// CHECK: arith.mulf %[[Z]], %value : tensor<1x?x2x16xbf16>
func.func @read_by_loops(%x: tensor<1x?x100xbf16>, %w: tensor<64x4xbf16>, %A: tensor<2xf32>)
    -> (tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x100xbf16>,
      conv_weight = %w : tensor<64x4xbf16>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<1x?x2x16xbf16>, key : tensor<1x?x2x16xbf16>, value : tensor<1x?x2x16xbf16>,
        gate : tensor<1x?x2x16xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  %silu = mhc.silu %gate : tensor<1x?x2x16xbf16>
  %product = arith.mulf %gate, %value : tensor<1x?x2x16xbf16>
  return %silu, %product : tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>
}

// One sequence is no transpose.
// CHECK-LABEL: func.func @one_sequence
// CHECK: tensor.extract_slice %arg0[0, 0, 64] [%{{.*}}, 1, 32] [1, 1, 1]
// CHECK-NOT: mhc.transpose
// CHECK: %query, %key, %value, %beta, %g, %silu = mhc.pre_gated_delta_rule(
// CHECK: mhc.rms_norm %expanded{{[^ ]*}}, %arg3
func.func @one_sequence(%x: tensor<?x1x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>, %norm: tensor<16xf32>)
    -> (tensor<1x?x2x16xf32>, tensor<1x?x32xf32>) {
  %query, %key, %value, %gate, %beta, %g, %silu = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x16xf32>, key : tensor<1x?x2x16xf32>, value : tensor<1x?x2x16xf32>,
        gate : tensor<1x?x2x16xf32>, beta : tensor<1x?x2xf32>, g : tensor<1x?x2xf32>, silu : tensor<1x?x32xf32>)
  %y = mhc.rms_norm %gate, %norm eps = 1.0e-06 : tensor<1x?x2x16xf32>, tensor<16xf32>
  return %y, %silu : tensor<1x?x2x16xf32>, tensor<1x?x32xf32>
}

// The batch inside the tokens: the one loop that reads the part goes over it in its order.
// CHECK-LABEL: func.func @batch_inside
// CHECK: mhc.transpose %{{.*}} perm = [1, 0, 2] : tensor<?x3x32xf32> -> tensor<3x?x32xf32>
// CHECK: %query, %key, %value, %beta, %g = mhc.pre_gated_delta_rule(
func.func @batch_inside(%x: tensor<?x3x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>) -> tensor<3x?x2x16xf32> {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x3x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<3x?x2x16xf32>, key : tensor<3x?x2x16xf32>, value : tensor<3x?x2x16xf32>,
        gate : tensor<3x?x2x16xf32>, beta : tensor<3x?x2xf32>, g : tensor<3x?x2xf32>)
  %y = mhc.sigmoid %gate : tensor<3x?x2x16xf32>
  return %y : tensor<3x?x2x16xf32>
}

// Two would transpose it twice.
// REMARK: gate-copied | {{.*}}Function=batch_inside_two_readers | Remark="'mhc.{{.*}}' reads the gate; needed loops over elements alone"
// CHECK-LABEL: func.func @batch_inside_two_readers
// CHECK: %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule({{.*}}, gate :
func.func @batch_inside_two_readers(%x: tensor<?x3x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>)
    -> (tensor<3x?x2x16xf32>, tensor<3x?x2x16xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x3x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<3x?x2x16xf32>, key : tensor<3x?x2x16xf32>, value : tensor<3x?x2x16xf32>,
        gate : tensor<3x?x2x16xf32>, beta : tensor<3x?x2xf32>, g : tensor<3x?x2xf32>)
  %y = mhc.sigmoid %gate : tensor<3x?x2x16xf32>
  %z = mhc.silu %gate : tensor<3x?x2x16xf32>
  return %y, %z : tensor<3x?x2x16xf32>, tensor<3x?x2x16xf32>
}

// A result of the function has no gaps.
// REMARK: gate-copied | {{.*}}Function=returned | Remark="'func.return' reads the gate; needed loops over elements alone"
// CHECK-LABEL: func.func @returned
// CHECK: %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule({{.*}}, gate :
func.func @returned(%x: tensor<1x?x100xf32>, %w: tensor<64x4xf32>, %A: tensor<2xf32>)
    -> (tensor<1x?x2x16xf32>, tensor<1x?x2x16xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x100xf32>,
      conv_weight = %w : tensor<64x4xf32>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = bMD>
    -> (query : tensor<1x?x2x16xf32>, key : tensor<1x?x2x16xf32>, value : tensor<1x?x2x16xf32>,
        gate : tensor<1x?x2x16xf32>, beta : tensor<1x?x2xf32>, g : tensor<1x?x2xf32>)
  %y = mhc.sigmoid %gate : tensor<1x?x2x16xf32>
  return %y, %gate : tensor<1x?x2x16xf32>, tensor<1x?x2x16xf32>
}
