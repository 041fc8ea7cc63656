// RUN: mhc-opt %s -mhc-outline-loops -mhc-loops-to-gpu | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A warp adds up a long row. Other results of an iteration are stored in it.
// CHECK-LABEL: gpu.func @mhc_loop_1
// CHECK: scf.if
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c32
// CHECK: %[[SUM:.*]] = scf.for %[[J:.*]] = %[[LANE]] to %c64{{.*}} step %c32{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %[[E]]
// CHECK: memref.store %[[E]], %{{.*}}[%[[ROW]], %[[J]]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[SUM]], %c16
// CHECK: %[[HALF:.*]] = arith.addf %[[SUM]], %[[OTHER]]
// CHECK: gpu.shuffle xor %[[HALF]], %c8
// CHECK: gpu.shuffle xor %{{.*}}, %c4
// CHECK: gpu.shuffle xor %{{.*}}, %c2
// CHECK: gpu.shuffle xor %{{.*}}, %c1
// CHECK: %[[ALL:.*]] = arith.addf
// CHECK: arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if
// CHECK: %[[START:.*]] = memref.load %{{.*}}[%[[ROW]]]
// CHECK: %[[RESULT:.*]] = arith.addf %[[START]], %[[ALL]]
// CHECK: memref.store %[[RESULT]], %{{.*}}[%[[ROW]]]

// A thread adds up a short row, a column among many, and where the op of the sum is not known.
// CHECK-LABEL: gpu.func @mhc_loop_2
// CHECK-NOT: gpu.shuffle

// A warp adds up one of few long columns. What may be many terms for a lane is carried in f64, and rounded once.
// CHECK-LABEL: gpu.func @mhc_loop_5
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[COLUMN:.*]] = arith.divui %{{.*}}, %c32
// CHECK: scf.for %[[I:.*]] = %[[LANE]] to %{{.*}} step %c32{{.*}} iter_args(%[[WIDE:.*]] = %{{.*}}) -> (f64)
// CHECK: memref.load %{{.*}}[%[[I]], %[[COLUMN]]]
// CHECK: %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[TERM:.*]] = arith.addf %{{.*}}, %[[NONE]]
// CHECK: %[[LONG:.*]] = arith.extf %[[TERM]]
// CHECK: arith.addf %[[WIDE]], %[[LONG]] : f64
// CHECK-COUNT-5: gpu.shuffle xor {{.*}} : f64
// CHECK: arith.extf
// CHECK: arith.truncf
// CHECK-NEXT: memref.store
func.func @entry(%a: memref<?x64xf32>, %e: memref<?x64xf32>, %r: memref<?xf32>, %b: memref<?x63xf32>,
                 %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x64xf32>) outs(%e, %r : memref<?x64xf32>, memref<?xf32>) {
  ^bb0(%in: f32, %out: f32, %sum: f32):
    %0 = math.exp %in : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %0, %1 : f32, f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%b : memref<?x63xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<?x64xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x64xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.fma %out, %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<?x64xf32>) outs(%c : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}
