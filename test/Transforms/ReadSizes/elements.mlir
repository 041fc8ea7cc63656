// RUN: mhc-opt %s --split-input-file --mhc-read-sizes --canonicalize --cse | FileCheck %s

// Broadcasts by index of an open number of rows: at 0 where there is one row.

// CHECK: #[[REPEAT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
// CHECK-LABEL: @repeated(
// CHECK: linalg.generic {indexing_maps = [#[[REPEAT]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<?x4x1xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @repeated(%x: tensor<?x4x1xf32>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x4x1xf32>
  %e = tensor.empty(%m) : tensor<?x4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x4x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %one = arith.cmpi eq, %m, %c1 : index
    %row = arith.select %one, %c0, %i : index
    %value = tensor.extract %x[%row, %j, %c0] : tensor<?x4x1xf32>
    linalg.yield %value : f32
  } -> tensor<?x4x4xf32>
  return %r : tensor<?x4x4xf32>
}

// -----

// Here the rows may be fewer than the loop's iterations: one row for all of them.

// CHECK-LABEL: @other_rows(
// CHECK: tensor.extract
func.func @other_rows(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%y : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %one = arith.cmpi eq, %m, %c1 : index
    %row = arith.select %one, %c0, %i : index
    %value = tensor.extract %x[%row, %j] : tensor<?x4xf32>
    linalg.yield %value : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// The condition is on another size: row 0 for every iteration where that is 1.

// CHECK-LABEL: @other_condition(
// CHECK: tensor.extract
func.func @other_condition(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %k) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %one = arith.cmpi eq, %k, %c1 : index
    %row = arith.select %one, %c0, %i : index
    %value = tensor.extract %x[%row, %j] : tensor<?x?xf32>
    linalg.yield %value : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// An element at a place that is known is read in front of the loops.

// CHECK-LABEL: @known_place(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[ALPHA:.*]]: tensor<3xf32>
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[SCALE:.*]] = tensor.extract %[[ALPHA]][%[[C1]]]
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
func.func @known_place(%x: tensor<?x4xf32>, %alpha: tensor<3xf32>) -> tensor<?x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%x : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %c1 = arith.constant 1 : index
    %scale = tensor.extract %alpha[%c1] : tensor<3xf32>
    %product = arith.mulf %out, %scale : f32
    linalg.yield %product : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Whether there is such an element, nobody knows where the loops have no iterations.

// CHECK-LABEL: @place_of_open_size(
// CHECK: linalg.generic
// CHECK: tensor.extract
func.func @place_of_open_size(%x: tensor<?x4xf32>, %alpha: tensor<?xf32>) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} outs(%x : tensor<?x4xf32>) {
  ^bb0(%out: f32):
    %scale = tensor.extract %alpha[%c1] : tensor<?xf32>
    %product = arith.mulf %out, %scale : f32
    linalg.yield %product : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
