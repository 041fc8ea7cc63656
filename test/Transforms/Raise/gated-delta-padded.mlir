// RUN: mhc-opt %s -mhc-raise -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-raise -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// The front end of a gated delta net, whose convolution reads slices of a padded tensor; and what looks alike.

// REMARK: Remark="found pre_gated_delta_rule: 2 heads, 1 of q and k, 3 taps"
// CHECK-LABEL: @padded_left
// CHECK-NEXT: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x28xf32>, conv_weight = %arg1 : tensor<16x3xf32>, A_log = %arg2 : tensor<2xf32>, dt_bias = %arg3 : tensor<2xf32>) <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = bMD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @padded_left(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: Remark="found pre_gated_delta_rule: 2 heads, 1 of q and k, 3 taps"
// CHECK-LABEL: @padded_both_sides_and_cut
// CHECK-NEXT: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x28xf32>, conv_weight = %arg1 : tensor<16x3xf32>, A_log = %arg2 : tensor<2xf32>, dt_bias = %arg3 : tensor<2xf32>) <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 2.0e+01, seq_layout = bMD>
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g
func.func @padded_both_sides_and_cut(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 2, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x12x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// CHECK-LABEL: @beta_and_alpha_swapped
// CHECK: %[[ALL:.*]] = tensor.concat dim(2)
// CHECK: mhc.pre_gated_delta_rule(qkvzba = %[[ALL]]
func.func @beta_and_alpha_swapped(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-taps | {{.*}}Found="a tap of the token 1 behind", Needed="one tap for each of the k - 1 tokens before and for the token itself"
// CHECK-LABEL: @no_not_causal
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_not_causal(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-taps
// CHECK-LABEL: @no_cut_one_further
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_cut_one_further(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x11x16xf32>
  %x0 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x11x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x11x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 3, 0] [2, 8, 16] [1, 1, 1] : tensor<2x11x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-taps | {{.*}}Found="weights in another order than that of the taps"
// CHECK-LABEL: @no_taps_reversed
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_taps_reversed(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-norm | {{.*}}Found="another root, such as that of a mean"
// CHECK-LABEL: @no_mean_in_the_norm
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_mean_in_the_norm(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce mean %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce mean %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-norm | {{.*}}Found="another factor of u"
// CHECK-LABEL: @no_eps_outside_of_the_root
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_eps_outside_of_the_root(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = math.sqrt %qs : tensor<2x8x1xf32>
  %qr = arith.addf %qn, %qeps : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.divf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = math.sqrt %ks : tensor<2x8x1xf32>
  %kr = arith.addf %kn, %keps : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.divf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-norm
// CHECK-LABEL: @no_norm_with_a_bound
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_norm_with_a_bound(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = math.sqrt %qs : tensor<2x8x1xf32>
  %qr = arith.maximumf %qn, %qeps : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.divf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = math.sqrt %ks : tensor<2x8x1xf32>
  %kr = arith.maximumf %kn, %keps : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.divf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Missed] gated-delta-decay | {{.*}}Found="-exp(A_log) times another function"
// CHECK-LABEL: @no_another_softplus
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_another_softplus(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x16xf32> to tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %c2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x2xf32>
  %sp = mhc.sigmoid %t : tensor<2x8x2xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %e = math.exp %al : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// -----

// REMARK: [Analysis] gated-delta-parts | {{.*}}but not each head of q and k repeated in a row, as many as there are of v
// CHECK-LABEL: @no_heads_in_turn
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @no_heads_in_turn(%x: tensor<2x8x56xf32>, %w: tensor<32x3xf32>, %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>)
    -> (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 32] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x32xf32>
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x32xf32> to tensor<2x10x32xf32>
  %x0 = tensor.extract_slice %pad[0, 0, 0] [2, 8, 32] [1, 1, 1] : tensor<2x10x32xf32> to tensor<2x8x32xf32>
  %c0 = tensor.extract_slice %w[0, 0] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b0 = mhc.broadcast %c0 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x32xf32>
  %x1 = tensor.extract_slice %pad[0, 1, 0] [2, 8, 32] [1, 1, 1] : tensor<2x10x32xf32> to tensor<2x8x32xf32>
  %c1 = tensor.extract_slice %w[0, 1] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b1 = mhc.broadcast %c1 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x32xf32>
  %x2 = tensor.extract_slice %pad[0, 2, 0] [2, 8, 32] [1, 1, 1] : tensor<2x10x32xf32> to tensor<2x8x32xf32>
  %c2 = tensor.extract_slice %w[0, 2] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b2 = mhc.broadcast %c2 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x32xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x32xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x32xf32>
  %u = mhc.silu %a : tensor<2x8x32xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 8] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x8xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x2x4xf32>
  %qs = mhc.reduce sum  %q2 dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %qeps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %qn = arith.addf %qs, %qeps : tensor<2x8x2xf32>
  %qr = math.rsqrt %qn : tensor<2x8x2xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x2x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 3, 4] : tensor<2x8x2x4xf32> -> tensor<2x8x2x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x4xf32> into tensor<2x8x4x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x8xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x2x4xf32>
  %ks = mhc.reduce sum  %k2 dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %keps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %kn = arith.addf %ks, %keps : tensor<2x8x2xf32>
  %kr = math.rsqrt %kn : tensor<2x8x2xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x2x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 3, 4] : tensor<2x8x2x4xf32> -> tensor<2x8x2x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x4xf32> into tensor<2x8x4x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 16] [2, 8, 16] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x16xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 32] [2, 8, 16] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x16xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %braw = tensor.extract_slice %x[0, 0, 48] [2, 8, 4] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x4xf32>
  %beta = mhc.sigmoid %braw : tensor<2x8x4xf32>
  %alpha = tensor.extract_slice %x[0, 0, 52] [2, 8, 4] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x4xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %t = arith.addf %alpha, %dt : tensor<2x8x4xf32>
  %sp = mhc.softplus %t : tensor<2x8x4xf32>
  %al = mhc.broadcast %A_log dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %e = math.exp %al : tensor<2x8x4xf32>
  %ne = arith.negf %e : tensor<2x8x4xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x4xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
