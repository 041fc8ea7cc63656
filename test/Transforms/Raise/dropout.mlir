// RUN: mhc-opt %s -canonicalize -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -canonicalize -mhc-raise --remarks-filter-missed='mhc.*' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISS --implicit-check-not='[Missed]'

// Dropout of the branch behind h_post has a mask per stream and channel, which mhc.post draws by the same numbers.

// CHECK-LABEL: func.func @behind_the_gate
// CHECK-NOT: mhc.dropout
// CHECK: mhc.post(f = %arg3 : tensor<8x64xf32>, h_post = %arg2 : tensor<8x4xf32>, x = %arg1 : tensor<8x4x64xf32>, h_res = %mix : tensor<8x4x4xf32>,
// CHECK-SAME: seed = %arg4 : tensor<2xi64>) <layout = nC, orient = oi, rate = 1.0e-01, stream = 3>
func.func @behind_the_gate(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// Megatron's out = mix + dropout(h_post * f + h_post * bias), in bf16, with the tokens open and the streams last.
// CHECK-LABEL: func.func @with_a_bias
// CHECK-NOT: mhc.dropout
// CHECK: mhc.post(f = %arg3 : tensor<?x64xbf16>, bias = %arg4 : tensor<64xbf16>, h_post = %arg2 : tensor<?x4xf32>, x = %arg1 : tensor<?x64x4xbf16>,
// CHECK-SAME: seed = %arg5 : tensor<2xi64>) <layout = Cn, orient = io, rate = 2.5e-01, stream = 3>
func.func @with_a_bias(%z: tensor<?x4x4xf32>, %x: tensor<?x64x4xbf16>, %h: tensor<?x4xf32>, %f: tensor<?x64xbf16>,
                       %bias: tensor<64xbf16>, %seed: tensor<2xi64>) -> tensor<?x64x4xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64x4xbf16>
  %map = mhc.sinkhorn(logits = %z : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %wide = arith.extf %x : tensor<?x64x4xbf16> to tensor<?x64x4xf32>
  %mixed = mhc.batch_matmul %wide, %map : (tensor<?x64x4xf32>, tensor<?x4x4xf32>) -> tensor<?x64x4xf32>
  %f32 = arith.extf %f : tensor<?x64xbf16> to tensor<?x64xf32>
  %bias32 = arith.extf %bias : tensor<64xbf16> to tensor<64xf32>
  %hw = mhc.broadcast %h dims = [0, 2] : tensor<?x4xf32> -> tensor<?x64x4xf32>
  %fw = mhc.broadcast %f32 dims = [0, 1] : tensor<?x64xf32> -> tensor<?x64x4xf32>
  %bw = mhc.broadcast %bias32[%m] dims = [1] : tensor<64xf32> -> tensor<?x64x4xf32>
  %hf = arith.mulf %hw, %fw : tensor<?x64x4xf32>
  %hb = arith.mulf %hw, %bw : tensor<?x64x4xf32>
  %branch = arith.addf %hf, %hb : tensor<?x64x4xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<?x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.25, stream = 3>
    -> (out : tensor<?x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [%m, 64, 4] : tensor<?x256xf32> into tensor<?x64x4xf32>
  %sum = arith.addf %mixed, %masked : tensor<?x64x4xf32>
  %out = arith.truncf %sum : tensor<?x64x4xf32> to tensor<?x64x4xbf16>
  return %out : tensor<?x64x4xbf16>
}

// A bias that is not dropped stays beside the post.
// MISS: dropout.mlir:[[#@LINE+13]]:{{[0-9]+}}: remark: [Missed] dropout-of-part | Category:mhc-raise:post | Function=bias_beside | Found="'mhc.dropout', [8, 256] of f32", Needed="one dropout of the whole summand"
// CHECK-LABEL: func.func @bias_beside
// CHECK: %[[PART:.*]] = mhc.post({{.*}}seed = %arg4
// CHECK: arith.addf %[[PART]]
func.func @bias_beside(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>, %bias: tensor<64xf32>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %bw = mhc.broadcast %bias dims = [2] : tensor<64xf32> -> tensor<8x4x64xf32>
  %hb = arith.mulf %hw, %bw : tensor<8x4x64xf32>
  %part = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  %out = arith.addf %part, %hb : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The elements of this mask are numbered with the channels first.
// MISS: dropout.mlir:[[#@LINE+13]]:{{[0-9]+}}: remark: [Missed] dropout-order | Category:mhc-raise:post | Function=transposed_mask | Found="'mhc.dropout', [8, 256] of f32", Needed="[tokens, n, C] as the streams"
// CHECK-LABEL: func.func @transposed_mask
// CHECK-NOT: mhc.post
func.func @transposed_mask(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %product = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %turned = mhc.transpose %product perm = [0, 2, 1] : tensor<8x4x64xf32> -> tensor<8x64x4xf32>
  %flat = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<8x64x4xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x256xf32>)
  %kept = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 64, 4] : tensor<8x256xf32> into tensor<8x64x4xf32>
  %masked = mhc.transpose %kept perm = [0, 2, 1] : tensor<8x64x4xf32> -> tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// MISS: dropout.mlir:[[#@LINE+13]]:{{[0-9]+}}: remark: [Missed] dropout-of-part | Category:mhc-raise:post | Function=scaled_behind | Found="'mhc.dropout', [8, 256] of f32"
// CHECK-LABEL: func.func @scaled_behind
// CHECK-NOT: mhc.post
func.func @scaled_behind(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %two = arith.constant dense<2.0> : tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x256xf32>)
  %kept = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %masked = arith.mulf %kept, %two : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: func.func @rate_of_zero
func.func @rate_of_zero(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.dropout
  // CHECK: mhc.post(
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %branch [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %dropped = mhc.dropout(x = %flat : tensor<8x256xf32>, seed = %seed : tensor<2xi64>) <rate = 0.0, stream = 3>
    -> (out : tensor<8x256xf32>)
  %masked = tensor.expand_shape %dropped [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: func.func @before_the_gate
func.func @before_the_gate(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                   %seed: tensor<2xi64>) -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  // CHECK: %[[F:.*]] = mhc.dropout(
  // CHECK: mhc.post(f = %[[F]]
  %dropped = mhc.dropout(x = %f : tensor<8x64xf32>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
    -> (out : tensor<8x64xf32>)
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %dropped dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}
