// RUN: split-file %s %t
// DEFINE: %{raise} = mhc-opt -  -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix

// Tokens before the first one: zeros in all spellings, or those of another tensor.

// RUN: cat %t/front %t/shifts %t/repeated %t/softplus | %{raise}=PLAIN
// PLAIN-LABEL: func.func @front
// PLAIN: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x28xf32>, conv_weight = %arg1 : tensor<16x3xf32>, A_log = %arg2 : tensor<2xf32>, dt_bias = %arg3 : tensor<2xf32>) <num
// RUN: cat %t/front %t/zeros %t/repeated %t/softplus | %{raise}=PLAIN
// RUN: cat %t/front %t/inserted %t/repeated %t/softplus | %{raise}=PLAIN
// RUN: cat %t/front %t/windows %t/repeated %t/softplus | %{raise}=PLAIN
// RUN: cat %t/front %t/left %t/repeated %t/softplus | %{raise}=LEFT
// LEFT-LABEL: func.func @front
// LEFT: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<2x8x28xf32>, conv_weight = %arg1 : tensor<16x3xf32>, A_log = %arg2 : tensor<2xf32>, dt_bias = %arg3 : tensor<2xf32>, left_boundary = %arg4 : tensor<2x2x16xf32>) <num
// RUN: cat %t/front %t/left-cut %t/repeated %t/softplus | %{raise}=LEFT
// RUN: cat %t/front %t/long %t/repeated %t/softplus | %{raise}=LEFT
// RUN: cat %t/front %t/round %t/repeated %t/softplus | %{raise}=ROUND
// The last tokens once more are a boundary too.
// ROUND: %[[LAST:.*]] = tensor.extract_slice {{.*}}[0, 6, 0] [2, 2, 16]
// ROUND: mhc.pre_gated_delta_rule({{.*}}left_boundary = %[[LAST]]

// RUN: cat %t/front %t/left-other %t/repeated %t/softplus | %{raise}=OTHER --implicit-check-not=mhc.pre_gated
// OTHER: [Missed] gated-delta-taps | {{.*}}Found="taps behind several other tensors"

