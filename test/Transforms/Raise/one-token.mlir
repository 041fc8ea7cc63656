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
