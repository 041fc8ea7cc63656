// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// New streams that are computed one by one, each with its part of the branch, and then joined.

// CHECK-LABEL: @side_by_side
func.func @side_by_side(%f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x16xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x32xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x16xf32>, h_post = %arg1 : tensor<8x2xf32>, x = %arg2 : tensor<8x2x16xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK-NEXT: %[[FLAT:.*]] = tensor.collapse_shape %[[OUT]]
  // CHECK-NEXT: return %[[FLAT]]
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %r00 = tensor.extract_slice %r[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %r[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %f0 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %r[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %r[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %f1 : tensor<8x16xf32>
  %out = tensor.concat dim(1) %o0, %o1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %out : tensor<8x32xf32>
}

// CHECK-LABEL: @inner_streams
func.func @inner_streams(%f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x16xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x2x16xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0
  // CHECK-NEXT: return %[[OUT]]
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %r00 = tensor.extract_slice %r[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %r[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %f0 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %r[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %r[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f1 = arith.mulf %g1, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %f1 : tensor<8x16xf32>
  %u0 = tensor.expand_shape %o0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %u1 = tensor.expand_shape %o1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %out = tensor.concat dim(1) %u0, %u1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// The second stream takes the branch of the first: no gate of its own.
// CHECK-LABEL: @one_gate_for_both
func.func @one_gate_for_both(%f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x16xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x32xf32> {
  // CHECK-NOT: mhc.post(
  // CHECK: return
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %r00 = tensor.extract_slice %r[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %r[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %h0 = tensor.extract_slice %h[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g0 = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f0 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o0 = arith.addf %s0, %f0 : tensor<8x16xf32>
  %r10 = tensor.extract_slice %r[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %r[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %h1 = tensor.extract_slice %h[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %g1 = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %f1 = arith.mulf %g0, %f : tensor<8x16xf32>
  %o1 = arith.addf %s1, %f1 : tensor<8x16xf32>
  %out = tensor.concat dim(1) %o0, %o1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %out : tensor<8x32xf32>
}

// The residual matrix beside h_post times the streams above the sublayer's output.
// CHECK-LABEL: @in_one_product
func.func @in_one_product(%f: tensor<?x16xf32>, %h: tensor<?x2xf32>, %x: tensor<?x2x16xf32>, %r: tensor<?x2x2xf32>)
    -> tensor<?x2x16xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<?x16xf32>, h_post = %arg1 : tensor<?x2xf32>, x = %arg2 : tensor<?x2x16xf32>, h_res = %arg3 :
  // CHECK: return %[[OUT]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x16xf32>
  %column = tensor.expand_shape %h [[0], [1, 2]] output_shape [%M, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %row = tensor.expand_shape %f [[0], [1, 2]] output_shape [%M, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  %left = tensor.concat dim(2) %r, %column : (tensor<?x2x2xf32>, tensor<?x2x1xf32>) -> tensor<?x2x3xf32>
  %right = tensor.concat dim(1) %x, %row : (tensor<?x2x16xf32>, tensor<?x1x16xf32>) -> tensor<?x3x16xf32>
  %out = mhc.batch_matmul %left, %right : (tensor<?x2x3xf32>, tensor<?x3x16xf32>) -> tensor<?x2x16xf32>
  return %out : tensor<?x2x16xf32>
}

// The same in a narrow type, as autocast makes it, of one token.
// CHECK-LABEL: @in_one_narrow_product
func.func @in_one_narrow_product(%f: tensor<1x16xf32>, %h: tensor<1x2xf32>, %x: tensor<1x1x2x16xf32>, %r: tensor<1x2x2xf32>)
    -> tensor<1x2x16xbf16> {
  // CHECK: mhc.post(
  %column = tensor.expand_shape %h [[0], [1, 2]] output_shape [1, 2, 1] : tensor<1x2xf32> into tensor<1x2x1xf32>
  %row = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [1, 1, 1, 16] : tensor<1x16xf32> into tensor<1x1x1x16xf32>
  %left = tensor.concat dim(2) %r, %column : (tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x2x3xf32>
  %all = tensor.concat dim(2) %x, %row : (tensor<1x1x2x16xf32>, tensor<1x1x1x16xf32>) -> tensor<1x1x3x16xf32>
  %right = tensor.collapse_shape %all [[0], [1, 2], [3]] : tensor<1x1x3x16xf32> into tensor<1x3x16xf32>
  %left_16 = arith.truncf %left : tensor<1x2x3xf32> to tensor<1x2x3xbf16>
  %right_16 = arith.truncf %right : tensor<1x3x16xf32> to tensor<1x3x16xbf16>
  %out = mhc.batch_matmul %left_16, %right_16 : (tensor<1x2x3xbf16>, tensor<1x3x16xbf16>) -> tensor<1x2x16xbf16>
  return %out : tensor<1x2x16xbf16>
}

// Parts that are cut in other places.
// CHECK-LABEL: @cut_apart
// CHECK-NOT: mhc.post
func.func @cut_apart(%f: tensor<8x16xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x16xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x2x16xf32> {
  %column = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 2, 1] : tensor<8x2xf32> into tensor<8x2x1xf32>
  %row = tensor.expand_shape %f [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %left = tensor.concat dim(2) %column, %r : (tensor<8x2x1xf32>, tensor<8x2x2xf32>) -> tensor<8x2x3xf32>
  %right = tensor.concat dim(1) %x, %row : (tensor<8x2x16xf32>, tensor<8x1x16xf32>) -> tensor<8x3x16xf32>
  %out = mhc.batch_matmul %left, %right : (tensor<8x2x3xf32>, tensor<8x3x16xf32>) -> tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// Three tensors that are stacked and added up, and the streams of the sum at once: the sum is a value of its own.

// CHECK-LABEL: @stacked
func.func @stacked(%f: tensor<8x16xf32>, %b: tensor<16xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x16xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x16xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x16xf32>, bias = %arg1 : tensor<16xf32>, h_post = %arg2 : tensor<8x2xf32>, x = %arg3 : tensor<8x2x16xf32>, h_res = %arg4 :
  // CHECK-NEXT: mhc.contract(x = %[[OUT]] : tensor<8x2x16xf32>)
  %m = mhc.batch_matmul %r, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %g = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %f0 = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %b0 = mhc.broadcast %b dims = [2] : tensor<16xf32> -> tensor<8x2x16xf32>
  %a = arith.mulf %g, %f0 : tensor<8x2x16xf32>
  %c = arith.mulf %g, %b0 : tensor<8x2x16xf32>
  %m1 = tensor.expand_shape %m [[0], [1, 2], [3]] output_shape [8, 1, 2, 16] : tensor<8x2x16xf32> into tensor<8x1x2x16xf32>
  %a1 = tensor.expand_shape %a [[0], [1, 2], [3]] output_shape [8, 1, 2, 16] : tensor<8x2x16xf32> into tensor<8x1x2x16xf32>
  %c1 = tensor.expand_shape %c [[0], [1, 2], [3]] output_shape [8, 1, 2, 16] : tensor<8x2x16xf32> into tensor<8x1x2x16xf32>
  %s = tensor.concat dim(1) %m1, %a1, %c1 : (tensor<8x1x2x16xf32>, tensor<8x1x2x16xf32>, tensor<8x1x2x16xf32>) -> tensor<8x3x2x16xf32>
  %out = mhc.reduce sum %s dims = [1] : tensor<8x3x2x16xf32> -> tensor<8x2x16xf32>
  %u = mhc.reduce sum %out dims = [1] : tensor<8x2x16xf32> -> tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}

// The weights are the same for all tokens, and each row is a function of one of them: rows are alike also where what
// they share is a sum, which is known from the first row on.
// CHECK-LABEL: @of_static_weights(
// CHECK: %[[G:.*]] = mhc.sigmoid %arg2
// CHECK: mhc.post(f = %arg0 : tensor<8x16xf32>, bias = %arg1 : tensor<16xf32>, h_post = {{.*}}, x = %arg3 : tensor<8x2x16xf32>
func.func @of_static_weights(%f: tensor<8x16xf32>, %b: tensor<16xf32>, %h: tensor<2xf32>, %x: tensor<8x2x16xf32>,
                             %r: tensor<2x2xf32>) -> tensor<8x2x16xf32> {
  %g = mhc.sigmoid %h : tensor<2xf32>
  %bias = mhc.broadcast %b dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %y = arith.addf %f, %bias : tensor<8x16xf32>
  %gs0 = tensor.extract_slice %g[0] [1] [1] : tensor<2xf32> to tensor<f32>
  %gb0 = mhc.broadcast %gs0 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %y0 = arith.mulf %gb0, %y : tensor<8x16xf32>
  %r00 = tensor.extract_slice %r[0, 0] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b00 = mhc.broadcast %r00 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %r[0, 1] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b01 = mhc.broadcast %r01 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %o0 = arith.addf %y0, %s0 : tensor<8x16xf32>
  %e0 = tensor.expand_shape %o0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %gs1 = tensor.extract_slice %g[1] [1] [1] : tensor<2xf32> to tensor<f32>
  %gb1 = mhc.broadcast %gs1 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %y1 = arith.mulf %gb1, %y : tensor<8x16xf32>
  %r10 = tensor.extract_slice %r[1, 0] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b10 = mhc.broadcast %r10 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %r[1, 1] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b11 = mhc.broadcast %r11 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %o1 = arith.addf %y1, %s1 : tensor<8x16xf32>
  %e1 = tensor.expand_shape %o1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %out = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// The second row has another function of its weight.
// CHECK-LABEL: @of_unlike_rows(
// CHECK-NOT: mhc.post
// CHECK: return
func.func @of_unlike_rows(%f: tensor<8x16xf32>, %b: tensor<16xf32>, %h: tensor<2xf32>, %x: tensor<8x2x16xf32>,
                          %r: tensor<2x2xf32>) -> tensor<8x2x16xf32> {
  %g = mhc.sigmoid %h : tensor<2xf32>
  %bias = mhc.broadcast %b dims = [1] : tensor<16xf32> -> tensor<8x16xf32>
  %y = arith.addf %f, %bias : tensor<8x16xf32>
  %gs0 = tensor.extract_slice %g[0] [1] [1] : tensor<2xf32> to tensor<f32>
  %gb0 = mhc.broadcast %gs0 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %y0 = arith.mulf %gb0, %y : tensor<8x16xf32>
  %r00 = tensor.extract_slice %r[0, 0] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b00 = mhc.broadcast %r00 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %m00 = arith.mulf %b00, %x0 : tensor<8x16xf32>
  %r01 = tensor.extract_slice %r[0, 1] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b01 = mhc.broadcast %r01 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<8x16xf32>
  %m01 = arith.mulf %b01, %x1 : tensor<8x16xf32>
  %s0 = arith.addf %m00, %m01 : tensor<8x16xf32>
  %o0 = arith.addf %y0, %s0 : tensor<8x16xf32>
  %e0 = tensor.expand_shape %o0 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %t1 = math.tanh %h : tensor<2xf32>
  %gt1 = tensor.extract_slice %t1[1] [1] [1] : tensor<2xf32> to tensor<f32>
  %gb1 = mhc.broadcast %gt1 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %y1 = arith.mulf %gb1, %y : tensor<8x16xf32>
  %r10 = tensor.extract_slice %r[1, 0] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b10 = mhc.broadcast %r10 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %m10 = arith.mulf %b10, %x0 : tensor<8x16xf32>
  %r11 = tensor.extract_slice %r[1, 1] [1, 1] [1, 1] : tensor<2x2xf32> to tensor<f32>
  %b11 = mhc.broadcast %r11 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %m11 = arith.mulf %b11, %x1 : tensor<8x16xf32>
  %s1 = arith.addf %m10, %m11 : tensor<8x16xf32>
  %o1 = arith.addf %y1, %s1 : tensor<8x16xf32>
  %e1 = tensor.expand_shape %o1 [[0], [1, 2]] output_shape [8, 1, 16] : tensor<8x16xf32> into tensor<8x1x16xf32>
  %out = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x16xf32>, tensor<8x1x16xf32>) -> tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}
