// RUN: mhcc %S/Inputs/complex.mlir --explain | FileCheck %s --check-prefix=INSIDE
// RUN: not mhcc %s --explain 2>&1 | FileCheck %s

// The bytes of elements without a width are not counted, and the report says so.
// INSIDE: linalg.generic {{.*}} not counted: depends on complex<f32>
// INSIDE: the totals lack what is not counted above

// CHECK: error: argument 0 of entry 'f' has type 'tensor<4xcomplex<f32>>'; needed a ranked tensor of
func.func @f(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %x : tensor<4xcomplex<f32>>
}
