// RUN: mhc-opt %s -convert-mhc-to-linalg -mhc-fuse-elementwise | FileCheck %s

// CHECK-LABEL: @chain_into_a_reduction
func.func @chain_into_a_reduction(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: ["parallel", "reduction"]
  // CHECK: arith.mulf
  // CHECK: math.sqrt
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  %0 = arith.mulf %x, %y : tensor<?x8xf32>
  %1 = math.sqrt %0 : tensor<?x8xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// CHECK-LABEL: @value_with_two_readers_is_stored
func.func @value_with_two_readers_is_stored(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-COUNT-3: linalg.generic
  %0 = arith.mulf %x, %x : tensor<?x8xf32>
  %1 = math.sqrt %0 : tensor<?x8xf32>
  %2 = math.absf %0 : tensor<?x8xf32>
  return %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>
}
