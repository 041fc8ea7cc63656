// RUN: mhc-opt %s -mhc-autodiff="function=f recompute=all" -canonicalize | FileCheck %s --check-prefix=ALL
// RUN: mhc-opt %s -mhc-autodiff="function=f recompute=groups=2" -canonicalize | FileCheck %s --check-prefix=TWO
// RUN: mhc-opt %s -mhc-autodiff="function=f recompute=auto" -canonicalize | FileCheck %s --check-prefix=AUTO
// RUN: mhc-opt %s -mhc-autodiff="function=fused recompute=all" -canonicalize | FileCheck %s --check-prefix=FUSED
// RUN: mhc-opt %s -mhc-autodiff="function=f recompute=none" -o %t.none
// RUN: mhc-opt %s -mhc-autodiff=function=f -o %t.default
// RUN: cmp %t.none %t.default
// RUN: mhc-opt %s -mhc-autodiff="function=normed recompute=all" -canonicalize | FileCheck %s --check-prefix=NORMED
// RUN: mhc-opt %s -mhc-autodiff="function=normed recompute=all" --remark-format=emitRemark \
// RUN:   --remarks-filter='mhc.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: mhc-opt %s -mhc-autodiff=function=asks -canonicalize | FileCheck %s --check-prefix=ASKS
// RUN: mhc-opt %s -mhc-autodiff="function=asks recompute=none" -canonicalize \
// RUN:   | FileCheck %s --check-prefix=TOLD --implicit-check-not=mhc.rebuild
// RUN: not mhc-opt %s -mhc-autodiff="function=f recompute=groups=0" 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: mhc-opt %s -mhc-autodiff="function=f recompute=groups=2" --remark-format=emitRemark \
// RUN:   --remarks-filter='mhc.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// INVALID: recompute is 'groups=0'; needed 'none', 'all', 'auto' or 'groups=N' with N at least 1

// Without a number of layers, the whole chain is one group: the streams that enter it and those that leave it are kept.
// ALL-LABEL: func.func @f_grad(
// ALL-SAME: attributes {mhc.recompute = [array<i64: 5>]}
// ALL-COUNT-5: mhc.post(
// ALL: mhc.rebuild(x = %arg0
// ALL-SAME: -> (u : 5 of tensor<?x8xbf16>, out : 4 of tensor<?x4x8xbf16>)
// ALL-NOT: mhc.rebuild
// ALL-LABEL: func.func @f_fwd(
// ALL-LABEL: func.func @f_bwd(

// With one, the groups follow each other, and the last may be shorter. Each is built again just before its gradients,
// and what its last layer wrote was kept: it enters the next group.
// TWO-LABEL: func.func @f_grad(
// TWO-SAME: attributes {mhc.recompute = [array<i64: 2, 2, 1>]}
// TWO: %[[X1:.*]] = mhc.post({{.*}}x = %arg0
// TWO: %[[X2:.*]] = mhc.post({{.*}}x = %[[X1]]
// TWO: %[[X3:.*]] = mhc.post({{.*}}x = %[[X2]]
// TWO: %[[X4:.*]] = mhc.post({{.*}}x = %[[X3]]
// TWO: %[[X5:.*]] = mhc.post({{.*}}x = %[[X4]]
// TWO: mhc.post_bwd({{.*}}x = %[[X4]]
// TWO: %[[U2:.*]], %[[U3:.*]], %[[AGAIN3:.*]] = mhc.rebuild(x = %[[X2]]
// TWO-SAME: -> (u : 2 of tensor<?x8xbf16>, out : 1 of tensor<?x4x8xbf16>)
// TWO: mhc.post_bwd({{.*}}x = %[[AGAIN3]]
// TWO: mhc.matmul %{{.*}}, %[[U3]] transpose_lhs
// TWO: mhc.post_bwd({{.*}}x = %[[X2]]
// TWO: mhc.matmul %{{.*}}, %[[U2]] transpose_lhs
// TWO: %[[U0:.*]], %[[U1:.*]], %[[AGAIN1:.*]] = mhc.rebuild(x = %arg0
// TWO: mhc.post_bwd({{.*}}x = %[[AGAIN1]]
// TWO: mhc.matmul %{{.*}}, %[[U1]] transpose_lhs
// TWO: mhc.post_bwd({{.*}}x = %arg0
// TWO: mhc.matmul %{{.*}}, %[[U0]] transpose_lhs

// floor(sqrt(4 * 5 / 6)) = 1: so short a chain is not worth it.
// AUTO-LABEL: func.func @f_grad(
// AUTO-SAME: attributes {mhc.recompute = [array<i64: 1, 1, 1, 1, 1>]}
// AUTO-NOT: mhc.rebuild

