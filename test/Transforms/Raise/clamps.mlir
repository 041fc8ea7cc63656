// RUN: mhc-opt %s -mhc-raise -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-raise -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhc-opt %s -mhc-raise -mhc-fuse -split-input-file | FileCheck %s --check-prefix=FUSED

// Logits that are bounded by numbers: no op does that, and all around it is found.

// Sigmoids are monotone, so that their clamps may stand behind them. Exponentials of bounded logits do not overflow.
// REMARK-NOT: bare-exp
// REMARK: remark: [Missed] gate-clamp | {{.*}}Found="'arith.maxnumf', [2, 4, 4] of f32", Needed="gates and logits as they are"
// REMARK-NOT: [Missed]
// CHECK-LABEL: @bounded_logits
// FUSED-LABEL: @bounded_logits
func.func @bounded_logits(%x: tensor<2x4x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4x4xf32>) {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant dense<4.53978682E-5> : tensor<2x4x4xf32>
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<0.999954581> : tensor<2x4x4xf32>
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[LOGITS:.*]] = mhc.gates({{.*}} post_mult = 1.0>
  // CHECK: %[[GATE:.*]] = tensor.expand_shape %[[PRE]]
  // CHECK: %[[ROWS:.*]] = tensor.expand_shape %[[LOGITS]]
  // CHECK: %[[ABOVE:.*]] = arith.maxnumf %[[GATE]], %[[LOW]]
  // CHECK: %[[PRE_CLAMPED:.*]] = arith.minnumf %[[ABOVE]], %[[HIGH]]
  // CHECK: arith.minimumf %[[ROWS]]
  // CHECK: mhc.sinkhorn({{.*}}) <init = exp,
  // CHECK: return %[[PRE_CLAMPED]]
  // FUSED: mhc.pre({{.*}} res_map = identity,
  // FUSED-NOT: mhc.gates
  %flat = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<2x4x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %all = arith.addf %p, %bias : tensor<8x24xf32>
  %z = tensor.expand_shape %all [[0, 1], [2]] output_shape [2, 4, 24] : tensor<8x24xf32> into tensor<2x4x24xf32>
  %z0 = tensor.extract_slice %z[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x24xf32> to tensor<2x4x4xf32>
  %z1 = tensor.extract_slice %z[0, 0, 4] [2, 4, 4] [1, 1, 1] : tensor<2x4x24xf32> to tensor<2x4x4xf32>
  %z2 = tensor.extract_slice %z[0, 0, 8] [2, 4, 16] [1, 1, 1] : tensor<2x4x24xf32> to tensor<2x4x16xf32>
  %low = arith.constant dense<-10.0> : tensor<2x4x4xf32>
  %high = arith.constant dense<10.0> : tensor<2x4x4xf32>
  %above0 = arith.maxnumf %z0, %low : tensor<2x4x4xf32>
  %clamped0 = arith.minnumf %above0, %high : tensor<2x4x4xf32>
  %above1 = arith.maxnumf %z1, %low : tensor<2x4x4xf32>
  %clamped1 = arith.minnumf %above1, %high : tensor<2x4x4xf32>
  %h_pre = mhc.sigmoid %clamped0 : tensor<2x4x4xf32>
  %h_post = mhc.sigmoid %clamped1 : tensor<2x4x4xf32>
  %m = tensor.expand_shape %z2 [[0], [1], [2, 3]] output_shape [2, 4, 4, 4] : tensor<2x4x16xf32> into tensor<2x4x4x4xf32>
  %most = arith.constant dense<20.0> : tensor<2x4x4x4xf32>
  %bounded = arith.minimumf %m, %most : tensor<2x4x4x4xf32>
  %e = math.exp %bounded : tensor<2x4x4x4xf32>
  %s1 = mhc.reduce sum %e dims = [3] : tensor<2x4x4x4xf32> -> tensor<2x4x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x4x4xf32>
  %p1 = arith.addf %s1, %eps : tensor<2x4x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1, 2] : tensor<2x4x4xf32> -> tensor<2x4x4x4xf32>
  %d1 = arith.divf %e, %b1 : tensor<2x4x4x4xf32>
  %s2 = mhc.reduce sum %d1 dims = [2] : tensor<2x4x4x4xf32> -> tensor<2x4x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<2x4x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 1, 3] : tensor<2x4x4xf32> -> tensor<2x4x4x4xf32>
  %d2 = arith.divf %d1, %b2 : tensor<2x4x4x4xf32>
  return %h_pre, %h_post, %d2 : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4x4xf32>
}

// -----

// The logits of no streams: other networks clamp as they like.
// CHECK-LABEL: @clamp_of_an_argument
func.func @clamp_of_an_argument(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[CLAMPED:.*]] = arith.maximumf
  // CHECK: mhc.sigmoid %[[CLAMPED]]
  %low = arith.constant dense<-10.0> : tensor<8x4xf32>
  %clamped = arith.maximumf %z, %low : tensor<8x4xf32>
  %gate = mhc.sigmoid %clamped : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// -----

// A bound that differs from row to row is no number.
// CHECK-LABEL: @bound_of_a_parameter
func.func @bound_of_a_parameter(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %most: tensor<4xf32>)
    -> tensor<8x4xf32> {
  // CHECK: %[[CLAMPED:.*]] = arith.minimumf
  // CHECK: mhc.sigmoid %[[CLAMPED]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %bounds = mhc.broadcast %most dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %clamped = arith.minimumf %z, %bounds : tensor<8x4xf32>
  %gate = mhc.sigmoid %clamped : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}
