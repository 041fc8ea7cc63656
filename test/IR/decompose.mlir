// RUN: mhc-opt %s -mhc-decompose | FileCheck %s --implicit-check-not="mhc.{{(aggregate|contract|expand|gates|head|permutation_mix|post|pre|projection|sinkhorn)\(}}"

// The chain that each mHC op stands for: its definition.

// CHECK-LABEL: @aggregate
func.func @aggregate(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  // CHECK: %[[X:.*]] = arith.extf %arg0
  // CHECK: %[[H:.*]] = mhc.broadcast %arg1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  // CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[H]]
  // CHECK: %[[S:.*]] = mhc.reduce sum %[[P]] dims = [1]
  // CHECK: %[[U:.*]] = arith.truncf %[[S]]
  // CHECK: return %[[U]]
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u : tensor<?x64xbf16>
}

// CHECK-LABEL: @expand_streams_last
func.func @expand_streams_last(%x: tensor<?x64xbf16>) -> tensor<?x64x4xbf16> {
  // CHECK: mhc.broadcast %arg0 dims = [0, 1] : tensor<?x64xbf16> -> tensor<?x64x4xbf16>
  %streams = mhc.expand(x = %x : tensor<?x64xbf16>) <layout = Cn> -> (streams : tensor<?x64x4xbf16>)
  return %streams : tensor<?x64x4xbf16>
}

// CHECK-LABEL: @contract
func.func @contract(%x: tensor<?x64x4xf32>) -> tensor<?x64xf32> {
  // CHECK: mhc.reduce mean %arg0 dims = [2]
  %out = mhc.contract(x = %x : tensor<?x64x4xf32>) <layout = Cn, mode = mean> -> (out : tensor<?x64xf32>)
  return %out : tensor<?x64xf32>
}

// A = H for oi.
// CHECK-LABEL: @post_oi
func.func @post_oi(%f: tensor<?x64xf32>, %bias: tensor<64xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xf32>,
                   %h_res: tensor<?x4x4xf32>) -> tensor<?x4x64xf32> {
  // CHECK: %[[B:.*]] = mhc.broadcast %arg1[%{{.*}}] dims = [1] : tensor<64xf32> -> tensor<?x64xf32>
  // CHECK: %[[F:.*]] = arith.addf %arg0, %[[B]]
  // CHECK-DAG: mhc.broadcast %arg2 dims = [0, 1]
  // CHECK-DAG: mhc.broadcast %[[F]] dims = [0, 2]
  // CHECK: %[[E:.*]] = arith.mulf
  // CHECK: %[[MIX:.*]] = mhc.batch_matmul %arg4, %arg3 : (
  // CHECK: arith.addf %[[MIX]], %[[E]]
  %out = mhc.post(f = %f : tensor<?x64xf32>, bias = %bias : tensor<64xf32>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xf32>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (out : tensor<?x4x64xf32>)
  return %out : tensor<?x4x64xf32>
}

// A = H^T for io.
// CHECK-LABEL: @post_io
func.func @post_io(%f: tensor<?x64xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xf32>, %h_res: tensor<?x4x4xf32>)
    -> tensor<?x4x64xf32> {
  // CHECK: mhc.batch_matmul %arg3, %arg2 transpose_lhs : (
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xf32>)
  return %out : tensor<?x4x64xf32>
}

