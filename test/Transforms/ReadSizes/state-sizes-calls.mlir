// RUN: mhc-opt %s -mhc-state-sizes | FileCheck %s

// Callers inherit the constraints of a function, and no others.
// CHECK: func.func @caller
// CHECK-SAME: tensor<?x?xf32> {mhc.dims = ["M", "d1"]}
// CHECK-SAME: tensor<?x?xf32> {mhc.dims = ["M", "d2"]}
// CHECK-SAME: -> (tensor<?x?xf32> {mhc.dims = ["M", "d1"]})
func.func @caller(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = func.call @callee(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// CHECK: func.func private @callee
func.func private @callee(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %sums = mhc.reduce sum %y dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %wide = mhc.broadcast %sums[%n] dims = [0] : tensor<?xf32> -> tensor<?x?xf32>
  %z = arith.addf %x, %wide : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
