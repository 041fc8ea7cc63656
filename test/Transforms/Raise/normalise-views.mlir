// RUN: mhc-opt %s --mhc-normalise --mhc-raise | FileCheck %s

// Transposes go behind what reads them.

// CHECK-LABEL: @transposed_beside_a_repeated_row(
func.func @transposed_beside_a_repeated_row(%x: tensor<?x4x8xf32>, %row: tensor<?x4xf32>) -> tensor<?x4x8xf32> {
  // CHECK: %[[ROW:.*]] = mhc.broadcast %arg1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x8xf32>
  // CHECK-NEXT: %[[SUB:.*]] = arith.subf %arg0, %[[ROW]] : tensor<?x4x8xf32>
  // CHECK-NEXT: return %[[SUB]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %0 = mhc.transpose %x perm = [2, 0, 1] : tensor<?x4x8xf32> -> tensor<8x?x4xf32>
  %1 = mhc.broadcast %row dims = [1, 2] : tensor<?x4xf32> -> tensor<8x?x4xf32>
  %2 = arith.subf %0, %1 : tensor<8x?x4xf32>
  %3 = mhc.transpose %2 perm = [1, 2, 0] : tensor<8x?x4xf32> -> tensor<?x4x8xf32>
  return %3 : tensor<?x4x8xf32>
}

// Two orders meet in the first of them.
// CHECK-LABEL: @two_transposes(
func.func @two_transposes(%a: tensor<4x8x16xf32>, %b: tensor<16x4x8xf32>) -> tensor<8x16x4xf32> {
  // CHECK: %[[B:.*]] = mhc.transpose %arg1 perm = [1, 2, 0] : tensor<16x4x8xf32> -> tensor<4x8x16xf32>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg0, %[[B]] : tensor<4x8x16xf32>
  // CHECK-NEXT: %[[OUT:.*]] = mhc.transpose %[[SUM]] perm = [1, 2, 0] : tensor<4x8x16xf32> -> tensor<8x16x4xf32>
  // CHECK-NEXT: return %[[OUT]]
  %0 = mhc.transpose %a perm = [1, 2, 0] : tensor<4x8x16xf32> -> tensor<8x16x4xf32>
  %1 = mhc.transpose %b perm = [2, 0, 1] : tensor<16x4x8xf32> -> tensor<8x16x4xf32>
  %2 = arith.addf %0, %1 : tensor<8x16x4xf32>
  return %2 : tensor<8x16x4xf32>
}

// CHECK-LABEL: @repeated_and_transposed(
func.func @repeated_and_transposed(%x: tensor<4x8xf32>) -> tensor<8x32x4xf32> {
  // CHECK: %[[X:.*]] = mhc.transpose %arg0 perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: %[[OUT:.*]] = mhc.broadcast %[[X]] dims = [0, 2] : tensor<8x4xf32> -> tensor<8x32x4xf32>
  // CHECK-NEXT: return %[[OUT]]
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<4x8xf32> -> tensor<4x32x8xf32>
  %1 = mhc.transpose %0 perm = [2, 1, 0] : tensor<4x32x8xf32> -> tensor<8x32x4xf32>
  return %1 : tensor<8x32x4xf32>
}

