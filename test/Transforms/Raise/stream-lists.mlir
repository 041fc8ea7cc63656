// RUN: mhc-opt %s --mhc-raise --canonicalize | FileCheck %s
// RUN: mhcc %s --verify

// Streams that are n tensors: stacked for one thing, mixed one by one for another. They are rows of the stack, and the new
// streams are rows of one post.

// CHECK-LABEL: @one_by_one(
func.func @one_by_one(%x0: tensor<8x16xf32>, %x1: tensor<8x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>,
                      %r: tensor<8x2x2xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK-DAG: %[[X0:.*]] = tensor.expand_shape %arg0
  // CHECK-DAG: %[[X1:.*]] = tensor.expand_shape %arg1
  // CHECK:     %[[X:.*]] = tensor.concat dim(1) %[[X0]], %[[X1]]
  // CHECK:     %[[U:.*]] = mhc.aggregate(x = %[[X]]
  // CHECK:     %[[H:.*]] = mhc.sinkhorn(
  // CHECK:     %[[OUT:.*]] = mhc.post(f = %arg2 : {{.*}}, h_post = %arg3 : {{.*}}, x = %[[X]] : {{.*}}, h_res = %[[H]]
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK-NOT: arith.mulf
  // CHECK-DAG: tensor.extract_slice %[[OUT]][0, 0, 0]
  // CHECK-DAG: tensor.extract_slice %[[OUT]][0, 1, 0]
  // CHECK:     return
  %e0 = tensor.expand_shape %x0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %e1 = tensor.expand_shape %x1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %x = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  %u = mhc.aggregate(x = %x : tensor<8x2x16xf32>, h_pre = %h : tensor<8x2xf32>) <layout = nC> -> (u : tensor<8x16xf32>)
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %r00 = tensor.extract_slice %mix[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %mix[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %mix[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %mix[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %y0 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %y1 : tensor<8x16xf32>
  return %u, %o0, %o1 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// Streams that nothing shows to be alike are rows of what is squared for their norm, in each shape.
// CHECK-LABEL: @unlike(
func.func @unlike(%a: tensor<4x2x16xf32>, %x1: tensor<8x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>,
                  %r: tensor<8x2x2xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK:     %[[X:.*]] = tensor.concat dim(1)
  // CHECK:     %[[OUT:.*]] = mhc.post(f = %arg2 : {{.*}}, h_post = %arg3 : {{.*}}, x = %[[X]]
  // CHECK-NOT: arith.mulf
  // CHECK-DAG: tensor.extract_slice %[[OUT]][0, 0, 0]
  // CHECK-DAG: tensor.extract_slice %[[OUT]][0, 1, 0]
  // CHECK:     return
  %t = math.tanh %a : tensor<4x2x16xf32>
  %x0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x2x16xf32> into tensor<8x16xf32>
  %e0 = tensor.expand_shape %x0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %e1 = tensor.expand_shape %x1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %x = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %norm = mhc.reduce sum %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %r00 = tensor.extract_slice %mix[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %mix[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %mix[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %mix[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %y0 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %y1 : tensor<8x16xf32>
  return %norm, %o0, %o1 : tensor<8xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// One of what is mixed is another tensor than what is stacked.
// CHECK-LABEL: @other_stream(
func.func @other_stream(%a: tensor<4x2x16xf32>, %x1: tensor<8x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>,
                  %r: tensor<8x2x2xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK-NOT: mhc.post
  // CHECK:     return
  %t = math.tanh %a : tensor<4x2x16xf32>
  %x0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x2x16xf32> into tensor<8x16xf32>
  %e0 = tensor.expand_shape %x0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %e1 = tensor.expand_shape %x1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %x = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  %square = arith.mulf %x, %x : tensor<8x2x16xf32>
  %norm = mhc.reduce sum %square dims = [1, 2] : tensor<8x2x16xf32> -> tensor<8xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %r00 = tensor.extract_slice %mix[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %mix[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %mix[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %f : tensor<8x16xf32>
  %r11 = tensor.extract_slice %mix[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %y0 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %y1 : tensor<8x16xf32>
  return %norm, %o0, %o1 : tensor<8xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// The new streams are values of their own, also where nothing but their sum is read.
// CHECK-LABEL: @summed_at_once(
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: mhc.contract(x = %[[OUT]]
func.func @summed_at_once(%x0: tensor<8x16xf32>, %x1: tensor<8x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>,
                      %r: tensor<8x2x2xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %e0 = tensor.expand_shape %x0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %e1 = tensor.expand_shape %x1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %x = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  %u = mhc.aggregate(x = %x : tensor<8x2x16xf32>, h_pre = %h : tensor<8x2xf32>) <layout = nC> -> (u : tensor<8x16xf32>)
  %mix = mhc.sinkhorn(logits = %r : tensor<8x2x2xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x2x2xf32>)
  %r00 = tensor.extract_slice %mix[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %mix[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %mix[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %mix[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %y0 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %y1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %y1 : tensor<8x16xf32>
  %sum = arith.addf %o0, %o1 : tensor<8x16xf32>
  return %u, %sum : tensor<8x16xf32>, tensor<8x16xf32>
}

// Two tensors that are joined and read alone, and no mix: they are read as they were.
// CHECK-LABEL: @no_streams(
func.func @no_streams(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %z: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x16xf32>) {
  // CHECK-NOT: extract_slice
  // CHECK: arith.subf %arg0, %arg1
  // CHECK-NOT: mhc.stack
  %ab = tensor.concat dim(1) %a, %b : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %gate = mhc.sigmoid %z : tensor<8x32xf32>
  %gated = arith.mulf %ab, %gate : tensor<8x32xf32>
  %d = arith.subf %a, %b : tensor<8x16xf32>
  return %gated, %d : tensor<8x32xf32>, tensor<8x16xf32>
}

// Tensors of no elements along the dimension are no streams.
// CHECK-LABEL: @nothing_to_stack(
// CHECK: return
func.func @nothing_to_stack(%a: tensor<8x0xf32>, %b: tensor<8x0xf32>, %z: tensor<8x0xf32>) -> (tensor<8x0xf32>, tensor<8x0xf32>) {
  %ab = tensor.concat dim(1) %a, %b : (tensor<8x0xf32>, tensor<8x0xf32>) -> tensor<8x0xf32>
  %gate = mhc.sigmoid %z : tensor<8x0xf32>
  %gated = arith.mulf %ab, %gate : tensor<8x0xf32>
  %d = arith.subf %a, %b : tensor<8x0xf32>
  return %gated, %d : tensor<8x0xf32>, tensor<8x0xf32>
}

// Streams with open batch and tokens, one behind the other in the batch: a stack of them, where their sizes are equal.
// CHECK-LABEL: @open_sizes(
// CHECK-DAG: %[[X0:.*]] = tensor.expand_shape %arg0
// CHECK-DAG: %[[X1:.*]] = tensor.expand_shape %arg1
// CHECK:     %[[X:.*]] = tensor.concat dim(0) %[[X0]], %[[X1]] : (tensor<1x?x?x16xf32>, tensor<1x?x?x16xf32>) -> tensor<2x?x?x16xf32>
// CHECK-NOT: arith.mulf
// CHECK:     mhc.aggregate(
// CHECK-NOT: arith.mulf
// CHECK:     return
func.func @open_sizes(%x0: tensor<?x?x16xf32> {mhc.dims = ["b", "t", "16"]}, %x1: tensor<?x?x16xf32> {mhc.dims = ["b", "t", "16"]},
                      %phi: tensor<8x32xf32>, %h: tensor<?x2xf32> {mhc.dims = ["b*t", "2"]}) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x0, %c0 : tensor<?x?x16xf32>
  %t = tensor.dim %x0, %c1 : tensor<?x?x16xf32>
  %m = tensor.dim %h, %c0 : tensor<?x2xf32>
  %all = tensor.concat dim(0) %x0, %x1 : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %stack = tensor.expand_shape %all [[0, 1], [2], [3]] output_shape [2, %b, %t, 16] : tensor<?x?x16xf32> into tensor<2x?x?x16xf32>
  %turned = mhc.transpose %stack perm = [1, 2, 0, 3] : tensor<2x?x?x16xf32> -> tensor<?x?x2x16xf32>
  %x = tensor.collapse_shape %turned [[0, 1], [2], [3]] : tensor<?x?x2x16xf32> into tensor<?x2x16xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<?x2x16xf32>, phi = %phi : tensor<8x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<?x8xf32>, stat : tensor<?xf32>)
  %f0 = tensor.collapse_shape %x0 [[0, 1], [2]] : tensor<?x?x16xf32> into tensor<?x16xf32>
  %f1 = tensor.collapse_shape %x1 [[0, 1], [2]] : tensor<?x?x16xf32> into tensor<?x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [%m, 1] [1, 1] : tensor<?x2xf32> to tensor<?xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<?xf32> -> tensor<?x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [%m, 1] [1, 1] : tensor<?x2xf32> to tensor<?xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<?xf32> -> tensor<?x16xf32>
  %y0 = arith.mulf %g0, %f0 : tensor<?x16xf32>
  %y1 = arith.mulf %g1, %f1 : tensor<?x16xf32>
  %u = arith.addf %y0, %y1 : tensor<?x16xf32>
  return %proj, %stat, %u : tensor<?x8xf32>, tensor<?xf32>, tensor<?x16xf32>
}

// Where nothing says that the sizes are equal, there is no stack.
// CHECK-LABEL: @unequal_sizes(
// CHECK-NOT: expand_shape
// CHECK: tensor.concat dim(0) %arg0, %arg1 : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
func.func @unequal_sizes(%past: tensor<?x16xf32>, %new: tensor<?x16xf32>, %z: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %all = tensor.concat dim(0) %past, %new : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %gate = mhc.sigmoid %z : tensor<?x16xf32>
  %a = math.exp %past : tensor<?x16xf32>
  return %all, %gate, %a : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}
