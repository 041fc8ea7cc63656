// A projection of each stream by a weight of its own, added up: one of all streams by the weights, joined.
// RUN: mhc-opt %s --split-input-file -mhc-raise --remarks-filter-missed='mhc.*' > %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not='[Missed]' < %t.remarks

// CHECK-LABEL: @norm_behind
// CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg1, %arg2 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
// CHECK: mhc.projection(x = %arg0 : tensor<8x2x16xf32>, phi = %[[PHI]] : tensor<8x32xf32>) <layout = nC, phi_layout = out_in, norm = inside
// CHECK: mhc.gates(
func.func @norm_behind(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %x1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p = arith.addf %p0, %p1 : tensor<8x8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// Without gradients PyTorch repeats each weight for the products of a batch of parts.
// CHECK-LABEL: @weights_repeated
// CHECK: %[[PHI:.*]] = tensor.concat dim(1)
// CHECK: mhc.projection(x = %{{.*}} : tensor<8x2x16xf32>, phi = %{{.*}} : tensor<8x32xf32>)
// CHECK: mhc.gates(
func.func @weights_repeated(%x: tensor<2x4x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>)
    -> (tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x4xf32>) {
  %part0 = tensor.extract_slice %x[0, 0, 0, 0] [2, 4, 1, 16] [1, 1, 1, 1] : tensor<2x4x2x16xf32> to tensor<2x4x16xf32>
  %part1 = tensor.extract_slice %x[0, 0, 1, 0] [2, 4, 1, 16] [1, 1, 1, 1] : tensor<2x4x2x16xf32> to tensor<2x4x16xf32>
  %t0 = mhc.transpose %w0 perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %t1 = mhc.transpose %w1 perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %many0 = mhc.broadcast %t0 dims = [1, 2] : tensor<16x8xf32> -> tensor<2x16x8xf32>
  %many1 = mhc.broadcast %t1 dims = [1, 2] : tensor<16x8xf32> -> tensor<2x16x8xf32>
  %p0 = mhc.batch_matmul %part0, %many0 : (tensor<2x4x16xf32>, tensor<2x16x8xf32>) -> tensor<2x4x8xf32>
  %p1 = mhc.batch_matmul %part1, %many1 : (tensor<2x4x16xf32>, tensor<2x16x8xf32>) -> tensor<2x4x8xf32>
  %p = arith.addf %p0, %p1 : tensor<2x4x8xf32>
  %z_pre = tensor.extract_slice %p[0, 0, 0] [2, 4, 2] [1, 1, 1] : tensor<2x4x8xf32> to tensor<2x4x2xf32>
  %z_post = tensor.extract_slice %p[0, 0, 2] [2, 4, 2] [1, 1, 1] : tensor<2x4x8xf32> to tensor<2x4x2xf32>
  %logits = tensor.extract_slice %p[0, 0, 4] [2, 4, 4] [1, 1, 1] : tensor<2x4x8xf32> to tensor<2x4x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<2x4x2xf32>
  %post = mhc.sigmoid %z_post : tensor<2x4x2xf32>
  return %pre, %post, %logits : tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x4xf32>
}

// -----

// Rows of the scaled streams, the last one first, in a sum over a stack of the products.
// CHECK-LABEL: @norm_before
// CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg1, %arg2
// CHECK: mhc.projection(x = %arg0 : tensor<8x2x16xf32>, phi = %[[PHI]] : tensor<8x32xf32>)
// CHECK: mhc.gates(
func.func @norm_before(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x2x16xf32>
  %y = arith.mulf %x, %s_all : tensor<8x2x16xf32>
  %y0 = tensor.extract_slice %y[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %y1 = tensor.extract_slice %y[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %y0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %y1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %u0 = tensor.expand_shape %p0 [[0, 1], [2]] output_shape [1, 8, 8] : tensor<8x8xf32> into tensor<1x8x8xf32>
  %u1 = tensor.expand_shape %p1 [[0, 1], [2]] output_shape [1, 8, 8] : tensor<8x8xf32> into tensor<1x8x8xf32>
  %stack = tensor.concat dim(0) %u1, %u0 : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<2x8x8xf32>
  %t = mhc.reduce sum %stack dims = [0] : tensor<2x8x8xf32> -> tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// Streams that are apart, and joined for their norm behind the products.
// CHECK-LABEL: @streams_apart
// CHECK-DAG: %[[PHI:.*]] = tensor.concat dim(1) %arg2, %arg3
// CHECK-DAG: %[[FLAT:.*]] = tensor.concat dim(1) %arg0, %arg1
// CHECK-DAG: %[[X:.*]] = tensor.expand_shape %[[FLAT]]
// CHECK: mhc.projection(x = %[[X]] : tensor<8x2x16xf32>, phi = %[[PHI]] : tensor<8x32xf32>)
// CHECK: mhc.gates(
func.func @streams_apart(%x0: tensor<8x16xf32>, %x1: tensor<8x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>,
                         %beta: tensor<8xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %x1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p = arith.addf %p0, %p1 : tensor<8x8xf32>
  %flat = tensor.concat dim(1) %x0, %x1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %square = arith.mulf %flat, %flat : tensor<8x32xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// Parts of one weight, joined, are the weight, and what else is added stays.
// CHECK-LABEL: @weight_in_parts
// CHECK: mhc.projection(x = %arg0 : tensor<8x2x16xf32>, phi = %arg1 : tensor<8x32xf32>)
// CHECK: mhc.gates(
func.func @weight_in_parts(%x: tensor<8x2x16xf32>, %w: tensor<8x32xf32>, %b0: tensor<8xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x2x16xf32>
  %y = arith.mulf %x, %s_all : tensor<8x2x16xf32>
  %y0 = tensor.extract_slice %y[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %y1 = tensor.extract_slice %y[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %w1 = tensor.extract_slice %w[0, 16] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %y0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %y1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %b_all = mhc.broadcast %b0 dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %biased = arith.addf %p0, %b_all : tensor<8x8xf32>
  %t = arith.addf %p1, %biased : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

// -----

// A row twice, and another not at all.
// CHECK-LABEL: @one_row_twice
// CHECK-NOT: mhc.projection
// REMARK: [Missed] projection-width | {{.*}}Function=one_row_twice | Found="products of rows 0, 0 of argument 0, [8, 2, 16] of f32", Needed="a product of each of the 2 rows"
func.func @one_row_twice(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %x0, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p = arith.addf %p0, %p1 : tensor<8x8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// All rows, and one of them once more.
// CHECK-LABEL: @all_rows_and_one_twice
// CHECK-NOT: mhc.projection
// REMARK: [Missed] projection-width | {{.*}}Function=all_rows_and_one_twice | Found="products of rows 0, 1, 1 of argument 0, [8, 2, 16] of f32", Needed="a product of each of the 2 rows"
func.func @all_rows_and_one_twice(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>,
                                  %w2: tensor<8x16xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %x1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p2 = mhc.matmul %x1, %w2 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p01 = arith.addf %p0, %p1 : tensor<8x8xf32>
  %p = arith.addf %p01, %p2 : tensor<8x8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// A row of another tensor.
// CHECK-LABEL: @row_of_another_tensor
// CHECK-NOT: mhc.projection
// REMARK: [Missed] projection-width | {{.*}}Function=row_of_another_tensor | Found="a product of row 0 of argument 0, [8, 2, 16] of f32 and of 1 other value", Needed="a product of each of the 2 rows"
func.func @row_of_another_tensor(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>,
                                 %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %y1 = math.tanh %x1 : tensor<8x16xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %y1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p = arith.addf %p0, %p1 : tensor<8x8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// A norm of each stream.
// CHECK-LABEL: @norm_of_each_stream
// CHECK-NOT: mhc.projection
// REMARK: [Missed] norm-per-stream | {{.*}}Function=norm_of_each_stream | 
func.func @norm_of_each_stream(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>,
                               %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8x2xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [2] : tensor<8x2x16xf32> -> tensor<8x2xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8x2xf32>
  %s = math.rsqrt %mean_eps : tensor<8x2xf32>
  %s_all = mhc.broadcast %s dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %y = arith.mulf %x, %s_all : tensor<8x2x16xf32>
  %y0 = tensor.extract_slice %y[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %y1 = tensor.extract_slice %y[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %y0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %y1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %t = arith.addf %p0, %p1 : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// -----

// A product of low rank beside the streams': no bias, but a second product of them.
// CHECK-LABEL: @low_rank
// CHECK-NOT: mhc.gates
// REMARK: [Missed] projection-form | {{.*}}Function=low_rank | Found="a product of 'mhc.matmul', [8, 2] of f32, is added to the projection", Needed="gates and logits of s * (x . phi) * alpha + beta"
func.func @low_rank(%x: tensor<8x2x16xf32>, %w0: tensor<8x16xf32>, %w1: tensor<8x16xf32>, %a: tensor<2x16xf32>,
                    %b: tensor<8x2xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %p0 = mhc.matmul %x0, %w0 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %p1 = mhc.matmul %x1, %w1 transpose_rhs : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %low = mhc.matmul %x0, %a transpose_rhs : (tensor<8x16xf32>, tensor<2x16xf32>) -> tensor<8x2xf32>
  %p2 = mhc.matmul %low, %b transpose_rhs : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
  %p01 = arith.addf %p0, %p1 : tensor<8x8xf32>
  %p = arith.addf %p01, %p2 : tensor<8x8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  return %pre, %post, %logits : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}
