// RUN: mhc-opt %s -mhc-fuse=level=chain | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse=level=none | FileCheck %s --check-prefix=NONE

// A product that only its rounding reads is rounded where it is stored.
// CHECK-LABEL: @product
// NONE-LABEL: @product
func.func @product(%a: tensor<?x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<?x4xbf16> {
  // CHECK-NEXT: %[[OUT:.*]] = mhc.matmul %arg0, %arg1 : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  // CHECK-NEXT: return %[[OUT]]
  // NONE: arith.truncf
  %wide = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  %out = arith.truncf %wide : tensor<?x4xf32> to tensor<?x4xbf16>
  return %out : tensor<?x4xbf16>
}

// CHECK-LABEL: @batch
func.func @batch(%a: tensor<?x4x8xf32>, %b: tensor<?x8x4xf32>) -> tensor<?x4x4xf16> {
  // CHECK: mhc.batch_matmul %arg0, %arg1 : {{.*}} -> tensor<?x4x4xf16>
  // CHECK-NOT: truncf
  %wide = mhc.batch_matmul %a, %b : (tensor<?x4x8xf32>, tensor<?x8x4xf32>) -> tensor<?x4x4xf32>
  %out = arith.truncf %wide : tensor<?x4x4xf32> to tensor<?x4x4xf16>
  return %out : tensor<?x4x4xf16>
}

// CHECK-LABEL: @no_rounding_of_a_product_with_another_reader
func.func @no_rounding_of_a_product_with_another_reader(%a: tensor<?x8xbf16>, %b: tensor<8x4xbf16>)
    -> (tensor<?x4xf32>, tensor<?x4xbf16>) {
  // CHECK: mhc.matmul {{.*}} -> tensor<?x4xf32>
  // CHECK: arith.truncf
  %wide = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  %out = arith.truncf %wide : tensor<?x4xf32> to tensor<?x4xbf16>
  return %wide, %out : tensor<?x4xf32>, tensor<?x4xbf16>
}
