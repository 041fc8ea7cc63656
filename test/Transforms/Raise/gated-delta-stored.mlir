// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=MISS --implicit-check-not='[Missed]'

// Front ends in other dimensions than those of the op: one token, one sequence, weights and tokens before in another
// order; and decays that are others.

// A step of decoding: the tokens before are kept with channels first.
// CHECK-LABEL: func.func @one_token
// CHECK: %[[LEFT:.*]] = mhc.transpose %arg4 perm = [0, 2, 1] : tensor<2x16x2xf32> -> tensor<2x2x16xf32>
// CHECK: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x1x28xf32>, conv_weight = %arg1 : tensor<16x3xf32>, A_log = %arg2 : tensor<2xf32>, dt_bias = %arg3 : tensor<2xf32>, left_boundary = %[[LEFT]] : tensor<2x2x16xf32>) <num_key_heads = 1
func.func @one_token(%x: tensor<2x1x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>,
                     %state: tensor<2x16x2xf32>)
    -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
        tensor<2x16x2xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 1, 16] [1, 1, 1] : tensor<2x1x28xf32> to tensor<2x1x16xf32>
  %channels = mhc.transpose %qkv perm = [0, 2, 1] : tensor<2x1x16xf32> -> tensor<2x16x1xf32>
  %all = tensor.concat dim(2) %state, %channels : (tensor<2x16x2xf32>, tensor<2x16x1xf32>) -> tensor<2x16x3xf32>
  %next = tensor.extract_slice %all[0, 0, 1] [2, 16, 2] [1, 1, 1] : tensor<2x16x3xf32> to tensor<2x16x2xf32>
  %each = mhc.broadcast %w dims = [1, 2] : tensor<16x3xf32> -> tensor<2x16x3xf32>
  %taps = arith.mulf %all, %each : tensor<2x16x3xf32>
  %a = mhc.reduce sum %taps dims = [2] : tensor<2x16x3xf32> -> tensor<2x16xf32>
  %u = mhc.silu %a : tensor<2x16xf32>
  %uq = tensor.extract_slice %u[0, 0] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
  %uk = tensor.extract_slice %u[0, 4] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
  %uv = tensor.extract_slice %u[0, 8] [2, 8] [1, 1] : tensor<2x16xf32> to tensor<2x8xf32>
  %query = call @heads(%uq) : (tensor<2x4xf32>) -> tensor<2x2x4xf32>
  %key = call @heads(%uk) : (tensor<2x4xf32>) -> tensor<2x2x4xf32>
  %value = tensor.expand_shape %uv [[0], [1, 2]] output_shape [2, 2, 4] : tensor<2x8xf32> into tensor<2x2x4xf32>
  %rows = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x1x28xf32> into tensor<2x28xf32>
  %z = tensor.extract_slice %rows[0, 16] [2, 8] [1, 1] : tensor<2x28xf32> to tensor<2x8xf32>
  %gate = tensor.expand_shape %z [[0], [1, 2]] output_shape [2, 2, 4] : tensor<2x8xf32> into tensor<2x2x4xf32>
  %b = tensor.extract_slice %rows[0, 24] [2, 2] [1, 1] : tensor<2x28xf32> to tensor<2x2xf32>
  %beta = mhc.sigmoid %b : tensor<2x2xf32>
  %alpha = tensor.extract_slice %rows[0, 26] [2, 2] [1, 1] : tensor<2x28xf32> to tensor<2x2xf32>
  %bias = mhc.broadcast %dt_bias dims = [1] : tensor<2xf32> -> tensor<2x2xf32>
  %p = arith.addf %alpha, %bias : tensor<2x2xf32>
  %softplus = mhc.softplus %p : tensor<2x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %neg = arith.negf %exp : tensor<2xf32>
  %rate = mhc.broadcast %neg dims = [1] : tensor<2xf32> -> tensor<2x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<2x2xf32>
  return %query, %key, %value, %gate, %beta, %g, %next : tensor<2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>,
      tensor<2x2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x16x2xf32>
}
func.func private @heads(%u: tensor<2x4xf32>) -> tensor<2x2x4xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<2xf32>
  %square = arith.mulf %u, %u : tensor<2x4xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
  %bounded = arith.addf %sum, %eps : tensor<2xf32>
  %inverse = math.rsqrt %bounded : tensor<2xf32>
  %all = mhc.broadcast %inverse dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
  %normed = arith.mulf %u, %all : tensor<2x4xf32>
  %heads = mhc.broadcast %normed dims = [0, 2] : tensor<2x4xf32> -> tensor<2x2x4xf32>
  return %heads : tensor<2x2x4xf32>
}

