// RUN: mhc-opt %s --mhc-state-sizes --mhc-raise --split-input-file | FileCheck %s

// Coefficients of a sequence are repeated for its tokens.
// CHECK-LABEL: @of_sequences(
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2], [3]] : tensor<?x?x4x16xf32> into tensor<?x4x16xf32>
// CHECK-DAG: %[[POST:.*]] = mhc.broadcast %arg2[%{{.*}}] dims = [0, 2] : tensor<?x4xf32> -> tensor<?x?x4xf32>
// CHECK-DAG: %[[H_POST:.*]] = tensor.collapse_shape %[[POST]] {{\[\[}}0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
// CHECK-DAG: %[[RES:.*]] = mhc.broadcast %arg3[%{{.*}}] dims = [0, 2, 3] : tensor<?x4x4xf32> -> tensor<?x?x4x4xf32>
// CHECK-DAG: %[[H_RES:.*]] = tensor.collapse_shape %[[RES]] {{\[\[}}0, 1], [2], [3]] : tensor<?x?x4x4xf32> into tensor<?x4x4xf32>
// CHECK: mhc.post({{.*}}h_post = %[[H_POST]] : tensor<?x4xf32>, x = %[[X]] : tensor<?x4x16xf32>, h_res = %[[H_RES]] : tensor<?x4x4xf32>
func.func @of_sequences(%x: tensor<?x?x4x16xf32>, %f: tensor<?x?x16xf32>, %h_post: tensor<?x4xf32>,
                        %h_res: tensor<?x4x4xf32>) -> tensor<?x?x4x16xf32> {
  %c1 = arith.constant 1 : index
  %t = tensor.dim %x, %c1 : tensor<?x?x4x16xf32>
  %xs = mhc.broadcast %x dims = [0, 1, 3, 4] : tensor<?x?x4x16xf32> -> tensor<?x?x4x4x16xf32>
  %map = mhc.broadcast %h_res[%t] dims = [0, 2, 3] : tensor<?x4x4xf32> -> tensor<?x?x4x4x16xf32>
  %terms = arith.mulf %map, %xs : tensor<?x?x4x4x16xf32>
  %mixed = mhc.reduce sum %terms dims = [3] : tensor<?x?x4x4x16xf32> -> tensor<?x?x4x16xf32>
  %gate = mhc.broadcast %h_post[%t] dims = [0, 2] : tensor<?x4xf32> -> tensor<?x?x4x16xf32>
  %fs = mhc.broadcast %f dims = [0, 1, 3] : tensor<?x?x16xf32> -> tensor<?x?x4x16xf32>
  %branch = arith.mulf %gate, %fs : tensor<?x?x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<?x?x4x16xf32>
  return %out : tensor<?x?x4x16xf32>
}

// -----

// Those of a place in all sequences, of streams that are known; a product of both.
// CHECK-LABEL: @of_places(
// CHECK-DAG: %[[PRE:.*]] = mhc.broadcast %arg1 dims = [1, 2] : tensor<6x4xf32> -> tensor<2x6x4xf32>
// CHECK-DAG: %[[H_PRE:.*]] = tensor.collapse_shape %[[PRE]] {{\[\[}}0, 1], [2]] : tensor<2x6x4xf32> into tensor<12x4xf32>
// CHECK: mhc.aggregate(x = %{{.*}} : tensor<12x4x16xf32>, h_pre = %[[H_PRE]] : tensor<12x4xf32>)
func.func @of_places(%row: tensor<2x6x16xf32>, %h_pre: tensor<6x4xf32>) -> tensor<2x6x16xf32> {
  %rows = tensor.collapse_shape %row [[0, 1], [2]] : tensor<2x6x16xf32> into tensor<12x16xf32>
  %streams = mhc.expand(x = %rows : tensor<12x16xf32>) <layout = nC> -> (streams : tensor<12x4x16xf32>)
  %x = tensor.expand_shape %streams [[0, 1], [2], [3]] output_shape [2, 6, 4, 16]
    : tensor<12x4x16xf32> into tensor<2x6x4x16xf32>
  %gate = mhc.broadcast %h_pre dims = [1, 2] : tensor<6x4xf32> -> tensor<2x6x4x16xf32>
  %terms = arith.mulf %gate, %x : tensor<2x6x4x16xf32>
  %u = mhc.reduce sum %terms dims = [2] : tensor<2x6x4x16xf32> -> tensor<2x6x16xf32>
  return %u : tensor<2x6x16xf32>
}

// -----

// A short sum by weights of a sequence need not be of streams.
// CHECK-LABEL: @of_other_tensor(
// CHECK-NOT: mhc.aggregate
func.func @of_other_tensor(%x: tensor<2x6x4x16xf32>, %weights: tensor<2x4xf32>) -> tensor<2x6x16xf32> {
  %gate = mhc.broadcast %weights dims = [0, 2] : tensor<2x4xf32> -> tensor<2x6x4x16xf32>
  %terms = arith.mulf %gate, %x : tensor<2x6x4x16xf32>
  %sum = mhc.reduce sum %terms dims = [2] : tensor<2x6x4x16xf32> -> tensor<2x6x16xf32>
  return %sum : tensor<2x6x16xf32>
}
