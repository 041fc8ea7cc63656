// RUN: mhc-opt %s -mhc-plan-memory -canonicalize -cse | FileCheck %s

// Buffers that live at different times share memory: three buffers, place for two.
// CHECK-LABEL: @chain
// CHECK-SAME: mhc.memory = [{all = 48 : i64, arena = 32 : i64, live = 32 : i64, per = "M"}]
// CHECK-SAME: mhc.temporaries = [{bytes = "16*M", first = 3 : i64, last = 4 : i64, line = [[#LINE:]] : i64},
// CHECK-SAME: {bytes = "16*M", first = 4 : i64, last = 5 : i64, line = [[#LINE+4]] : i64},
func.func @chain(%x: memref<?x4xf32> {mhc.dims = ["M", "4"]}) {
  %c0 = arith.constant 0 : index
  %M = memref.dim %x, %c0 : memref<?x4xf32>
  // 16 bytes per token: tokens are rounded up to four, so that offsets are multiples of 64.
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[MASK:.*]] = arith.constant -4 : index
  // CHECK-DAG: %[[UNITS:.*]] = arith.andi
  // CHECK: %[[BYTES:.*]] = arith.muli %[[UNITS]], %c32
  // CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BYTES]] : index
  // CHECK: %[[ARENA:.*]] = memref.alloc(%[[ALL]]) {alignment = 64 : i64} : memref<?xi8>
  // CHECK: %[[A:.*]] = memref.view %[[ARENA]][%c0]
  %a = memref.alloc(%M) : memref<?x4xf32>
  linalg.copy ins(%x : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[UNITS]], %c16
  // CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[OFFSET]]]
  %b = memref.alloc(%M) : memref<?x4xf32>
  linalg.copy ins(%a : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
  // CHECK: linalg.copy ins(%[[B]] {{.*}} outs(%[[A]]
  %c = memref.alloc(%M) : memref<?x4xf32>
  linalg.copy ins(%b : memref<?x4xf32>) outs(%c : memref<?x4xf32>)
  // CHECK-NOT: memref.alloc
  return
}

// A view keeps its buffer alive.
// CHECK-LABEL: @view_extends_life
// CHECK-SAME: mhc.memory = [{all = 192 : i64, arena = 192 : i64, live = 192 : i64, per = ""}]
func.func @view_extends_life(%x: memref<4x4xf32> {mhc.dims = ["4", "4"]}) {
  %a = memref.alloc() : memref<4x4xf32>
  %view = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  linalg.copy ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.copy ins(%x : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  %c = memref.alloc() : memref<16xf32>
  linalg.copy ins(%view : memref<16xf32>) outs(%c : memref<16xf32>)
  linalg.copy ins(%x : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  return
}

// One region for numbers, one per symbol; sizes are rounded up to cache lines in the first.
// CHECK-LABEL: @regions
// CHECK-SAME: mhc.memory = [{all = 64 : i64, arena = 64 : i64, live = 64 : i64, per = ""},
// CHECK-SAME: {all = 4 : i64, arena = 4 : i64, live = 4 : i64, per = "M"},
// CHECK-SAME: {all = 2 : i64, arena = 2 : i64, live = 2 : i64, per = "M*d1"}]
func.func @regions(%x: memref<?x?xf32> {mhc.dims = ["M", "d1"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %x, %c0 : memref<?x?xf32>
  %N = memref.dim %x, %c1 : memref<?x?xf32>
  %MN = arith.muli %M, %N : index
  %a = memref.alloc() : memref<3xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<3xf32>)
  %b = memref.alloc(%M) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<?xf32>)
  %c = memref.alloc(%MN) : memref<?xbf16>
  %small = arith.constant 0.0 : bf16
  linalg.fill ins(%small : bf16) outs(%c : memref<?xbf16>)
  return
}

// A sum over several products shares with nobody.
// CHECK-LABEL: @sum_of_symbols
// CHECK-SAME: mhc.memory = [{all = 8 : i64, arena = 8 : i64, live = 8 : i64, per = ""},
// CHECK-SAME: {all = 4 : i64, arena = 4 : i64, live = 4 : i64, per = "M"}]
// CHECK-SAME: bytes = "8 + 4*M"
func.func @sum_of_symbols(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %x, %c0 : memref<?xf32>
  %more = arith.addi %M, %c2 : index
  %a = memref.alloc(%more) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  return
}

// CHECK-LABEL: @no_temporaries
// CHECK-SAME: mhc.memory = []
func.func @no_temporaries() {
  // CHECK-NOT: memref.alloc
  return
}

// An iteration uses the memory of the one before: %s and %u share. Every iteration reads %x2, so nothing
// in the loop may take its place, although its last reader is the first op there.
// CHECK-LABEL: @loop
// CHECK-SAME: mhc.memory = [{all = 256 : i64, arena = 192 : i64, live = 192 : i64, per = ""}]
func.func @loop(%x: memref<16xf32> {mhc.dims = ["16"]}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x2 = memref.alloc() : memref<16xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%x2 : memref<16xf32>)
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-COUNT-2: memref.view
    %s = memref.alloc() : memref<16xf32>
    linalg.copy ins(%x2 : memref<16xf32>) outs(%s : memref<16xf32>)
    %t = memref.alloc() : memref<16xf32>
    linalg.copy ins(%s : memref<16xf32>) outs(%t : memref<16xf32>)
    %u = memref.alloc() : memref<16xf32>
    linalg.copy ins(%t : memref<16xf32>) outs(%u : memref<16xf32>)
  }
  return
}

