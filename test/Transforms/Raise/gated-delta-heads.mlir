// RUN: split-file %s %t
// DEFINE: %{raise} = mhc-opt - -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix

// Heads of q and k, each as often in a row as there are heads of v for it: by a view, a product with ones and zeros,
// their numbers, or slices that are joined.

// RUN: cat %t/front %t/repeated | %{raise}=FOUND
// FOUND-LABEL: func.func @front
// FOUND: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x56xf32>, {{.*}}<num_key_heads = 2, qk_l2norm = true
// RUN: cat %t/front %t/compared | %{raise}=FOUND
// RUN: cat %t/front %t/gathered | %{raise}=FOUND
// RUN: cat %t/front %t/joined | %{raise}=FOUND
// RUN: cat %t/front %t/joined | sed 's/%first, %last/%last, %first/' | %{raise}=TURN --implicit-check-not=mhc.pre_gated

// In turn they are other heads, and no streams.
// RUN: cat %t/front %t/in-turn | %{raise}=TURN --implicit-check-not=mhc.pre_gated --implicit-check-not=mhc.expand
// TURN: gated-delta-parts | {{.*}}but not each head of q and k repeated in a row, as many as there are of v
// RUN: cat %t/front %t/gathered-in-turn | %{raise}=TURN --implicit-check-not=mhc.pre_gated

//--- front
func.func @front(%x: tensor<2x8x56xf32>, %w: tensor<32x3xf32>, %A_log: tensor<4xf32>, %dt_bias: tensor<4xf32>,
                 %left: tensor<2x2x32xf32>)
    -> (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>,
        tensor<2x8x4xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 32] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x32xf32>
  %a = call @convolution(%qkv, %w, %left) : (tensor<2x8x32xf32>, tensor<32x3xf32>, tensor<2x2x32xf32>) -> tensor<2x8x32xf32>
  %u = mhc.silu %a : tensor<2x8x32xf32>
  %q = tensor.extract_slice %u[0, 0, 0] [2, 8, 8] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x8xf32>
  %k = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x8xf32>
  %query = call @heads(%q) : (tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32>
  %key = call @heads(%k) : (tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32>
  %v = tensor.extract_slice %u[0, 0, 16] [2, 8, 16] [1, 1, 1] : tensor<2x8x32xf32> to tensor<2x8x16xf32>
  %value = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %z = tensor.extract_slice %x[0, 0, 32] [2, 8, 16] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x16xf32>
  %gate = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [2, 8, 4, 4] : tensor<2x8x16xf32> into tensor<2x8x4x4xf32>
  %b = tensor.extract_slice %x[0, 0, 48] [2, 8, 4] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x4xf32>
  %beta = mhc.sigmoid %b : tensor<2x8x4xf32>
  %alpha = tensor.extract_slice %x[0, 0, 52] [2, 8, 4] [1, 1, 1] : tensor<2x8x56xf32> to tensor<2x8x4xf32>
  %bias = mhc.broadcast %dt_bias dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %p = arith.addf %alpha, %bias : tensor<2x8x4xf32>
  %softplus = call @softplus(%p) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %exp = math.exp %A_log : tensor<4xf32>
  %each = mhc.broadcast %exp dims = [2] : tensor<4xf32> -> tensor<2x8x4xf32>
  %rate = arith.negf %each : tensor<2x8x4xf32>
  %g = arith.mulf %rate, %softplus : tensor<2x8x4xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>,
      tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
func.func private @convolution(%x: tensor<2x8x32xf32>, %w: tensor<32x3xf32>, %left: tensor<2x2x32xf32>) -> tensor<2x8x32xf32> {
  %x0 = mhc.shift %x dim = 1 by = 2 : tensor<2x8x32xf32>
  %x1 = mhc.shift %x dim = 1 by = 1 : tensor<2x8x32xf32>
  %x2 = mhc.shift %x dim = 1 by = 0 : tensor<2x8x32xf32>
  %w0 = tensor.extract_slice %w[0, 0] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x32xf32>
  %w1 = tensor.extract_slice %w[0, 1] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x32xf32>
  %w2 = tensor.extract_slice %w[0, 2] [32, 1] [1, 1] : tensor<32x3xf32> to tensor<32xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<32xf32> -> tensor<2x8x32xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x32xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x32xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x32xf32>
  return %a : tensor<2x8x32xf32>
}
func.func private @softplus(%p: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %softplus = mhc.softplus %p : tensor<2x8x4xf32>
  return %softplus : tensor<2x8x4xf32>
}

//--- repeated
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %all = mhc.broadcast %unit dims = [0, 1, 2, 4] : tensor<2x8x2x4xf32> -> tensor<2x8x2x2x4xf32>
  %heads = tensor.collapse_shape %all [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x4xf32> into tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}

//--- joined
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %first = tensor.extract_slice %unit[0, 0, 0, 0] [2, 8, 1, 4] [1, 1, 1, 1] : tensor<2x8x2x4xf32> to tensor<2x8x1x4xf32>
  %last = tensor.extract_slice %unit[0, 0, 1, 0] [2, 8, 1, 4] [1, 1, 1, 1] : tensor<2x8x2x4xf32> to tensor<2x8x1x4xf32>
  %heads = tensor.concat dim(2) %first, %first, %last, %last : (tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>, tensor<2x8x1x4xf32>) -> tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}

//--- compared
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %numbers = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %yes = arith.constant 1.0 : f32
  %no = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x2xf32>
  %ones = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%numbers : tensor<4xi64>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%number: i64, %out: f32):
    %j = linalg.index 1 : index
    %wide = arith.index_cast %j : index to i64
    %is = arith.cmpi eq, %number, %wide : i64
    %one = arith.select %is, %yes, %no : f32
    linalg.yield %one : f32
  } -> tensor<4x2xf32>
  %first = mhc.transpose %unit perm = [0, 1, 3, 2] : tensor<2x8x2x4xf32> -> tensor<2x8x4x2xf32>
  %rows = tensor.collapse_shape %first [[0, 1, 2], [3]] : tensor<2x8x4x2xf32> into tensor<64x2xf32>
  %product = mhc.matmul %rows, %ones transpose_rhs : (tensor<64x2xf32>, tensor<4x2xf32>) -> tensor<64x4xf32>
  %last = tensor.expand_shape %product [[0, 1, 2], [3]] output_shape [2, 8, 4, 4] : tensor<64x4xf32> into tensor<2x8x4x4xf32>
  %heads = mhc.transpose %last perm = [0, 1, 3, 2] : tensor<2x8x4x4xf32> -> tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}

