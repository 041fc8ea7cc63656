// RUN: mhc-opt %s --mhc-import --split-input-file | FileCheck %s
// RUN: mhc-opt %s --split-input-file --mhc-import --canonicalize -o /dev/null

// Each point of the window reads a slice, in their order, and the first one starts from `start`.
// CHECK-LABEL: func @depthwise
// CHECK-SAME: (%[[X:.*]]: tensor<2x6x?xf32>, %[[W:.*]]: tensor<6x2xf32>, %[[START:.*]]: tensor<2x6x?xf32>)
// CHECK: %[[T:.*]] = tensor.dim %[[START]]
// CHECK: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [2, 6, %[[T]]] [1, 1, 1]
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [6, 1] [1, 1] : tensor<6x2xf32> to tensor<6xf32>
// CHECK: %[[P0:.*]] = arith.mulf %[[X0]]
// CHECK: %[[S0:.*]] = arith.addf %[[START]], %[[P0]]
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 0, 1] [2, 6, %[[T]]] [1, 1, 1]
// CHECK: %[[P1:.*]] = arith.mulf %[[X1]]
// CHECK: %[[S1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK: return %[[S1]]
func.func @depthwise(%x: tensor<2x6x?xf32>, %w: tensor<6x2xf32>, %start: tensor<2x6x?xf32>) -> tensor<2x6x?xf32> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, c, t, j) -> (b, c, t + j)>, affine_map<(b, c, t, j) -> (c, j)>,
                       affine_map<(b, c, t, j) -> (b, c, t)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x6x?xf32>, tensor<6x2xf32>) outs(%start : tensor<2x6x?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x6x?xf32>
  return %y : tensor<2x6x?xf32>
}

// -----

// Strides and dilations; where channels are summed as well, each point is a matrix product.
// CHECK-LABEL: func @dense
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [2, 3, 4, 6] [1, 1, 2, 1]
// CHECK: mhc.matmul
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 2] [2, 3, 4, 6] [1, 1, 2, 1]
// CHECK: mhc.matmul
// CHECK: tensor.extract_slice %arg0[0, 0, 1, 0] [2, 3, 4, 6] [1, 1, 2, 1]
// CHECK-NOT: linalg.conv
func.func @dense(%x: tensor<2x3x9x8xf32>, %w: tensor<5x3x2x2xf32>) -> tensor<2x5x4x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x5x4x6xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
    ins(%x, %w : tensor<2x3x9x8xf32>, tensor<5x3x2x2xf32>) outs(%zero : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %y : tensor<2x5x4x6xf32>
}

// -----

// CHECK-LABEL: func @pool
// CHECK-COUNT-5: arith.maximumf
// CHECK-NOT: linalg.pooling
func.func @pool(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x7x7xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<2x3x7x7xf32>
  %window = tensor.empty() : tensor<3x2xf32>
  %y = linalg.pooling_nchw_max ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>)
    outs(%low : tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
  return %y : tensor<2x3x7x7xf32>
}

// -----

// All windows as a tensor: the window is the shorter one of two parallel loops.
// CHECK-LABEL: func @unfold
// CHECK: %[[X0:.*]] = tensor.extract_slice %arg0[0, 0] [8, 4]
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[X0]] into %{{.*}}[0, 0, 0] [8, 4, 1]
// CHECK: %[[X1:.*]] = tensor.extract_slice %arg0[1, 0] [8, 4]
// CHECK: tensor.insert_slice %[[X1]] into %[[FIRST]][0, 0, 1] [8, 4, 1]
func.func @unfold(%x: tensor<9x4xf32>) -> tensor<8x4x2xf32> {
  %empty = tensor.empty() : tensor<8x4x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, c, j) -> (t + j, c)>, affine_map<(t, c, j) -> (t, c, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<9x4xf32>) outs(%empty : tensor<8x4x2xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<8x4x2xf32>
  return %y : tensor<8x4x2xf32>
}

// -----

// A long window stays a loop, and so does one that is read backwards.
// CHECK-LABEL: func @long
// CHECK: linalg.conv_1d
func.func @long(%x: tensor<64xf32>, %w: tensor<32xf32>) -> tensor<33xf32> {
  %zero = arith.constant dense<0.0> : tensor<33xf32>
  %y = linalg.conv_1d ins(%x, %w : tensor<64xf32>, tensor<32xf32>) outs(%zero : tensor<33xf32>) -> tensor<33xf32>
  return %y : tensor<33xf32>
}

// CHECK-LABEL: func @backwards
// CHECK: linalg.generic
func.func @backwards(%x: tensor<5xf32>, %w: tensor<2xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, j) -> (t - j + 1)>, affine_map<(t, j) -> (j)>,
      affine_map<(t, j) -> (t)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<5xf32>, tensor<2xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
