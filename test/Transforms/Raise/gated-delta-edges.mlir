// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=MISS --implicit-check-not='[Missed]'

// Front ends at the edge of what the op computes.

// Heads of q and k of one channel have no dimension for it.
// CHECK-LABEL: func.func @heads_of_one_channel
// CHECK: mhc.pre_gated_delta_rule({{.*}}<num_key_heads = 2,
func.func @heads_of_one_channel(%x: tensor<2x8x44xf32>, %w: tensor<20x3xf32>,
    %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>)
    -> (tensor<2x8x4x1xf32>, tensor<2x8x4x1xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 20] [1, 1, 1] : tensor<2x8x44xf32> to tensor<2x8x20xf32>
  %x0 = mhc.shift %qkv dim = 1 by = 2 : tensor<2x8x20xf32>
  %x1 = mhc.shift %qkv dim = 1 by = 1 : tensor<2x8x20xf32>
  %x2 = mhc.shift %qkv dim = 1 by = 0 : tensor<2x8x20xf32>
  %w0 = tensor.extract_slice %w[0, 0] [20, 1] [1, 1] : tensor<20x3xf32> to tensor<20xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<20xf32> -> tensor<2x8x20xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x20xf32>
  %w1 = tensor.extract_slice %w[0, 1] [20, 1] [1, 1] : tensor<20x3xf32> to tensor<20xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<20xf32> -> tensor<2x8x20xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x20xf32>
  %w2 = tensor.extract_slice %w[0, 2] [20, 1] [1, 1] : tensor<20x3xf32> to tensor<20xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<20xf32> -> tensor<2x8x20xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x20xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x20xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x20xf32>
  %u = mhc.silu %a : tensor<2x8x20xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 2] [1, 1, 1] : tensor<2x8x20xf32> to tensor<2x8x2xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 2, 1] : tensor<2x8x2xf32> into tensor<2x8x2x1xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x2x1xf32>
  %qs = mhc.reduce sum %q2 dims = [3] : tensor<2x8x2x1xf32> -> tensor<2x8x2xf32>
  %qc = arith.constant 1.0e-06 : f32
  %qe = tensor.splat %qc : tensor<2x8x2xf32>
  %qn = arith.addf %qs, %qe : tensor<2x8x2xf32>
  %qr = math.rsqrt %qn : tensor<2x8x2xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x1xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x2x1xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x2x1xf32> -> tensor<2x8x2x2x1xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x1xf32> into tensor<2x8x4x1xf32>
  %ku = tensor.extract_slice %u[0, 0, 2] [2, 8, 2] [1, 1, 1] : tensor<2x8x20xf32> to tensor<2x8x2xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 2, 1] : tensor<2x8x2xf32> into tensor<2x8x2x1xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x2x1xf32>
  %ks = mhc.reduce sum %k2 dims = [3] : tensor<2x8x2x1xf32> -> tensor<2x8x2xf32>
  %kc = arith.constant 1.0e-06 : f32
  %ke = tensor.splat %kc : tensor<2x8x2xf32>
  %kn = arith.addf %ks, %ke : tensor<2x8x2xf32>
  %kr = math.rsqrt %kn : tensor<2x8x2xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x1xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x2x1xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x2x1xf32> -> tensor<2x8x2x2x1xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x1xf32> into tensor<2x8x4x1xf32>
  %vu = tensor.extract_slice %u[0, 0, 4] [2, 8, 16] [1, 1, 1] : tensor<2x8x20xf32> to tensor<2x8x16xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 20] [2, 8, 16] [1, 1, 1] : tensor<2x8x44xf32> to tensor<2x8x16xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %br = tensor.extract_slice %x[0, 0, 36] [2, 8, 4] [1, 1, 1] : tensor<2x8x44xf32> to tensor<2x8x4xf32>
  %beta = mhc.sigmoid %br : tensor<2x8x4xf32>
  %al = tensor.extract_slice %x[0, 0, 40] [2, 8, 4] [1, 1, 1] : tensor<2x8x44xf32> to tensor<2x8x4xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %tt = arith.addf %al, %dt : tensor<2x8x4xf32>
  %sp = mhc.softplus %tt : tensor<2x8x4xf32>
  %ab = mhc.broadcast %A_log dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %e = math.exp %ab : tensor<2x8x4xf32>
  %ne = arith.negf %e : tensor<2x8x4xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x4xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x4x1xf32>, tensor<2x8x4x1xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// One head of one channel each.
