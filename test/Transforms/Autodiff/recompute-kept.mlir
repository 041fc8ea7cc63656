// RUN: mhc-opt %s -mhc-autodiff="function=not_a_chain recompute=all" --remark-format=emitRemark \
// RUN:   --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=CHAIN
// RUN: mhc-opt %s -mhc-autodiff="function=mixed recompute=all" --remark-format=emitRemark \
// RUN:   --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: mhc-opt %s -mhc-autodiff="function=returned recompute=all" -canonicalize | FileCheck %s --check-prefix=RETURNED
// RUN: mhc-opt %s -mhc-autodiff="function=identity recompute=all" -canonicalize | FileCheck %s --check-prefix=IDENTITY
// RUN: mhc-opt %s -mhc-autodiff="function=views recompute=all" -canonicalize | FileCheck %s --check-prefix=VIEWS
// RUN: mhc-opt %s -mhc-autodiff="function=dropouts recompute=all" --remark-format=emitRemark \
// RUN:   --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=DROPOUTS

// Streams that no layer wrote cannot be built again.
// CHAIN: remark: [Missed] streams-not-of-post | {{.*}}Found="'math.tanh', [?, 4, 8] of f32", Needed="the output of 'mhc.post'"
// CHAIN-LABEL: @not_a_chain_grad
// CHAIN-NOT: mhc.rebuild
func.func @not_a_chain(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %f: tensor<?x8xf32>)
    -> tensor<?x4x8xf32> {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %x2 = math.tanh %x1 : tensor<?x4x8xf32>
  %x3 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x2 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x3 : tensor<?x4x8xf32>
}

// One kernel computes layers of one kind.
// MIXED: remark: [Missed] group-ends | {{.*}}orientation oi, no bias", Needed="{{.*}}orientation io, no bias, as in the layer before"
// MIXED-LABEL: @mixed_grad
// MIXED-SAME: mhc.recompute = [array<i64: 1>, array<i64: 1>]
func.func @mixed(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %f: tensor<?x8xf32>)
    -> tensor<?x4x8xf32> {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %x2 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x8xf32>)
  return %x2 : tensor<?x4x8xf32>
}

// The caller has these streams anyway.
// RETURNED-LABEL: @returned_grad
// RETURNED-NOT: mhc.rebuild
// RETURNED-LABEL: @returned_fwd
func.func @returned(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %f: tensor<?x8xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %x2 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x1, %x2 : tensor<?x4x8xf32>, tensor<?x4x8xf32>
}

// A reshape that the backward pass reads is made again from the streams that were built again.
// VIEWS-LABEL: @views_grad
// VIEWS: %[[X1:.*]] = mhc.rebuild(
// VIEWS: %[[FLAT:.*]] = tensor.collapse_shape %[[X1]]
// VIEWS: mhc.matmul {{.*}}%[[FLAT]]
func.func @views(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %f: tensor<?x8xf32>, %w: tensor<8x32xf32>)
    -> tensor<?x4x8xf32> {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %flat = tensor.collapse_shape %x1 [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %g = mhc.matmul %flat, %w transpose_rhs : (tensor<?x32xf32>, tensor<8x32xf32>) -> tensor<?x8xf32>
  %x2 = mhc.post(f = %g : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x2 : tensor<?x4x8xf32>
}

// Where a sublayer returns its input, that input is f, from which the streams are built: it stays.
// IDENTITY-LABEL: @identity_grad
// IDENTITY: %[[U:.*]] = mhc.aggregate(x = %arg0
// IDENTITY: mhc.rebuild(x = %arg0 {{.*}}f = [%[[U]]]
// IDENTITY-SAME: -> (out : 1 of
func.func @identity(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>) -> tensor<?x4x8xf32> {
  %u = mhc.aggregate(x = %x : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  %x1 = mhc.post(f = %u : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  %v = mhc.aggregate(x = %x1 : tensor<?x4x8xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x8xf32>)
  %x2 = mhc.post(f = %v : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x2 : tensor<?x4x8xf32>
}

// The stream numbers of dropouts go up in equal steps, which a rebuild has as an attribute.
// DROPOUTS: remark: [Missed] group-ends | {{.*}}Found="{{.*}}no bias, dropout of 0.25 with stream number 8", Needed="{{.*}}no bias, dropout of 0.25 with stream number 5, as in the layer before"
// DROPOUTS: remark: [Missed] group-ends | {{.*}}Found="{{.*}}no bias", Needed="{{.*}}dropout of 0.25 with stream number 8, as in the layer before"
// DROPOUTS-LABEL: @dropouts_grad
// DROPOUTS-SAME: mhc.recompute = [array<i64: 3>, array<i64: 1>, array<i64: 1>]
// DROPOUTS: mhc.rebuild({{.*}}, seed = [%arg4, %arg5] : tensor<2xi64>)
// DROPOUTS-SAME: <layout = nC, orient = io, rate = 2.5e-01, stream = 1, stream_step = 2>
func.func @dropouts(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>, %a: tensor<?x4x4xf32>, %f: tensor<?x8xf32>,
                    %s0: tensor<2xi64>, %s1: tensor<2xi64>) -> tensor<?x4x8xf32> {
  %x1 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>, seed = %s0 : tensor<2xi64>) <layout = nC, orient = io, rate = 0.25, stream = 1>
    -> (out : tensor<?x4x8xf32>)
  %x2 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x1 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>, seed = %s1 : tensor<2xi64>) <layout = nC, orient = io, rate = 0.25, stream = 3>
    -> (out : tensor<?x4x8xf32>)
  %x3 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x2 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>, seed = %s1 : tensor<2xi64>) <layout = nC, orient = io, rate = 0.25, stream = 5>
    -> (out : tensor<?x4x8xf32>)
  %x4 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x3 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>, seed = %s1 : tensor<2xi64>) <layout = nC, orient = io, rate = 0.25, stream = 8>
    -> (out : tensor<?x4x8xf32>)
  %x5 = mhc.post(f = %f : tensor<?x8xf32>, h_post = %h : tensor<?x4xf32>, x = %x4 : tensor<?x4x8xf32>,
      h_res = %a : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x8xf32>)
  return %x5 : tensor<?x4x8xf32>
}
