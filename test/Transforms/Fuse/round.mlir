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

// Heads that are rounded behind their transpose.
// CHECK-LABEL: @product_shown_elsewhere
func.func @product_shown_elsewhere(%a: tensor<6x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x3x2xbf16> {
  // CHECK: %[[OUT:.*]] = mhc.matmul {{.*}} -> tensor<6x4xbf16>
  // CHECK: tensor.expand_shape %[[OUT]] {{.*}} : tensor<6x4xbf16> into tensor<3x2x4xbf16>
  // CHECK: mhc.transpose {{.*}} -> tensor<4x3x2xbf16>
  // CHECK-NOT: truncf
  %wide = mhc.matmul %a, %b : (tensor<6x8xbf16>, tensor<8x4xbf16>) -> tensor<6x4xf32>
  %rows = tensor.expand_shape %wide [[0, 1], [2]] output_shape [3, 2, 4] : tensor<6x4xf32> into tensor<3x2x4xf32>
  %heads = mhc.transpose %rows perm = [2, 0, 1] : tensor<3x2x4xf32> -> tensor<4x3x2xf32>
  %out = arith.truncf %heads : tensor<4x3x2xf32> to tensor<4x3x2xbf16>
  return %out : tensor<4x3x2xbf16>
}

// CHECK-LABEL: @no_rounding_of_a_product_that_is_shown_twice
func.func @no_rounding_of_a_product_that_is_shown_twice(%a: tensor<?x8xbf16>, %b: tensor<8x4xbf16>)
    -> (tensor<4x?xf32>, tensor<4x?xbf16>) {
  // CHECK: mhc.matmul {{.*}} -> tensor<?x4xf32>
  // CHECK: arith.truncf
  %wide = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  %columns = mhc.transpose %wide perm = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  %out = arith.truncf %columns : tensor<4x?xf32> to tensor<4x?xbf16>
  return %columns, %out : tensor<4x?xf32>, tensor<4x?xbf16>
}

// The gradients of two parts of a tensor lie side by side.
// CHECK-LABEL: @gradients_of_parts
func.func @gradients_of_parts(%a: tensor<?x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<8x2xbf16>) -> tensor<?x6xbf16> {
  // CHECK-DAG: %[[FOUR:.*]] = mhc.matmul %arg0, %arg1 : {{.*}} -> tensor<?x4xbf16>
  // CHECK-DAG: %[[TWO:.*]] = mhc.matmul %arg0, %arg2 : {{.*}} -> tensor<?x2xbf16>
  // CHECK: %[[OUT:.*]] = tensor.concat dim(1) %[[TWO]], %[[FOUR]] : {{.*}} -> tensor<?x6xbf16>
  // CHECK-NEXT: return %[[OUT]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x8xbf16>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zeros = mhc.broadcast %zero[%M] dims = [] : tensor<f32> -> tensor<?x6xf32>
  %four = mhc.matmul %a, %b : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xf32>
  %two = mhc.matmul %a, %c : (tensor<?x8xbf16>, tensor<8x2xbf16>) -> tensor<?x2xf32>
  %right = tensor.insert_slice %four into %zeros[0, 2] [%M, 4] [1, 1] : tensor<?x4xf32> into tensor<?x6xf32>
  %left = tensor.insert_slice %two into %zeros[0, 0] [%M, 2] [1, 1] : tensor<?x2xf32> into tensor<?x6xf32>
  %sum = arith.addf %right, %left : tensor<?x6xf32>
  %out = arith.truncf %sum : tensor<?x6xf32> to tensor<?x6xbf16>
  return %out : tensor<?x6xbf16>
}

// Those of parts that overlap, or leave something out, are added.
// CHECK-LABEL: @gradients_of_other_parts
func.func @gradients_of_other_parts(%a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<3x5xf32>, tensor<3x3xf32>) {
  // CHECK-NOT: tensor.concat
  // CHECK: return
  %wide = arith.constant dense<0.0> : tensor<3x5xf32>
  %zeros = arith.constant dense<0.0> : tensor<3x3xf32>
  %0 = tensor.insert_slice %a into %wide[0, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x5xf32>
  %1 = tensor.insert_slice %b into %wide[0, 3] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x5xf32>
  %2 = arith.addf %0, %1 : tensor<3x5xf32>
  %3 = tensor.insert_slice %a into %zeros[0, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x3xf32>
  %4 = tensor.insert_slice %b into %zeros[0, 1] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<3x3xf32>
  %5 = arith.addf %3, %4 : tensor<3x3xf32>
  return %2, %5 : tensor<3x5xf32>, tensor<3x3xf32>
}
