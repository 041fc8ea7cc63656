// RUN: mhc-opt %s --mhc-bufferize | FileCheck %s
// RUN: mhcc %s --verify | FileCheck %s --check-prefix=VERIFY

// A part of each row is no buffer without gaps; the first rows are one.
// CHECK-LABEL: func.func @slices
// CHECK-DAG: %[[PART:.*]] = memref.subview %{{.*}}[0, 0, 0] [2, 6, %{{.*}}]
// CHECK-DAG: memref.copy %[[PART]], %[[COPY:.*]] : memref<2x6x?xf32, strided<[?, ?, 1]>> to memref<2x6x?xf32>
// CHECK-DAG: %[[ROWS:.*]] = memref.cast %{{.*}} : memref<?x6xf32, strided<[6, 1]>> to memref<?x6xf32>
// CHECK: return %[[COPY]], %[[ROWS]]
// VERIFY: part: verified
// VERIFY: rows: verified
func.func @slices(%x: tensor<2x6x?xf32>, %less: tensor<2x6x?xf32>, %y: tensor<?x6xf32>, %few: tensor<?x6xf32>)
    -> (tensor<2x6x?xf32> {mhc.name = "part"}, tensor<?x6xf32> {mhc.name = "rows"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %L = tensor.dim %less, %c2 : tensor<2x6x?xf32>
  %part = tensor.extract_slice %x[0, 0, 0] [2, 6, %L] [1, 1, 1] : tensor<2x6x?xf32> to tensor<2x6x?xf32>
  %F = tensor.dim %few, %c0 : tensor<?x6xf32>
  %rows = tensor.extract_slice %y[0, 0] [%F, 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
  return %part, %rows : tensor<2x6x?xf32>, tensor<?x6xf32>
}
