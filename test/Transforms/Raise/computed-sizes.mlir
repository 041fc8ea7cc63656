// RUN: mhc-opt %s --mhc-normalise --mhc-raise --canonicalize --split-input-file | FileCheck %s

// x.view(-1, 64) as torch-mlir leaves it: a size that might be negative, one that follows from the others, and an
// assertion that at most one is negative. None of it stays.
// CHECK-LABEL: @view
// CHECK-NOT: cf.assert
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0
// CHECK: mhc.matmul %[[FLAT]]
// CHECK-NOT: tensor.reshape
func.func @view(%x: tensor<?x4x16xf32>, %phi: tensor<64x24xf32>) -> (tensor<?x24xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %c64_i64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  %dim = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %0 = arith.index_cast %dim : index to i64
  %1 = arith.cmpi slt, %0, %c0_i64 : i64
  %2 = arith.select %1, %c1_i64, %0 : i64
  %3 = arith.extui %1 : i1 to i64
  %4 = arith.addi %3, %c1_i64 : i64
  %5 = arith.cmpi sle, %4, %c1_i64 : i64
  cf.assert %5, "must have at most one inferred (negative) dimension"
  %6 = arith.muli %0, %c64_i64 : i64
  %7 = arith.divsi %6, %2 : i64
  %8 = arith.select %1, %7, %0 : i64
  %shape = tensor.from_elements %8, %7 : tensor<2xi64>
  %flat = tensor.reshape %x(%shape) : (tensor<?x4x16xf32>, tensor<2xi64>) -> tensor<?x64xf32>
  %M = arith.index_cast %8 : i64 to index
  %e1 = tensor.empty(%M) : tensor<?x1xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x1xf32>) -> tensor<?x1xf32>
  %squares = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]} ins(%flat : tensor<?x64xf32>) outs(%f1 : tensor<?x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %square, %o : f32
    linalg.yield %sum : f32
  } -> tensor<?x1xf32>
  %e = tensor.empty(%M) : tensor<?x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %proj = linalg.matmul ins(%flat, %phi : tensor<?x64xf32>, tensor<64x24xf32>) outs(%f : tensor<?x24xf32>)
      -> tensor<?x24xf32>
  return %proj, %squares : tensor<?x24xf32>, tensor<?x1xf32>
}

// -----

// Splitting: one unknown size follows from the source; two are what the shape says.
// CHECK-LABEL: @split
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>, %[[S:.*]]: i64, %[[B:.*]]: i64)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[ROWS:.*]] = arith.index_cast %[[S]]
// CHECK-DAG: %[[COLUMNS:.*]] = arith.index_cast %[[B]]
// CHECK-DAG: tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [%[[M]], 4, 16]
// CHECK-DAG: tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [%[[ROWS]], %[[COLUMNS]], 64]
func.func @split(%x: tensor<?x64xf32>, %s: i64, %b: i64) -> (tensor<?x4x16xf32>, tensor<?x?x64xf32>) {
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %one = tensor.from_elements %s, %c4, %c16 : tensor<3xi64>
  %streams = tensor.reshape %x(%one) : (tensor<?x64xf32>, tensor<3xi64>) -> tensor<?x4x16xf32>
  %two = tensor.from_elements %s, %b, %c64 : tensor<3xi64>
  %batches = tensor.reshape %x(%two) : (tensor<?x64xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  return %streams, %batches : tensor<?x4x16xf32>, tensor<?x?x64xf32>
}

// -----

// Equal sizes are asserted, and may differ: the assertion stays, and what stands behind it is found.
// CHECK-LABEL: @may_differ
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: cf.assert %[[SAME]], "mismatched size for broadcast"
// CHECK: mhc.aggregate
func.func @may_differ(%x: tensor<?x4x16xf32>, %h: tensor<?x4xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %k = tensor.dim %h, %c0 : tensor<?x4xf32>
  %same = arith.cmpi eq, %m, %k : index
  cf.assert %same, "mismatched size for broadcast"
  %e = tensor.empty(%m) : tensor<?x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %u = linalg.generic {
      indexing_maps = [affine_map<(t, n, c) -> (t, n)>, affine_map<(t, n, c) -> (t, n, c)>,
                       affine_map<(t, n, c) -> (t, c)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%h, %x : tensor<?x4xf32>, tensor<?x4x16xf32>) outs(%f : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<?x16xf32>
  return %u : tensor<?x16xf32>
}

// -----

// Tokens of two open dimensions and one that is not: a matrix has as many as their product. A number that is repeated
// is that number in any shape.
// CHECK-LABEL: @images
// CHECK-NOT: arith.divf
// CHECK: mhc.sinkhorn({{.*}} : tensor<?x4x4xf32>) <init = exp, order = col_row, denom = add, eps = 1.0e-06, iters = 1>
// CHECK-NOT: arith.divf
// CHECK: return
func.func @images(%flat: tensor<?x?x7x16xf32>, %d0: index, %d1: index) -> tensor<?x?x7x4x4xf32> {
  %eps = arith.constant 1.0e-6 : f32
  %z = tensor.expand_shape %flat [[0], [1], [2], [3, 4]] output_shape [%d0, %d1, 7, 4, 4] : tensor<?x?x7x16xf32> into tensor<?x?x7x4x4xf32>
  %e = math.exp %z : tensor<?x?x7x4x4xf32>
  %s = mhc.reduce sum %e dims = [3] : tensor<?x?x7x4x4xf32> -> tensor<?x?x7x4xf32>
  %sp = tensor.splat %eps[%d0, %d1] : tensor<?x?x7x4xf32>
  %s1 = arith.addf %s, %sp : tensor<?x?x7x4xf32>
  %b = mhc.broadcast %s1 dims = [0, 1, 2, 4] : tensor<?x?x7x4xf32> -> tensor<?x?x7x4x4xf32>
  %m = arith.divf %e, %b : tensor<?x?x7x4x4xf32>
  %t = mhc.reduce sum %m dims = [4] : tensor<?x?x7x4x4xf32> -> tensor<?x?x7x4xf32>
  %t1 = arith.addf %t, %sp : tensor<?x?x7x4xf32>
  %c = mhc.broadcast %t1 dims = [0, 1, 2, 3] : tensor<?x?x7x4xf32> -> tensor<?x?x7x4x4xf32>
  %m2 = arith.divf %m, %c : tensor<?x?x7x4x4xf32>
  return %m2 : tensor<?x?x7x4x4xf32>
}
