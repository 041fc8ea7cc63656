// RUN: mhc-opt %s -mhc-check-sizes -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-check-sizes=on-gpu -split-input-file | FileCheck %s --check-prefix=GPU

// Facts that follow from the manifest are not checked: equal symbols, sums of symbols, and a part as long as the whole.
// CHECK-LABEL: func.func @known
// CHECK-NOT: mhc.check_size
// CHECK: return
func.func @known(%x: memref<?x?xf32> {mhc.dims = ["M", "d1"]}, %y: memref<?x?xf32> {mhc.dims = ["M", "d1"]},
                 %both: memref<?xf32> {mhc.dims = ["M+d1"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %k = memref.dim %y, %c1 : memref<?x?xf32>
  linalg.exp ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  %first = memref.subview %both[0] [%m] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %second = memref.subview %both[%m] [%k] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.copy %first, %first : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  memref.copy %second, %second : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// Whole blocks and what is left are inside, whatever the size.
// CHECK-LABEL: func.func @blocks
// CHECK-NOT: mhc.check_size
// CHECK: return
func.func @blocks(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.divsi %m, %c256 : index
  %first = arith.muli %blocks, %c256 : index
  %left = arith.subi %m, %first : index
  %rest = memref.subview %x[%first] [%left] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.copy %rest, %rest : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// More than the blocks is not.
// CHECK-LABEL: func.func @beyond_blocks
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "the size of a slice in dimension 0"}
func.func @beyond_blocks(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c257 = arith.constant 257 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.divsi %m, %c256 : index
  %size = arith.muli %blocks, %c257 : index
  %part = memref.subview %x[0] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  memref.copy %part, %part : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  return
}

// -----

// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[X:.*]]: memref<?xf32> {{.*}}, %[[I:.*]]: memref<index>
// CHECK-DAG: %[[PLACE:.*]] = memref.load %[[I]][]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[SIZE:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK: call @mhc.check_size(%[[FOUR]], %{{.*}}, %{{.*}}) {mhc.checked = "the size of a slice in dimension 0"}
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}}
// CHECK: call @mhc.check_size(%[[PLACE]], %{{.*}}, %[[LAST]]) {mhc.checked = "the offset of a slice in dimension 0"}
// CHECK: memref.subview
func.func @slice(%x: memref<?xf32> {mhc.dims = ["M"]}, %i: memref<index> {mhc.dims = []}) {
  %place = memref.load %i[] : memref<index>
  %part = memref.subview %x[%place] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.copy %part, %part : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

// A number that an op computes may be negative.
// CHECK-LABEL: func.func @shorter
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "the size of a slice in dimension 0"}
// CHECK-NOT: mhc.check_size
// CHECK: memref.subview
func.func @shorter(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %less = arith.subi %m, %c3 : index
  %part = memref.subview %x[3] [%less] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: 3>>
  memref.copy %part, %part : memref<?xf32, strided<[1], offset: 3>> to memref<?xf32, strided<[1], offset: 3>>
  return
}

// -----

// CHECK-LABEL: func.func @split
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "the product of sizes that dimension 0 is split into"}
// CHECK: memref.expand_shape
func.func @split(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %quarter = arith.divsi %m, %c4 : index
  %y = memref.expand_shape %x [[0, 1]] output_shape [%quarter, 4] : memref<?xf32> into memref<?x4xf32>
  memref.copy %y, %y : memref<?x4xf32> to memref<?x4xf32>
  return
}

// -----

