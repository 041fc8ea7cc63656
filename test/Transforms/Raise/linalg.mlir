// RUN: mhc-opt %s --mhc-normalise --mhc-raise --canonicalize --split-input-file | FileCheck %s

// Operands under other orders and with fewer dimensions, a dimension of size one read at zero, a number from outside.
// CHECK-LABEL: @elementwise
// CHECK-SAME: (%[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x?xf32>, %[[C:.*]]: tensor<?x1xf32>, %[[S:.*]]: f32)
// CHECK-DAG: %[[BT:.*]] = mhc.transpose %[[B]] perm = [1, 0]
// CHECK-DAG: %[[C1:.*]] = tensor.collapse_shape %[[C]]
// CHECK-DAG: %[[CB:.*]] = mhc.broadcast %[[C1]] dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
// CHECK-DAG: %[[SUM:.*]] = arith.addf %[[A]], %[[BT]] : tensor<?x8xf32>
// CHECK-DAG: %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[CB]]
// CHECK-DAG: %[[SPLAT:.*]] = tensor.splat %[[S]]
// CHECK: arith.subf %[[PRODUCT]], %[[SPLAT]]
// CHECK-NOT: linalg
func.func @elementwise(%a: tensor<?x8xf32>, %b: tensor<8x?xf32>, %c: tensor<?x1xf32>, %s: f32) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<?x8xf32>, tensor<8x?xf32>, tensor<?x1xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    %product = arith.mulf %sum, %z : f32
    %shifted = arith.subf %product, %s : f32
    linalg.yield %shifted : f32
  } -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// -----

// The square of a value, an epsilon in f64, and a sum that keeps its dimension.
// CHECK-LABEL: @mean_square
// CHECK: %[[SQUARE:.*]] = arith.mulf %arg0, %arg0
// CHECK: %[[SUM:.*]] = mhc.reduce sum %[[SQUARE]] dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: %[[SHIFTED:.*]] = arith.addf %[[SUM]], %{{.*}} : tensor<4xf32>
// CHECK: tensor.expand_shape %[[SHIFTED]] {{\[\[}}0, 1]] output_shape [4, 1]
func.func @mean_square(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %two = arith.constant 2 : i64
  %eps = arith.constant 1.0e-06 : f64
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4x8xf32>
  %square = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%wide : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %power = math.fpowi %a, %two : f32, i64
    linalg.yield %power : f32
  } -> tensor<4x8xf32>
  %narrow = tensor.empty() : tensor<4x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%narrow : tensor<4x1xf32>) -> tensor<4x1xf32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]} ins(%square : tensor<4x8xf32>) outs(%start : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %next = arith.addf %a, %o : f32
    linalg.yield %next : f32
  } -> tensor<4x1xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<4x1xf32>) outs(%narrow : tensor<4x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %narrowed = arith.truncf %eps : f64 to f32
    %shifted = arith.addf %a, %narrowed : f32
    linalg.yield %shifted : f32
  } -> tensor<4x1xf32>
  return %out : tensor<4x1xf32>
}

// -----

// Sums of products: einsum "tn,tnc->tc" as a batched product with one row, a named op with a transposed operand.
// CHECK-LABEL: @contractions
// CHECK: %[[H:.*]] = tensor.expand_shape %arg0 {{.*}} output_shape [8, 1, 32]
// CHECK: mhc.batch_matmul %[[H]], %arg1 : (tensor<8x1x32xf32>, tensor<8x32x16xf32>) -> tensor<8x1x16xf32>
// CHECK: mhc.matmul %{{.*}}, %arg2 transpose_rhs : (tensor<8x16xf32>, tensor<24x16xf32>) -> tensor<8x24xf32>
// CHECK-NOT: linalg
func.func @contractions(%h: tensor<8x32xf32>, %x: tensor<8x32x16xf32>, %w: tensor<24x16xf32>) -> tensor<8x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %u = linalg.generic {
      indexing_maps = [affine_map<(t, c, n) -> (t, n)>, affine_map<(t, c, n) -> (t, n, c)>,
                       affine_map<(t, c, n) -> (t, c)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %x : tensor<8x32xf32>, tensor<8x32x16xf32>) outs(%f0 : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8x24xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %out = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%u, %w : tensor<8x16xf32>, tensor<24x16xf32>) outs(%f1 : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %out : tensor<8x24xf32>
}

// -----

// A maximum with its position, which nobody reads, is a maximum.
// CHECK-LABEL: @maximum
// CHECK: mhc.reduce max %arg0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK-NOT: linalg
func.func @maximum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %starti = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %out:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%start, %starti : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %o: f32, %oi: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %most = arith.maximumf %a, %o : f32
    %more = arith.cmpf ogt, %a, %o : f32
    %at = arith.select %more, %here, %oi : i64
    linalg.yield %most, %at : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %out#0 : tensor<4xf32>
}