// One sequence without a dimension for it, the weight by its taps, parts of several tensors.
// CHECK-LABEL: func.func @one_sequence
// CHECK: %[[W:.*]] = mhc.transpose %arg4 perm = [1, 0] : tensor<2x16xf32> -> tensor<16x2xf32>
// CHECK: mhc.pre_gated_delta_rule({{.*}}conv_weight = %[[W]] : tensor<16x2xf32>, {{.*}}, left_boundary = {{.*}} : tensor<1x1x16xf32>) <num_key_heads = 1
func.func @one_sequence(%qkv: tensor<8x16xf32>, %gate: tensor<8x2x4xf32>, %b: tensor<8x2xf32>, %alpha: tensor<8x2xf32>,
                        %w: tensor<2x16xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>, %left: tensor<1x16xf32>)
    -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %u = call @convolved(%qkv, %w, %left) : (tensor<8x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  %query, %key, %value = call @split(%u) : (tensor<8x16xf32>) -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  %beta = mhc.sigmoid %b : tensor<8x2xf32>
  %softplus = call @softplus(%alpha, %dt_bias) : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %neg = arith.negf %exp : tensor<2xf32>
  %rate = mhc.broadcast %neg dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<8x2xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>,
      tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
// The same without a gate: the op has the channels of v in its place, and nothing reads what becomes of them.
// CHECK-LABEL: func.func @no_gate
// CHECK: %[[ALL:.*]] = tensor.concat
// CHECK: %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(
// CHECK-NOT: %gate
// CHECK: return
func.func @no_gate(%qkv: tensor<8x16xf32>, %b: tensor<8x2xf32>, %alpha: tensor<8x2xf32>, %w: tensor<2x16xf32>,
                   %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>, %left: tensor<1x16xf32>)
    -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %u = call @convolved(%qkv, %w, %left) : (tensor<8x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  %query, %key, %value = call @split(%u) : (tensor<8x16xf32>) -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  %beta = mhc.sigmoid %b : tensor<8x2xf32>
  %softplus = call @softplus(%alpha, %dt_bias) : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %neg = arith.negf %exp : tensor<2xf32>
  %rate = mhc.broadcast %neg dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<8x2xf32>
  return %query, %key, %value, %beta, %g : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>,
      tensor<8x2xf32>
}
// Without a norm, SiLU as a (1 + tanh(a / 2)) / 2: twice the result on the way is no other norm.
// CHECK-LABEL: func.func @silu_by_tanh
// CHECK: mhc.pre_gated_delta_rule({{.*}} <num_key_heads = 1, qk_l2norm = false
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @silu_by_tanh(%qkv: tensor<8x16xf32>, %gate: tensor<8x2x4xf32>, %b: tensor<8x2xf32>, %alpha: tensor<8x2xf32>,
                        %w: tensor<2x16xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %one = arith.constant dense<1.0> : tensor<8x16xf32>
  %half = arith.constant dense<0.5> : tensor<8x16xf32>
  %before = mhc.shift %qkv dim = 0 by = 1 : tensor<8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  %w1 = tensor.extract_slice %w[1, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %b1 = mhc.broadcast %w1 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %p0 = arith.mulf %before, %b0 : tensor<8x16xf32>
  %p1 = arith.mulf %qkv, %b1 : tensor<8x16xf32>
  %a = arith.addf %p0, %p1 : tensor<8x16xf32>
  %halved = arith.mulf %a, %half : tensor<8x16xf32>
  %tanh = math.tanh %halved : tensor<8x16xf32>
  %added = arith.addf %one, %tanh : tensor<8x16xf32>
  %twice = arith.mulf %a, %added : tensor<8x16xf32>
  %u = arith.mulf %twice, %half : tensor<8x16xf32>
  %q = tensor.extract_slice %u[0, 0] [8, 4] [1, 1] : tensor<8x16xf32> to tensor<8x4xf32>
  %k = tensor.extract_slice %u[0, 4] [8, 4] [1, 1] : tensor<8x16xf32> to tensor<8x4xf32>
  %v = tensor.extract_slice %u[0, 8] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %query = mhc.broadcast %q dims = [0, 2] : tensor<8x4xf32> -> tensor<8x2x4xf32>
  %key = mhc.broadcast %k dims = [0, 2] : tensor<8x4xf32> -> tensor<8x2x4xf32>
  %value = tensor.expand_shape %v [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %beta = mhc.sigmoid %b : tensor<8x2xf32>
  %softplus = call @softplus(%alpha, %dt_bias) : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %neg = arith.negf %exp : tensor<2xf32>
  %rate = mhc.broadcast %neg dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<8x2xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>,
      tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
func.func private @convolved(%x: tensor<8x16xf32>, %w: tensor<2x16xf32>, %left: tensor<1x16xf32>) -> tensor<8x16xf32> {
  %all = tensor.concat dim(0) %left, %x : (tensor<1x16xf32>, tensor<8x16xf32>) -> tensor<9x16xf32>
  %x0 = tensor.extract_slice %all[0, 0] [8, 16] [1, 1] : tensor<9x16xf32> to tensor<8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  %w1 = tensor.extract_slice %w[1, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %b1 = mhc.broadcast %w1 dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<8x16xf32>
  %p1 = arith.mulf %x, %b1 : tensor<8x16xf32>
  %a = arith.addf %p0, %p1 : tensor<8x16xf32>
  %u = mhc.silu %a : tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}
func.func private @split(%u: tensor<8x16xf32>) -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>) {
  %eps = arith.constant dense<1.0e-6> : tensor<8x2xf32>
  %all = tensor.expand_shape %u [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %qk = tensor.extract_slice %all[0, 0, 0] [8, 2, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x2x4xf32>
  %value = tensor.extract_slice %all[0, 2, 0] [8, 2, 4] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8x2x4xf32>
  %square = arith.mulf %qk, %qk : tensor<8x2x4xf32>
  %sum = mhc.reduce sum %square dims = [2] : tensor<8x2x4xf32> -> tensor<8x2xf32>
  %bounded = arith.addf %sum, %eps : tensor<8x2xf32>
  %inverse = math.rsqrt %bounded : tensor<8x2xf32>
  %each = mhc.broadcast %inverse dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x4xf32>
  %normed = arith.mulf %qk, %each : tensor<8x2x4xf32>
  %q = tensor.extract_slice %normed[0, 0, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %k = tensor.extract_slice %normed[0, 1, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
  %query = mhc.broadcast %q dims = [0, 2] : tensor<8x4xf32> -> tensor<8x2x4xf32>
  %key = mhc.broadcast %k dims = [0, 2] : tensor<8x4xf32> -> tensor<8x2x4xf32>
  return %query, %key, %value : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>
}
func.func private @softplus(%alpha: tensor<8x2xf32>, %dt_bias: tensor<2xf32>) -> tensor<8x2xf32> {
  %bias = mhc.broadcast %dt_bias dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %p = arith.addf %alpha, %bias : tensor<8x2xf32>
  %softplus = mhc.softplus %p : tensor<8x2xf32>
  return %softplus : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @no_decay_of_channels
// CHECK-NOT: mhc.pre_gated_delta_rule
// MISS: [Missed] gated-delta-decay | {{.*}}Function=no_decay_of_channels | Found="a decay for each channel of a head", Needed="one for each head"
func.func @no_decay_of_channels(%qkv: tensor<8x16xf32>, %gate: tensor<8x2x4xf32>, %b: tensor<8x2xf32>,
                                %alpha: tensor<8x2x4xf32>, %w: tensor<2x16xf32>, %A_log: tensor<2xf32>,
                                %dt_bias: tensor<2x4xf32>, %left: tensor<1x16xf32>)
    -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2x4xf32>) {
  %u = call @convolved(%qkv, %w, %left) : (tensor<8x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  %query, %key, %value = call @split(%u) : (tensor<8x16xf32>) -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  %beta = mhc.sigmoid %b : tensor<8x2xf32>
  %bias = mhc.broadcast %dt_bias dims = [1, 2] : tensor<2x4xf32> -> tensor<8x2x4xf32>
  %p = arith.addf %alpha, %bias : tensor<8x2x4xf32>
  %softplus = mhc.softplus %p : tensor<8x2x4xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %neg = arith.negf %exp : tensor<2xf32>
  %rate = mhc.broadcast %neg dims = [1] : tensor<2xf32> -> tensor<8x2x4xf32>
  %g = arith.mulf %rate, %softplus : tensor<8x2x4xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>,
      tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2x4xf32>
}

// CHECK-LABEL: func.func @no_decay_that_was_computed_before
// CHECK-NOT: mhc.pre_gated_delta_rule
// MISS: [Missed] gated-delta-decay | {{.*}}Function=no_decay_that_was_computed_before | Found="a softplus times what is no exponential"
func.func @no_decay_that_was_computed_before(%qkv: tensor<8x16xf32>, %gate: tensor<8x2x4xf32>, %b: tensor<8x2xf32>,
                                             %alpha: tensor<8x2xf32>, %w: tensor<2x16xf32>, %A: tensor<2xf32>,
                                             %dt_bias: tensor<2xf32>, %left: tensor<1x16xf32>)
    -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) {
  %u = call @convolved(%qkv, %w, %left) : (tensor<8x16xf32>, tensor<2x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
  %query, %key, %value = call @split(%u) : (tensor<8x16xf32>) -> (tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  %beta = mhc.sigmoid %b : tensor<8x2xf32>
  %softplus = call @softplus(%alpha, %dt_bias) : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %rate = mhc.broadcast %A dims = [1] : tensor<2xf32> -> tensor<8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<8x2xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<8x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>,
      tensor<8x2x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
