// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// The three functions, and the function itself. Arguments and results are named.

// CHECK-LABEL: func.func @f(
// CHECK-LABEL: func.func @f_grad(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {mhc.name = "x"}, %[[W:.*]]: tensor<4xf32> {mhc.name = "arg1"},
// CHECK-SAME: %[[G:.*]]: tensor<4xf32> {mhc.name = "d_y"})
// CHECK-SAME: -> (tensor<4xf32> {mhc.name = "y"}, tensor<4xf32> {mhc.name = "d_x"}, tensor<4xf32> {mhc.name = "d_arg1"})
// CHECK: %[[T:.*]] = math.tanh %[[X]]
// CHECK: %[[Y:.*]] = arith.mulf %[[T]], %[[W]]
// CHECK: return %[[Y]], %{{.*}}, %{{.*}} :
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {mhc.name = "x"}, %[[W:.*]]: tensor<4xf32> {mhc.name = "arg1"})
// CHECK-SAME: -> (tensor<4xf32> {mhc.name = "y"}, tensor<4xf32> {mhc.name = "saved0"})
// CHECK: %[[T:.*]] = math.tanh %[[X]]
// CHECK: %[[Y:.*]] = arith.mulf %[[T]], %[[W]]
// CHECK: return %[[Y]], %[[T]]
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {mhc.name = "arg1"}, %[[T:.*]]: tensor<4xf32> {mhc.name = "saved0"},
// CHECK-SAME: %[[G:.*]]: tensor<4xf32> {mhc.name = "d_y"})
// CHECK-SAME: -> (tensor<4xf32> {mhc.name = "d_x"}, tensor<4xf32> {mhc.name = "d_arg1"})
// CHECK: %[[DT:.*]] = arith.mulf %[[G]], %[[W]]
// CHECK: %[[DW:.*]] = arith.mulf %[[G]], %[[T]]
// CHECK: %[[DX:.*]] = arith.mulf %[[DT]]
// CHECK: return %[[DX]], %[[DW]]
func.func @f(%x: tensor<4xf32> {mhc.name = "x"}, %w: tensor<4xf32>) -> (tensor<4xf32> {mhc.name = "y"}) {
  %t = math.tanh %x : tensor<4xf32>
  %y = arith.mulf %t, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Three uses of x: the shares are added in the order of the backward pass, last use first.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32> {mhc.name = "arg1"}, %[[B:.*]]: tensor<4xf32> {mhc.name = "arg2"},
// CHECK-SAME: %[[C:.*]]: tensor<4xf32> {mhc.name = "arg3"}, %[[GA:.*]]: tensor<4xf32> {mhc.name = "d_result0"},
// CHECK-SAME: %[[GB:.*]]: tensor<4xf32> {mhc.name = "d_result1"}, %[[GC:.*]]: tensor<4xf32> {mhc.name = "d_result2"})
// CHECK-NEXT: %[[THIRD:.*]] = arith.mulf %[[GC]], %[[C]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.mulf %[[GB]], %[[B]]
// CHECK-NEXT: %[[TWO:.*]] = arith.addf %[[THIRD]], %[[SECOND]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.mulf %[[GA]], %[[A]]
// CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[TWO]], %[[FIRST]]
// CHECK-NEXT: return %[[ALL]]
func.func @f(%x: tensor<4xf32>, %a: tensor<4xf32> {mhc.no_grad}, %b: tensor<4xf32> {mhc.no_grad},
             %c: tensor<4xf32> {mhc.no_grad}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %xa = arith.mulf %x, %a : tensor<4xf32>
  %xb = arith.mulf %x, %b : tensor<4xf32>
  %xc = arith.mulf %x, %c : tensor<4xf32>
  return %xa, %xb, %xc : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Nothing is computed for the unwanted gradient and for what no result reads; the unread argument has gradient zero.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[K:.*]]: tensor<4xf32> {mhc.name = "arg1"}, %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"})
// CHECK-NEXT: %[[DX:.*]] = arith.mulf %[[G]], %[[K]]
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: return %[[DX]], %[[ZERO]]
func.func @f(%x: tensor<4xf32>, %k: tensor<4xf32> {mhc.no_grad}, %unread: tensor<2xf32>) -> tensor<4xf32> {
  %dead = math.exp %x : tensor<4xf32>
  %deader = arith.mulf %dead, %dead : tensor<4xf32>
  %y = arith.mulf %x, %k : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A value returned twice has two cotangents; an argument that is returned hands its cotangent on.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[G:.*]]: tensor<4xf32> {mhc.name = "d_result0"}, %[[H:.*]]: tensor<4xf32> {mhc.name = "d_result1"})
// CHECK-NEXT: %[[DX:.*]] = arith.addf %[[G]], %[[H]]
// CHECK-NEXT: return %[[DX]]
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// An op with two results, one of them unread.
// CHECK-LABEL: func.func @f_bwd(
// CHECK: mhc.projection_bwd(
// CHECK-NOT: d_stat
// CHECK: return
func.func @f(%x: tensor<?x4x8xf32>, %phi: tensor<24x32xf32>) -> tensor<?x24xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x8xf32>, phi = %phi : tensor<24x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  return %proj : tensor<?x24xf32>
}

// -----

// An op without a rule gives way to the ops that it stands for.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-NOT: mhc.aggregate_bwd
// CHECK: return
func.func @f(%d_u: tensor<?x8xf32>, %x: tensor<?x4x8xf32>, %h_pre: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %d_h_pre = mhc.aggregate_bwd(d_u = %d_u : tensor<?x8xf32>, x = %x : tensor<?x4x8xf32>, h_pre = %h_pre : tensor<?x4xf32>)
    <layout = nC> -> (d_h_pre : tensor<?x4xf32>)
  return %d_h_pre : tensor<?x4xf32>
}

// -----

// Broadcasts and sizes are made again: only w and tanh(x) are saved.
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {mhc.name = "arg1"}, %[[T:.*]]: tensor<?x4xf32> {mhc.name = "saved0"},
// CHECK-SAME: %[[G:.*]]: tensor<?x4xf32> {mhc.name = "d_result0"})
// CHECK: %[[M:.*]] = tensor.dim %[[G]]
// CHECK: %[[WIDE:.*]] = mhc.broadcast %[[W]][%[[M]]] dims = [1]
// CHECK: arith.mulf %[[G]], %[[WIDE]]
func.func @f(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %t = math.tanh %x : tensor<?x4xf32>
  %wide = mhc.broadcast %w[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %y = arith.mulf %t, %wide : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// No argument has M*4 rows, so what has them is made again, and the size is four times one that is there.
// CHECK-LABEL: func.func @f_fwd(
// CHECK-SAME: -> (tensor<?x4x8xf32> {mhc.name = "result0"})
// CHECK-LABEL: func.func @f_bwd(
// CHECK-SAME: %[[X:.*]]: tensor<?x4x8xf32> {mhc.name = "arg0"}
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %[[X]]
// CHECK: math.exp %[[JOINED]] : tensor<?x8xf32>
// CHECK: tensor.splat %{{.*}}[%[[ROWS]]] : tensor<?x8xf32>
func.func @f(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %joined = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %e = math.exp %joined : tensor<?x8xf32>
  %s = mhc.sigmoid %e : tensor<?x8xf32>
  %y = tensor.expand_shape %s [[0, 1], [2]] output_shape [%M, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}
