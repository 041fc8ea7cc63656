// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// A single token of static size: its dimension has no variable, but its tensors keep the dimension.

// CHECK-LABEL: @aggregate
func.func @aggregate(%x: tensor<1x4x64xf32>, %h: tensor<1x4xf32>) -> tensor<1x64xf32> {
  // CHECK: mhc.aggregate(x = %arg0 : tensor<1x4x64xf32>, h_pre = %arg1 : tensor<1x4xf32>) <layout = nC>
  %0 = mhc.broadcast %h dims = [0, 1] : tensor<1x4xf32> -> tensor<1x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<1x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<1x4x64xf32> -> tensor<1x64xf32>
  return %2 : tensor<1x64xf32>
}

// CHECK-LABEL: @post_with_bias
func.func @post_with_bias(%x: tensor<1x4x64xf32>, %h_res: tensor<1x4x4xf32>, %h_post: tensor<1x4xf32>,
                          %f: tensor<1x64xf32>, %bias: tensor<64xf32>) -> tensor<1x4x64xf32> {
  // CHECK: mhc.post(f = %arg3 : tensor<1x64xf32>, bias = %arg4 : tensor<64xf32>, h_post = %arg2 : tensor<1x4xf32>, x = %arg0 : tensor<1x4x64xf32>, h_res = %arg1 : tensor<1x4x4xf32>)
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<1x4x4xf32>, tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<1x4xf32> -> tensor<1x4x64xf32>
  %bias_row = mhc.broadcast %bias dims = [1] : tensor<64xf32> -> tensor<1x64xf32>
  %sum = arith.addf %f, %bias_row : tensor<1x64xf32>
  %rows = mhc.broadcast %sum dims = [0, 2] : tensor<1x64xf32> -> tensor<1x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<1x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<1x4x64xf32>
  return %out : tensor<1x4x64xf32>
}

// CHECK-LABEL: @contract
func.func @contract(%x: tensor<1x4x64xf32>) -> tensor<1x64xf32> {
  // CHECK: mhc.contract(x = %arg0 : tensor<1x4x64xf32>) <layout = nC, mode = sum>
  %0 = mhc.reduce sum %x dims = [1] : tensor<1x4x64xf32> -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// A matrix of parameters has no dimension for the token.
// CHECK-LABEL: @no_aggregate_of_parameters
func.func @no_aggregate_of_parameters(%w: tensor<4x64xf32>, %h: tensor<1x4xf32>) -> tensor<1x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = mhc.matmul %h, %w : (tensor<1x4xf32>, tensor<4x64xf32>) -> tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// CHECK-LABEL: @no_aggregate_with_weights_that_no_token_has
func.func @no_aggregate_with_weights_that_no_token_has(%x: tensor<1x4x64xf32>, %h: tensor<4xf32>) -> tensor<1x64xf32> {
  // CHECK-NOT: mhc.aggregate
  // CHECK: return
  %0 = mhc.broadcast %h dims = [1] : tensor<4xf32> -> tensor<1x4x64xf32>
  %1 = arith.mulf %x, %0 : tensor<1x4x64xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<1x4x64xf32> -> tensor<1x64xf32>
  return %2 : tensor<1x64xf32>
}

// The multiplier of the token and the scale of the gates are both one number: the root mean square tells them apart.
// CHECK-LABEL: @gates
func.func @gates(%x: tensor<1x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x16xf32>) {
  // CHECK: mhc.projection(x = %arg0 : tensor<1x4x64xf32>, phi = %arg1 : tensor<24x256xf32>) <{{.*}} norm = inside
  // CHECK: mhc.gates({{.*}} alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  %eps = arith.constant dense<1.0e-06> : tensor<1xf32>
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<1x4xf32>
  %two = arith.constant dense<2.0> : tensor<1x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<1x4x64xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<1x256xf32>, tensor<24x256xf32>) -> tensor<1x24xf32>
  %square = arith.mulf %flat, %flat : tensor<1x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<1x256xf32> -> tensor<1xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<1xf32>
  %s = math.rsqrt %ms_eps : tensor<1xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<1xf32> -> tensor<1x24xf32>
  %p = arith.mulf %proj, %sb : tensor<1x24xf32>
  %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %aw = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %b1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %bw = mhc.broadcast %b1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %c1 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %cw = mhc.broadcast %c1 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %aw_all = tensor.concat dim(0) %aw, %bw, %cw : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %ab = mhc.broadcast %aw_all dims = [1] : tensor<24xf32> -> tensor<1x24xf32>
  %pa = arith.mulf %p, %ab : tensor<1x24xf32>
  %bb = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<1x24xf32>
  %z = arith.addf %pa, %bb : tensor<1x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [1, 4] [1, 1] : tensor<1x24xf32> to tensor<1x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [1, 4] [1, 1] : tensor<1x24xf32> to tensor<1x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [1, 16] [1, 1] : tensor<1x24xf32> to tensor<1x16xf32>
  %g0 = mhc.sigmoid %z0 : tensor<1x4xf32>
  %h_pre = arith.addf %g0, %pre_eps : tensor<1x4xf32>
  %g1 = mhc.sigmoid %z1 : tensor<1x4xf32>
  %h_post = arith.mulf %g1, %two : tensor<1x4xf32>
  return %h_pre, %h_post, %z2 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x16xf32>
}

