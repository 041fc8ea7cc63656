// RUN: mhc-opt %s --split-input-file --mhc-read-sizes | FileCheck %s
// RUN: mhc-opt %s --split-input-file --mhc-normalise --mhc-raise | FileCheck %s --check-prefix=RAISE

// Where a view joins two open sizes, torch-mlir casts the second one to 1: it is 1 from the argument on.

// CHECK-LABEL: @argument(
// CHECK-SAME: %{{.*}}: tensor<?x1x4x32xf32>, %{{.*}}: tensor<?x1x4xf32>, {{.*}} -> (tensor<?x8xf32>, tensor<?x?x32xf32>)
// CHECK-NOT: ?x?
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<?x1x4x32xf32>)
// CHECK: tensor.cast %{{.*}} : tensor<?x1x32xf32> to tensor<?x?x32xf32>
// CHECK-NEXT: return
// RAISE-LABEL: @argument({{.*}} -> (tensor<?x8xf32>, tensor<?x?x32xf32>)
// RAISE: mhc.aggregate
// RAISE-NOT: ?x?
// RAISE: tensor.cast %{{.*}} : tensor<?x1x32xf32> to tensor<?x?x32xf32>
// RAISE-NEXT: return
func.func @argument(%x: tensor<?x?x4x32xf32>, %h: tensor<?x?x4xf32>, %w: tensor<128x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x4x32xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x4x32xf32>
  %flat = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<?x?x4x32xf32> into tensor<?x?x128xf32>
  %cast = tensor.cast %flat : tensor<?x?x128xf32> to tensor<?x1x128xf32>
  %rows = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x128xf32> into tensor<?x128xf32>
  %p0 = tensor.empty(%b) : tensor<?x8xf32>
  %p1 = linalg.fill ins(%zero : f32) outs(%p0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = linalg.matmul ins(%rows, %w : tensor<?x128xf32>, tensor<128x8xf32>) outs(%p1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x4x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c)>,
                                        affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %h : tensor<?x?x4x32xf32>, tensor<?x?x4xf32>) outs(%e : tensor<?x?x4x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %q = arith.mulf %a, %c : f32
    linalg.yield %q : f32
  } -> tensor<?x?x4x32xf32>
  %u0 = tensor.empty(%b, %t) : tensor<?x?x32xf32>
  %u1 = linalg.fill ins(%zero : f32) outs(%u0 : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, d)>],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%m : tensor<?x?x4x32xf32>) outs(%u1 : tensor<?x?x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?x32xf32>
  return %p, %u : tensor<?x8xf32>, tensor<?x?x32xf32>
}

// -----

// A function that may have a caller keeps its type: a cast states the size.

// CHECK-LABEL: @called(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>)
// CHECK: %[[ONE:.*]] = tensor.cast %[[X]] : tensor<?x?x8xf32> to tensor<?x1x8xf32>
// CHECK: tensor.collapse_shape %[[ONE]]
// CHECK-NOT: tensor.cast
func.func private @called(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %cast = tensor.cast %x : tensor<?x?x8xf32> to tensor<?x1x8xf32>
  %rows = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
  return %rows : tensor<?x8xf32>
}
func.func @caller(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %y = call @called(%x) : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A concatenation has the sizes of its parts.

// CHECK-LABEL: @concatenated(
// CHECK: tensor.concat dim(2) %{{.*}}, %{{.*}} : (tensor<?x1x8xf32>, tensor<?x1x8xf32>) -> tensor<?x1x16xf32>
// CHECK-NEXT: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
func.func @concatenated(%x: tensor<?x?x8xf32>, %y: tensor<?x?x8xf32>) -> tensor<?x16xf32> {
  %both = tensor.concat dim(2) %x, %y : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  %cast = tensor.cast %both : tensor<?x?x16xf32> to tensor<?x1x16xf32>
  %rows = tensor.collapse_shape %cast [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
  return %rows : tensor<?x16xf32>
}