// CHECK-LABEL: @tokens_behind(
func.func @tokens_behind(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x?xf32> {
  // CHECK: %[[XW:.*]] = mhc.matmul %arg0, %arg1 transpose_rhs : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: %[[EXP:.*]] = math.exp %[[XW]] : tensor<?x4xf32>
  // CHECK-NEXT: %[[OUT:.*]] = mhc.transpose %[[EXP]] perm = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  // CHECK-NEXT: return %[[OUT]]
  %0 = mhc.matmul %w, %x transpose_rhs : (tensor<4x8xf32>, tensor<?x8xf32>) -> tensor<4x?xf32>
  %1 = math.exp %0 : tensor<4x?xf32>
  return %1 : tensor<4x?xf32>
}

// Dimensions of size one are added last.

// CHECK-LABEL: @computed_with_a_unit(
func.func @computed_with_a_unit(%a: tensor<?x4xf32>, %row: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[ROW:.*]] = mhc.broadcast %arg1[%{{.*}}] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg0, %[[ROW]] : tensor<?x4xf32>
  // CHECK-NEXT: return %[[SUM]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x4xf32>
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %1 = mhc.broadcast %row[%M] dims = [2] : tensor<4xf32> -> tensor<?x1x4xf32>
  %2 = arith.addf %0, %1 : tensor<?x1x4xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<?x1x4xf32> into tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// Parts.

// CHECK-LABEL: @part_of_what_is_joined(
func.func @part_of_what_is_joined(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: %[[TAIL:.*]] = tensor.extract_slice %arg0[0, 2] [%{{.*}}, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  // CHECK: %[[HEAD:.*]] = tensor.extract_slice %arg1[0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  // CHECK: %[[BOTH:.*]] = tensor.concat dim(1) %[[TAIL]], %[[HEAD]]
  // CHECK: return %arg1, %[[BOTH]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x4xf32>
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %1 = tensor.extract_slice %0[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %2 = tensor.extract_slice %0[0, 2] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>
}

// Fewer rows than the whole has.
// CHECK-LABEL: @parts_of_some_rows(
func.func @parts_of_some_rows(%x: tensor<?x4xf32>, %rows: index) -> tensor<?x4xf32> {
  // CHECK: tensor.concat
  %0 = tensor.extract_slice %x[0, 0] [%rows, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %1 = tensor.extract_slice %x[0, 2] [%rows, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// Each product is rounded: a matrix product rounds their sum only.
// CHECK-LABEL: @product_that_rounds(
func.func @product_that_rounds(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>) -> tensor<4x16xbf16> {
  // CHECK-NOT: mhc.matmul
  // CHECK: return
  %0 = mhc.broadcast %a dims = [0, 1] : tensor<4x8xbf16> -> tensor<4x8x16xbf16>
  %1 = mhc.broadcast %b dims = [1, 2] : tensor<8x16xbf16> -> tensor<4x8x16xbf16>
  %2 = arith.mulf %0, %1 : tensor<4x8x16xbf16>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<4x8x16xbf16> -> tensor<4x16xbf16>
  return %3 : tensor<4x16xbf16>
}

// Tokens come first where something is repeated: two orders of one repetition are one value.
// CHECK-LABEL: @tokens_repeated_behind(
func.func @tokens_repeated_behind(%x: tensor<?x8xbf16>) -> tensor<?x4x8xf32> {
  // CHECK: %[[X:.*]] = mhc.expand(x = %arg0 : tensor<?x8xbf16>) <layout = nC>
  // CHECK-NEXT: %[[OUT:.*]] = arith.extf %[[X]] : tensor<?x4x8xbf16> to tensor<?x4x8xf32>
  // CHECK-NEXT: return %[[OUT]]
  %0 = mhc.transpose %x perm = [1, 0] : tensor<?x8xbf16> -> tensor<8x?xbf16>
  %1 = mhc.broadcast %0 dims = [1, 2] : tensor<8x?xbf16> -> tensor<4x8x?xbf16>
  %2 = arith.extf %1 : tensor<4x8x?xbf16> to tensor<4x8x?xf32>
  %3 = mhc.transpose %2 perm = [2, 0, 1] : tensor<4x8x?xf32> -> tensor<?x4x8xf32>
  return %3 : tensor<?x4x8xf32>
}

// CHECK-LABEL: @square_of_what_is_repeated(
func.func @square_of_what_is_repeated(%x: tensor<?x8xbf16>) -> tensor<?x4x8xf32> {
  // CHECK: %[[X:.*]] = mhc.expand(x = %arg0 : tensor<?x8xbf16>) <layout = nC>
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]] : tensor<?x4x8xbf16> to tensor<?x4x8xf32>
  // CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : tensor<?x4x8xf32>
  // CHECK-NEXT: return %[[SQUARE]]
  %0 = mhc.broadcast %x dims = [0, 1] : tensor<?x8xbf16> -> tensor<?x8x4xbf16>
  %1 = arith.extf %0 : tensor<?x8x4xbf16> to tensor<?x8x4xf32>
  %2 = arith.mulf %1, %1 : tensor<?x8x4xf32>
  %3 = mhc.transpose %2 perm = [0, 2, 1] : tensor<?x8x4xf32> -> tensor<?x4x8xf32>
  return %3 : tensor<?x4x8xf32>
}

// So does the square by its mean, of which one factor is divided by their number.
// CHECK-LABEL: @mean_square_of_what_is_repeated(
func.func @mean_square_of_what_is_repeated(%x: tensor<16x10xf32>) -> (tensor<16xf32>, tensor<16x10x4xf32>) {
  // CHECK: mhc.expand(x = %arg0 : tensor<16x10xf32>) <layout = Cn>
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %count = arith.constant dense<40.0> : tensor<16x10x4xf32>
  %0 = mhc.broadcast %x dims = [0, 1] : tensor<16x10xf32> -> tensor<16x10x4xf32>
  %1 = arith.divf %0, %count : tensor<16x10x4xf32>
  %2 = arith.mulf %0, %1 : tensor<16x10x4xf32>
  %3 = mhc.reduce sum %2 dims = [1, 2] : tensor<16x10x4xf32> -> tensor<16xf32>
  return %3, %0 : tensor<16xf32>, tensor<16x10x4xf32>
}

// Two operands that are repeated are computed with before, also where one of them was repeated along two dimensions as
// one.
// CHECK-LABEL: @repeated_along_two_in_one(
func.func @repeated_along_two_in_one(%m: tensor<?x4x4xf32>, %sums: tensor<?x4xf32>) -> tensor<?x8x4x4xf32> {
  // CHECK: %[[SUMS:.*]] = mhc.broadcast %arg1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  // CHECK: arith.divf %arg0, %[[SUMS]] : tensor<?x4x4xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %m, %c0 : tensor<?x4x4xf32>
  %0 = mhc.broadcast %m dims = [0, 2, 3] : tensor<?x4x4xf32> -> tensor<?x8x4x4xf32>
  %1 = mhc.broadcast %sums dims = [0, 2] : tensor<?x4xf32> -> tensor<?x32x4xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2], [3]] output_shape [%M, 8, 4, 4]
      : tensor<?x32x4xf32> into tensor<?x8x4x4xf32>
  %3 = arith.divf %0, %2 : tensor<?x8x4x4xf32>
  return %3 : tensor<?x8x4x4xf32>
}

// A function of what is repeated goes in front of that, also where it is split.
// CHECK-LABEL: @function_of_split_repetition(
func.func @function_of_split_repetition(%row: tensor<?x8xf32>) -> tensor<?x8x2x2xf32> {
  // CHECK: %[[TANH:.*]] = math.tanh %arg0 : tensor<?x8xf32>
  // CHECK-NEXT: mhc.expand(x = %[[TANH]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %row, %c0 : tensor<?x8xf32>
  %0 = mhc.broadcast %row dims = [0, 1] : tensor<?x8xf32> -> tensor<?x8x4xf32>
  %1 = tensor.expand_shape %0 [[0], [1], [2, 3]] output_shape [%M, 8, 2, 2]
      : tensor<?x8x4xf32> into tensor<?x8x2x2xf32>
  %2 = math.tanh %1 : tensor<?x8x2x2xf32>
  return %2 : tensor<?x8x2x2xf32>
}

// Whoever asks for the size of a transpose keeps nothing in float64.
// CHECK-LABEL: @size_of_wide_transpose(
func.func @size_of_wide_transpose(%a: tensor<?x11xf32>, %b: tensor<?x11xf32>) -> (tensor<?x11xf32>, index) {
  // CHECK-NOT: f64
  // CHECK: arith.addf %arg0, %arg1 : tensor<?x11xf32>
  // CHECK-NOT: f64
  %c0 = arith.constant 0 : index
  %0 = arith.extf %a : tensor<?x11xf32> to tensor<?x11xf64>
  %1 = arith.extf %b : tensor<?x11xf32> to tensor<?x11xf64>
  %2 = mhc.transpose %0 perm = [1, 0] : tensor<?x11xf64> -> tensor<11x?xf64>
  %3 = mhc.transpose %1 perm = [1, 0] : tensor<?x11xf64> -> tensor<11x?xf64>
  %4 = arith.addf %2, %3 : tensor<11x?xf64>
  %5 = mhc.transpose %4 perm = [1, 0] : tensor<11x?xf64> -> tensor<?x11xf64>
  %6 = arith.truncf %5 : tensor<?x11xf64> to tensor<?x11xf32>
  %size = tensor.dim %5, %c0 : tensor<?x11xf64>
  return %6, %size : tensor<?x11xf32>, index
}

// The square of a magnitude is the square, also where it is repeated.
// CHECK-LABEL: @square_of_repeated_magnitude(
func.func @square_of_repeated_magnitude(%x: tensor<?x8xf32>) -> tensor<?x8x3xf32> {
  // CHECK-NOT: math.absf
  %0 = math.absf %x : tensor<?x8xf32>
  %1 = mhc.broadcast %0 dims = [0, 1] : tensor<?x8xf32> -> tensor<?x8x3xf32>
  %2 = arith.mulf %1, %1 : tensor<?x8x3xf32>
  return %2 : tensor<?x8x3xf32>
}

// The square of what is repeated stays behind the repetition, also with a number: it tells that x is streams.
// CHECK-LABEL: @scaled_square_of_copies(
func.func @scaled_square_of_copies(%row: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<?x64xf32>) {
  // CHECK: %[[X:.*]] = mhc.expand(x = %arg0
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<?x16x4xf32>
  // CHECK-NEXT: arith.mulf %[[X]], %[[SCALED]] : tensor<?x16x4xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %row, %c0 : tensor<?x16xf32>
  %x = mhc.broadcast %row dims = [0, 1] : tensor<?x16xf32> -> tensor<?x16x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x16x4xf32> into tensor<?x64xf32>
  %part = arith.constant 0.015625 : f32
  %parts = tensor.splat %part[%M] : tensor<?x64xf32>
  %scaled = arith.mulf %flat, %parts : tensor<?x64xf32>
  %squares = arith.mulf %flat, %scaled : tensor<?x64xf32>
  %mean = mhc.reduce sum %squares dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  return %mean, %flat : tensor<?xf32>, tensor<?x64xf32>
}

// A row for each token is one value, whether it has a dimension of one element for what it is repeated along or not. A
// number for each token keeps its place.
// CHECK-LABEL: @rows_repeated_from_units(
func.func @rows_repeated_from_units(%f: tensor<?x1x6xf32>, %bias: tensor<1x6xf32>, %s: tensor<?x1xf32>)
    -> (tensor<?x2x6xf32>, tensor<?x6xf32>) {
  // CHECK: %[[ROW:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[ROW]], %{{.*}} : tensor<?x6xf32>
  // CHECK: mhc.expand(x = %[[SUM]]
  // CHECK: mhc.broadcast %arg2 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x6xf32>
  %c0 = arith.constant 0 : index
  %M = tensor.dim %f, %c0 : tensor<?x1x6xf32>
  %0 = mhc.broadcast %f dims = [0, 1, 2] : tensor<?x1x6xf32> -> tensor<?x2x6xf32>
  %1 = mhc.broadcast %bias[%M] dims = [0, 1] : tensor<1x6xf32> -> tensor<?x6xf32>
  %2 = mhc.broadcast %1 dims = [0, 2] : tensor<?x6xf32> -> tensor<?x2x6xf32>
  %3 = arith.addf %0, %2 : tensor<?x2x6xf32>
  %4 = mhc.broadcast %s dims = [0, 1] : tensor<?x1xf32> -> tensor<?x6xf32>
  return %3, %4 : tensor<?x2x6xf32>, tensor<?x6xf32>
}