// -----

// One op with two results: exp(x), and its sum beside it.
// CHECK-LABEL: @two_results
// CHECK: %[[EXP:.*]] = math.exp %arg0 : tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = mhc.reduce sum %{{.*}} dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: return %[[EXP]], %[[SUM]]
func.func @two_results(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %out:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%wide, %start : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %s: f32):
    %exp = math.exp %a : f32
    %next = arith.addf %s, %exp : f32
    linalg.yield %exp, %next : f32, f32
  } -> (tensor<4x8xf32>, tensor<4xf32>)
  return %out#0, %out#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// Parts that fill a tensor one behind the other are joined; with a gap between them they are not.
// CHECK-LABEL: @insertions
// CHECK: %[[ALL:.*]] = tensor.concat dim(1) %arg0, %arg1 : (tensor<?x4xf32>, tensor<?x16xf32>) -> tensor<?x20xf32>
// CHECK: tensor.insert_slice
// CHECK: %[[GAP:.*]] = tensor.insert_slice
// CHECK: return %[[ALL]], %[[GAP]]
func.func @insertions(%a: tensor<?x4xf32>, %b: tensor<?x16xf32>, %M: index) -> (tensor<?x20xf32>, tensor<?x24xf32>) {
  %e = tensor.empty(%M) : tensor<?x20xf32>
  %i0 = tensor.insert_slice %a into %e[0, 0] [%M, 4] [1, 1] : tensor<?x4xf32> into tensor<?x20xf32>
  %i1 = tensor.insert_slice %b into %i0[0, 4] [%M, 16] [1, 1] : tensor<?x16xf32> into tensor<?x20xf32>
  %w = tensor.empty(%M) : tensor<?x24xf32>
  %g0 = tensor.insert_slice %a into %w[0, 0] [%M, 4] [1, 1] : tensor<?x4xf32> into tensor<?x24xf32>
  %g1 = tensor.insert_slice %b into %g0[0, 8] [%M, 16] [1, 1] : tensor<?x16xf32> into tensor<?x24xf32>
  return %i1, %g1 : tensor<?x20xf32>, tensor<?x24xf32>
}

// -----

// A reciprocal with the exporter's assertion.
// CHECK-LABEL: @asserted
// CHECK: arith.divf %{{.*}}, %arg0 : tensor<8xf32>
// CHECK-NOT: linalg
func.func @asserted(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %fine = arith.cmpf one, %a, %zero : f32
    cf.assert %fine, "unimplemented: tensor with zero element"
    %inverse = arith.divf %one, %a : f32
    linalg.yield %inverse : f32
  } -> tensor<8xf32>
  return %out : tensor<8xf32>
}

// -----

// A sum that starts from a tensor.
// CHECK-LABEL: @started
// CHECK: %[[SUM:.*]] = mhc.reduce sum %arg0 dims = [0] : tensor<8xf32> -> tensor<f32>
// CHECK: arith.addf %arg1, %[[SUM]] : tensor<f32>
func.func @started(%x: tensor<8xf32>, %start: tensor<f32>) -> tensor<f32> {
  %total = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %a, %o : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %total : tensor<f32>
}

// -----

// The summand depends on what was added before it: a sum that decays, and one of running maxima.
// CHECK-LABEL: @running
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @running(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %decayed = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %kept = arith.mulf %s, %half : f32
    %part = arith.subf %a, %kept : f32
    %next = arith.addf %s, %part : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  %maxima:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%start, %start : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32):
    %most = arith.maximumf %a, %m : f32
    %next = arith.addf %s, %m : f32
    linalg.yield %most, %next : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %decayed, %maxima#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Ops that are not understood stay: a body that asks for its place, a column of a wider tensor.
// CHECK-LABEL: @unread
// CHECK: linalg.generic
// CHECK: linalg.index
// CHECK: linalg.generic
func.func @unread(%x: tensor<8xf32>, %wide: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %places = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f32
    %sum = arith.addf %a, %f : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %column = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i, 0)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%wide : tensor<8x4xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %double = arith.addf %a, %a : f32
    linalg.yield %double : f32
  } -> tensor<8xf32>
  return %places, %column : tensor<8xf32>, tensor<8xf32>
}

// -----