// With the streams last, x stands on the left: out[c,o] = sum_i x[c,i] A[o,i].
// CHECK-LABEL: @post_streams_last
func.func @post_streams_last(%f: tensor<?x64xf32>, %h_post: tensor<?x4xf32>, %x: tensor<?x64x4xf32>,
                             %h_res: tensor<?x4x4xf32>) -> (tensor<?x64x4xf32>, tensor<?x64x4xf32>) {
  // CHECK: mhc.batch_matmul %arg2, %arg3 transpose_rhs : (
  %oi = mhc.post(f = %f : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x64x4xf32>)
  // CHECK: mhc.batch_matmul %arg2, %arg3 : (
  %io = mhc.post(f = %f : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xf32>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = io> -> (out : tensor<?x64x4xf32>)
  return %oi, %io : tensor<?x64x4xf32>, tensor<?x64x4xf32>
}

// The elements of a dropout are numbered as they lie in memory; the mix is not dropped.
// CHECK-LABEL: @post_dropout
func.func @post_dropout(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x64x4xbf16>,
                        %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>) -> tensor<?x64x4xbf16> {
  // CHECK: %[[E:.*]] = arith.mulf
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[E]] {{\[\[}}0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  // CHECK: %[[KEPT:.*]] = mhc.dropout(x = %[[FLAT]] : tensor<?x256xf32>, seed = %arg4 : tensor<2xi64>) <rate = 1.0e-01, stream = 3>
  // CHECK: %[[BACK:.*]] = tensor.expand_shape %[[KEPT]]
  // CHECK: %[[MIX:.*]] = mhc.batch_matmul
  // CHECK: arith.addf %[[MIX]], %[[BACK]]
  %out = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x64x4xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>, seed = %seed : tensor<2xi64>)
    <layout = Cn, orient = oi, rate = 0.1, stream = 3> -> (out : tensor<?x64x4xbf16>)
  return %out : tensor<?x64x4xbf16>
}

// The gradient of the branch is dropped again, those of the streams and the mix are not.
// CHECK-LABEL: @post_bwd_dropout
func.func @post_bwd_dropout(%d_out: tensor<?x4x64xf32>, %f: tensor<?x64xf32>, %h_post: tensor<?x4xf32>,
                            %x: tensor<?x4x64xf32>, %h_res: tensor<?x4x4xf32>, %seed: tensor<2xi64>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xf32>) {
  // CHECK: mhc.dropout({{.*}}seed = %arg5 : tensor<2xi64>) <rate = 1.0e-01, stream = 3>
  // CHECK: %[[KEPT:.*]] = tensor.expand_shape
  // CHECK: %[[GATED:.*]] = arith.mulf %{{.*}}, %[[KEPT]]
  // CHECK: mhc.reduce sum %[[GATED]]
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[KEPT]], %{{.*}}
  // CHECK: mhc.reduce sum %[[PRODUCT]]
  // CHECK: mhc.batch_matmul %arg0, %arg3
  // CHECK: mhc.batch_matmul %arg4, %arg0
  // CHECK-NOT: mhc.dropout
  %d_f, %d_h_post, %d_h_res, %d_x = mhc.post_bwd(d_out = %d_out : tensor<?x4x64xf32>, f = %f : tensor<?x64xf32>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>, h_res = %h_res : tensor<?x4x4xf32>,
      seed = %seed : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.1, stream = 3>
    -> (d_f : tensor<?x64xf32>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xf32>)
  return %d_f, %d_h_post, %d_h_res, %d_x : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xf32>
}

// Each layer of a rebuild has a stream number of its own.
// CHECK-LABEL: @rebuild_dropouts
func.func @rebuild_dropouts(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>,
                            %s0: tensor<2xi64>, %s1: tensor<2xi64>) -> tensor<?x4x8xf32> {
  // CHECK: mhc.dropout({{.*}}seed = %arg4 : tensor<2xi64>) <rate = 5.0e-01, stream = 4>
  // CHECK: mhc.dropout({{.*}}seed = %arg5 : tensor<2xi64>) <rate = 5.0e-01, stream = 7>
  %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>,
      h_post = [%p, %p] : tensor<?x4xf32>, h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s0, %s1] : tensor<2xi64>)
    <layout = nC, orient = io, rate = 0.5, stream = 4, stream_step = 3> -> (out : 2 of tensor<?x4x8xf32>)
  return %out1 : tensor<?x4x8xf32>
}

