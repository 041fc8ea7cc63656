// RUN: mhc-opt %s --mhc-normalise | FileCheck %s

// A square of products keeps its order: rows and columns of others are no units.
// CHECK-LABEL: @reshaped_square(
func.func @reshaped_square(%h: tensor<16x4x4xf32>, %x: tensor<16x4x4xf32>) -> tensor<16x2x8xf32> {
  // CHECK: mhc.batch_matmul %arg0, %arg1 :
  %u = mhc.batch_matmul %h, %x : (tensor<16x4x4xf32>, tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
  %rows = tensor.collapse_shape %u [[0], [1, 2]] : tensor<16x4x4xf32> into tensor<16x16xf32>
  %out = tensor.expand_shape %rows [[0], [1, 2]] output_shape [16, 2, 8] : tensor<16x16xf32> into tensor<16x2x8xf32>
  return %out : tensor<16x2x8xf32>
}

// An outer product that rounds what it makes is no product of two rounded operands.
// CHECK-LABEL: @outer_product_that_rounds(
func.func @outer_product_that_rounds(%a: tensor<16x1xf32>, %b: tensor<1x8xf32>) -> tensor<16x8xbf16> {
  // CHECK-NEXT: mhc.matmul
  %out = mhc.matmul %a, %b : (tensor<16x1xf32>, tensor<1x8xf32>) -> tensor<16x8xbf16>
  return %out : tensor<16x8xbf16>
}

// CHECK-LABEL: @slice_of_nothing(
func.func @slice_of_nothing(%x: tensor<16x4xf32>) -> tensor<16x0xf32> {
  // CHECK: tensor.collapse_shape
  %unit = tensor.expand_shape %x [[0, 1], [2]] output_shape [16, 1, 4] : tensor<16x4xf32> into tensor<16x1x4xf32>
  %part = tensor.extract_slice %unit[0, 0, 2] [16, 0, 2] [1, 1, 1] : tensor<16x1x4xf32> to tensor<16x0x2xf32>
  %out = tensor.collapse_shape %part [[0], [1, 2]] : tensor<16x0x2xf32> into tensor<16x0xf32>
  return %out : tensor<16x0xf32>
}

// Columns, or rows, of a product that are computed apart and joined are the product; not where something else reads one.
// CHECK-LABEL: @columns_apart(
func.func @columns_apart(%x: tensor<?x8xf32>, %w: tensor<8x12xf32>, %h: tensor<?x4x4xf32>, %y: tensor<?x4x6xf32>)
    -> (tensor<?x5xf32>, tensor<?x4x6xf32>, tensor<?x5xf32>, tensor<?x3xf32>) {
  // CHECK: %[[W:.*]] = tensor.extract_slice %arg1[0, 4] [8, 5]
  // CHECK: %[[PRODUCT:.*]] = mhc.matmul %arg0, %[[W]] : (tensor<?x8xf32>, tensor<8x5xf32>) -> tensor<?x5xf32>
  // CHECK: %[[SUM:.*]] = math.absf %[[PRODUCT]]
  // CHECK: %[[ROWS:.*]] = mhc.batch_matmul %arg2, %arg3
  // CHECK: %[[JOINED:.*]] = tensor.concat
  // CHECK: return %[[SUM]], %[[ROWS]], %[[JOINED]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %N = tensor.dim %h, %c0 : tensor<?x4x4xf32>
  %w0 = tensor.extract_slice %w[0, 4] [8, 2] [1, 1] : tensor<8x12xf32> to tensor<8x2xf32>
  %w1 = tensor.extract_slice %w[0, 6] [8, 3] [1, 1] : tensor<8x12xf32> to tensor<8x3xf32>
  %p0 = mhc.matmul %x, %w0 : (tensor<?x8xf32>, tensor<8x2xf32>) -> tensor<?x2xf32>
  %p1 = mhc.matmul %x, %w1 : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  %a0 = math.absf %p0 : tensor<?x2xf32>
  %a1 = math.absf %p1 : tensor<?x3xf32>
  %a = tensor.concat dim(1) %a0, %a1 : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>
  %h0 = tensor.extract_slice %h[0, 0, 0] [%N, 1, 4] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x1x4xf32>
  %h1 = tensor.extract_slice %h[0, 1, 0] [%N, 3, 4] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x3x4xf32>
  %y0 = mhc.batch_matmul %h0, %y : (tensor<?x1x4xf32>, tensor<?x4x6xf32>) -> tensor<?x1x6xf32>
  %y1 = mhc.batch_matmul %h1, %y : (tensor<?x3x4xf32>, tensor<?x4x6xf32>) -> tensor<?x3x6xf32>
  %z = tensor.concat dim(1) %y0, %y1 : (tensor<?x1x6xf32>, tensor<?x3x6xf32>) -> tensor<?x4x6xf32>
  %v0 = tensor.extract_slice %w[0, 7] [8, 2] [1, 1] : tensor<8x12xf32> to tensor<8x2xf32>
  %v1 = tensor.extract_slice %w[0, 9] [8, 3] [1, 1] : tensor<8x12xf32> to tensor<8x3xf32>
  %q0 = mhc.matmul %x, %v0 : (tensor<?x8xf32>, tensor<8x2xf32>) -> tensor<?x2xf32>
  %q1 = mhc.matmul %x, %v1 : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  %q = tensor.concat dim(1) %q0, %q1 : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>
  return %a, %z, %q, %q1 : tensor<?x5xf32>, tensor<?x4x6xf32>, tensor<?x5xf32>, tensor<?x3xf32>
}

// The number of a product goes to the factor that has fewer elements for each token.
// CHECK-LABEL: @scaled_rows_behind_a_gate(
func.func @scaled_rows_behind_a_gate(%g: tensor<?x4xf32>, %f: tensor<?x8xf32>) -> tensor<?x4x8xf32> {
  // CHECK: %[[G:.*]] = arith.mulf %arg0, %{{.*}} : tensor<?x4xf32>
  // CHECK: %[[GATES:.*]] = mhc.broadcast %[[G]] dims = [0, 1]
  // CHECK: %[[ROWS:.*]] = mhc.broadcast %arg1 dims = [0, 2]
  // CHECK: arith.mulf %[[GATES]], %[[ROWS]]
  %c0 = arith.constant 0 : index
  %number = arith.constant 3.0 : f32
  %M = tensor.dim %f, %c0 : tensor<?x8xf32>
  %three = tensor.splat %number[%M] : tensor<?x8xf32>
  %scaled = arith.mulf %three, %f : tensor<?x8xf32>
  %gates = mhc.broadcast %g dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x8xf32>
  %rows = mhc.broadcast %scaled dims = [0, 2] : tensor<?x8xf32> -> tensor<?x4x8xf32>
  %out = arith.mulf %gates, %rows : tensor<?x4x8xf32>
  return %out : tensor<?x4x8xf32>
}

// A value that others read as well is computed anyway.
// CHECK-LABEL: @scaled_rows_that_others_read(
func.func @scaled_rows_that_others_read(%g: tensor<16x4xf32>, %f: tensor<16x8xf32>) -> (tensor<16x4x8xf32>, tensor<16x8xf32>) {
  // CHECK: %[[F:.*]] = arith.mulf %arg1, %{{.*}} : tensor<16x8xf32>
  // CHECK: mhc.broadcast %[[F]] dims = [0, 2]
  %three = arith.constant dense<3.0> : tensor<16x8xf32>
  %scaled = arith.mulf %f, %three : tensor<16x8xf32>
  %gates = mhc.broadcast %g dims = [0, 1] : tensor<16x4xf32> -> tensor<16x4x8xf32>
  %rows = mhc.broadcast %scaled dims = [0, 2] : tensor<16x8xf32> -> tensor<16x4x8xf32>
  %out = arith.mulf %gates, %rows : tensor<16x4x8xf32>
  return %out, %scaled : tensor<16x4x8xf32>, tensor<16x8xf32>
}

// So where each product is a batch of one.
// CHECK-LABEL: @columns_apart_in_batches_of_one(
func.func @columns_apart_in_batches_of_one(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[PRODUCT:.*]] = mhc.matmul %arg0, %arg1 : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: math.absf %[[PRODUCT]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %rows = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, %M, 8] : tensor<?x8xf32> into tensor<1x?x8xf32>
  %first = tensor.extract_slice %w[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %second = tensor.extract_slice %w[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %w0 = tensor.expand_shape %first [[0, 1], [2]] output_shape [1, 8, 2] : tensor<8x2xf32> into tensor<1x8x2xf32>
  %w1 = tensor.expand_shape %second [[0, 1], [2]] output_shape [1, 8, 2] : tensor<8x2xf32> into tensor<1x8x2xf32>
  %0 = mhc.batch_matmul %rows, %w0 : (tensor<1x?x8xf32>, tensor<1x8x2xf32>) -> tensor<1x?x2xf32>
  %1 = mhc.batch_matmul %rows, %w1 : (tensor<1x?x8xf32>, tensor<1x8x2xf32>) -> tensor<1x?x2xf32>
  %2 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<1x?x2xf32> into tensor<?x2xf32>
  %3 = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<1x?x2xf32> into tensor<?x2xf32>
  %4 = math.absf %2 : tensor<?x2xf32>
  %5 = math.absf %3 : tensor<?x2xf32>
  %6 = tensor.concat dim(1) %4, %5 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %6 : tensor<?x4xf32>
}

// A row that is shown as a column is transposed; the order of other matrices is another.
// CHECK-LABEL: @row_as_column(
func.func @row_as_column(%x: tensor<?x5x2xf32>, %row: tensor<?x1x2xf32>, %other: tensor<?x2x3xf32>)
    -> (tensor<?x5x1xf32>, tensor<?x2x2xf32>) {
  // CHECK: %[[COLUMN:.*]] = mhc.batch_matmul %arg0, %arg1 transpose_rhs :
  // CHECK: %[[SPLIT:.*]] = tensor.expand_shape
  // CHECK: %[[OTHER:.*]] = mhc.batch_matmul %arg2, %[[SPLIT]] :
  // CHECK: return %[[COLUMN]], %[[OTHER]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x5x2xf32>
  %flat = tensor.collapse_shape %row [[0], [1, 2]] : tensor<?x1x2xf32> into tensor<?x2xf32>
  %column = tensor.expand_shape %flat [[0], [1, 2]] output_shape [%M, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %0 = mhc.batch_matmul %x, %column : (tensor<?x5x2xf32>, tensor<?x2x1xf32>) -> tensor<?x5x1xf32>
  %all = tensor.collapse_shape %other [[0], [1, 2]] : tensor<?x2x3xf32> into tensor<?x6xf32>
  %split = tensor.expand_shape %all [[0], [1, 2]] output_shape [%M, 3, 2] : tensor<?x6xf32> into tensor<?x3x2xf32>
  %1 = mhc.batch_matmul %other, %split : (tensor<?x2x3xf32>, tensor<?x3x2xf32>) -> tensor<?x2x2xf32>
  return %0, %1 : tensor<?x5x1xf32>, tensor<?x2x2xf32>
}

// So where each is transposed, as what is computed with tokens behind; not where one is read in that order, too.
// CHECK-LABEL: @columns_apart_transposed(
func.func @columns_apart_transposed(%h: tensor<?x4x4xf32>, %x: tensor<?x4x6xf32>) -> tensor<?x6x4xf32> {
  // CHECK: mhc.batch_matmul %arg0, %arg1 transpose_lhs :
  // CHECK-NOT: mhc.batch_matmul
  // CHECK-NOT: tensor.concat
  // CHECK: return
  %c0 = arith.constant 0 : index
  %M = tensor.dim %h, %c0 : tensor<?x4x4xf32>
  %h0 = tensor.extract_slice %h[0, 0, 0] [%M, 4, 2] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x4x2xf32>
  %h1 = tensor.extract_slice %h[0, 0, 2] [%M, 4, 2] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x4x2xf32>
  %0 = mhc.batch_matmul %h0, %x transpose_lhs : (tensor<?x4x2xf32>, tensor<?x4x6xf32>) -> tensor<?x2x6xf32>
  %1 = mhc.batch_matmul %h1, %x transpose_lhs : (tensor<?x4x2xf32>, tensor<?x4x6xf32>) -> tensor<?x2x6xf32>
  %2 = mhc.transpose %0 perm = [0, 2, 1] : tensor<?x2x6xf32> -> tensor<?x6x2xf32>
  %3 = mhc.transpose %1 perm = [0, 2, 1] : tensor<?x2x6xf32> -> tensor<?x6x2xf32>
  %4 = tensor.concat dim(2) %2, %3 : (tensor<?x6x2xf32>, tensor<?x6x2xf32>) -> tensor<?x6x4xf32>
  return %4 : tensor<?x6x4xf32>
}

// CHECK-LABEL: @columns_apart_read_in_both_orders(
func.func @columns_apart_read_in_both_orders(%h: tensor<?x4x4xf32>, %x: tensor<?x4x6xf32>)
    -> (tensor<?x6x4xf32>, tensor<?x2x6xf32>) {
  // CHECK: mhc.batch_matmul
  // CHECK: mhc.batch_matmul
  // CHECK: tensor.concat
  %c0 = arith.constant 0 : index
  %M = tensor.dim %h, %c0 : tensor<?x4x4xf32>
  %h0 = tensor.extract_slice %h[0, 0, 0] [%M, 4, 2] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x4x2xf32>
  %h1 = tensor.extract_slice %h[0, 0, 2] [%M, 4, 2] [1, 1, 1] : tensor<?x4x4xf32> to tensor<?x4x2xf32>
  %0 = mhc.batch_matmul %h0, %x transpose_lhs : (tensor<?x4x2xf32>, tensor<?x4x6xf32>) -> tensor<?x2x6xf32>
  %1 = mhc.batch_matmul %h1, %x transpose_lhs : (tensor<?x4x2xf32>, tensor<?x4x6xf32>) -> tensor<?x2x6xf32>
  %2 = mhc.transpose %0 perm = [0, 2, 1] : tensor<?x2x6xf32> -> tensor<?x6x2xf32>
  %3 = mhc.transpose %1 perm = [0, 2, 1] : tensor<?x2x6xf32> -> tensor<?x6x2xf32>
  %4 = tensor.concat dim(2) %2, %3 : (tensor<?x6x2xf32>, tensor<?x6x2xf32>) -> tensor<?x6x4xf32>
  return %4, %0 : tensor<?x6x4xf32>, tensor<?x2x6xf32>
}
