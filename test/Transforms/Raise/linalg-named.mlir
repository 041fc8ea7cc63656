// RUN: mhc-opt %s --mhc-normalise --mhc-raise --canonicalize --split-input-file | FileCheck %s
// RUN: mhcc %s --verify
// RUN: mhcc %s --verify --fuse=none

// Named ops of linalg are read by their loops and bodies like generic ones.

// CHECK-LABEL: @elementwise
// CHECK-DAG: %[[SUM:.*]] = arith.addf %arg0, %arg1
// CHECK-DAG: %[[SQUARE:.*]] = arith.mulf %[[SUM]], %[[SUM]]
// CHECK-DAG: %[[EXP:.*]] = math.exp %[[SQUARE]]
// CHECK-DAG: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[EXP]]
// CHECK-DAG: %[[ROOT:.*]] = math.rsqrt %[[INVERSE]]
// CHECK-DAG: %[[MAX:.*]] = arith.maximumf %[[ROOT]], %arg0
// CHECK-DAG: %[[SUB:.*]] = arith.subf %[[MAX]], %arg1
// CHECK-DAG: arith.negf %[[SUB]]
// CHECK-NOT: linalg
func.func @elementwise(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %0 = linalg.add ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.square ins(%0 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = linalg.exp ins(%1 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = linalg.reciprocal ins(%2 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %4 = linalg.rsqrt ins(%3 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %5 = linalg.max ins(%4, %a : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %6 = linalg.sub ins(%5, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %7 = linalg.elementwise kind=#linalg.elementwise_kind<negf> ins(%6 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>)
      -> tensor<?x8xf32>
  return %7 : tensor<?x8xf32>
}

// -----

// linalg.map, reduce, broadcast and transpose spell one step of Sinkhorn; a whole iteration is found.
// CHECK-LABEL: @iteration
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 1>
// CHECK-NOT: linalg
func.func @iteration(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<8x4x4xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %start = linalg.map { math.exp } ins(%z : tensor<8x4x4xf32>) outs(%e3 : tensor<8x4x4xf32>)
  %rows = linalg.reduce { arith.addf } ins(%start : tensor<8x4x4xf32>) outs(%f2 : tensor<8x4xf32>) dimensions = [2]
  %row_all = linalg.broadcast ins(%rows : tensor<8x4xf32>) outs(%e3 : tensor<8x4x4xf32>) dimensions = [2]
  %by_row = linalg.div ins(%start, %row_all : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%e3 : tensor<8x4x4xf32>)
      -> tensor<8x4x4xf32>
  %turned = linalg.transpose ins(%by_row : tensor<8x4x4xf32>) outs(%e3 : tensor<8x4x4xf32>) permutation = [0, 2, 1]
  %columns = linalg.reduce { arith.addf } ins(%turned : tensor<8x4x4xf32>) outs(%f2 : tensor<8x4xf32>) dimensions = [2]
  %column_all = linalg.broadcast ins(%columns : tensor<8x4xf32>) outs(%e3 : tensor<8x4x4xf32>) dimensions = [1]
  %by_column = linalg.div ins(%by_row, %column_all : tensor<8x4x4xf32>, tensor<8x4x4xf32>)
      outs(%e3 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %by_column : tensor<8x4x4xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK: mhc.softmax %arg0 dim = 2
// CHECK-NOT: linalg
func.func @softmax(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %z, %c0 : tensor<?x4x4xf32>
  %e = tensor.empty(%m) : tensor<?x4x4xf32>
  %out = linalg.softmax dimension(2) ins(%z : tensor<?x4x4xf32>) outs(%e : tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
  return %out : tensor<?x4x4xf32>
}

// -----

// Products of a matrix and a vector have one row or one column; one of vectors is a sum.
// CHECK-LABEL: @vectors
// CHECK: mhc.matmul %{{.*}}, %{{.*}} : (tensor<8x16xf32>, tensor<16x1xf32>) -> tensor<8x1xf32>
// CHECK: mhc.matmul %{{.*}}, %{{.*}} : (tensor<1x8xf32>, tensor<8x16xf32>) -> tensor<1x16xf32>
// CHECK: mhc.aggregate(x = %arg4 : tensor<4x8x16xf32>, h_pre = %arg3 : tensor<4x8xf32>)
// CHECK: mhc.reduce sum %{{.*}} dims = [0] : tensor<16xf32> -> tensor<f32>
// CHECK-NOT: linalg
func.func @vectors(%a: tensor<8x16xf32>, %x: tensor<16xf32>, %y: tensor<8xf32>, %h: tensor<4x8xf32>,
                   %s: tensor<4x8x16xf32>) -> (tensor<8xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.matvec ins(%a, %x : tensor<8x16xf32>, tensor<16xf32>) outs(%f0 : tensor<8xf32>) -> tensor<8xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %1 = linalg.vecmat ins(%y, %a : tensor<8xf32>, tensor<8x16xf32>) outs(%f1 : tensor<16xf32>) -> tensor<16xf32>
  %e2 = tensor.empty() : tensor<4x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = linalg.batch_vecmat ins(%h, %s : tensor<4x8xf32>, tensor<4x8x16xf32>) outs(%f2 : tensor<4x16xf32>)
      -> tensor<4x16xf32>
  %e3 = tensor.empty() : tensor<f32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %3 = linalg.dot ins(%x, %1 : tensor<16xf32>, tensor<16xf32>) outs(%f3 : tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<f32>
}

// -----

// Products with their maps: a transposed batch, and an einsum of vectors.
// CHECK-LABEL: @maps
// CHECK: mhc.batch_matmul
// CHECK: mhc.reduce sum
// CHECK-NOT: linalg
func.func @maps(%a: tensor<4x8x16xf32>, %b: tensor<4x16x8xf32>, %c: tensor<16x4x8xf32>)
    -> (tensor<4x8x8xf32>, tensor<4x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x8x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %0 = linalg.batch_matmul
      indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (b, k, j)>,
                       affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%b, %b : tensor<4x16x8xf32>, tensor<4x16x8xf32>) outs(%f0 : tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  %e1 = tensor.empty() : tensor<4x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = linalg.contract
      indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (j, i, k)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %c : tensor<4x8x16xf32>, tensor<16x4x8xf32>) outs(%f1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x8x8xf32>, tensor<4x16xf32>
}
