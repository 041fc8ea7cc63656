// RUN: mhc-opt %s -mhc-outline-loops -mhc-loops-to-gpu=arch=sm_80 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#scalar = affine_map<(d0, d1) -> ()>

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @mhc_device [#nvvm.target<chip = "sm_80">]

// One thread per element, the last loop fastest. What is overwritten is not loaded.
// CHECK-LABEL: gpu.func @mhc_loop_1
// CHECK-SAME: (%[[A:.*]]: memref<?x3xf32> {llvm.noalias}, %[[B:.*]]: memref<?x3xf32> {llvm.noalias}, %[[COUNT:.*]]: index) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[LANE:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[LANE]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[COUNT]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[I]], %c3
// CHECK: %[[ROW:.*]] = arith.divui %[[I]], %c3
// CHECK-NOT: memref.load %[[B]]
// CHECK: %[[X:.*]] = memref.load %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[Y:.*]] = arith.negf %[[X]]
// CHECK: memref.store %[[Y]], %[[B]][%[[ROW]], %[[COLUMN]]]

// A reduction is a loop in a thread; its sum is loaded and stored once.
// CHECK-LABEL: gpu.func @mhc_loop_2
// CHECK: scf.if
// CHECK: %[[START:.*]] = memref.load %{{.*}}[%[[ROW:.*]]] : memref<?xf32>
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %[[START]]) -> (f32)
// CHECK: arith.addf %{{.*}}, %[[SO_FAR]]
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[ROW]]] : memref<?xf32>

// No parallel loop at all: one thread.
// CHECK-LABEL: gpu.func @mhc_loop_3
// CHECK: scf.for
// CHECK: scf.for

// CHECK-LABEL: func.func @entry
func.func @entry(%a: memref<?x3xf32>, %b: memref<?x3xf32>, %r: memref<?xf32>, %s: memref<f32>) {
  // CHECK: call @mhc_loop_1(%{{.*}}, %{{.*}}) : (memref<?x3xf32>, memref<?x3xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x3xf32>) outs(%b : memref<?x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x3xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction", "reduction"]}
      ins(%a : memref<?x3xf32>) outs(%s : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// The host counts and launches.
// CHECK-LABEL: func.func private @mhc_loop_1
// CHECK-SAME: (%[[A:.*]]: memref<?x3xf32> {llvm.noalias}, %[[B:.*]]: memref<?x3xf32> {llvm.noalias})
// CHECK: %[[ROWS:.*]] = memref.dim %[[A]]
// CHECK: %[[COUNT:.*]] = arith.muli %[[ROWS]], %c3
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[COUNT]], %c256
// CHECK: gpu.launch_func @mhc_device::@mhc_loop_1 blocks in (%[[BLOCKS]], %c1{{[_0-9]*}}, %c1{{[_0-9]*}}) threads in (%c256{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}})
// CHECK-SAME: args(%[[A]] : memref<?x3xf32>, %[[B]] : memref<?x3xf32>, %[[COUNT]] : index)

// CHECK-LABEL: func.func private @mhc_loop_3
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: gpu.launch_func
// CHECK-SAME: %[[ONE]] : index)
