// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-announce-gradients | FileCheck %s

// Behind the last op that touches the gradient or a view of it, also within a region; in a row, as f32[N].
// CHECK-LABEL: func.func @loss_grad
// CHECK-SAME: %[[X:.*]]: memref<2x4xf32>, %[[W:.*]]: memref<2x4xf32> {{.*}}, %[[A:.*]]: memref<f32> {{.*}}, %[[S:[a-z0-9]+]]: memref<4xf32>
// CHECK: linalg.copy ins(%[[X]] : {{.*}}) outs(%[[W]]
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[A]]
// CHECK-NEXT: %[[ROW:.*]] = memref.expand_shape %[[A]] [] output_shape [1] : memref<f32> into memref<1xf32>
// CHECK-NEXT: %[[CAST:.*]] = memref.cast %[[ROW]] : memref<1xf32> to memref<?xf32>
// CHECK-NEXT: call @gradient_complete(%[[CAST]]) : (memref<?xf32>) -> ()
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: %[[ROW:.*]] = memref.collapse_shape %[[W]]
// CHECK-NEXT: %[[CAST:.*]] = memref.cast %[[ROW]] : memref<8xf32> to memref<?xf32>
// CHECK-NEXT: call @gradient_complete(%[[CAST]])
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[S]]
// CHECK-NEXT: return
// CHECK: func.func private @gradient_complete(memref<?xf32> {mhc.dims = ["N"], mhc.name = "gradient"}) attributes {mhc.outside_function}
func.func @loss_grad(%x: memref<2x4xf32>, %d_w: memref<2x4xf32> {mhc.partial = "dp", mhc.result},
                     %d_alpha: memref<f32> {mhc.partial = "dp", mhc.result}, %share: memref<4xf32> {mhc.result}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  linalg.copy ins(%x : memref<2x4xf32>) outs(%d_w : memref<2x4xf32>)
  linalg.fill ins(%zero : f32) outs(%d_alpha : memref<f32>)
  %row = memref.collapse_shape %d_w [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %row[%i] : memref<8xf32>
  }
  linalg.fill ins(%zero : f32) outs(%share : memref<4xf32>)
  return
}

// -----

// One rank adds up nothing.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: gradient_complete
func.func @alone(%x: memref<4xf32>, %d_w: memref<4xf32> {mhc.result}) {
  linalg.copy ins(%x : memref<4xf32>) outs(%d_w : memref<4xf32>)
  return
}

// -----

// expected-error @below {{'gradient_complete' is a function of the model; needed another name: entries call this one when a gradient with 'mhc.partial' is complete}}
func.func @gradient_complete(%x: memref<4xf32>) {
  return
}
func.func @loss_grad(%x: memref<4xf32>, %d_w: memref<4xf32> {mhc.partial = "dp", mhc.result}) {
  linalg.copy ins(%x : memref<4xf32>) outs(%d_w : memref<4xf32>)
  return
}