// A size that only another operand knows.
// CHECK-LABEL: @size_of_another_operand
// CHECK: %[[KNOWN:.*]] = tensor.cast %arg1 : tensor<?xf32> to tensor<5xf32>
// CHECK: mhc.broadcast %[[KNOWN]] dims = [0] : tensor<5xf32> -> tensor<5x8xf32>
func.func @size_of_another_operand(%a: tensor<5x8xf32>, %b: tensor<?xf32>) -> tensor<5x8xf32> {
  %empty = tensor.empty() : tensor<5x8xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<5x8xf32>, tensor<?xf32>) outs(%empty : tensor<5x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  } -> tensor<5x8xf32>
  return %out : tensor<5x8xf32>
}

// -----

// Norms take the magnitude first and then a power: the second is a square, the first is nothing. A bound is a maximum
// for which NaN gives way; so it stays one.
// CHECK-LABEL: @norms
// CHECK-DAG: %[[SQUARE:.*]] = arith.mulf %arg0, %arg0
// CHECK-DAG: mhc.reduce sum %[[SQUARE]] dims = [1]
// CHECK-DAG: %[[ABS:.*]] = math.absf %arg0
// CHECK-DAG: %[[SUM:.*]] = mhc.reduce sum %[[ABS]] dims = [1]
// CHECK-DAG: %[[EPS:.*]] = arith.constant dense<9.99999996E-13> : tensor<4xf32>
// CHECK: arith.maxnumf %[[SUM]], %[[EPS]]
// CHECK-NOT: linalg
func.func @norms(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %eps = arith.constant 1.0e-12 : f64
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %squares = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %size = math.absf %a : f32
    %power = math.powf %size, %two : f32
    %sum = arith.addf %power, %o : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %sizes = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %size = math.absf %a : f32
    %power = math.powf %size, %one : f32
    %sum = arith.addf %power, %o : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %bounded = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sizes : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %low = arith.truncf %eps : f64 to f32
    %less = arith.cmpf ult, %a, %low : f32
    %clamped = arith.select %less, %low, %a : f32
    linalg.yield %clamped : f32
  } -> tensor<4xf32>
  return %squares, %bounded : tensor<4xf32>, tensor<4xf32>
}

// -----

// Selections that are a maximum or minimum for every input, NaN and both zeros included, and one that is not.
// CHECK-LABEL: @selections
// CHECK: arith.maximumf %arg0
// CHECK: arith.minimumf %arg0
// CHECK: %[[MIN:.*]] = arith.minnumf %arg0
// CHECK: %[[ZERO:.*]] = arith.select
// CHECK: %[[MAX:.*]] = arith.maxnumf %arg0
// CHECK: return {{.*}}, %[[MIN]], %[[ZERO]], %[[MIN]], %[[MAX]] :
func.func @selections(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %out:6 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                       affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>)
      outs(%e, %e, %e, %e, %e, %e
           : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32):
    %c0 = arith.cmpf olt, %a, %two : f32
    %0 = arith.select %c0, %two, %a : f32
    %c1 = arith.cmpf ogt, %a, %two : f32
    %1 = arith.select %c1, %two, %a : f32
    %c2 = arith.cmpf uge, %a, %two : f32
    %2 = arith.select %c2, %two, %a : f32
    %c3 = arith.cmpf olt, %a, %zero : f32
    %3 = arith.select %c3, %zero, %a : f32
    %4 = arith.select %c0, %a, %two : f32
    %c5 = arith.cmpf olt, %two, %a : f32
    %5 = arith.select %c5, %a, %two : f32
    linalg.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %out#0, %out#1, %out#2, %out#3, %out#4, %out#5
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A maximum along columns, which JAX takes with the loops in another order, and again of minus infinity and that.
// CHECK-LABEL: @column_maximum
// CHECK: %[[MAX:.*]] = mhc.reduce max %arg0 dims = [1] : tensor<4x8x16xf32> -> tensor<4x16xf32>
// CHECK: return %[[MAX]]
func.func @column_maximum(%x: tensor<4x8x16xf32>) -> tensor<4x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %lows = arith.constant dense<0xFF800000> : tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %start = linalg.fill ins(%low : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %max = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x8x16xf32>) outs(%start : tensor<4x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %most = arith.maximumf %o, %a : f32
    linalg.yield %most : f32
  } -> tensor<4x16xf32>
  %again = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%lows, %max : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %most = arith.maximumf %a, %b : f32
    linalg.yield %most : f32
  } -> tensor<4x16xf32>
  return %again : tensor<4x16xf32>
}

// -----

