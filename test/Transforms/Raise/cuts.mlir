// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Digits and rows that are cut where neither streams nor groups begin.

// Squares of 4 x 6 elements, summed as 3 x 8 and transposed: views of which neither is one of the streams.
// CHECK-LABEL: @squares
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x6xf32>, {{.*}} norm = inside, norm_eps = 1.0e-06
// CHECK: mhc.gates(
// CHECK-SAME: logits : tensor<8x16xf32>
func.func @squares(%streams: tensor<8x4x6xf32>, %phi: tensor<24x24xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x6xf32> into tensor<8x24xf32>
  %square = arith.mulf %x, %x : tensor<8x24xf32>
  %cut = tensor.expand_shape %square [[0], [1, 2]] output_shape [8, 3, 8] : tensor<8x24xf32> into tensor<8x3x8xf32>
  %turned = mhc.transpose %cut perm = [2, 0, 1] : tensor<8x3x8xf32> -> tensor<8x8x3xf32>
  %inner = mhc.reduce mean %turned dims = [0] : tensor<8x8x3xf32> -> tensor<8x3xf32>
  %mean = mhc.reduce mean %inner dims = [1] : tensor<8x3xf32> -> tensor<8xf32>
  %lifted = arith.addf %mean, %eps : tensor<8xf32>
  %root = math.rsqrt %lifted : tensor<8xf32>
  %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<8x24xf32>, tensor<24x24xf32>) -> tensor<8x24xf32>
  %scale = mhc.broadcast %root dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %scale : tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %bias : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// Two of the three parts are no mean of all squares.
// CHECK-LABEL: @squares_of_two_parts
// CHECK-NOT: mhc.gates
// CHECK: return
func.func @squares_of_two_parts(%streams: tensor<8x4x6xf32>, %phi: tensor<24x24xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x6xf32> into tensor<8x24xf32>
  %square = arith.mulf %x, %x : tensor<8x24xf32>
  %cut = tensor.expand_shape %square [[0], [1, 2]] output_shape [8, 3, 8] : tensor<8x24xf32> into tensor<8x3x8xf32>
  %two = tensor.extract_slice %cut[0, 1, 0] [8, 2, 8] [1, 1, 1] : tensor<8x3x8xf32> to tensor<8x2x8xf32>
  %turned = mhc.transpose %two perm = [2, 0, 1] : tensor<8x2x8xf32> -> tensor<8x8x2xf32>
  %inner = mhc.reduce mean %turned dims = [0] : tensor<8x8x2xf32> -> tensor<8x2xf32>
  %mean = mhc.reduce mean %inner dims = [1] : tensor<8x2xf32> -> tensor<8xf32>
  %lifted = arith.addf %mean, %eps : tensor<8xf32>
  %root = math.rsqrt %lifted : tensor<8xf32>
  %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<8x24xf32>, tensor<24x24xf32>) -> tensor<8x24xf32>
  %scale = mhc.broadcast %root dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %scale : tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %bias : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// Three weights, multiplied as columns 0 to 9 and 9 to 24: the cut is in the third.
// CHECK-LABEL: @columns
// CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg1, %arg2, %arg3
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x6xf32>, phi = %[[PHI]]
// CHECK: mhc.gates(
// CHECK-SAME: logits : tensor<8x16xf32>
func.func @columns(%streams: tensor<8x4x6xf32>, %pre: tensor<24x4xf32>, %post: tensor<24x4xf32>,
                   %res: tensor<24x16xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x6xf32> into tensor<8x24xf32>
  %phi = tensor.concat dim(1) %pre, %post, %res : (tensor<24x4xf32>, tensor<24x4xf32>, tensor<24x16xf32>) -> tensor<24x24xf32>
  %w0 = tensor.extract_slice %phi[0, 0] [24, 9] [1, 1] : tensor<24x24xf32> to tensor<24x9xf32>
  %w1 = tensor.extract_slice %phi[0, 9] [24, 15] [1, 1] : tensor<24x24xf32> to tensor<24x15xf32>
  %x0 = mhc.broadcast %x dims = [0, 1] : tensor<8x24xf32> -> tensor<8x24x9xf32>
  %r0 = mhc.broadcast %w0 dims = [1, 2] : tensor<24x9xf32> -> tensor<8x24x9xf32>
  %m0 = arith.mulf %x0, %r0 : tensor<8x24x9xf32>
  %p0 = mhc.reduce sum %m0 dims = [1] : tensor<8x24x9xf32> -> tensor<8x9xf32>
  %x1 = mhc.broadcast %x dims = [0, 1] : tensor<8x24xf32> -> tensor<8x24x15xf32>
  %r1 = mhc.broadcast %w1 dims = [1, 2] : tensor<24x15xf32> -> tensor<8x24x15xf32>
  %m1 = arith.mulf %x1, %r1 : tensor<8x24x15xf32>
  %p1 = mhc.reduce sum %m1 dims = [1] : tensor<8x24x15xf32> -> tensor<8x15xf32>
  %proj = tensor.concat dim(1) %p0, %p1 : (tensor<8x9xf32>, tensor<8x15xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %proj, %bias : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// Column 8 twice and column 23 not at all are no product with the third weight.
// CHECK-LABEL: @columns_that_overlap
// CHECK-NOT: logits : tensor<8x16xf32>
// CHECK: return
func.func @columns_that_overlap(%streams: tensor<8x4x6xf32>, %pre: tensor<24x4xf32>, %post: tensor<24x4xf32>,
                                %res: tensor<24x16xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x6xf32> into tensor<8x24xf32>
  %phi = tensor.concat dim(1) %pre, %post, %res : (tensor<24x4xf32>, tensor<24x4xf32>, tensor<24x16xf32>) -> tensor<24x24xf32>
  %w0 = tensor.extract_slice %phi[0, 0] [24, 9] [1, 1] : tensor<24x24xf32> to tensor<24x9xf32>
  %w1 = tensor.extract_slice %phi[0, 8] [24, 15] [1, 1] : tensor<24x24xf32> to tensor<24x15xf32>
  %x0 = mhc.broadcast %x dims = [0, 1] : tensor<8x24xf32> -> tensor<8x24x9xf32>
  %r0 = mhc.broadcast %w0 dims = [1, 2] : tensor<24x9xf32> -> tensor<8x24x9xf32>
  %m0 = arith.mulf %x0, %r0 : tensor<8x24x9xf32>
  %p0 = mhc.reduce sum %m0 dims = [1] : tensor<8x24x9xf32> -> tensor<8x9xf32>
  %x1 = mhc.broadcast %x dims = [0, 1] : tensor<8x24xf32> -> tensor<8x24x15xf32>
  %r1 = mhc.broadcast %w1 dims = [1, 2] : tensor<24x15xf32> -> tensor<8x24x15xf32>
  %m1 = arith.mulf %x1, %r1 : tensor<8x24x15xf32>
  %p1 = mhc.reduce sum %m1 dims = [1] : tensor<8x24x15xf32> -> tensor<8x15xf32>
  %proj = tensor.concat dim(1) %p0, %p1 : (tensor<8x9xf32>, tensor<8x15xf32>) -> tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %proj, %bias : tensor<8x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<8x4xf32>
  return %h_pre, %h_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}
