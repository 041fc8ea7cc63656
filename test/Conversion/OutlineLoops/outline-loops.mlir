// RUN: mhc-opt %s -mhc-outline-loops | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Equal loops share a function, wherever their constants are and whatever part of a buffer they work on.
// CHECK-LABEL: @equal_loops_share_a_function
func.func @equal_loops_share_a_function(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>) {
  %two = arith.constant 2.0 : f32
  %too = arith.constant 2.0 : f32
  // CHECK: call @mhc_loop_1(%{{.*}}, %{{.*}}) : (memref<?xf32>, memref<?xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %two : f32
    linalg.yield %0 : f32
  }
  // CHECK: call @mhc_loop_1(
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : memref<?xf32>) outs(%c : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %too : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @another_constant_is_another_function
func.func @another_constant_is_another_function(%a: memref<?xf32>, %b: memref<?xf32>) {
  %three = arith.constant 3.0 : f32
  // CHECK: call @mhc_loop_2(
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %three : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @scalars_are_passed
func.func @scalars_are_passed(%a: memref<f32>, %b: memref<?xf32>) {
  %scalar = memref.load %a[] : memref<f32>
  // CHECK: call @mhc_loop_3(%{{.*}}, %{{.*}}) : (f32, memref<?xf32>) -> ()
  linalg.fill ins(%scalar : f32) outs(%b : memref<?xf32>)
  return
}

// CHECK-LABEL: @in_a_loop
func.func @in_a_loop(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  // CHECK: scf.for
  // CHECK-NEXT: call @mhc_loop_1(
  scf.for %i = %c0 to %n step %c1 {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : memref<?xf32>) outs(%b : memref<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %two : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// Copies of rows at different offsets are one function.
// CHECK-LABEL: @copies
func.func @copies(%a: memref<?x8xf32>, %b: memref<?x4xf32>, %M: index) {
  %left = memref.subview %a[0, 0] [%M, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  %right = memref.subview %a[0, 4] [%M, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  // CHECK: call @mhc_loop_4(%{{.*}}, %{{.*}}) : (memref<?x4xf32, strided<[8, 1], offset: ?>>, memref<?x4xf32>) -> ()
  memref.copy %left, %b : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32>
  // CHECK: call @mhc_loop_4(
  memref.copy %right, %b : memref<?x4xf32, strided<[8, 1], offset: 4>> to memref<?x4xf32>
  return
}

// Two parts of one buffer may overlap, as far as this pass knows.
// CHECK-LABEL: @parts_of_one_buffer
func.func @parts_of_one_buffer(%a: memref<8xf32>) {
  %x = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %y = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // CHECK: call @mhc_loop_5(
  memref.copy %x, %y : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 4>>
  return
}

// The outermost loop of more than one iteration may run on several threads: its depth, then the argument and the
// dimension with its length.
// CHECK-LABEL: @independent_rows
func.func @independent_rows(%a: memref<1x?x128xf32>, %b: memref<1x?xf32>) {
  // CHECK: call @[[ROWS:mhc_loop_[0-9]+]](
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a : memref<1x?x128xf32>) outs(%b : memref<1x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// Columns are summed over rows, and a small loop is not worth a second thread.
// CHECK-LABEL: @one_thread
func.func @one_thread(%a: memref<?x128xf32>, %b: memref<128xf32>) {
  // CHECK: call @[[COLUMNS:mhc_loop_[0-9]+]](
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<?x128xf32>) outs(%b : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  // CHECK: call @[[SMALL:mhc_loop_[0-9]+]](
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : memref<128xf32>) outs(%b : memref<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The argument that tells how many blocks there are has an element for 256 iterations.
// CHECK-LABEL: @blocks
func.func @blocks(%a: memref<?x8xf32>, %length: memref<256xi8>, %b: memref<?x8xf32>) {
  // CHECK: call @[[BLOCKS:mhc_loop_[0-9]+]](
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 * 256 + d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>,
                                   affine_map<(d0, d1, d2) -> (d0, d2)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %length : memref<?x8xf32>, memref<256xi8>) outs(%b : memref<?x8xf32>) {
  ^bb0(%in: f32, %none: i8, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// An error of a loop has its place in the source, so that equal loops of other places do not share a function.
// CHECK-LABEL: @checks_have_places
func.func @checks_have_places(%a: memref<?xi1>, %b: memref<?xi1>) {
  // CHECK: call @[[FIRST:mhc_loop_[0-9]+]](
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<?xi1>) outs(%b : memref<?xi1>) {
  ^bb0(%in: i1, %out: i1):
    cf.assert %in, "no"
    linalg.yield %in : i1
  }
  // CHECK-NOT: call @[[FIRST]](
  // CHECK: return
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<?xi1>) outs(%b : memref<?xi1>) {
  ^bb0(%in: i1, %out: i1):
    cf.assert %in, "no"
    linalg.yield %in : i1
  }
  return
}

// CHECK: func.func private @mhc_loop_1(%{{.*}}: memref<?xf32> {llvm.noalias}, %{{.*}}: memref<?xf32> {llvm.noalias}) attributes {mhc.parallel = array<i64: 0, 0, 0, 1>}
// CHECK-NEXT: arith.constant 2.0
// CHECK: func.func private @mhc_loop_5(%{{[a-z0-9]*}}: memref<4xf32, strided<[1], offset: ?>>, %{{[a-z0-9]*}}: memref<4xf32, strided<[1], offset: ?>>)
// CHECK: func.func private @[[ROWS]]({{.*}}) attributes {mhc.parallel = array<i64: 1, 0, 1, 1>}
// CHECK: func.func private @[[COLUMNS]]({{.*}}) {{[{]$}}
// CHECK: func.func private @[[SMALL]]({{.*}}) {{[{]$}}
// CHECK: func.func private @[[BLOCKS]]({{.*}}) attributes {mhc.parallel = array<i64: 0, 2, 0, 256>}