//--- gathered
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %numbers = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %empty = tensor.empty() : tensor<2x8x4x4xf32>
  %none = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %heads = linalg.generic {indexing_maps = [affine_map<(b, t, h, d) -> (h)>, affine_map<(b, t, h, d) -> (b, t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%numbers : tensor<4xi64>) outs(%empty : tensor<2x8x4x4xf32>) {
  ^bb0(%number: i64, %out: f32):
    %is = arith.cmpi slt, %number, %none : i64
    %behind = arith.addi %number, %two : i64
    %from = arith.select %is, %behind, %number : i64
    %head = arith.index_cast %from : i64 to index
    %b = linalg.index 0 : index
    %t = linalg.index 1 : index
    %d = linalg.index 3 : index
    %element = tensor.extract %unit[%b, %t, %head, %d] : tensor<2x8x2x4xf32>
    linalg.yield %element : f32
  } -> tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}

//--- in-turn
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %all = mhc.broadcast %unit dims = [0, 1, 3, 4] : tensor<2x8x2x4xf32> -> tensor<2x8x2x2x4xf32>
  %heads = tensor.collapse_shape %all [[0], [1], [2, 3], [4]] : tensor<2x8x2x2x4xf32> into tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}

//--- gathered-in-turn
func.func private @heads(%flat: tensor<2x8x8xf32>) -> tensor<2x8x4x4xf32> {
  %each = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %squares = arith.mulf %each, %each : tensor<2x8x2x4xf32>
  %sum = mhc.reduce sum %squares dims = [3] : tensor<2x8x2x4xf32> -> tensor<2x8x2xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8x2xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8x2xf32>
  %scale = math.rsqrt %safe : tensor<2x8x2xf32>
  %scales = mhc.broadcast %scale dims = [0, 1, 2] : tensor<2x8x2xf32> -> tensor<2x8x2x4xf32>
  %unit = arith.mulf %each, %scales : tensor<2x8x2x4xf32>
  %numbers = arith.constant dense<[0, 1, 0, 1]> : tensor<4xi64>
  %empty = tensor.empty() : tensor<2x8x4x4xf32>
  %none = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %heads = linalg.generic {indexing_maps = [affine_map<(b, t, h, d) -> (h)>, affine_map<(b, t, h, d) -> (b, t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%numbers : tensor<4xi64>) outs(%empty : tensor<2x8x4x4xf32>) {
  ^bb0(%number: i64, %out: f32):
    %is = arith.cmpi slt, %number, %none : i64
    %behind = arith.addi %number, %two : i64
    %from = arith.select %is, %behind, %number : i64
    %head = arith.index_cast %from : i64 to index
    %b = linalg.index 0 : index
    %t = linalg.index 1 : index
    %d = linalg.index 3 : index
    %element = tensor.extract %unit[%b, %t, %head, %d] : tensor<2x8x2x4xf32>
    linalg.yield %element : f32
  } -> tensor<2x8x4x4xf32>
  return %heads : tensor<2x8x4x4xf32>
}
