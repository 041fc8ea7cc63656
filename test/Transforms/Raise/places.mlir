// RUN: mhc-opt %s --mhc-raise --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: mhcc %S/../../Examples/exported/torch_mlir_linalg.mlir -g --compile-to=lower | FileCheck %s --check-prefix=KERNELS

// What was found stands for the lines of the ops that it replaced: its own first, then the others in their order. Views of
// its inputs, constants and sizes are no part of it, nor is what was found before.
// CHECK-LABEL: func.func @aggregate
func.func @aggregate(%x: tensor<?x4x64xf32>, %logits: tensor<?x4xf32>) -> tensor<?x64xf32> {
  // CHECK: mhc.softmax {{.*}} loc({{.*}}places.mlir":[[# @LINE + 1]]:{{[0-9]+}})
  %h = mhc.softmax %logits dim = 1 : tensor<?x4xf32>
  // CHECK: mhc.aggregate{{.*}} loc(fused[{{.*}}places.mlir":[[# @LINE + 3]]:{{[0-9]+}}, {{.*}}places.mlir":[[# @LINE + 1]]:{{[0-9]+}}, {{.*}}places.mlir":[[# @LINE + 2]]:{{[0-9]+}}])
  %weights = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @sigmoid
func.func @sigmoid(%x: tensor<?x4xf32>, %one: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %cst = arith.constant dense<1.0> : tensor<4x4xf32>
  %x4 = tensor.cast %x : tensor<?x4xf32> to tensor<4x4xf32>
  // CHECK: mhc.sigmoid {{.*}} loc(fused[{{.*}}:[[# @LINE + 4]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 1]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 2]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 3]]:{{[0-9]+}}])
  %neg = arith.negf %x4 : tensor<4x4xf32>
  %exp = math.exp %neg : tensor<4x4xf32>
  %sum = arith.addf %exp, %cst : tensor<4x4xf32>
  %sigmoid = arith.divf %cst, %sum : tensor<4x4xf32>
  %out = tensor.cast %sigmoid : tensor<4x4xf32> to tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// Kernels name the first and the last line of what they compute.
// KERNELS-DAG: "torch_mlir_linalg.mlir:63-784\00"
// KERNELS-DAG: "torch_mlir_linalg.mlir:795-800\00"
