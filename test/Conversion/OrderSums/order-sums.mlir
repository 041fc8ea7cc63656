// RUN: mhc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mhc-order-sums))' | FileCheck %s

// Lanes for all that fills them, then one by one.
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @rows
func.func @rows(%x: memref<?x?xf32>, %sums: memref<?xf32>) {
  // CHECK: %[[TERMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK: %[[REST:.*]] = arith.remsi %[[LENGTH:.*]], %{{.*}} : index
  // CHECK: %[[END:.*]] = arith.subi %[[LENGTH]], %[[REST]] : index
  // CHECK: %[[LANES:.*]] = scf.for %[[FIRST:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<16xf32>)
  // CHECK:   scf.for %[[LANE:.*]] =
  // CHECK:     %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[LANE]] : index
  // CHECK:     memref.store %{{.*}}, %[[TERMS]][%[[LANE]]]
  // CHECK:     %[[X:.*]] = memref.load %{{.*}}[%[[ROW]], %[[COLUMN]]]
  // CHECK:     %[[START:.*]] = memref.load %[[TERMS]][%[[LANE]]]
  // CHECK:     %[[TERM:.*]] = arith.addf %[[START]], %[[X]] : f32
  // CHECK:     memref.store %[[TERM]], %[[TERMS]][%[[LANE]]]
  // CHECK:   } {llvm.loop_annotation =
  // CHECK:   %[[ALL:.*]] = vector.load %[[TERMS]]
  // CHECK:   %[[NEXT:.*]] = arith.addf %[[SUM]], %[[ALL]] : vector<16xf32>
  // CHECK:   scf.yield %[[NEXT]]
  // CHECK: %[[LOW:.*]] = vector.shuffle %[[LANES]], %[[LANES]] [0, 1, 2, 3, 4, 5, 6, 7]
  // CHECK: %[[HIGH:.*]] = vector.shuffle %[[LANES]], %[[LANES]] [8, 9, 10, 11, 12, 13, 14, 15]
  // CHECK: arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
  // CHECK: arith.addf {{.*}} : vector<4xf32>
  // CHECK: arith.addf {{.*}} : vector<2xf32>
  // CHECK: %[[ONE:.*]] = vector.extract
  // CHECK: %[[BEFORE:.*]] = memref.load %{{.*}}[%[[ROW]]]
  // CHECK: %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[ONE]] : f32
  // CHECK: memref.store %[[AFTER]], %{{.*}}[%[[ROW]]]
  // CHECK: scf.for %{{.*}} = %[[END]] to %[[LENGTH]]
  // CHECK:   arith.addf %{{.*}}, %{{.*}} : f32
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%sums : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Nothing is left behind 32 of 32 terms; what the op stores besides, stays where it is.
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @with_terms
func.func @with_terms(%x: memref<8x32xf64>, %sums: memref<8xf64>, %terms: memref<8x32xf64>) {
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK:   scf.for %{{.*}} iter_args
  // CHECK:     scf.for
  // CHECK:       %[[TERM:.*]] = arith.mulf
  // CHECK:       arith.addf %{{.*}}, %[[TERM]] : f64
  // CHECK:       memref.store %[[TERM]], %{{.*}}[%[[ROW]], %{{.*}}] : memref<8x32xf64>
  // CHECK-NOT: scf.for
  linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x32xf64>) outs(%sums, %terms : memref<8xf64>, memref<8x32xf64>) {
  ^bb0(%a: f64, %s: f64, %old: f64):
    %q = arith.mulf %a, %a : f64
    %r = arith.addf %s, %q fastmath<reassoc> : f64
    linalg.yield %r, %q : f64, f64
  }
  return
}

// -----

// A short loop inside belongs to a lane of the one around it.
#in = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @streams
func.func @streams(%x: memref<8x64x4xf32>, %sums: memref<8xf32>) {
  // CHECK: scf.for %[[TOKEN:.*]] =
  // CHECK:   scf.for %{{.*}} iter_args
  // CHECK:     scf.for %[[LANE:.*]] =
  // CHECK:       scf.for
  // CHECK:         %[[START:.*]] = memref.load %{{.*}}[%[[LANE]]] : memref<16xf32>
  // CHECK:         arith.addf %[[START]], %{{.*}} : f32
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : memref<8x64x4xf32>) outs(%sums : memref<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// One by one: few terms, other elements in between, narrow types, and sums that nothing allows to reorder.
#in = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @in_order
// CHECK-NOT: vector
// CHECK-NOT: reassoc
func.func @in_order(%x: memref<8x4xf32>, %y: memref<8x64xf32>, %few: memref<8xf32>, %between: memref<64xf32>,
                    %z: memref<64xbf16>, %narrow: memref<bf16>, %strict: memref<8xf32>) {
  linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x4xf32>) outs(%few : memref<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#in, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<8x64xf32>) outs(%between : memref<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%z : memref<64xbf16>) outs(%narrow : memref<bf16>) {
  ^bb0(%a: bf16, %s: bf16):
    %r = arith.addf %s, %a fastmath<reassoc> : bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<8x64xf32>) outs(%strict : memref<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a : f32
    linalg.yield %r : f32
  }
  return
}
