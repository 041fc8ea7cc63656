// Ops of linalg have no gradients; the leaf ops that they become have, also where nothing is searched.
// RUN: mhc-opt %s -mhc-import -canonicalize | FileCheck %s
// RUN: mhcc %s --grad=f --verify | FileCheck %s --check-prefix=VERIFY
// RUN: mhcc %s --grad=f --fuse=none --verify | FileCheck %s --check-prefix=VERIFY

// VERIFY: entry f_grad
// VERIFY-NEXT: result0: verified
// VERIFY-NEXT: d_arg0: verified
// VERIFY-NEXT: d_arg1: verified

// CHECK-LABEL: func.func @f
// CHECK-NOT: linalg
// CHECK: mhc.matmul
// CHECK: math.tanh
// CHECK: tensor.pad
// CHECK: mhc.reduce sum
// CHECK: scf.for
func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%start : tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = linalg.tanh ins(%h : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %wide = tensor.pad %t low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x7xf32>
  %rows = tensor.empty(%M) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, c) -> (m, c)>, affine_map<(m, c) -> (m)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%wide : tensor<?x7xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %more = arith.addf %square, %out : f32
    linalg.yield %more : f32
  } -> tensor<?xf32>
  %r:2 = scf.while (%n = %first, %a = %sum) : (i64, tensor<?xf32>) -> (i64, tensor<?xf32>) {
    %goes = arith.cmpi slt, %n, %three : i64
    scf.condition(%goes) %n, %a : i64, tensor<?xf32>
  } do {
  ^bb0(%n: i64, %a: tensor<?xf32>):
    %b = linalg.exp ins(%a : tensor<?xf32>) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
    %c = linalg.tanh ins(%b : tensor<?xf32>) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
    %next = arith.addi %n, %one : i64
    scf.yield %next, %c : i64, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}