// Two sizes that the manifest does not state to be equal.
// CHECK-LABEL: func.func @loops
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "dimension 0 of operand 1"}
// CHECK: linalg.exp
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "dimension 0 of what is copied"}
// CHECK: memref.copy
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "dimension 0 of a cast"}
// CHECK: memref.cast
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "'M' of 'mix'"}
// CHECK: mhc.launch
func.func @loops(%x: memref<?xf32> {mhc.dims = ["M"]}, %y: memref<?xf32> {mhc.dims = ["d1"]},
                 %a: memref<?x4x4xf32> {mhc.dims = ["M", "4", "4"]},
                 %b: memref<?x4x4xf32> {mhc.dims = ["d1", "4", "4"]}) {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  %five = memref.cast %x : memref<?xf32> to memref<5xf32>
  mhc.launch "mhc.sinkhorn" ins(%a : memref<?x4x4xf32>) outs(%b : memref<?x4x4xf32>)
    counts = [1, 1] config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>,
    eps = 0.0 : f64, iters = 20 : i64}
  memref.copy %five, %five : memref<5xf32> to memref<5xf32>
  return
}

// -----

// Loops in front find the least and the largest row; they run along the rows alone.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: call @mhc.check_size(%{{.*}}) {mhc.checked = "the index in dimension 0"}
// CHECK-NOT: mhc.check_size
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// On a GPU the body checks its index, and reads no row that is not there.
// GPU-LABEL: func.func @rows
// GPU-SAME: %[[TABLE:.*]]: memref<?x8xf32> {mhc.dims = ["d1", "8"]}
// GPU-NOT: call @mhc.check_size
// GPU: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// GPU: %[[ROW:.*]] = arith.index_cast
// GPU: %[[SIZE:.*]] = memref.dim %[[TABLE]]
// GPU: %[[LAST:.*]] = arith.subi %[[SIZE]]
// GPU: call @mhc.check_size(%[[ROW]], %{{.*}}, %[[LAST]]) {mhc.checked = "the index in dimension 0"}
// GPU: %[[IS_THERE:.*]] = arith.cmpi ult, %[[ROW]], %[[SIZE]]
// GPU: scf.if %[[IS_THERE]] -> (f32)
// GPU-NEXT: memref.load %[[TABLE]][%[[ROW]],
// GPU: else
// GPU-NEXT: arith.constant 0.000000e+00 : f32
// GPU-NOT: call @mhc.check_size
// GPU: return
func.func @rows(%table: memref<?x8xf32> {mhc.dims = ["d1", "8"]}, %ids: memref<?xi64> {mhc.dims = ["M"]},
                %out: memref<?x8xf32> {mhc.dims = ["M", "8"]}) {
  linalg.generic {indexing_maps = [affine_map<(m, c) -> (m)>, affine_map<(m, c) -> (m, c)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%ids : memref<?xi64>) outs(%out : memref<?x8xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %element = memref.load %table[%row, %column] : memref<?x8xf32>
    linalg.yield %element : f32
  }
  return
}

// -----

// Two dimensions, each of which may be wrong; and an assertion, which stays where it is.
// CHECK-LABEL: func.func @corners
// GPU-LABEL: func.func @corners
// GPU-NOT: call @mhc.check_size
// GPU: linalg.generic
// GPU: cf.assert
// GPU: call @mhc.check_size({{.*}}) {mhc.checked = "the index in dimension 0"}
// GPU: call @mhc.check_size({{.*}}) {mhc.checked = "the index in dimension 1"}
// GPU: %[[IS_THERE:.*]] = arith.andi
// GPU: scf.if %[[IS_THERE]]
// GPU-NOT: call @mhc.check_size
// GPU: return
func.func @corners(%table: memref<?x8xf32> {mhc.dims = ["d1", "8"]}, %ids: memref<?xi64> {mhc.dims = ["M"]},
                   %out: memref<?xf32> {mhc.dims = ["M"]}) {
  %zero = arith.constant 0 : i64
  linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%ids : memref<?xi64>) outs(%out : memref<?xf32>) {
  ^bb0(%id: i64, %old: f32):
    %valid = arith.cmpi sge, %id, %zero : i64
    cf.assert %valid, "a row is negative"
    %row = arith.index_cast %id : i64 to index
    %element = memref.load %table[%row, %row] : memref<?x8xf32>
    linalg.yield %element : f32
  }
  return
}