//--- front
func.func @front(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>,
                 %left: tensor<2x2x16xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>,
        tensor<2x8x2xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %a = call @convolution(%qkv, %w, %left) : (tensor<2x8x16xf32>, tensor<16x3xf32>, tensor<2x2x16xf32>) -> tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %q = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %k = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %query = call @heads(%q) : (tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32>
  %key = call @heads(%k) : (tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32>
  %v = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %value = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %z = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %gate = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %b = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %b : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %bias = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %p = arith.addf %alpha, %bias : tensor<2x8x2xf32>
  %softplus = call @softplus(%p) : (tensor<2x8x2xf32>) -> tensor<2x8x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %each = mhc.broadcast %exp dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %rate = arith.negf %each : tensor<2x8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<2x8x2xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>,
      tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

//--- shifts
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %x0 = mhc.shift %x dim = 1 by = 2 : tensor<2x8x16xf32>
  %x1 = mhc.shift %x dim = 1 by = 1 : tensor<2x8x16xf32>
  %x2 = mhc.shift %x dim = 1 by = 0 : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- zeros
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<2x2x16xf32>
  %all = tensor.concat dim(1) %zeros, %x : (tensor<2x2x16xf32>, tensor<2x8x16xf32>) -> tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %all[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %all[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %all[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- inserted
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<2x10x16xf32>
  %all = tensor.insert_slice %x into %zeros[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x16xf32> into tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %all[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %all[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %all[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- windows
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<2x2x16xf32>
  %all = tensor.concat dim(1) %zeros, %x : (tensor<2x2x16xf32>, tensor<2x8x16xf32>) -> tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %all[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %all[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %all[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %none = tensor.empty() : tensor<2x8x16x3xf32>
  %i0 = tensor.insert_slice %x0 into %none[0, 0, 0, 0] [2, 8, 16, 1] [1, 1, 1, 1] : tensor<2x8x16xf32> into tensor<2x8x16x3xf32>
  %i1 = tensor.insert_slice %x1 into %i0[0, 0, 0, 1] [2, 8, 16, 1] [1, 1, 1, 1] : tensor<2x8x16xf32> into tensor<2x8x16x3xf32>
  %i2 = tensor.insert_slice %x2 into %i1[0, 0, 0, 2] [2, 8, 16, 1] [1, 1, 1, 1] : tensor<2x8x16xf32> into tensor<2x8x16x3xf32>
  %each = mhc.broadcast %w dims = [2, 3] : tensor<16x3xf32> -> tensor<2x8x16x3xf32>
  %products = arith.mulf %i2, %each : tensor<2x8x16x3xf32>
  %a = mhc.reduce sum %products dims = [3] : tensor<2x8x16x3xf32> -> tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- left
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %all = tensor.concat dim(1) %left, %x : (tensor<2x2x16xf32>, tensor<2x8x16xf32>) -> tensor<2x10x16xf32>
  %x0 = tensor.extract_slice %all[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %all[0, 1, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %all[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x10x16xf32> to tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- left-cut
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %x7 = tensor.extract_slice %x[0, 0, 0] [2, 7, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x7x16xf32>
  %x6 = tensor.extract_slice %x[0, 0, 0] [2, 6, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x6x16xf32>
  %last = tensor.extract_slice %left[0, 1, 0] [2, 1, 16] [1, 1, 1] : tensor<2x2x16xf32> to tensor<2x1x16xf32>
  %none = arith.constant dense<-0.0> : tensor<2x8x16xf32>
  %x0 = tensor.concat dim(1) %left, %x6 : (tensor<2x2x16xf32>, tensor<2x6x16xf32>) -> tensor<2x8x16xf32>
  %x1 = tensor.concat dim(1) %last, %x7 : (tensor<2x1x16xf32>, tensor<2x7x16xf32>) -> tensor<2x8x16xf32>
  %x2 = arith.addf %x, %none : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- long
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %more = tensor.concat dim(1) %left, %left : (tensor<2x2x16xf32>, tensor<2x2x16xf32>) -> tensor<2x4x16xf32>
  %all = tensor.concat dim(1) %more, %x : (tensor<2x4x16xf32>, tensor<2x8x16xf32>) -> tensor<2x12x16xf32>
  %x0 = tensor.extract_slice %all[0, 2, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %x1 = tensor.extract_slice %all[0, 3, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %x2 = tensor.extract_slice %all[0, 4, 0] [2, 8, 16] [1, 1, 1] : tensor<2x12x16xf32> to tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- round
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %x7 = tensor.extract_slice %x[0, 0, 0] [2, 7, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x7x16xf32>
  %x6 = tensor.extract_slice %x[0, 0, 0] [2, 6, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x6x16xf32>
  %first = tensor.extract_slice %x[0, 6, 0] [2, 2, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x2x16xf32>
  %last = tensor.extract_slice %x[0, 7, 0] [2, 1, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x1x16xf32>
  %none = arith.constant dense<-0.0> : tensor<2x8x16xf32>
  %x0 = tensor.concat dim(1) %first, %x6 : (tensor<2x2x16xf32>, tensor<2x6x16xf32>) -> tensor<2x8x16xf32>
  %x1 = tensor.concat dim(1) %last, %x7 : (tensor<2x1x16xf32>, tensor<2x7x16xf32>) -> tensor<2x8x16xf32>
  %x2 = arith.addf %x, %none : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- left-other
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %x7 = tensor.extract_slice %x[0, 0, 0] [2, 7, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x7x16xf32>
  %x6 = tensor.extract_slice %x[0, 0, 0] [2, 6, 16] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x6x16xf32>
  %last = tensor.extract_slice %left[0, 0, 0] [2, 1, 16] [1, 1, 1] : tensor<2x2x16xf32> to tensor<2x1x16xf32>
  %none = arith.constant dense<-0.0> : tensor<2x8x16xf32>
  %x0 = tensor.concat dim(1) %left, %x6 : (tensor<2x2x16xf32>, tensor<2x6x16xf32>) -> tensor<2x8x16xf32>
  %x1 = tensor.concat dim(1) %last, %x7 : (tensor<2x1x16xf32>, tensor<2x7x16xf32>) -> tensor<2x8x16xf32>
  %x2 = arith.addf %x, %none : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- repeated
func.func private @heads(%flat: tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32> {
  %squares = arith.mulf %flat, %flat : tensor<2x8x4xf32>
  %sum = mhc.reduce sum %squares dims = [2] : tensor<2x8x4xf32> -> tensor<2x8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8xf32>
  %scale = math.rsqrt %safe : tensor<2x8xf32>
  %scales = mhc.broadcast %scale dims = [0, 1] : tensor<2x8xf32> -> tensor<2x8x4xf32>
  %unit = arith.mulf %flat, %scales : tensor<2x8x4xf32>
  %heads = mhc.broadcast %unit dims = [0, 1, 3] : tensor<2x8x4xf32> -> tensor<2x8x2x4xf32>
  return %heads : tensor<2x8x2x4xf32>
}

//--- softplus
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %softplus = mhc.softplus %p : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}