// A remainder of a size is a symbol of its own, which is computed in front of the arena.
// CHECK-LABEL: @remainder
// CHECK-SAME: mhc.memory = [{all = 4 : i64, arena = 4 : i64, live = 4 : i64, per = "?"}]
// CHECK: %[[M:.*]] = memref.dim
// CHECK: %[[REST:.*]] = arith.remsi %{{.*}}, %{{.*}} : i64
// CHECK: memref.alloc(%{{.*}}) {alignment = 64 : i64}
func.func @remainder(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : i64
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %x, %c0 : memref<?xf32>
  %wide = arith.index_cast %M : index to i64
  %rest = arith.remsi %wide, %c8 : i64
  %size = arith.index_cast %rest : i64 to index
  %a = memref.alloc(%size) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  return
}

// Both regions of a while loop are one iteration: %s and %t share, and nothing takes the place of %x2.
// CHECK-LABEL: @while
// CHECK-SAME: mhc.memory = [{all = 192 : i64, arena = 128 : i64, live = 128 : i64, per = ""}]
func.func @while(%x: memref<16xf32> {mhc.dims = ["16"]}, %go: memref<1xi1> {mhc.dims = ["1"]}) {
  %c0 = arith.constant 0 : index
  %x2 = memref.alloc() : memref<16xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%x2 : memref<16xf32>)
  scf.while : () -> () {
    %s = memref.alloc() : memref<16xf32>
    linalg.copy ins(%x2 : memref<16xf32>) outs(%s : memref<16xf32>)
    %more = memref.load %go[%c0] : memref<1xi1>
    scf.condition(%more)
  } do {
    %t = memref.alloc() : memref<16xf32>
    linalg.copy ins(%x : memref<16xf32>) outs(%t : memref<16xf32>)
    scf.yield
  }
  return
}

// The arena of a size that does not fit is larger than any memory: the sum in floating point does not wrap.
// CHECK-LABEL: @large
// CHECK-DAG: %[[NONE:.*]] = arith.constant 2305843009213693952 : index
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2.305843009213694E+18 : f64
// CHECK: %[[WRAPPED:.*]] = arith.muli %{{.*}}, %c4 : index
// CHECK: %[[NEEDED:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK: %[[TOO_MANY:.*]] = arith.cmpf oge, %{{.*}}, %[[MOST]] : f64
// CHECK: %[[BYTES:.*]] = arith.select %[[TOO_MANY]], %[[NONE]], %[[WRAPPED]] : index
// CHECK: memref.alloc(%[[BYTES]])
func.func @large(%x: memref<?x?xf32> {mhc.dims = ["M", "d1"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %x, %c0 : memref<?x?xf32>
  %N = memref.dim %x, %c1 : memref<?x?xf32>
  %a = memref.alloc(%M, %N) : memref<?x?xf32>
  linalg.copy ins(%x : memref<?x?xf32>) outs(%a : memref<?x?xf32>)
  return
}

// A size that depends on a condition is computed in front of the arena, too.
// CHECK-LABEL: @condition
// CHECK-SAME: mhc.memory = [{all = 4 : i64, arena = 4 : i64, live = 4 : i64, per = "?"}]
// CHECK: %[[M:.*]] = memref.dim
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: memref.alloc(%{{.*}}) {alignment = 64 : i64}
func.func @condition(%x: memref<?xf32> {mhc.dims = ["M"]}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %M = memref.dim %x, %c0 : memref<?xf32>
  %isLong = arith.cmpi sge, %M, %c8 : index
  %size = arith.select %isLong, %c8, %c0 : index
  %a = memref.alloc(%size) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  return
}