// CHECK-LABEL: @projection
func.func @projection(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %w: tensor<256xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0
  // CHECK: %[[X:.*]] = arith.extf %[[FLAT]]
  // CHECK: %[[W:.*]] = arith.mulf %arg1
  // CHECK: %[[PROJ:.*]] = mhc.matmul %[[X]], %[[W]] transpose_rhs
  // CHECK: %[[XX:.*]] = arith.mulf %[[X]], %[[X]]
  // CHECK: %[[MS:.*]] = mhc.reduce mean %[[XX]] dims = [1]
  // CHECK: return %[[PROJ]], %[[MS]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      norm_weight = %w : tensor<256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = mean_square>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
}

// outside: 1 / (sqrt(ms) + eps)
// CHECK-LABEL: @projection_applied
func.func @projection_applied(%x: tensor<2x4x64xf32>, %phi: tensor<256x24xf32>) -> tensor<2x24xf32> {
  // CHECK: %[[PROJ:.*]] = mhc.matmul %{{.*}}, %arg1 : (
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00>
  // CHECK: %[[EPS:.*]] = arith.constant dense<9.99999997E-7>
  // CHECK: %[[ROOT:.*]] = math.sqrt
  // CHECK: %[[SUM:.*]] = arith.addf %[[ROOT]], %[[EPS]]
  // CHECK: %[[S:.*]] = arith.divf %[[ONE]], %[[SUM]]
  // CHECK: mhc.broadcast %[[S]] dims = [0]
  // CHECK: arith.mulf %[[PROJ]]
  %proj = mhc.projection(x = %x : tensor<2x4x64xf32>, phi = %phi : tensor<256x24xf32>)
    <layout = nC, phi_layout = in_out, norm = outside, norm_eps = 1.0e-06, stat_form = applied>
    -> (proj : tensor<2x24xf32>)
  return %proj : tensor<2x24xf32>
}

// CHECK-LABEL: @gates
func.func @gates(%proj: tensor<2x24xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x16xf32>) {
  // CHECK: tensor.extract_slice %arg0[0, 0] [2, 4] [1, 1]
  // CHECK: tensor.extract_slice %arg1[0] [1] [1]
  // CHECK: mhc.sigmoid
  // CHECK: tensor.extract_slice %arg0[0, 4] [2, 4] [1, 1]
  // CHECK: tensor.extract_slice %arg1[1] [1] [1]
  // CHECK: mhc.sigmoid
  // CHECK: tensor.extract_slice %arg0[0, 8] [2, 16] [1, 1]
  // CHECK: tensor.extract_slice %arg1[2] [1] [1]
  // CHECK: tensor.extract_slice %arg2[8] [16] [1]
  // CHECK-NOT: mhc.sigmoid
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<2x24xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<2x4xf32>, h_post : tensor<2x4xf32>, logits : tensor<2x16xf32>)
  return %h_pre, %h_post, %logits : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x16xf32>
}

