// RUN: mhc-opt %s --mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s

// One head, as a device has that shares a layer with others: no size tells A_log and dt_bias from a number.
// CHECK: found pre_gated_delta_rule: 1 head, 1 of q and k, 2 taps
// CHECK-LABEL: func.func @one_head
// CHECK: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x18xf32>, conv_weight = %arg1 : tensor<12x2xf32>, A_log = %arg2 : tensor<1xf32>, dt_bias = %arg3 : tensor<1xf32>) <num_key_heads = 1, qk_l2norm = true
// CHECK-NOT: arith.
// CHECK: return
func.func @one_head(%x: tensor<2x8x18xf32>, %w: tensor<12x2xf32>, %A_log: tensor<1xf32>, %dt_bias: tensor<1xf32>)
    -> (tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1xf32>,
        tensor<2x8x1xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 12] [1, 1, 1] : tensor<2x8x18xf32> to tensor<2x8x12xf32>
  %before = mhc.shift %qkv dim = 1 by = 1 : tensor<2x8x12xf32>
  %w0 = tensor.extract_slice %w[0, 0] [12, 1] [1, 1] : tensor<12x2xf32> to tensor<12xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<12xf32> -> tensor<2x8x12xf32>
  %p0 = arith.mulf %before, %b0 : tensor<2x8x12xf32>
  %w1 = tensor.extract_slice %w[0, 1] [12, 1] [1, 1] : tensor<12x2xf32> to tensor<12xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<12xf32> -> tensor<2x8x12xf32>
  %p1 = arith.mulf %qkv, %b1 : tensor<2x8x12xf32>
  %a = arith.addf %p0, %p1 : tensor<2x8x12xf32>
  %u = mhc.silu %a : tensor<2x8x12xf32>
  %q = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x4xf32>
  %k = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x4xf32>
  %query = call @head(%q) : (tensor<2x8x4xf32>) -> tensor<2x8x1x4xf32>
  %key = call @head(%k) : (tensor<2x8x4xf32>) -> tensor<2x8x1x4xf32>
  %v = tensor.extract_slice %u[0, 0, 8] [2, 8, 4] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x4xf32>
  %value = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %z = tensor.extract_slice %x[0, 0, 12] [2, 8, 4] [1, 1, 1] : tensor<2x8x18xf32> to tensor<2x8x4xf32>
  %gate = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %b = tensor.extract_slice %x[0, 0, 16] [2, 8, 1] [1, 1, 1] : tensor<2x8x18xf32> to tensor<2x8x1xf32>
  %beta = mhc.sigmoid %b : tensor<2x8x1xf32>
  %alpha = tensor.extract_slice %x[0, 0, 17] [2, 8, 1] [1, 1, 1] : tensor<2x8x18xf32> to tensor<2x8x1xf32>
  %bias = mhc.broadcast %dt_bias dims = [2] : tensor<1xf32> -> tensor<2x8x1xf32>
  %p = arith.addf %alpha, %bias : tensor<2x8x1xf32>
  %e = math.exp %p : tensor<2x8x1xf32>
  %softplus = math.log1p %e : tensor<2x8x1xf32>
  %exp = math.exp %A_log : tensor<1xf32>
  %each = mhc.broadcast %exp dims = [2] : tensor<1xf32> -> tensor<2x8x1xf32>
  %rate = arith.negf %each : tensor<2x8x1xf32>
  %g = arith.mulf %rate, %softplus : tensor<2x8x1xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>,
      tensor<2x8x1x4xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>
}

func.func private @head(%head: tensor<2x8x4xf32>) -> tensor<2x8x1x4xf32> {
  %squares = arith.mulf %head, %head : tensor<2x8x4xf32>
  %sum = mhc.reduce sum %squares dims = [2] : tensor<2x8x4xf32> -> tensor<2x8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8xf32>
  %scale = math.rsqrt %safe : tensor<2x8xf32>
  %scales = mhc.broadcast %scale dims = [0, 1] : tensor<2x8xf32> -> tensor<2x8x4xf32>
  %unit = arith.mulf %head, %scales : tensor<2x8x4xf32>
  %one = tensor.expand_shape %unit [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  return %one : tensor<2x8x1x4xf32>
}