// A statistic in f64 becomes leaf ops in f64. A matrix product in f64 stays.
// CHECK-LABEL: @wide
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : tensor<4x8xf32> to tensor<4x8xf64>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : tensor<4x8xf64>
// CHECK: mhc.reduce sum %[[SQUARE]] dims = [1] : tensor<4x8xf64> -> tensor<4xf64>
// CHECK: linalg.matmul ins(%[[WIDE]], %arg1
func.func @wide(%x: tensor<4x8xf32>, %w: tensor<8x8xf64>) -> (tensor<4xf64>, tensor<4x8xf64>) {
  %zero = arith.constant 0.0 : f64
  %e2 = tensor.empty() : tensor<4x8xf64>
  %f2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<4x8xf64>) -> tensor<4x8xf64>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e2 : tensor<4x8xf64>) {
  ^bb0(%a: f32, %o: f64):
    %b = arith.extf %a : f32 to f64
    linalg.yield %b : f64
  } -> tensor<4x8xf64>
  %e = tensor.empty() : tensor<4xf64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%wide : tensor<4x8xf64>) outs(%start : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %square = arith.mulf %a, %a : f64
    %next = arith.addf %square, %o : f64
    linalg.yield %next : f64
  } -> tensor<4xf64>
  %out = linalg.matmul ins(%wide, %w : tensor<4x8xf64>, tensor<8x8xf64>) outs(%f2 : tensor<4x8xf64>) -> tensor<4x8xf64>
  return %sum, %out : tensor<4xf64>, tensor<4x8xf64>
}

// -----

// einsum as a batch of one, and an outer product as a batched one of depth one.
// CHECK-LABEL: @batches
// CHECK: mhc.matmul %{{.*}}, %{{.*}} : (tensor<8x16xf32>, tensor<16x24xf32>) -> tensor<8x24xf32>
// CHECK: mhc.batch_matmul %arg2, %arg3 : (tensor<8x4x1xf32>, tensor<8x1x16xf32>) -> tensor<8x4x16xf32>
func.func @batches(%x: tensor<1x8x16xf32>, %w: tensor<1x16x24xf32>, %h: tensor<8x4x1xf32>, %f: tensor<8x1x16xf32>)
    -> (tensor<1x8x24xf32>, tensor<8x4x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x8x24xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x8x24xf32>) -> tensor<1x8x24xf32>
  %0 = linalg.batch_matmul ins(%x, %w : tensor<1x8x16xf32>, tensor<1x16x24xf32>) outs(%f0 : tensor<1x8x24xf32>)
      -> tensor<1x8x24xf32>
  %e1 = tensor.empty() : tensor<8x4x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %1 = linalg.batch_matmul ins(%h, %f : tensor<8x4x1xf32>, tensor<8x1x16xf32>) outs(%f1 : tensor<8x4x16xf32>)
      -> tensor<8x4x16xf32>
  return %0, %1 : tensor<1x8x24xf32>, tensor<8x4x16xf32>
}

// -----

// The output of --linalg-generalize-named-ops for a fill, and --linalg-fuse-elementwise-ops of a step.
// CHECK-LABEL: @filled_and_fused
// CHECK-NEXT: %[[MIX:.*]] = mhc.sinkhorn(logits = %arg0
// CHECK-SAME: <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
// CHECK-NEXT: return %[[MIX]]
#rows = affine_map<(i, j, k) -> (i, j)>
#columns = affine_map<(i, j, k) -> (i, k)>
#all = affine_map<(i, j, k) -> (i, j, k)>
func.func @filled_and_fused(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-06 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %m = tensor.empty() : tensor<8x4x4xf32>
  %start = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<8x4xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<8x4xf32>
  %s1 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%z : tensor<8x4x4xf32>) outs(%start : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %exp = math.exp %a : f32
    %sum = arith.addf %exp, %o : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  %a1 = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%z, %s1 : tensor<8x4x4xf32>, tensor<8x4xf32>) outs(%m : tensor<8x4x4xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %exp = math.exp %a : f32
    %lifted = arith.addf %s, %eps : f32
    %div = arith.divf %exp, %lifted : f32
    linalg.yield %div : f32
  } -> tensor<8x4x4xf32>
  %s2 = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a1 : tensor<8x4x4xf32>) outs(%start : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %a, %o : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  %a2 = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a1, %s2 : tensor<8x4x4xf32>, tensor<8x4xf32>) outs(%m : tensor<8x4x4xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %lifted = arith.addf %s, %eps : f32
    %div = arith.divf %a, %lifted : f32
    linalg.yield %div : f32
  } -> tensor<8x4x4xf32>
  return %a2 : tensor<8x4x4xf32>
}