// A number is no bias that a product stands beside.
// CHECK-LABEL: @number_of_one_token
// CHECK: mhc.sigmoid
func.func @number_of_one_token(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %one = arith.constant dense<1.0> : tensor<1x4xf32>
  %z = arith.addf %x, %one : tensor<1x4xf32>
  %gate = mhc.sigmoid %z : tensor<1x4xf32>
  return %gate : tensor<1x4xf32>
}

// A norm of one token is a number, which stands before all that the layer behind it computes.
// CHECK-LABEL: @post_behind_a_norm
// CHECK: mhc.post(f = %{{.*}} : tensor<1x64xf32>, h_post = %arg2 : tensor<1x4xf32>, x = %{{.*}} : tensor<1x4x64xf32>, h_res = %arg1 :
func.func @post_behind_a_norm(%x: tensor<1x1x4x64xf32>, %h_res: tensor<1x4x4xf32>, %h_post: tensor<1x4xf32>,
                              %u: tensor<1x64xf32>, %w: tensor<64x64xf32>) -> tensor<1x1x4x64xf32> {
  %square = arith.mulf %u, %u : tensor<1x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<1x64xf32> -> tensor<1xf32>
  %root = math.rsqrt %mean : tensor<1xf32>
  %each = mhc.broadcast %root dims = [0] : tensor<1xf32> -> tensor<1x64xf32>
  %normed = arith.mulf %u, %each : tensor<1x64xf32>
  %f = mhc.matmul %normed, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %streams = tensor.collapse_shape %x [[0], [1, 2], [3]] : tensor<1x1x4x64xf32> into tensor<1x4x64xf32>
  %mixed = mhc.batch_matmul %h_res, %streams : (tensor<1x4x4xf32>, tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<1x4xf32> -> tensor<1x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<1x64xf32> -> tensor<1x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<1x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<1x4x64xf32>
  %whole = tensor.expand_shape %out [[0], [1, 2], [3]] output_shape [1, 1, 4, 64] : tensor<1x4x64xf32> into tensor<1x1x4x64xf32>
  return %whole : tensor<1x1x4x64xf32>
}

// Streams in front of their one token are told by the residual map.
// CHECK-LABEL: @post_of_streams_in_front
// CHECK: mhc.post(
func.func @post_of_streams_in_front(%x: tensor<4x1x64xf32>, %logits: tensor<1x4x4xf32>, %h_post: tensor<1x4xf32>,
                                    %f: tensor<1x64xf32>) -> tensor<1x4x64xf32> {
  %h_res = mhc.sinkhorn(logits = %logits : tensor<1x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 3> -> (mix : tensor<1x4x4xf32>)
  %streams = mhc.transpose %x perm = [1, 0, 2] : tensor<4x1x64xf32> -> tensor<1x4x64xf32>
  %mixed = mhc.batch_matmul %h_res, %streams : (tensor<1x4x4xf32>, tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<1x4xf32> -> tensor<1x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<1x64xf32> -> tensor<1x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<1x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<1x4x64xf32>
  return %out : tensor<1x4x64xf32>
}

// The same tensors without a map may be those of any layer.
// CHECK-LABEL: @no_post_of_weights
// CHECK-NOT: mhc.post
func.func @no_post_of_weights(%x: tensor<4x1x64xf32>, %h_res: tensor<4x4xf32>, %h_post: tensor<4xf32>, %f: tensor<64xf32>)
    -> tensor<4x64xf32> {
  %streams = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x1x64xf32> into tensor<4x64xf32>
  %mixed = mhc.matmul %h_res, %streams : (tensor<4x4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0] : tensor<4xf32> -> tensor<4x64xf32>
  %rows = mhc.broadcast %f dims = [1] : tensor<64xf32> -> tensor<4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<4x64xf32>
  return %out : tensor<4x64xf32>
}

// Without a norm, the streams' own dimension tells the token.
// CHECK-LABEL: @gate_without_norm
// CHECK: mhc.projection(x = %arg0 : tensor<1x4x64xf32>, phi = %arg1 : tensor<4x256xf32>) <{{.*}} norm = none
// CHECK: mhc.gates(
func.func @gate_without_norm(%x: tensor<1x4x64xf32>, %phi: tensor<4x256xf32>, %beta: tensor<4xf32>) -> tensor<1x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<1x4x64xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<1x256xf32>, tensor<4x256xf32>) -> tensor<1x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<1x4xf32>
  %z = arith.addf %proj, %bias : tensor<1x4xf32>
  %gate = mhc.sigmoid %z : tensor<1x4xf32>
  return %gate : tensor<1x4xf32>
}

// CHECK-LABEL: @no_gate_of_a_vector
// CHECK-NOT: mhc.gates
func.func @no_gate_of_a_vector(%x: tensor<4x64xf32>, %phi: tensor<4x256xf32>, %beta: tensor<4xf32>) -> tensor<1x4xf32> {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x64xf32> into tensor<256xf32>
  %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 256] : tensor<256xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %row, %phi transpose_rhs : (tensor<1x256xf32>, tensor<4x256xf32>) -> tensor<1x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<1x4xf32>
  %z = arith.addf %proj, %bias : tensor<1x4xf32>
  %gate = mhc.sigmoid %z : tensor<1x4xf32>
  return %gate : tensor<1x4xf32>
}

