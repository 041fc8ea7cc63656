// RUN: mhc-opt %s --mhc-bufferize | FileCheck %s

// The globals of constants stand in the order of the program, backwards, wherever functions lie in memory.

// CHECK:      memref.global {{.*}} @__constant_2xf32_1 {{.*}} dense<[5.000000e+00, 6.000000e+00]>
// CHECK-NEXT: memref.global {{.*}} @__constant_2xf32_0 {{.*}} dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT: memref.global {{.*}} @__constant_2xf32 {{.*}} dense<[1.000000e+00, 2.000000e+00]>
func.func @first() -> tensor<2xf32> {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @second() -> tensor<2xf32> {
  %0 = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @third() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