// CHECK-LABEL: func.func @one_channel
// CHECK: mhc.pre_gated_delta_rule({{.*}}<num_key_heads = 1,
func.func @one_channel(%x: tensor<2x8x12xf32>, %w: tensor<6x3xf32>,
    %A_log: tensor<1xf32>, %dt_bias: tensor<1xf32>)
    -> (tensor<2x8x1x1xf32>, tensor<2x8x1x1xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 6] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x6xf32>
  %x0 = mhc.shift %qkv dim = 1 by = 2 : tensor<2x8x6xf32>
  %x1 = mhc.shift %qkv dim = 1 by = 1 : tensor<2x8x6xf32>
  %x2 = mhc.shift %qkv dim = 1 by = 0 : tensor<2x8x6xf32>
  %w0 = tensor.extract_slice %w[0, 0] [6, 1] [1, 1] : tensor<6x3xf32> to tensor<6xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<6xf32> -> tensor<2x8x6xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x6xf32>
  %w1 = tensor.extract_slice %w[0, 1] [6, 1] [1, 1] : tensor<6x3xf32> to tensor<6xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<6xf32> -> tensor<2x8x6xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x6xf32>
  %w2 = tensor.extract_slice %w[0, 2] [6, 1] [1, 1] : tensor<6x3xf32> to tensor<6xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<6xf32> -> tensor<2x8x6xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x6xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x6xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x6xf32>
  %u = mhc.silu %a : tensor<2x8x6xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 1] [1, 1, 1] : tensor<2x8x6xf32> to tensor<2x8x1xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 1] : tensor<2x8x1xf32> into tensor<2x8x1x1xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x1xf32>
  %qs = mhc.reduce sum %q2 dims = [3] : tensor<2x8x1x1xf32> -> tensor<2x8x1xf32>
  %qc = arith.constant 1.0e-06 : f32
  %qe = tensor.splat %qc : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qe : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x1xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x1xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x1xf32> -> tensor<2x8x1x1x1xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x1x1xf32> into tensor<2x8x1x1xf32>
  %ku = tensor.extract_slice %u[0, 0, 1] [2, 8, 1] [1, 1, 1] : tensor<2x8x6xf32> to tensor<2x8x1xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 1] : tensor<2x8x1xf32> into tensor<2x8x1x1xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x1xf32>
  %ks = mhc.reduce sum %k2 dims = [3] : tensor<2x8x1x1xf32> -> tensor<2x8x1xf32>
  %kc = arith.constant 1.0e-06 : f32
  %ke = tensor.splat %kc : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %ke : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x1xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x1xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x1xf32> -> tensor<2x8x1x1x1xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x1x1xf32> into tensor<2x8x1x1xf32>
  %vu = tensor.extract_slice %u[0, 0, 2] [2, 8, 4] [1, 1, 1] : tensor<2x8x6xf32> to tensor<2x8x4xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 6] [2, 8, 4] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x4xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %br = tensor.extract_slice %x[0, 0, 10] [2, 8, 1] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x1xf32>
  %beta = mhc.sigmoid %br : tensor<2x8x1xf32>
  %al = tensor.extract_slice %x[0, 0, 11] [2, 8, 1] [1, 1, 1] : tensor<2x8x12xf32> to tensor<2x8x1xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<1xf32> -> tensor<2x8x1xf32>
  %tt = arith.addf %al, %dt : tensor<2x8x1xf32>
  %sp = mhc.softplus %tt : tensor<2x8x1xf32>
  %ab = mhc.broadcast %A_log dims = [2] : tensor<1xf32> -> tensor<2x8x1xf32>
  %e = math.exp %ab : tensor<2x8x1xf32>
  %ne = arith.negf %e : tensor<2x8x1xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x1xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x1x1xf32>, tensor<2x8x1x1xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>
}