// The one token shows where its logits become matrices, and not in their type.
// CHECK-LABEL: func.func @one_token_of_open_logits(
func.func @one_token_of_open_logits(%z: tensor<?x16xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.sinkhorn(logits = %{{.*}} : tensor<1x4x4xf32>)
  %c1 = arith.constant 1 : index
  %a = math.exp %z : tensor<?x16xf32>
  %a0 = tensor.expand_shape %a [[0], [1, 2]] output_shape [%c1, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<?x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %b2 = mhc.broadcast %s2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<?x4x4xf32>
  return %a2 : tensor<?x4x4xf32>
}

// CHECK-LABEL: @expand
func.func @expand(%x: tensor<1x64xf32>, %phi: tensor<24x256xf32>) -> (tensor<1x4x64xf32>, tensor<1x24xf32>) {
  // CHECK: mhc.expand(x = %arg0 : tensor<1x64xf32>) <layout = nC> -> (streams : tensor<1x4x64xf32>)
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<1x64xf32> -> tensor<1x4x64xf32>
  %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<1x4x64xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<1x256xf32>, tensor<24x256xf32>) -> tensor<1x24xf32>
  return %streams, %proj : tensor<1x4x64xf32>, tensor<1x24xf32>
}

// CHECK-LABEL: @expand_inner
func.func @expand_inner(%x: tensor<1x64xf32>, %phi: tensor<24x256xf32>) -> tensor<1x24xf32> {
  // CHECK: mhc.expand(x = %arg0 : tensor<1x64xf32>) <layout = Cn> -> (streams : tensor<1x64x4xf32>)
  %streams = mhc.broadcast %x dims = [0, 1] : tensor<1x64xf32> -> tensor<1x64x4xf32>
  %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<1x64x4xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<1x256xf32>, tensor<24x256xf32>) -> tensor<1x24xf32>
  return %proj : tensor<1x24xf32>
}

