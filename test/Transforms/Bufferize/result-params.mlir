// RUN: mhc-opt %s -mhc-result-params | FileCheck %s

// CHECK-LABEL: @allocation_becomes_the_argument
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4xf32>, {{.*}}%[[OUT:[a-z0-9]+]]: memref<?x4xf32> {mhc.name = "y", mhc.result})
func.func @allocation_becomes_the_argument(%x: memref<?x4xf32>, %M: index) -> (memref<?x4xf32> {mhc.name = "y"}) {
  // CHECK-NOT: memref.alloc
  // CHECK: linalg.copy ins(%[[X]]{{.*}}) outs(%[[OUT]]
  %0 = memref.alloc(%M) : memref<?x4xf32>
  linalg.copy ins(%x : memref<?x4xf32>) outs(%0 : memref<?x4xf32>)
  return %0 : memref<?x4xf32>
}

// CHECK-LABEL: @reshape_of_an_allocation
// CHECK-SAME: %[[M:.*]]: index, %[[OUT:.*]]: memref<?x8xf32> {mhc.result}
func.func @reshape_of_an_allocation(%M: index) -> memref<?x8xf32> {
  // CHECK-NOT: memref.alloc
  // CHECK: memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [%[[M]], 2, 4], strides: [8, 4, 1]
  %0 = memref.alloc(%M) : memref<?x2x4xf32>
  %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<?x2x4xf32> into memref<?x8xf32>
  return %1 : memref<?x8xf32>
}

// CHECK-LABEL: @one_type_of_two_shapes
// CHECK-SAME: %[[M:.*]]: index, %[[N:.*]]: index, %[[K:.*]]: index, %[[OUT:.*]]: memref<?x?xf32> {mhc.result}
func.func @one_type_of_two_shapes(%M: index, %N: index, %K: index) -> memref<?x?xf32> {
  // CHECK: memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%{{.*}}, 1]
  %0 = memref.alloc(%M, %N) : memref<?x?xf32>
  %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%K, 2, %N] : memref<?x?xf32> into memref<?x2x?xf32>
  %2 = memref.collapse_shape %1 [[0], [1, 2]] : memref<?x2x?xf32> into memref<?x?xf32>
  return %2 : memref<?x?xf32>
}

// CHECK-LABEL: @argument_is_copied
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32> {mhc.result}
func.func @argument_is_copied(%x: memref<4xf32>) -> memref<4xf32> {
  // CHECK: memref.copy %[[X]], %[[OUT]]
  return %x : memref<4xf32>
}

// CHECK-LABEL: @second_use_is_copied
// CHECK-SAME: %[[A:.*]]: memref<4xf32> {mhc.result}, %[[B:.*]]: memref<4xf32> {mhc.result}
func.func @second_use_is_copied() -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: memref.copy %[[A]], %[[B]]
  %0 = memref.alloc() : memref<4xf32>
  return %0, %0 : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: @part_is_copied
func.func @part_is_copied() -> memref<4xf32, strided<[1]>> {
  // CHECK: memref.alloc
  // CHECK: memref.copy
  %0 = memref.alloc() : memref<8xf32>
  %1 = memref.subview %0[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  return %1 : memref<4xf32, strided<[1]>>
}