// The softmax is the first row step: two iterations make one column, one row and one column step more.
// CHECK-LABEL: @sinkhorn
func.func @sinkhorn(%logits: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK: mhc.softmax %arg0 dim = 2
  // CHECK: arith.addf
  // CHECK: mhc.reduce sum %{{.*}} dims = [1]
  // CHECK: mhc.reduce sum %{{.*}} dims = [2]
  // CHECK: mhc.reduce sum %{{.*}} dims = [1]
  // CHECK-NOT: mhc.reduce
  // CHECK: return
  %mix = mhc.sinkhorn(logits = %logits : tensor<2x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 2> -> (mix : tensor<2x4x4xf32>)
  return %mix : tensor<2x4x4xf32>
}

// CHECK-LABEL: @sinkhorn_exp_clamp
func.func @sinkhorn_exp_clamp(%logits: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK: mhc.reduce max %arg0 dims = [1]
  // CHECK: math.exp
  // CHECK: mhc.reduce sum %{{.*}} dims = [1]
  // CHECK: arith.maximumf
  // CHECK: mhc.reduce sum %{{.*}} dims = [2]
  // CHECK: arith.maximumf
  %mix = mhc.sinkhorn(logits = %logits : tensor<2x4x4xf32>)
    <init = exp_colmax, order = col_row, denom = clamp, eps = 1.0e-06, iters = 1> -> (mix : tensor<2x4x4xf32>)
  return %mix : tensor<2x4x4xf32>
}

// Many iterations are a loop, so that the chain stays short.
// CHECK-LABEL: @sinkhorn_loop
func.func @sinkhorn_loop(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: math.exp
  // CHECK: %[[TURNS:.*]] = arith.constant 500 : index
  // CHECK: scf.for %{{.*}} to %[[TURNS]] step
  // CHECK-COUNT-2: arith.divf
  // CHECK-NOT: arith.divf
  // CHECK: return
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 500> -> (mix : tensor<?x4x4xf32>)
  return %mix : tensor<?x4x4xf32>
}

// CHECK-LABEL: @sinkhorn_log
func.func @sinkhorn_log(%logits: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK-COUNT-2: math.log
  // CHECK: %[[MIX:.*]] = math.exp
  // CHECK-NEXT: return %[[MIX]]
  %mix = mhc.sinkhorn(logits = %logits : tensor<2x4x4xf32>)
    <init = log, order = row_col, denom = none, eps = 0.0, iters = 1> -> (mix : tensor<2x4x4xf32>)
  return %mix : tensor<2x4x4xf32>
}

// Lexicographic order, the identity first.
// CHECK-LABEL: @permutation_mix
func.func @permutation_mix(%logits: tensor<?x2xf32>) -> tensor<?x2x2xf32> {
  // CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00],
  // CHECK-SAME: [0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00]]>
  // CHECK: mhc.softmax %arg0 dim = 1
  // CHECK: mhc.matmul
  // CHECK: tensor.expand_shape
  %mix = mhc.permutation_mix(logits = %logits : tensor<?x2xf32>) -> (mix : tensor<?x2x2xf32>)
  return %mix : tensor<?x2x2xf32>
}

// A fused op becomes mHC ops first, and those become leaf ops in turn. fold_pre subtracts h_post h_pre^T.
// CHECK-LABEL: @pre_folded
func.func @pre_folded(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: mhc.matmul
  // CHECK: mhc.softmax
  // CHECK: arith.subf
  // CHECK: mhc.reduce sum %{{.*}} dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 1,
     fold_pre = true>
    -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_post, %h_res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// CHECK-LABEL: @head
func.func @head(%x: tensor<?x4x?xbf16>, %phi: tensor<4x?xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x?xbf16> {
  // CHECK: mhc.matmul
  // CHECK: mhc.sigmoid
  // CHECK: mhc.reduce sum %{{.*}} dims = [1] : tensor<?x4x?xf32> -> tensor<?x?xf32>
  %out = mhc.head(x = %x : tensor<?x4x?xbf16>, phi = %phi : tensor<4x?xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x?xbf16>)
  return %out : tensor<?x?xbf16>
}

// Leaf ops stay.
// CHECK-LABEL: @leaf
func.func @leaf(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: mhc.matmul %arg0, %arg1
  %out = mhc.matmul %a, %b : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// Rounding points: the first gate before it mixes streams, the second one for its readers.
// CHECK-LABEL: @pre_formats
func.func @pre_formats(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[PRE:.*]] = arith.truncf %{{.*}} : tensor<?x4xf32> to tensor<?x4xbf16>
  // CHECK: %[[WIDE:.*]] = arith.extf %[[PRE]]
  // CHECK: %[[POST:.*]] = arith.truncf %{{.*}} : tensor<?x4xf32> to tensor<?x4xf16>
  // CHECK: %[[H_POST:.*]] = arith.extf %[[POST]]
  // CHECK: mhc.broadcast %[[WIDE]] dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  // CHECK: %[[RES:.*]] = arith.truncf %{{.*}} : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  // CHECK: %[[H_RES:.*]] = arith.extf %[[RES]]
  // CHECK: return %{{.*}}, %[[WIDE]], %[[H_POST]], %[[H_RES]]
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = identity, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
     fold_pre = false, h_pre_format = bf16, h_post_format = f16, h_res_format = bf16>
    -> (u : tensor<?x64xf32>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  return %u, %h_pre, %h_post, %h_res : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Every op of the iteration rounds, the softmax as one.
// CHECK-LABEL: @sinkhorn_format
func.func @sinkhorn_format(%logits: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK: %[[Z:.*]] = arith.truncf %arg0 : tensor<2x4x4xf32> to tensor<2x4x4xbf16>
  // CHECK: %[[LOGITS:.*]] = arith.extf %[[Z]]
  // CHECK: %[[SOFTMAX:.*]] = mhc.softmax %[[LOGITS]]
  // CHECK: arith.truncf %[[SOFTMAX]]
  // CHECK: %[[SHIFTED:.*]] = arith.addf
  // CHECK: arith.truncf %[[SHIFTED]]
  // CHECK: %[[SUM:.*]] = mhc.reduce sum %[[Y:.*]] dims = [1]
  // CHECK: %[[SUMS:.*]] = mhc.broadcast %[[SUM]]
  // CHECK: arith.truncf %[[SUMS]]
  // CHECK: %[[WITH:.*]] = arith.addf
  // CHECK: arith.truncf %[[WITH]]
  // CHECK: %[[QUOTIENT:.*]] = arith.divf %[[Y]]
  // CHECK: %[[MIX:.*]] = arith.truncf %[[QUOTIENT]]
  // CHECK: %[[WIDE:.*]] = arith.extf %[[MIX]]
  // CHECK: return %[[WIDE]]
  %mix = mhc.sinkhorn(logits = %logits : tensor<2x4x4xf32>)
    <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 1, format = bf16>
    -> (mix : tensor<2x4x4xf32>)
  return %mix : tensor<2x4x4xf32>
}

// Equal streams are written out; the chain is that of streams.
// CHECK-LABEL: @post_of_equal_streams
func.func @post_of_equal_streams(%e: tensor<2x8xf32>, %h: tensor<2x4xf32>, %m: tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
  // CHECK: %[[X:.*]] = mhc.broadcast %arg0 dims = [0, 2] : tensor<2x8xf32> -> tensor<2x4x8xf32>
  // CHECK: mhc.batch_matmul %arg2, %[[X]] : (tensor<2x4x4xf32>, tensor<2x4x8xf32>)
  %out = mhc.post(f = %e : tensor<2x8xf32>, h_post = %h : tensor<2x4xf32>, x = %e : tensor<2x8xf32>,
      h_res = %m : tensor<2x4x4xf32>) <layout = nC, orient = oi, equal_x> -> (out : tensor<2x4x8xf32>)
  return %out : tensor<2x4x8xf32>
}

// Streams that are added up are rounded as they would be stored.
// CHECK-LABEL: @post_that_adds_up
func.func @post_that_adds_up(%e: tensor<2x8xbf16>, %h: tensor<2x4xf32>, %m: tensor<2x4x4xf32>) -> tensor<2x8xbf16> {
  // CHECK: %[[STREAMS:.*]] = arith.truncf %{{.*}} : tensor<2x4x8xf32> to tensor<2x4x8xbf16>
  // CHECK: %[[WIDE:.*]] = arith.extf %[[STREAMS]]
  // CHECK: mhc.reduce {{.*}}%[[WIDE]]
  %out = mhc.post(f = %e : tensor<2x8xbf16>, h_post = %h : tensor<2x4xf32>, x = %e : tensor<2x8xbf16>,
      h_res = %m : tensor<2x4x4xf32>) <layout = nC, orient = oi, equal_x, contracted = sum> -> (out : tensor<2x8xbf16>)
  return %out : tensor<2x8xbf16>
}
