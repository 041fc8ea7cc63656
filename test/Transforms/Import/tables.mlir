// RUN: mhc-opt %s --mhc-import | FileCheck %s

// Rows that are taken of an identity, as JAX writes them: nothing but constants enters.

// CHECK-LABEL: @rows_of_an_identity
func.func @rows_of_an_identity() -> tensor<3x2x2xf32> {
  // CHECK: %[[TABLE:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]],
  // CHECK-SAME: {{\[\[}}0.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00]],
  // CHECK-SAME: {{\[\[}}0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00]]]> : tensor<3x2x2xf32>
  // CHECK-NEXT: return %[[TABLE]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant dense<[[0, 1], [1, 0], [1, 7]]> : tensor<3x2xi32>
  %square = tensor.empty() : tensor<2x2xf32>
  %identity = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%square : tensor<2x2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %equal = arith.cmpi eq, %i, %j : index
    %number = arith.uitofp %equal : i1 to f32
    linalg.yield %number : f32
  } -> tensor<2x2xf32>
  %empty = tensor.empty() : tensor<3x2x2xf32>
  %table = linalg.generic {indexing_maps = [affine_map<(p, i, j) -> (p, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%empty : tensor<3x2x2xf32>) {
  ^bb0(%out: f32):
    %p = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %row = tensor.extract %rows[%p, %i] : tensor<3x2xi32>
    %wide = arith.index_cast %row : i32 to index
    %above = arith.maxsi %wide, %c0 : index
    %inside = arith.minsi %above, %c1 : index
    %number = tensor.extract %identity[%inside, %j] : tensor<2x2xf32>
    linalg.yield %number : f32
  } -> tensor<3x2x2xf32>
  return %table : tensor<3x2x2xf32>
}

// A row that the caller chooses.
// CHECK-LABEL: @rows_of_an_argument
func.func @rows_of_an_argument(%rows: tensor<3xi32>) -> tensor<3x2xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor.extract
  %square = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<3x2xf32>
  %table = linalg.generic {indexing_maps = [affine_map<(p, j) -> (p)>, affine_map<(p, j) -> (p, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<3xi32>) outs(%empty : tensor<3x2xf32>) {
  ^bb0(%row: i32, %out: f32):
    %j = linalg.index 1 : index
    %inside = arith.index_cast %row : i32 to index
    %number = tensor.extract %square[%inside, %j] : tensor<2x2xf32>
    linalg.yield %number : f32
  } -> tensor<3x2xf32>
  return %table : tensor<3x2xf32>
}

// Places outside of the table: what is read there is no number, and stays as it is.
// CHECK-LABEL: @outside
func.func @outside() -> tensor<3xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor.extract
  %numbers = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %table = linalg.generic {indexing_maps = [affine_map<(p) -> (p)>], iterator_types = ["parallel"]} outs(%empty : tensor<3xf32>) {
  ^bb0(%out: f32):
    %p = linalg.index 0 : index
    %number = tensor.extract %numbers[%p] : tensor<2xf32>
    linalg.yield %number : f32
  } -> tensor<3xf32>
  return %table : tensor<3xf32>
}

// One alpha for each group of gates, as repeat_interleave takes it: its places are counted from sums of the groups' sizes.
// CHECK-LABEL: @repeated
// CHECK-SAME: %[[ALPHA:[^:]*]]: tensor<3xf32>
func.func @repeated(%alpha: tensor<3xf32>) -> tensor<8xf32> {
  // CHECK-DAG: %[[FIRST:.*]] = tensor.extract_slice %[[ALPHA]][0] [1] [1] : tensor<3xf32> to tensor<f32>
  // CHECK-DAG: %[[A:.*]] = mhc.broadcast %[[FIRST]] {{.*}} : tensor<f32> -> tensor<2xf32>
  // CHECK-DAG: %[[SECOND:.*]] = tensor.extract_slice %[[ALPHA]][1] [1] [1] : tensor<3xf32> to tensor<f32>
  // CHECK-DAG: %[[B:.*]] = mhc.broadcast %[[SECOND]] {{.*}} : tensor<f32> -> tensor<2xf32>
  // CHECK-DAG: %[[THIRD:.*]] = tensor.extract_slice %[[ALPHA]][2] [1] [1] : tensor<3xf32> to tensor<f32>
  // CHECK-DAG: %[[C:.*]] = mhc.broadcast %[[THIRD]] {{.*}} : tensor<f32> -> tensor<4xf32>
  // CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[A]], %[[B]], %[[C]]
  // CHECK-NEXT: return %[[ALL]]
  %zero = arith.constant 0 : i64
  %ends = arith.constant dense<[[2], [4], [8]]> : tensor<3x1xi64>
  %empty = tensor.empty() : tensor<8xi64>
  %zeros = linalg.fill ins(%zero : i64) outs(%empty : tensor<8xi64>) -> tensor<8xi64>
  %grid = tensor.empty() : tensor<3x8xi64>
  %is_behind = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
      ins(%ends : tensor<3x1xi64>) outs(%grid : tensor<3x8xi64>) {
  ^bb0(%end: i64, %out: i64):
    %j = linalg.index 1 : index
    %place = arith.index_cast %j : index to i64
    %behind = arith.cmpi sge, %place, %end : i64
    %number = arith.extui %behind : i1 to i64
    linalg.yield %number : i64
  } -> tensor<3x8xi64>
  %groups = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                            iterator_types = ["reduction", "parallel"]}
      ins(%is_behind : tensor<3x8xi64>) outs(%zeros : tensor<8xi64>) {
  ^bb0(%behind: i64, %count: i64):
    %next = arith.addi %count, %behind : i64
    linalg.yield %next : i64
  } -> tensor<8xi64>
  %floats = tensor.empty() : tensor<8xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%groups : tensor<8xi64>) outs(%floats : tensor<8xf32>) {
  ^bb0(%group: i64, %out: f32):
    %place = arith.index_cast %group : i64 to index
    %number = tensor.extract %alpha[%place] : tensor<3xf32>
    linalg.yield %number : f32
  } -> tensor<8xf32>
  return %all : tensor<8xf32>
}

// A place outside of the argument stays, to be an error when the program runs.
// CHECK-LABEL: @outside_of_an_argument
func.func @outside_of_an_argument(%alpha: tensor<3xf32>) -> tensor<2xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor.extract
  %places = arith.constant dense<[0, 3]> : tensor<2xi64>
  %floats = tensor.empty() : tensor<2xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%places : tensor<2xi64>) outs(%floats : tensor<2xf32>) {
  ^bb0(%group: i64, %out: f32):
    %place = arith.index_cast %group : i64 to index
    %number = tensor.extract %alpha[%place] : tensor<3xf32>
    linalg.yield %number : f32
  } -> tensor<2xf32>
  return %all : tensor<2xf32>
}
