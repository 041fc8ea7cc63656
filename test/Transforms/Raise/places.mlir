// RUN: mhc-opt %s --mhc-raise --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: mhcc %S/../../Examples/exported/torch_mlir_linalg.mlir -g --compile-to=lower | FileCheck %s --check-prefix=KERNELS

// An op that was found stands for the lines of the ops that it replaced: its own first, then the others in their order. Views of
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

// Products of matrices are words of plain code, and what normalising folds into another op stays part of it.
// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %h2: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                    %map: tensor<8x4x4xf32>) -> (tensor<8x64xf32>, tensor<8x4x64xf32>) {
  %row = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  // CHECK: mhc.aggregate{{.*}} loc(fused[{{.*}}:[[# @LINE + 2]]:{{[0-9]+}}, {{.*}}:[[# @LINE - 1]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 1]]:{{[0-9]+}}])
  %u3 = mhc.batch_matmul %row, %x : (tensor<8x1x4xf32>, tensor<8x4x64xf32>) -> tensor<8x1x64xf32>
  %column = mhc.transpose %u3 perm = [0, 2, 1] : tensor<8x1x64xf32> -> tensor<8x64x1xf32>
  %u = tensor.collapse_shape %column [[0], [1, 2]] : tensor<8x64x1xf32> into tensor<8x64xf32>
  // CHECK: mhc.post{{.*}} loc(fused[{{.*}}:[[# @LINE + 5]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 1]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 2]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 3]]:{{[0-9]+}}, {{.*}}:[[# @LINE + 4]]:{{[0-9]+}}])
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %u, %out : tensor<8x64xf32>, tensor<8x4x64xf32>
}

// Kernels name the first and the last line of what they compute.
// KERNELS-DAG: "torch_mlir_linalg.mlir:27-784\00"
// KERNELS-DAG: "torch_mlir_linalg.mlir:788-800\00"
