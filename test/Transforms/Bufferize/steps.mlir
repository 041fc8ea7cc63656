// RUN: mhc-opt %s -mhc-phase-bufferize | FileCheck %s
// RUN: mhcc %s --verify

// A slice that steps and drops a dimension: one view steps, another one drops.
// CHECK-LABEL: @extract
// CHECK: %[[WIDE:.*]] = memref.subview %{{.*}}[0, 3, 0] [%{{.*}}, 3, 1] [1, 2, 1]
// CHECK: memref.subview %[[WIDE]][0, 0, 0] [%{{.*}}, 3, 1] [1, 1, 1]
func.func @extract(%x: tensor<?x30x1xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x30x1xf32>
  %y = tensor.extract_slice %x[0, 3, 0] [%M, 3, 1] [1, 2, 1] : tensor<?x30x1xf32> to tensor<?x3xf32>
  %z = math.exp %y : tensor<?x3xf32>
  return %z : tensor<?x3xf32>
}

// CHECK-LABEL: @insert
// CHECK: memref.subview %{{.*}}[0, 3, 0] [%{{.*}}, 3, 1] [1, 2, 1] : {{.*}} to memref<?x3x1xf32
func.func @insert(%x: tensor<?x30x1xf32>, %y: tensor<?x3xf32>) -> tensor<?x30x1xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x30x1xf32>
  %z = math.exp %y : tensor<?x3xf32>
  %r = tensor.insert_slice %z into %x[0, 3, 0] [%M, 3, 1] [1, 2, 1] : tensor<?x3xf32> into tensor<?x30x1xf32>
  return %r : tensor<?x30x1xf32>
}

// CHECK-LABEL: @step_of_a_unit
func.func @step_of_a_unit(%x: tensor<?x1x1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x1x1xf32>
  %y = tensor.extract_slice %x[0, 0, 0] [%M, 1, 1] [1, 1, 2] : tensor<?x1x1xf32> to tensor<?xf32>
  %z = math.exp %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
