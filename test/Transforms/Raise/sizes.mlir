// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Dynamic sizes: an op is found when its dimensions are provably the same, and built with sizes that arguments have.

// CHECK-LABEL: @dynamic_batch_and_sequence
func.func @dynamic_batch_and_sequence(%x: tensor<?x?x4x64xf32>, %h: tensor<?x?x4xf32>) -> tensor<?x?x64xf32> {
  // CHECK: mhc.aggregate(x = %{{.*}} : tensor<?x4x64xf32>, h_pre = %{{.*}} : tensor<?x4xf32>) <layout = nC>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]]
  %0 = mhc.broadcast %h dims = [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x?x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<?x?x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [2] : tensor<?x?x4x64xf32> -> tensor<?x?x64xf32>
  return %2 : tensor<?x?x64xf32>
}

// The gates come flattened, the streams do not.
// CHECK-LABEL: @tokens_joined_on_one_side
func.func @tokens_joined_on_one_side(%x: tensor<2x3x4x64xf32>, %h: tensor<6x4xf32>) -> tensor<6x64xf32> {
  // CHECK: mhc.aggregate(x = %{{.*}} : tensor<6x4x64xf32>, h_pre = %arg1 : tensor<6x4xf32>) <layout = nC>
  %0 = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x4x64xf32> into tensor<6x4x64xf32>
  %1 = mhc.broadcast %h dims = [0, 1] : tensor<6x4xf32> -> tensor<6x4x64xf32>
  %2 = arith.mulf %0, %1 : tensor<6x4x64xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<6x4x64xf32> -> tensor<6x64xf32>
  return %3 : tensor<6x64xf32>
}

// CHECK-LABEL: @as_many_tokens_as_streams
func.func @as_many_tokens_as_streams(%x: tensor<4x4x64xf32>, %h: tensor<4x4xf32>) -> tensor<4x64xf32> {
  // CHECK: mhc.aggregate(x = %arg0 : tensor<4x4x64xf32>, h_pre = %arg1 : tensor<4x4xf32>) <layout = nC>
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<4x4xf32> -> tensor<4x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<4x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<4x4x64xf32> -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// The sum runs over tokens, of which there are as many as streams.
// CHECK-LABEL: @no_aggregate_of_tokens
func.func @no_aggregate_of_tokens(%x: tensor<4x4x64xf32>, %h: tensor<4x4xf32>) -> tensor<4x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<4x4xf32> -> tensor<4x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<4x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [0] : tensor<4x4x64xf32> -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// The gates are transposed: the op reads them in its own order.
// CHECK-LABEL: @gates_of_streams_by_tokens
func.func @gates_of_streams_by_tokens(%x: tensor<4x4x64xf32>, %h: tensor<4x4xf32>) -> tensor<4x64xf32> {
  // CHECK: %[[T:.*]] = mhc.transpose %arg1 perm = [1, 0]
  // CHECK: mhc.aggregate(x = %arg0 : tensor<4x4x64xf32>, h_pre = %[[T]] : tensor<4x4xf32>)
  %t = mhc.transpose %h perm = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %0 = mhc.broadcast %t dims = [0, 1] : tensor<4x4xf32> -> tensor<4x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<4x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<4x4x64xf32> -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// The number of all tokens is read where they are joined: what is between keeps nothing alive.
// CHECK-LABEL: @size_of_joined_tokens
func.func @size_of_joined_tokens(%x: tensor<?x?x4x64xf32>, %h: tensor<?x?x4xf32>) -> (tensor<?x64xf32>, index) {
  // CHECK: %[[X:.*]] = tensor.collapse_shape %arg0
  // CHECK: %[[M:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[U:.*]] = mhc.aggregate(x = %[[X]]
  // CHECK-NOT: arith.mulf
  // CHECK: return %[[U]], %[[M]]
  %c0 = arith.constant 0 : index
  %0 = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<?x?x4x64xf32> into tensor<?x4x64xf32>
  %gate = tensor.collapse_shape %h [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %1 = mhc.broadcast %gate dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %2 = arith.mulf %0, %1 : tensor<?x4x64xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %4 = tensor.dim %2, %c0 : tensor<?x4x64xf32>
  return %3, %4 : tensor<?x64xf32>, index
}
