// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhc-opt %s '--pass-pipeline=builtin.module(func.func(mhc-raise))' | FileCheck %s --check-prefix=FUNCTION

// A site does not end at a call; a pass over one function does not look into another.

// CHECK-LABEL: @aggregate
// CHECK: mhc.aggregate
// CHECK-NOT: call
// FUNCTION-LABEL: @aggregate
// FUNCTION: call @weigh
// FUNCTION-NOT: mhc.aggregate
func.func private @weigh(%x: tensor<?x4x32xf32>, %h: tensor<?x4xf32>) -> tensor<?x4x32xf32> {
  %wide = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x32xf32>
  %y = arith.mulf %x, %wide : tensor<?x4x32xf32>
  return %y : tensor<?x4x32xf32>
}
func.func @aggregate(%x: tensor<?x4x32xf32>, %h: tensor<?x4xf32>) -> tensor<?x32xf32> {
  %y = call @weigh(%x, %h) : (tensor<?x4x32xf32>, tensor<?x4xf32>) -> tensor<?x4x32xf32>
  %u = mhc.reduce sum %y dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  return %u : tensor<?x32xf32>
}