// -----

// A window: the last place of each operand is in it where the loops are as long as those that the manifest names.
// CHECK-LABEL: func.func @window
// CHECK-NOT: mhc.check_size
// CHECK: linalg.generic
// CHECK: return
func.func @window(%x: memref<?xf32> {mhc.dims = ["M+d1"]}, %w: memref<?xf32> {mhc.dims = ["d1"]},
                  %y: memref<?xf32> {mhc.dims = ["M"]}) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// Nothing says that the window fits. Loops without an iteration read nothing.
// CHECK-LABEL: func.func @open_window
// CHECK-SAME: %[[X:.*]]: memref<?xf32> {mhc.dims = ["d2"]}, %[[W:.*]]: memref<?xf32> {mhc.dims = ["d1"]}, %[[Y:.*]]: memref<?xf32> {mhc.dims = ["M"]}
// CHECK-DAG: %[[M:.*]] = memref.dim %[[Y]]
// CHECK-DAG: %[[D1:.*]] = memref.dim %[[W]]
// CHECK-DAG: %[[LAST_I:.*]] = arith.subi %[[M]]
// CHECK-DAG: %[[LAST_K:.*]] = arith.subi %[[D1]]
// CHECK-DAG: %[[TURNS:.*]] = arith.muli %[[M]], %[[D1]]
// CHECK-DAG: %[[DOUBLE:.*]] = arith.muli %[[LAST_I]], %c2
// CHECK-DAG: %[[PLACE:.*]] = arith.addi %[[DOUBLE]], %[[LAST_K]]
// CHECK-DAG: %[[NONE:.*]] = arith.cmpi eq, %[[TURNS]]
// CHECK-DAG: %[[VALUE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[PLACE]]
// CHECK: call @mhc.check_size(%[[VALUE]], %{{.*}}, %{{.*}}) {mhc.checked = "the index in dimension 0 of operand 0"}
// CHECK-NOT: mhc.check_size
// CHECK: linalg.generic
func.func @open_window(%x: memref<?xf32> {mhc.dims = ["d2"]}, %w: memref<?xf32> {mhc.dims = ["d1"]},
                       %y: memref<?xf32> {mhc.dims = ["M"]}) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (2 * i + k)>, affine_map<(i, k) -> (k)>,
                                   affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// A division that has a result for all numbers is left.
// CHECK-LABEL: func.func @division_by_a_number
// CHECK-NOT: cf.assert
// CHECK: return
func.func @division_by_a_number(%x: memref<4xi32> {mhc.dims = ["4"]}) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<4xi32>) {
  ^bb0(%number: i32):
    %two = arith.constant 2 : i32
    %most = arith.constant -1 : i32
    %half = arith.divsi %number, %two : i32
    %none = arith.divui %half, %most : i32
    linalg.yield %none : i32
  }
  return
}

// -----

// The loop in front finds whether all have a result; on a GPU each thread does.
// CHECK-LABEL: func.func @division
// CHECK: linalg.generic {{.*}}ins(%{{.*}}) outs(%{{.*}}, %{{.*}} : memref<i64>, memref<i64>)
// CHECK: cf.assert %{{.*}}, "an integer division has a result"
// CHECK: linalg.generic
// CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %[[IN:.*]], %{{.*}} : i32
// CHECK-NOT: cf.assert
// CHECK: arith.remsi %{{.*}}, %[[DIVISOR]] : i32
// GPU-LABEL: func.func @division(
// GPU: linalg.generic
// GPU: cf.assert %{{.*}}, "an integer division has a result"
// GPU: arith.remsi
func.func @division(%x: memref<4xi32> {mhc.dims = ["4"]}, %y: memref<4xi32> {mhc.dims = ["4"]}) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) {
  ^bb0(%divisor: i32, %number: i32):
    %rest = arith.remsi %number, %divisor : i32
    linalg.yield %rest : i32
  }
  return
}
