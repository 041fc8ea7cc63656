// RUN: mhc-opt %s -mhc-outline-loops -mhc-loops-to-gpu=arch=sm_90a | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#short = affine_map<(d0) -> (d0)>

// Eight neighbours of a row: sixteen bytes of bf16. What is one value for all of them is loaded once, and buffers that do
// not begin at a multiple of sixteen bytes are accessed one by one.
// CHECK-LABEL: gpu.func @mhc_loop_1
// CHECK-SAME: (%[[X:.*]]: memref<?x64xbf16> {{.*}}, %[[R:.*]]: memref<?xf32> {{.*}}, %[[W:.*]]: memref<64xf32> {{.*}}, %[[Y:.*]]: memref<?x64xf32> {{.*}}, %[[BITS:.*]]: memref<?x64xi1> {{.*}}, %[[COUNT:.*]]: index) kernel
// CHECK: %[[I:.*]] = arith.addi
// CHECK: %[[GROUP:.*]] = arith.remui %[[I]], %c8
// CHECK: %[[ROW:.*]] = arith.divui %[[I]], %c8
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c8
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-NOT: extract_aligned_pointer_as_index %[[R]]
// CHECK: memref.extract_aligned_pointer_as_index %[[W]]
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK-NOT: extract_aligned_pointer_as_index %[[BITS]]
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %c15
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[ALIGNED]]
// CHECK: vector.load %[[X]][%[[ROW]], %[[FIRST]]] {alignment = 16 : i64} : memref<?x64xbf16>, vector<8xbf16>
// CHECK: memref.load %[[R]][%[[ROW]]]
// CHECK-NOT: memref.load %[[R]]
// CHECK: vector.load %[[W]][%[[FIRST]]] {alignment = 16 : i64} : memref<64xf32>, vector<8xf32>
// CHECK-COUNT-8: arith.cmpf
// CHECK: vector.store %{{.*}}, %[[Y]][%[[ROW]], %[[FIRST]]] {alignment = 16 : i64} : memref<?x64xf32>, vector<8xf32>
// CHECK-COUNT-8: memref.store %{{.*}}, %[[BITS]]
// CHECK: } else {
// CHECK: scf.for %[[N:.*]] = %c0{{.*}} to %c8{{.*}} step %c1
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[N]]
// CHECK: memref.load %[[X]][%[[ROW]], %[[AT]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[ROW]], %[[AT]]]

// Rows of twelve f32 are no multiple of eight, but of four. The number of a neighbour is a value as well.
// CHECK-LABEL: gpu.func @mhc_loop_2
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-4: arith.index_cast

// No vectors: reads far from each other, rows that begin anywhere, and few iterations, which many threads share.
// CHECK-LABEL: gpu.func @mhc_loop_3
// CHECK-NOT: vector
// CHECK-LABEL: gpu.func @mhc_loop_4
// CHECK-NOT: vector
// CHECK-LABEL: gpu.func @mhc_loop_5
// CHECK-NOT: vector
// An output that is full of a constant is not loaded.
// CHECK-LABEL: gpu.func @mhc_loop_6
// CHECK: vector.load
// CHECK-NOT: vector.load
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK-NOT: vector.load
// CHECK-LABEL: func.func @entry
func.func @entry(%x: memref<?x64xbf16>, %r: memref<?xf32>, %w: memref<64xf32>, %y: memref<?x64xf32>,
                 %bits: memref<?x64xi1>, %t: memref<?x12xf32>, %n: memref<?x12xi64>, %s: memref<64x?xf32>,
                 %odd: memref<?x64xf32, strided<[67, 1]>>, %few: memref<4096xf32>, %z: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %w : memref<?x64xbf16>, memref<?xf32>, memref<64xf32>)
      outs(%y, %bits : memref<?x64xf32>, memref<?x64xi1>) {
  ^bb0(%a: bf16, %b: f32, %c: f32, %out: f32, %bit: i1):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %1, %c : f32
    %3 = arith.cmpf olt, %2, %c : f32
    linalg.yield %2, %3 : f32, i1
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<?x12xf32>) outs(%n : memref<?x12xi64>) {
  ^bb0(%a: f32, %out: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.fptosi %a : f32 to i64
    %3 = arith.addi %1, %2 : i64
    linalg.yield %3 : i64
  }
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64x?xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%odd : memref<?x64xf32, strided<[67, 1]>>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#short], iterator_types = ["parallel"]} outs(%few : memref<4096xf32>) {
  ^bb0(%out: f32):
    %0 = arith.negf %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x64xf32>) outs(%z : memref<?x64xf32>) attrs = {mhc.starts = [2.0 : f32]} {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// A thread for each group of neighbours.
// CHECK-LABEL: func.func private @mhc_loop_1
// CHECK: %[[COUNT:.*]] = arith.muli %{{.*}}, %c8
// CHECK: gpu.launch_func {{.*}} %[[COUNT]] : index)
