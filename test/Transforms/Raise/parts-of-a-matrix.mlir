// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhc-opt %s --mhc-raise --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhcc %s --verify

// Hyper-connections whose matrix has a column for what the sublayer reads in front of those of the residual streams: the
// program multiplies by all of it, and takes the product apart.
// CHECK-LABEL: @columns_of_one_matrix(
// CHECK-DAG: %[[ROWS:.*]] = mhc.transpose %arg1 perm = [1, 0]
// CHECK-DAG: tensor.extract_slice %[[ROWS]][0, 0] [1, 4] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[ROWS]][1, 0] [4, 4] [1, 1]
// CHECK: %[[H:.*]] = mhc.broadcast %{{.*}} dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
// CHECK: %[[U:.*]] = mhc.aggregate(x = %arg0 : tensor<8x4x64xf32>, h_pre = %[[H]] : tensor<8x4xf32>)
// CHECK: %[[Y:.*]] = math.tanh %[[U]]
// CHECK: %[[MAP:.*]] = mhc.broadcast {{.*}} -> tensor<8x4x4xf32>
// CHECK: mhc.post(f = %[[Y]] : {{.*}} x = %arg0 : tensor<8x4x64xf32>, h_res = %[[MAP]] : tensor<8x4x4xf32>)
// CHECK-NOT: batch_matmul
// CHECK: return
func.func @columns_of_one_matrix(%x: tensor<8x4x64xf32>, %a: tensor<4x5xf32>, %b: tensor<4xf32>) -> tensor<8x4x64xf32> {
  %t = mhc.transpose %a perm = [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  %all = mhc.broadcast %t dims = [1, 2] : tensor<5x4xf32> -> tensor<8x5x4xf32>
  %mixed = mhc.batch_matmul %all, %x : (tensor<8x5x4xf32>, tensor<8x4x64xf32>) -> tensor<8x5x64xf32>
  %u = tensor.extract_slice %mixed[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x5x64xf32> to tensor<8x64xf32>
  %f = math.tanh %u : tensor<8x64xf32>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [8, 4, 64] [1, 1, 1] : tensor<8x5x64xf32> to tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %bs = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<8x4x64xf32>
  %y = arith.addf %rest, %branch : tensor<8x4x64xf32>
  return %y : tensor<8x4x64xf32>
}

// Every second column is no part from one on.
// CHECK-LABEL: @every_second_column(
// CHECK-NOT: mhc.post
// CHECK: return
// REMARK: parts-of-a-matrix.mlir:[[# @LINE + 9]]:{{.*}} [Missed] mix-not-a-value | {{.*}} Found="1 * a part of argument 1, [4, 8] of f32"
func.func @every_second_column(%x: tensor<8x4x64xf32>, %a: tensor<4x8xf32>, %f: tensor<8x64xf32>, %b: tensor<4xf32>) -> tensor<8x4x64xf32> {
  %t = mhc.transpose %a perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %all = mhc.broadcast %t dims = [1, 2] : tensor<8x4xf32> -> tensor<8x8x4xf32>
  %mixed = mhc.batch_matmul %all, %x : (tensor<8x8x4xf32>, tensor<8x4x64xf32>) -> tensor<8x8x64xf32>
  %rest = tensor.extract_slice %mixed[0, 0, 0] [8, 4, 64] [1, 2, 1] : tensor<8x8x64xf32> to tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %bs = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<8x4x64xf32>
  %y = arith.addf %rest, %branch : tensor<8x4x64xf32>
  return %y : tensor<8x4x64xf32>
}

// The same of a batch of sequences: the matrix is repeated for all tokens before parts of it are taken, and no value is
// the part of one token.
// CHECK-LABEL: @columns_of_a_repeated_matrix(
// CHECK: tensor.extract_slice %arg1[0, 0] [4, 1] [1, 1]
// CHECK: mhc.aggregate(x = %{{.*}} : tensor<6x4x64xf32>, h_pre = %{{.*}} : tensor<6x4xf32>)
// CHECK: %[[REST:.*]] = tensor.extract_slice %arg1[0, 1] [4, 4] [1, 1]
// CHECK: %[[ROWS:.*]] = mhc.transpose %[[REST]] perm = [1, 0]
// CHECK: %[[MAP:.*]] = mhc.broadcast %[[ROWS]] dims = [1, 2] : tensor<4x4xf32> -> tensor<6x4x4xf32>
// CHECK: mhc.post({{.*}} h_res = %[[MAP]] : tensor<6x4x4xf32>)
// CHECK: return
func.func @columns_of_a_repeated_matrix(%x: tensor<2x3x4x64xf32>, %a: tensor<4x5xf32>, %b: tensor<4xf32>) -> tensor<2x3x4x64xf32> {
  %t = mhc.transpose %a perm = [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  %all = mhc.broadcast %t dims = [2, 3] : tensor<5x4xf32> -> tensor<2x3x5x4xf32>
  %tokens = tensor.collapse_shape %all [[0, 1], [2], [3]] : tensor<2x3x5x4xf32> into tensor<6x5x4xf32>
  %streams = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x4x64xf32> into tensor<6x4x64xf32>
  %mixed = mhc.batch_matmul %tokens, %streams : (tensor<6x5x4xf32>, tensor<6x4x64xf32>) -> tensor<6x5x64xf32>
  %u = tensor.extract_slice %mixed[0, 0, 0] [6, 1, 64] [1, 1, 1] : tensor<6x5x64xf32> to tensor<6x64xf32>
  %f = math.tanh %u : tensor<6x64xf32>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [6, 4, 64] [1, 1, 1] : tensor<6x5x64xf32> to tensor<6x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<6x64xf32> -> tensor<6x4x64xf32>
  %bs = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<6x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<6x4x64xf32>
  %sum = arith.addf %rest, %branch : tensor<6x4x64xf32>
  %y = tensor.expand_shape %sum [[0, 1], [2], [3]] output_shape [2, 3, 4, 64] : tensor<6x4x64xf32> into tensor<2x3x4x64xf32>
  return %y : tensor<2x3x4x64xf32>
}
