// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s

// Coefficients that are put into one tensor and sliced out again.

// CHECK-LABEL: @gates_and_logits
func.func @gates_and_logits(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4x64xf32> {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 :
  // CHECK-NOT: tensor.concat
  // CHECK: %[[F:.*]] = math.tanh %[[U]]
  // CHECK: %[[OUT:.*]] = mhc.post(f = %[[F]] : {{.*}} h_post = %[[POST]] : {{.*}} x = %arg0 : {{.*}} h_res = %[[RES]] :
  // CHECK: return %[[OUT]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %b1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %bw = mhc.broadcast %b1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %c1 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %cw = mhc.broadcast %c1 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %aw_all = tensor.concat dim(0) %aw, %bw, %cw : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %ab = mhc.broadcast %aw_all dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %p, %ab : tensor<8x24xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %bb : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_post = arith.mulf %g1, %two : tensor<8x4xf32>
  %packed = tensor.concat dim(1) %h_pre, %h_post, %z2 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<8x24xf32>
  %p0 = tensor.extract_slice %packed[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p1 = tensor.extract_slice %packed[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %packed[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %weights = mhc.broadcast %p0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %f = math.tanh %u : tensor<8x64xf32>
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gate = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: @gates_and_map
func.func @gates_and_map(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4x64xf32> {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 :
  // CHECK-NOT: tensor.concat
  // CHECK: %[[F:.*]] = math.tanh %[[U]]
  // CHECK: %[[OUT:.*]] = mhc.post(f = %[[F]] : {{.*}} h_post = %[[POST]] : {{.*}} x = %arg0 : {{.*}} h_res = %[[RES]] :
  // CHECK: return %[[OUT]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %b1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %bw = mhc.broadcast %b1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %c1 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %cw = mhc.broadcast %c1 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %aw_all = tensor.concat dim(0) %aw, %bw, %cw : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %ab = mhc.broadcast %aw_all dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %p, %ab : tensor<8x24xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %bb : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_post = arith.mulf %g1, %two : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %flat_res = tensor.collapse_shape %h_res [[0], [1, 2]] : tensor<8x4x4xf32> into tensor<8x16xf32>
  %packed = tensor.concat dim(1) %h_pre, %h_post, %flat_res : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<8x24xf32>
  %p0 = tensor.extract_slice %packed[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p1 = tensor.extract_slice %packed[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %packed[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %map = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %weights = mhc.broadcast %p0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %f = math.tanh %u : tensor<8x64xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gate = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The logits are a result of the function: no kernel that keeps them to itself, but one that makes them.
// CHECK-LABEL: @packed_logits_that_are_returned
func.func @packed_logits_that_are_returned(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4x64xf32>, tensor<8x24xf32>) {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.pre(x = %arg0 {{.*}}res_map = identity
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[Z]]
  // CHECK: %[[PACKED:.*]] = tensor.concat dim(1) %[[PRE]], %[[POST]], %[[FLAT]]
  // CHECK: mhc.sinkhorn(
  // CHECK: %[[OUT:.*]] = mhc.post(
  // CHECK: return %[[OUT]], %[[PACKED]]
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<8xf32>
  %s = math.rsqrt %ms_eps : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %b1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %bw = mhc.broadcast %b1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %c1 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %cw = mhc.broadcast %c1 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %aw_all = tensor.concat dim(0) %aw, %bw, %cw : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %ab = mhc.broadcast %aw_all dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %p, %ab : tensor<8x24xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %bb : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %g0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<8x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_post = arith.mulf %g1, %two : tensor<8x4xf32>
  %packed = tensor.concat dim(1) %h_pre, %h_post, %z2 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<8x24xf32>
  %p0 = tensor.extract_slice %packed[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p1 = tensor.extract_slice %packed[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %packed[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %weights = mhc.broadcast %p0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<8x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %f = math.tanh %u : tensor<8x64xf32>
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gate = mhc.broadcast %p1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out, %packed : tensor<8x4x64xf32>, tensor<8x24xf32>
}