// 2 groups of 2 layers, each without one of its streams and two inputs: 4*8*2 + 2*8*2 bytes.
// REMARK-COUNT-2: Remark="rebuilds what is inside a group of 2 layers, keeps 96 bytes per token less"
func.func @f(%x: tensor<?x4x8xbf16>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
  %u0 = mhc.aggregate(x = %x : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f0 = mhc.matmul %u0, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x1 = mhc.post(f = %f0 : tensor<?x8xbf16>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xbf16>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %u1 = mhc.aggregate(x = %x1 : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f1 = mhc.matmul %u1, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x2 = mhc.post(f = %f1 : tensor<?x8xbf16>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xbf16>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %u2 = mhc.aggregate(x = %x2 : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f2 = mhc.matmul %u2, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x3 = mhc.post(f = %f2 : tensor<?x8xbf16>, h_post = %h : tensor<?x4xf32>, x = %x2 : tensor<?x4x8xbf16>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %u3 = mhc.aggregate(x = %x3 : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f3 = mhc.matmul %u3, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x4 = mhc.post(f = %f3 : tensor<?x8xbf16>, h_post = %h : tensor<?x4xf32>, x = %x3 : tensor<?x4x8xbf16>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %u4 = mhc.aggregate(x = %x4 : tensor<?x4x8xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xbf16>)
  %f4 = mhc.matmul %u4, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x5 = mhc.post(f = %f4 : tensor<?x8xbf16>, h_post = %h : tensor<?x4xf32>, x = %x4 : tensor<?x4x8xbf16>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %out = mhc.contract(x = %x5 : tensor<?x4x8xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x8xbf16>)
  return %out : tensor<?x8xbf16>
}

// A fused op hands on the weights of its input, from which that is built again.
// FUSED-LABEL: func.func @fused_grad(
// FUSED: %{{.*}}, %[[H0:h_pre[_0-9]*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = mhc.pre(
// FUSED: %{{.*}}, %[[H1:h_pre[_0-9]*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = mhc.pre(
// FUSED: mhc.rebuild(x = %arg0 {{.*}}h_pre = [%[[H0]], %[[H1]]]
// FUSED-SAME: -> (u : 2 of tensor<?x8xbf16>, out : 1 of tensor<?x4x8xbf16>)
// FUSED: mhc.pre_bwd(
func.func @fused(%x: tensor<?x4x8xbf16>, %phi: tensor<24x32xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                 %w: tensor<8x8xbf16>) -> tensor<?x4x8xbf16> {
  %u0, %p0, %r0 = mhc.pre(x = %x : tensor<?x4x8xbf16>, phi = %phi : tensor<24x32xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0, res_map = sinkhorn,
     init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x8xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f0 = mhc.matmul %u0, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x1 = mhc.post(f = %f0 : tensor<?x8xbf16>, h_post = %p0 : tensor<?x4xf32>, x = %x : tensor<?x4x8xbf16>,
      h_res = %r0 : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  %u1, %p1, %r1 = mhc.pre(x = %x1 : tensor<?x4x8xbf16>, phi = %phi : tensor<24x32xf32>, alpha = %alpha : tensor<3xf32>,
      beta = %beta : tensor<24xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0, res_map = sinkhorn,
     init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x8xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %f1 = mhc.matmul %u1, %w transpose_rhs : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %x2 = mhc.post(f = %f1 : tensor<?x8xbf16>, h_post = %p1 : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xbf16>,
      h_res = %r1 : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xbf16>)
  return %x2 : tensor<?x4x8xbf16>
}

// The function's own mode counts if no option is given.
// ASKS-LABEL: func.func @asks_grad(
// ASKS-SAME: attributes {mhc.recompute = [array<i64: 2>]}
// ASKS: mhc.rebuild
// TOLD-LABEL: func.func @asks_grad(
func.func @asks(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>) -> tensor<?x4x8xf32>
    attributes {mhc.recompute_mode = "all"} {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %x2 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x2 : tensor<?x4x8xf32>
}

// The norm of an input that is built again is computed again, too, just before it is read. One of the 2 streams is kept, 4*8*4 bytes; of 2 inputs
// and 2 norms none is, 2*2*8*4 bytes.
// NORMED-LABEL: func.func @normed_grad(
// NORMED: %[[U0:.*]], %[[U1:.*]], %{{.*}} = mhc.rebuild(x = %arg0
// NORMED: %[[SECOND:.*]] = mhc.rms_norm %[[U1]]
// NORMED: mhc.matmul %{{.*}}, %[[SECOND]] transpose_lhs
// NORMED: %[[FIRST:.*]] = mhc.rms_norm %[[U0]]
// NORMED: mhc.matmul %{{.*}}, %[[FIRST]] transpose_lhs
// NORMED-LABEL: func.func @normed_fwd(
// NORMED-SAME: -> (tensor<?x4x8xf32> {mhc.name = "result0"},
// NORMED-COUNT-2: mhc.rms_norm
// NORMED-LABEL: func.func @normed_bwd(
// NORMED: mhc.rebuild
// NORMED-COUNT-2: mhc.rms_norm
// LESS: Remark="rebuilds what is inside a group of 2 layers, keeps 256 bytes per token less"
func.func @normed(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %w: tensor<8x8xf32>) -> tensor<?x4x8xf32> {
  %u0 = mhc.aggregate(x = %x : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  %n0 = mhc.rms_norm %u0 eps = 1.0e-5 : tensor<?x8xf32>
  %f0 = mhc.matmul %n0, %w transpose_rhs : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %x1 = mhc.post(f = %f0 : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %u1 = mhc.aggregate(x = %x1 : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  %n1 = mhc.rms_norm %u1 eps = 1.0e-5 : tensor<?x8xf32>
  %f1 = mhc.matmul %n1, %w transpose_rhs : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %x2 = mhc.post(f = %f1 : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x2 : tensor<?x4x8xf32>
}
