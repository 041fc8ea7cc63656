// RUN: mhc-opt %s --mhc-normalise --mhc-raise --split-input-file | FileCheck %s

// Sequences and batches are joined once, in front; what is computed has one dimension of tokens.
// CHECK-LABEL: @map_of_sequences_and_batches(
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2], [3]] : tensor<?x?x4x4xf32> into tensor<?x4x4xf32>
// CHECK: %[[MAP:.*]] = mhc.sinkhorn(logits = %[[ROWS]] : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 5>
// CHECK: %[[OUT:.*]] = tensor.expand_shape %[[MAP]] {{\[\[}}0, 1], [2], [3]]
// CHECK-NEXT: return %[[OUT]] : tensor<?x?x4x4xf32>
func.func @map_of_sequences_and_batches(%z: tensor<?x?x4x4xf32>) -> tensor<?x?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %max = mhc.reduce max %z dims = [3] : tensor<?x?x4x4xf32> -> tensor<?x?x4xf32>
  %shift = mhc.broadcast %max dims = [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x?x4x4xf32>
  %shifted = arith.subf %z, %shift : tensor<?x?x4x4xf32>
  %start = math.exp %shifted : tensor<?x?x4x4xf32>
  %map = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %start) -> tensor<?x?x4x4xf32> {
    %rows = mhc.reduce sum %m dims = [3] : tensor<?x?x4x4xf32> -> tensor<?x?x4xf32>
    %row = mhc.broadcast %rows dims = [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x?x4x4xf32>
    %by_row = arith.divf %m, %row : tensor<?x?x4x4xf32>
    %columns = mhc.reduce sum %by_row dims = [2] : tensor<?x?x4x4xf32> -> tensor<?x?x4xf32>
    %column = mhc.broadcast %columns dims = [0, 1, 3] : tensor<?x?x4xf32> -> tensor<?x?x4x4xf32>
    %next = arith.divf %by_row, %column : tensor<?x?x4x4xf32>
    scf.yield %next : tensor<?x?x4x4xf32>
  }
  return %map : tensor<?x?x4x4xf32>
}

// -----

// Views, norms and softmax keep tokens as they are.
// CHECK-LABEL: @ops_behind_tokens(
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
// CHECK: mhc.rms_norm %{{.*}}, %arg1 eps = {{.*}} : tensor<?x8xf32>
// CHECK: tensor.extract_slice %{{.*}} : tensor<?x8xf32> to tensor<?x6xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
// CHECK: mhc.transpose %{{.*}} perm = [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
// CHECK: mhc.softmax %{{.*}} dim = 1 : tensor<?x3x2xf32>
// CHECK: %[[OUT:.*]] = tensor.expand_shape %{{.*}} : tensor<?x6xf32> into tensor<?x?x6xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @ops_behind_tokens(%x: tensor<?x?x8xf32>, %w: tensor<8xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %normal = mhc.rms_norm %x, %w eps = 1.0e-06 : tensor<?x?x8xf32>, tensor<8xf32>
  %part = tensor.extract_slice %normal[0, 0, 1] [%s, %b, 6] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x6xf32>
  %matrix = tensor.expand_shape %part [[0], [1], [2, 3]] output_shape [%s, %b, 2, 3]
    : tensor<?x?x6xf32> into tensor<?x?x2x3xf32>
  %turned = mhc.transpose %matrix perm = [0, 1, 3, 2] : tensor<?x?x2x3xf32> -> tensor<?x?x3x2xf32>
  %soft = mhc.softmax %turned dim = 2 : tensor<?x?x3x2xf32>
  %flat = tensor.collapse_shape %soft [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  return %flat : tensor<?x?x6xf32>
}

// -----

// A value along sequences or batches alone has both.
// CHECK-LABEL: @sum_of_batches(
// CHECK-NEXT: %[[SUM:.*]] = mhc.reduce sum %arg0 dims = [1] : tensor<?x?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT: return %[[SUM]]
func.func @sum_of_batches(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %sum = mhc.reduce sum %x dims = [1] : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @batches_first(
// CHECK: mhc.transpose %{{.*}} perm = [1, 0, 2] : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
// CHECK: return
func.func @batches_first(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %turned = mhc.transpose %x perm = [1, 0, 2] : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  %out = math.tanh %turned : tensor<?x?x8xf32>
  return %out : tensor<?x?x8xf32>
}

// -----

// One reshape splits tokens and rows, and one joins both again.
// CHECK-LABEL: @rows_in_the_same_reshape(
// CHECK-NOT: arith.muli
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
// CHECK: mhc.softmax %{{.*}} dim = 2 : tensor<?x2x4xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
func.func @rows_in_the_same_reshape(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %product = mhc.matmul %rows, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %logits = tensor.expand_shape %product [[0, 1], [2, 3]] output_shape [%s, %b, 2, 4]
    : tensor<?x8xf32> into tensor<?x?x2x4xf32>
  %soft = mhc.softmax %logits dim = 3 : tensor<?x?x2x4xf32>
  %flat = tensor.collapse_shape %soft [[0, 1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x8xf32>
  %out = mhc.matmul %flat, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %both = tensor.expand_shape %out [[0, 1], [2]] output_shape [%s, %b, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %both : tensor<?x?x8xf32>
}

// -----

// No argument has the number of joined tokens: two ways to read it are one size.
// CHECK-LABEL: @parts_of_joined_tokens(
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0
// CHECK: %[[OUT:.*]] = tensor.concat dim(1) %[[ROWS]], %{{.*}} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @parts_of_joined_tokens(%x: tensor<?x?x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %m = tensor.dim %rows, %c0 : tensor<?x4xf32>
  %tanh = math.tanh %rows : tensor<?x4xf32>
  %n = tensor.dim %tanh, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %first = tensor.insert_slice %rows into %empty[0, 0] [%m, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %both = tensor.insert_slice %tanh into %first[0, 4] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %both : tensor<?x8xf32>
}

// -----

// A loop hands on joined tokens; behind it they have the sizes that they had, the last one too.
// CHECK-LABEL: @loop_of_three_open_sizes(
// CHECK-DAG: %[[A:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG: %[[B:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[C:.*]] = tensor.dim %arg0, %c2
// CHECK: %[[OUT:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [%[[A]], %[[B]], %[[C]]]
// CHECK-NEXT: return %[[OUT]]
func.func @loop_of_three_open_sizes(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %x) -> tensor<?x?x?xf32> {
    %next = arith.mulf %it, %y : tensor<?x?x?xf32>
    scf.yield %next : tensor<?x?x?xf32>
  }
  return %z : tensor<?x?x?xf32>
}