// Other windows are told also where the sizes are open.
// CHECK-LABEL: func.func @windows_of_open_sizes
// CHECK-NOT: mhc.pre_gated_delta_rule
// MISS: [Missed] gated-delta-taps | {{.*}}Function=windows_of_open_sizes | Found="windows of other tokens than those before, or of tokens and sequences that are open"
func.func @windows_of_open_sizes(%x: tensor<?x?x28xf32>, %w: tensor<16x3xf32>,
    %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x28xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x28xf32>
  %qkv = tensor.extract_slice %x[0, 0, 0] [%b, %t, 16] [1, 1, 1] : tensor<?x?x28xf32> to tensor<?x?x16xf32>
  %zero = arith.constant 0.0 : f32
  %pad = tensor.pad %qkv low[0, 2, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x?x16xf32> to tensor<?x?x16xf32>
  %y0 = tensor.extract_slice %pad[0, 0, 0] [%b, %t, 16] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x16xf32>
  %y1 = tensor.extract_slice %pad[0, 1, 0] [%b, %t, 16] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x16xf32>
  %y2 = tensor.extract_slice %pad[0, 2, 0] [%b, %t, 16] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x16xf32>
  %e0 = tensor.expand_shape %y0 [[0], [1], [2, 3]] output_shape [%b, %t, 16, 1] : tensor<?x?x16xf32> into tensor<?x?x16x1xf32>
  %e1 = tensor.expand_shape %y1 [[0], [1], [2, 3]] output_shape [%b, %t, 16, 1] : tensor<?x?x16xf32> into tensor<?x?x16x1xf32>
  %e2 = tensor.expand_shape %y2 [[0], [1], [2, 3]] output_shape [%b, %t, 16, 1] : tensor<?x?x16xf32> into tensor<?x?x16x1xf32>
  %win = tensor.concat dim(3) %e0, %e1, %e2 : (tensor<?x?x16x1xf32>, tensor<?x?x16x1xf32>, tensor<?x?x16x1xf32>) -> tensor<?x?x16x3xf32>
  %x0 = tensor.extract_slice %win[0, 0, 0, 0] [%b, %t, 16, 1] [1, 1, 1, 1] : tensor<?x?x16x3xf32> to tensor<?x?x16xf32>
  %x1 = tensor.extract_slice %win[0, 0, 0, 1] [%b, %t, 16, 1] [1, 1, 1, 1] : tensor<?x?x16x3xf32> to tensor<?x?x16xf32>
  %x2 = tensor.extract_slice %win[0, 0, 0, 2] [%b, %t, 16, 1] [1, 1, 1, 1] : tensor<?x?x16x3xf32> to tensor<?x?x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0[%b, %t] dims = [2] : tensor<16xf32> -> tensor<?x?x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<?x?x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1[%b, %t] dims = [2] : tensor<16xf32> -> tensor<?x?x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<?x?x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2[%b, %t] dims = [2] : tensor<16xf32> -> tensor<?x?x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<?x?x16xf32>
  %wb = mhc.broadcast %w[%b, %t] dims = [2, 3] : tensor<16x3xf32> -> tensor<?x?x16x3xf32>
  %wp = arith.mulf %win, %wb : tensor<?x?x16x3xf32>
  %a = mhc.reduce sum %wp dims = [3] : tensor<?x?x16x3xf32> -> tensor<?x?x16xf32>
  %u = mhc.silu %a : tensor<?x?x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [%b, %t, 4] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [%b, %t, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<?x?x1x4xf32>
  %qs = mhc.reduce sum %q2 dims = [3] : tensor<?x?x1x4xf32> -> tensor<?x?x1xf32>
  %qc = arith.constant 1.0e-06 : f32
  %qe = tensor.splat %qc[%b, %t] : tensor<?x?x1xf32>
  %qn = arith.addf %qs, %qe : tensor<?x?x1xf32>
  %qr = math.rsqrt %qn : tensor<?x?x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<?x?x1xf32> -> tensor<?x?x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<?x?x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<?x?x1x4xf32> -> tensor<?x?x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<?x?x1x2x4xf32> into tensor<?x?x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [%b, %t, 4] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [%b, %t, 1, 4] : tensor<?x?x4xf32> into tensor<?x?x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<?x?x1x4xf32>
  %ks = mhc.reduce sum %k2 dims = [3] : tensor<?x?x1x4xf32> -> tensor<?x?x1xf32>
  %kc = arith.constant 1.0e-06 : f32
  %ke = tensor.splat %kc[%b, %t] : tensor<?x?x1xf32>
  %kn = arith.addf %ks, %ke : tensor<?x?x1xf32>
  %kr = math.rsqrt %kn : tensor<?x?x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<?x?x1xf32> -> tensor<?x?x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<?x?x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<?x?x1x4xf32> -> tensor<?x?x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<?x?x1x2x4xf32> into tensor<?x?x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [%b, %t, 8] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [%b, %t, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [%b, %t, 8] [1, 1, 1] : tensor<?x?x28xf32> to tensor<?x?x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [%b, %t, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %br = tensor.extract_slice %x[0, 0, 24] [%b, %t, 2] [1, 1, 1] : tensor<?x?x28xf32> to tensor<?x?x2xf32>
  %beta = mhc.sigmoid %br : tensor<?x?x2xf32>
  %al = tensor.extract_slice %x[0, 0, 26] [%b, %t, 2] [1, 1, 1] : tensor<?x?x28xf32> to tensor<?x?x2xf32>
  %dt = mhc.broadcast %dt_bias[%b, %t] dims = [2] : tensor<2xf32> -> tensor<?x?x2xf32>
  %tt = arith.addf %al, %dt : tensor<?x?x2xf32>
  %sp = mhc.softplus %tt : tensor<?x?x2xf32>
  %ab = mhc.broadcast %A_log[%b, %t] dims = [2] : tensor<2xf32> -> tensor<?x?x2xf32>
  %e = math.exp %ab : tensor<?x?x2xf32>
  %ne = arith.negf %e : tensor<?x?x2xf32>
  %g = arith.mulf %ne, %sp : tensor<?x?x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @circular_windows
// CHECK-NOT: mhc.pre_gated_delta_rule
// MISS: [Missed] gated-delta-taps | {{.*}}Function=circular_windows | Found="windows of other tokens than those before, or of tokens and sequences that are open"
func.func @circular_windows(%x: tensor<2x?x28xf32>, %w: tensor<16x3xf32>,
    %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tensor.dim %x, %c1 : tensor<2x?x28xf32>
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, %t, 16] [1, 1, 1] : tensor<2x?x28xf32> to tensor<2x?x16xf32>
  %y2 = tensor.extract_slice %qkv[0, 0, 0] [2, %t, 16] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x16xf32>
  %o0 = arith.subi %t, %c2 : index
  %l0 = tensor.extract_slice %qkv[0, %o0, 0] [2, 2, 16] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x2x16xf32>
  %f0 = tensor.extract_slice %qkv[0, 0, 0] [2, %o0, 16] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x16xf32>
  %k0 = tensor.concat dim(1) %l0, %f0 : (tensor<2x2x16xf32>, tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  %y0 = tensor.cast %k0 : tensor<2x?x16xf32> to tensor<2x?x16xf32>
  %o1 = arith.subi %t, %c1 : index
  %l1 = tensor.extract_slice %qkv[0, %o1, 0] [2, 1, 16] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x1x16xf32>
  %f1 = tensor.extract_slice %qkv[0, 0, 0] [2, %o1, 16] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x16xf32>
  %k1 = tensor.concat dim(1) %l1, %f1 : (tensor<2x1x16xf32>, tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  %y1 = tensor.cast %k1 : tensor<2x?x16xf32> to tensor<2x?x16xf32>
  %e0 = tensor.expand_shape %y0 [[0], [1], [2, 3]] output_shape [2, %t, 16, 1] : tensor<2x?x16xf32> into tensor<2x?x16x1xf32>
  %e1 = tensor.expand_shape %y1 [[0], [1], [2, 3]] output_shape [2, %t, 16, 1] : tensor<2x?x16xf32> into tensor<2x?x16x1xf32>
  %e2 = tensor.expand_shape %y2 [[0], [1], [2, 3]] output_shape [2, %t, 16, 1] : tensor<2x?x16xf32> into tensor<2x?x16x1xf32>
  %win = tensor.concat dim(3) %e0, %e1, %e2 : (tensor<2x?x16x1xf32>, tensor<2x?x16x1xf32>, tensor<2x?x16x1xf32>) -> tensor<2x?x16x3xf32>
  %x0 = tensor.extract_slice %win[0, 0, 0, 0] [2, %t, 16, 1] [1, 1, 1, 1] : tensor<2x?x16x3xf32> to tensor<2x?x16xf32>
  %x1 = tensor.extract_slice %win[0, 0, 0, 1] [2, %t, 16, 1] [1, 1, 1, 1] : tensor<2x?x16x3xf32> to tensor<2x?x16xf32>
  %x2 = tensor.extract_slice %win[0, 0, 0, 2] [2, %t, 16, 1] [1, 1, 1, 1] : tensor<2x?x16x3xf32> to tensor<2x?x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0[%t] dims = [2] : tensor<16xf32> -> tensor<2x?x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x?x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1[%t] dims = [2] : tensor<16xf32> -> tensor<2x?x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x?x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2[%t] dims = [2] : tensor<16xf32> -> tensor<2x?x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x?x16xf32>
  %wb = mhc.broadcast %w[%t] dims = [2, 3] : tensor<16x3xf32> -> tensor<2x?x16x3xf32>
  %wp = arith.mulf %win, %wb : tensor<2x?x16x3xf32>
  %a = mhc.reduce sum %wp dims = [3] : tensor<2x?x16x3xf32> -> tensor<2x?x16xf32>
  %u = mhc.silu %a : tensor<2x?x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, %t, 4] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, %t, 1, 4] : tensor<2x?x4xf32> into tensor<2x?x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x?x1x4xf32>
  %qs = mhc.reduce sum %q2 dims = [3] : tensor<2x?x1x4xf32> -> tensor<2x?x1xf32>
  %qc = arith.constant 1.0e-06 : f32
  %qe = tensor.splat %qc[%t] : tensor<2x?x1xf32>
  %qn = arith.addf %qs, %qe : tensor<2x?x1xf32>
  %qr = math.rsqrt %qn : tensor<2x?x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x?x1xf32> -> tensor<2x?x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x?x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x?x1x4xf32> -> tensor<2x?x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x?x1x2x4xf32> into tensor<2x?x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, %t, 4] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, %t, 1, 4] : tensor<2x?x4xf32> into tensor<2x?x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x?x1x4xf32>
  %ks = mhc.reduce sum %k2 dims = [3] : tensor<2x?x1x4xf32> -> tensor<2x?x1xf32>
  %kc = arith.constant 1.0e-06 : f32
  %ke = tensor.splat %kc[%t] : tensor<2x?x1xf32>
  %kn = arith.addf %ks, %ke : tensor<2x?x1xf32>
  %kr = math.rsqrt %kn : tensor<2x?x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x?x1xf32> -> tensor<2x?x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x?x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x?x1x4xf32> -> tensor<2x?x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x?x1x2x4xf32> into tensor<2x?x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, %t, 8] [1, 1, 1] : tensor<2x?x16xf32> to tensor<2x?x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, %t, 2, 4] : tensor<2x?x8xf32> into tensor<2x?x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, %t, 8] [1, 1, 1] : tensor<2x?x28xf32> to tensor<2x?x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, %t, 2, 4] : tensor<2x?x8xf32> into tensor<2x?x2x4xf32>
  %br = tensor.extract_slice %x[0, 0, 24] [2, %t, 2] [1, 1, 1] : tensor<2x?x28xf32> to tensor<2x?x2xf32>
  %beta = mhc.sigmoid %br : tensor<2x?x2xf32>
  %al = tensor.extract_slice %x[0, 0, 26] [2, %t, 2] [1, 1, 1] : tensor<2x?x28xf32> to tensor<2x?x2xf32>
  %dt = mhc.broadcast %dt_bias[%t] dims = [2] : tensor<2xf32> -> tensor<2x?x2xf32>
  %tt = arith.addf %al, %dt : tensor<2x?x2xf32>
  %sp = mhc.softplus %tt : tensor<2x?x2xf32>
  %ab = mhc.broadcast %A_log[%t] dims = [2] : tensor<2xf32> -> tensor<2x?x2xf32>
  %e = math.exp %ab : tensor<2x?x2xf32>
  %ne = arith.negf %e : tensor<2x?x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x?x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2xf32>, tensor<2x?x2xf32>
}