// CHECK-LABEL: @no_expand_of_a_parameter
func.func @no_expand_of_a_parameter(%w: tensor<64xf32>, %phi: tensor<24x256xf32>) -> tensor<1x24xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %streams = mhc.broadcast %w dims = [2] : tensor<64xf32> -> tensor<1x4x64xf32>
  %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<1x4x64xf32> into tensor<1x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<1x256xf32>, tensor<24x256xf32>) -> tensor<1x24xf32>
  return %proj : tensor<1x24xf32>
}

// A step of decoding without a dimension for the token: what is projected are streams, of which h_pre makes a row.
// CHECK-LABEL: @no_dimension
func.func @no_dimension(%x: tensor<4x16xf32>, %phi: tensor<24x64xf32>, %f: tensor<1x16xf32>)
    -> (tensor<1x16xf32>, tensor<4x16xf32>) {
  // CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [1, 4, 16]
  // CHECK: %[[H_PRE:.*]], %[[H_POST:.*]], %{{.*}} = mhc.gates(
  // CHECK: mhc.aggregate(x = %[[X]] : tensor<1x4x16xf32>, h_pre = %[[H_PRE]] : tensor<1x4xf32>)
  %eps = arith.constant dense<1.0e-06> : tensor<1xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
  %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  %p = mhc.matmul %row, %phi transpose_rhs : (tensor<1x64xf32>, tensor<24x64xf32>) -> tensor<1x24xf32>
  %square = arith.mulf %row, %row : tensor<1x64xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<1x64xf32> -> tensor<1xf32>
  %shifted = arith.addf %ms, %eps : tensor<1xf32>
  %s = math.rsqrt %shifted : tensor<1xf32>
  %factors = mhc.broadcast %s dims = [0] : tensor<1xf32> -> tensor<1x24xf32>
  %z = arith.mulf %p, %factors : tensor<1x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [1, 4] [1, 1] : tensor<1x24xf32> to tensor<1x4xf32>
  %z_post = tensor.extract_slice %z[0, 4] [1, 4] [1, 1] : tensor<1x24xf32> to tensor<1x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [1, 16] [1, 1] : tensor<1x24xf32> to tensor<1x16xf32>
  %wide = tensor.expand_shape %logits [[0], [1, 2]] output_shape [1, 4, 4] : tensor<1x16xf32> into tensor<1x4x4xf32>
  %mix = mhc.sinkhorn(logits = %wide : tensor<1x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<1x4x4xf32>)
  %pre = mhc.sigmoid %z_pre : tensor<1x4xf32>
  %post = mhc.sigmoid %z_post : tensor<1x4xf32>
  %u = mhc.matmul %pre, %x : (tensor<1x4xf32>, tensor<4x16xf32>) -> tensor<1x16xf32>
  // CHECK: mhc.post(f = %arg2 : tensor<1x16xf32>, h_post = %[[H_POST]] : tensor<1x4xf32>, x = %[[X]] : tensor<1x4x16xf32>
  %matrix = tensor.collapse_shape %mix [[0, 1], [2]] : tensor<1x4x4xf32> into tensor<4x4xf32>
  %mixed = mhc.matmul %matrix, %x : (tensor<4x4xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %column = tensor.collapse_shape %post [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %gate = mhc.broadcast %column dims = [0] : tensor<4xf32> -> tensor<4x16xf32>
  %only = tensor.collapse_shape %f [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
  %rows = mhc.broadcast %only dims = [1] : tensor<16xf32> -> tensor<4x16xf32>
  %branch = arith.mulf %gate, %rows : tensor<4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<4x16xf32>
  return %u, %out : tensor<1x16xf32>, tensor<4x16xf32>
}
