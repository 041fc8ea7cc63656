// RUN: mhc-opt %s -mhc-fold-fills | FileCheck %s
// RUN: mhc-opt %s -mhc-fold-fills -mhc-outline-loops -mhc-loops-to-gpu | FileCheck %s --check-prefix=KERNEL

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum starts from the constant, and the other output from its element.
// KERNEL-LABEL: gpu.func @mhc_loop_1(
// KERNEL-SAME: %{{.*}}: memref<?x4xf32>{{.*}}, %[[R:.*]]: memref<?xf32>{{.*}}, %[[S:.*]]: memref<?xf32>
// KERNEL-NOT: memref.load %[[R]]
// KERNEL: %[[START:.*]] = memref.load %[[S]]
// KERNEL: scf.for {{.*}} iter_args(%{{.*}} = %cst{{.*}}, %{{.*}} = %[[START]])

// CHECK-LABEL: func.func @folded
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: attrs = {mhc.starts = [2.000000e+00 : f32, unit]}
func.func @folded(%a: memref<?x4xf32>, %r: memref<?xf32>, %s: memref<?xf32>) {
  %two = arith.constant 2.0 : f32
  linalg.fill ins(%two : f32) outs(%r : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x4xf32>) outs(%r, %s : memref<?xf32>, memref<?xf32>) {
  ^bb0(%in: f32, %sum: f32, %other: f32):
    %0 = arith.addf %sum, %in : f32
    %1 = arith.mulf %other, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// Something else reads what was filled.
// CHECK-LABEL: func.func @read_between
// CHECK: linalg.fill
// CHECK-NOT: mhc.starts
func.func @read_between(%a: memref<?x4xf32>, %r: memref<?xf32>, %s: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%r : memref<?xf32>)
  memref.copy %r, %s : memref<?xf32> to memref<?xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x4xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The op reads it as an input.
// CHECK-LABEL: func.func @input
// CHECK: linalg.fill
// CHECK-NOT: mhc.starts
func.func @input(%r: memref<?x4xf32>, %s: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%r : memref<?x4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%r : memref<?x4xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The op overwrites a part of the buffer only.
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.fill
// CHECK-NOT: mhc.starts
func.func @diagonal(%a: memref<4xf32>, %r: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%r : memref<4x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%r : memref<4x4xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// The buffer has another name, under which it is read.
// CHECK-LABEL: func.func @aliased
// CHECK: linalg.fill
// CHECK-NOT: mhc.starts
func.func @aliased(%a: memref<?x4xf32>, %r: memref<?xf32>, %s: memref<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %r[0] [2] [1] : memref<?xf32> to memref<2xf32, strided<[1]>>
  linalg.fill ins(%zero : f32) outs(%r : memref<?xf32>)
  memref.copy %part, %s : memref<2xf32, strided<[1]>> to memref<2xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x4xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  }
  return
}
