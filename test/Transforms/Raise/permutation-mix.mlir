// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhc-opt %s -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=NOTE

// A softmax over all permutations, times the table of permutation matrices in lexicographic order.

// CHECK-LABEL: @softmax_times_the_table
func.func @softmax_times_the_table(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %arg0
  // CHECK: return %[[MIX]]
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// Rows 1 and 2 are exchanged: the logits would belong to other permutations.
// REMARK: [Missed] permutation-order | {{.*}}Found="'arith.constant', [6, 9] of f32", Needed="a constant with row p for permutation p"
// CHECK-LABEL: @no_permutation_mix_of_a_table_in_another_order
func.func @no_permutation_mix_of_a_table_in_another_order(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK-NOT: mhc.permutation_mix
  // CHECK: return
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// The numbers of a table that is an argument, as a buffer of a module, are not known.
// REMARK: [Missed] permutation-order | {{.*}}Found="argument 1, [6, 3, 3] of f32", Needed="a constant with row p for permutation p"
// CHECK-LABEL: @no_permutation_mix_of_an_argument
func.func @no_permutation_mix_of_an_argument(%z: tensor<?x6xf32>, %perms: tensor<6x3x3xf32>) -> tensor<?x3x3xf32> {
  // CHECK-NOT: mhc.permutation_mix
  // CHECK: return
  %table = tensor.collapse_shape %perms [[0], [1, 2]] : tensor<6x3x3xf32> into tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// CHECK-LABEL: @no_permutation_mix_of_bare_logits
func.func @no_permutation_mix_of_bare_logits(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK-NOT: mhc.permutation_mix
  // CHECK: return
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %m = mhc.matmul %z, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// CHECK-LABEL: @no_permutation_mix_of_another_activation
func.func @no_permutation_mix_of_another_activation(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK-NOT: mhc.permutation_mix
  // CHECK: return
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.sigmoid %z : tensor<?x6xf32>
  %m = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// A table of matrices, as it is stored in a file.
// CHECK-LABEL: @table_of_matrices
func.func @table_of_matrices(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %arg0
  // CHECK: return %[[MIX]]
  %table = arith.constant dense<[
      [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
      [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
      [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
      [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
      [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
      [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]> : tensor<6x3x3xf32>
  %rows = tensor.collapse_shape %table [[0], [1, 2]] : tensor<6x3x3xf32> into tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %rows : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// A resource, in a batch of one.
// CHECK-LABEL: @table_in_a_resource
func.func @table_in_a_resource(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %arg0
  // CHECK: return %[[MIX]]
  %table = arith.constant dense_resource<table> : tensor<1x6x9xf32>
  %rows = tensor.collapse_shape %table [[0, 1], [2]] : tensor<1x6x9xf32> into tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %rows : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// The matrices are read by columns: rows and columns of the map change places.
// CHECK-LABEL: @transposed_matrices
func.func @transposed_matrices(%z: tensor<?x6xf32>) -> tensor<?x3x3xf32> {
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %arg0
  // CHECK: %[[T:.*]] = mhc.transpose %[[MIX]] perm = [0, 2, 1]
  // CHECK: return %[[T]]
  %table = arith.constant dense<[
      [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
      [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
      [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
      [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
      [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
      [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]> : tensor<6x3x3xf32>
  %t = mhc.transpose %table perm = [0, 2, 1] : tensor<6x3x3xf32> -> tensor<6x3x3xf32>
  %rows = tensor.collapse_shape %t [[0], [1, 2]] : tensor<6x3x3xf32> into tensor<6x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %m = mhc.matmul %p, %rows : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [%M, 3, 3] : tensor<?x9xf32> into tensor<?x3x3xf32>
  return %r : tensor<?x3x3xf32>
}

// Whatever becomes of it has the type of the value.
// CHECK-LABEL: @rows_with_a_unit
func.func @rows_with_a_unit(%z: tensor<?x6xf32>) -> tensor<?x1x9xf32> {
  // CHECK: return
  %table = arith.constant dense<[
      [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]],
      [[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]],
      [[0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]],
      [[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]],
      [[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]],
      [[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]]> : tensor<6x1x9xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %z, %c0 : tensor<?x6xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %pa = mhc.broadcast %p dims = [0, 1] : tensor<?x6xf32> -> tensor<?x6x1x9xf32>
  %ta = mhc.broadcast %table[%M] dims = [1, 2, 3] : tensor<6x1x9xf32> -> tensor<?x6x1x9xf32>
  %q = arith.mulf %pa, %ta : tensor<?x6x1x9xf32>
  %m = mhc.reduce sum %q dims = [1] : tensor<?x6x1x9xf32> -> tensor<?x1x9xf32>
  return %m : tensor<?x1x9xf32>
}

{-#
  dialect_resources: {
    builtin: {
      table: "0x040000000000803F0000000000000000000000000000803F0000000000000000000000000000803F0000803F000000000000000000000000000000000000803F000000000000803F00000000000000000000803F000000000000803F000000000000000000000000000000000000803F000000000000803F0000000000000000000000000000803F0000803F000000000000000000000000000000000000803F0000803F0000000000000000000000000000803F0000000000000000000000000000803F000000000000803F000000000000803F0000000000000000"
    }
  }
#-}

// The weights are rounded before they are added up, which the op does not.
// NOTE: remark: [Analysis] fewer-roundings | {{.*}}Function=rounded_weights
// CHECK-LABEL: @rounded_weights
func.func @rounded_weights(%z: tensor<?x6xbf16>) -> tensor<?x9xbf16> {
  // CHECK: %[[Z:.*]] = arith.extf %arg0
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %[[Z]]
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[MIX]]
  // CHECK: %[[ROUNDED:.*]] = arith.truncf %[[FLAT]]
  // CHECK: return %[[ROUNDED]]
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %wide = arith.extf %z : tensor<?x6xbf16> to tensor<?x6xf32>
  %softmax = mhc.softmax %wide dim = 1 : tensor<?x6xf32>
  %narrow = arith.truncf %softmax : tensor<?x6xf32> to tensor<?x6xbf16>
  %weights = arith.extf %narrow : tensor<?x6xbf16> to tensor<?x6xf32>
  %m = mhc.matmul %weights, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %r = arith.truncf %m : tensor<?x9xf32> to tensor<?x9xbf16>
  return %r : tensor<?x9xbf16>
}

// All of it in a narrow type: the logits are widened.
// CHECK-LABEL: @all_narrow
func.func @all_narrow(%z: tensor<?x6xbf16>) -> tensor<?x9xbf16> {
  // CHECK: %[[Z:.*]] = arith.extf %arg0
  // CHECK: %[[MIX:.*]] = mhc.permutation_mix(logits = %[[Z]]
  // CHECK: %[[ROUNDED:.*]] = arith.truncf
  // CHECK: return %[[ROUNDED]]
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xbf16>
  %weights = mhc.softmax %z dim = 1 : tensor<?x6xbf16>
  %m = mhc.matmul %weights, %table : (tensor<?x6xbf16>, tensor<6x9xbf16>) -> tensor<?x9xbf16>
  return %m : tensor<?x9xbf16>
}