// CHECK-LABEL: func.func @decay_of_a_sum
// CHECK-NOT: mhc.pre_gated_delta_rule
// MISS: [Missed] gated-delta-decay | {{.*}}Function=decay_of_a_sum | Found="a softplus times the exponential of a sum or a product"
func.func @decay_of_a_sum(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>,
    %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %x0 = mhc.shift %qkv dim = 1 by = 2 : tensor<2x8x16xf32>
  %x1 = mhc.shift %qkv dim = 1 by = 1 : tensor<2x8x16xf32>
  %x2 = mhc.shift %qkv dim = 1 by = 0 : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s1 = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s1, %p2 : tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %qu = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %qh = tensor.expand_shape %qu [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %q2 = arith.mulf %qh, %qh : tensor<2x8x1x4xf32>
  %qs = mhc.reduce sum %q2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %qc = arith.constant 1.0e-06 : f32
  %qe = tensor.splat %qc : tensor<2x8x1xf32>
  %qn = arith.addf %qs, %qe : tensor<2x8x1xf32>
  %qr = math.rsqrt %qn : tensor<2x8x1xf32>
  %qrb = mhc.broadcast %qr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %qy = arith.mulf %qh, %qrb : tensor<2x8x1x4xf32>
  %qx = mhc.broadcast %qy dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %q = tensor.collapse_shape %qx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %ku = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %kh = tensor.expand_shape %ku [[0], [1], [2, 3]] output_shape [2, 8, 1, 4] : tensor<2x8x4xf32> into tensor<2x8x1x4xf32>
  %k2 = arith.mulf %kh, %kh : tensor<2x8x1x4xf32>
  %ks = mhc.reduce sum %k2 dims = [3] : tensor<2x8x1x4xf32> -> tensor<2x8x1xf32>
  %kc = arith.constant 1.0e-06 : f32
  %ke = tensor.splat %kc : tensor<2x8x1xf32>
  %kn = arith.addf %ks, %ke : tensor<2x8x1xf32>
  %kr = math.rsqrt %kn : tensor<2x8x1xf32>
  %krb = mhc.broadcast %kr dims = [0, 1, 2] : tensor<2x8x1xf32> -> tensor<2x8x1x4xf32>
  %ky = arith.mulf %kh, %krb : tensor<2x8x1x4xf32>
  %kx = mhc.broadcast %ky dims = [0, 1, 2, 4] : tensor<2x8x1x4xf32> -> tensor<2x8x1x2x4xf32>
  %k = tensor.collapse_shape %kx [[0], [1], [2, 3], [4]] : tensor<2x8x1x2x4xf32> into tensor<2x8x2x4xf32>
  %vu = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %v = tensor.expand_shape %vu [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %zc = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %z = tensor.expand_shape %zc [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %br = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %br : tensor<2x8x2xf32>
  %al = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %dt = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %tt = arith.addf %al, %dt : tensor<2x8x2xf32>
  %sp = mhc.softplus %tt : tensor<2x8x2xf32>
  %ab = mhc.broadcast %A_log dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %twice = arith.addf %ab, %ab : tensor<2x8x2xf32>
  %e = math.exp %twice : tensor<2x8x2xf32>
  %ne = arith.negf %e : tensor<2x8x2xf32>
  %g = arith.mulf %ne, %sp : tensor<2x8x2xf32>
  return %q, %k, %v, %z, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

// A state space model multiplies what is convolved by its step, which is no norm.
// CHECK-LABEL: func.func @state_space_model
// CHECK-NOT: mhc.pre_gated_delta_rule
func.func @state_space_model(%x: tensor<2x8x4xf32>, %w: tensor<4x2xf32>, %delta: tensor<2x8x4xf32>, %A_log: tensor<4xf32>,
    %dt_bias: tensor<4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %before = mhc.shift %x dim = 1 by = 1 : tensor<2x8x4xf32>
  %w0 = tensor.extract_slice %w[0, 0] [4, 1] [1, 1] : tensor<4x2xf32> to tensor<4xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %p0 = arith.mulf %before, %b0 : tensor<2x8x4xf32>
  %w1 = tensor.extract_slice %w[0, 1] [4, 1] [1, 1] : tensor<4x2xf32> to tensor<4xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %p1 = arith.mulf %x, %b1 : tensor<2x8x4xf32>
  %a = arith.addf %p0, %p1 : tensor<2x8x4xf32>
  %u = mhc.silu %a : tensor<2x8x4xf32>
  %bias = mhc.broadcast %dt_bias dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %t = arith.addf %delta, %bias : tensor<2x8x4xf32>
  %step = mhc.softplus %t : tensor<2x8x4xf32>
  %exp = math.exp %A_log : tensor<4xf32>
  %rate = arith.negf %exp : tensor<4xf32>
  %rates = mhc.broadcast %rate dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %decay = arith.mulf %rates, %step : tensor<2x8x4xf32>
  %input = arith.mulf %u, %step : tensor<2x8x4xf32>
  return %decay, %input : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
