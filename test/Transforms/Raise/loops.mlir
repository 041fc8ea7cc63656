// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s

// A model that loops over its layers, with the weights of each taken from a stack.

// CHECK-LABEL: @layers
func.func @layers(%x: tensor<8x4x64xf32>, %phis: tensor<3x24x256xf32>, %alphas: tensor<3x3xf32>,
                  %betas: tensor<3x24xf32>) -> tensor<8x64xf32> {
  // CHECK: %[[OUT:.*]] = scf.for %{{.*}} iter_args(%[[X:.*]] = %arg0)
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %[[X]] :
  // CHECK-SAME: res_map = sinkhorn
  // CHECK-SAME: iters = 20
  // CHECK-NOT: scf.for
  // CHECK: %[[F:.*]] = math.tanh %[[U]]
  // CHECK: %[[NEXT:.*]] = mhc.post(f = %[[F]] : {{.*}} h_post = %[[POST]] : {{.*}} x = %[[X]] : {{.*}} h_res = %[[RES]] :
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: mhc.contract(x = %[[OUT]] : tensor<8x4x64xf32>) <layout = nC, mode = mean>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %turns = arith.constant 20 : index
  %out = scf.for %i = %first to %layers step %step iter_args(%streams = %x) -> (tensor<8x4x64xf32>) {
    %phi_1 = tensor.extract_slice %phis[%i, 0, 0] [1, 24, 256] [1, 1, 1] : tensor<3x24x256xf32> to tensor<1x24x256xf32>
    %phi = tensor.collapse_shape %phi_1 [[0, 1], [2]] : tensor<1x24x256xf32> into tensor<24x256xf32>
    %alpha = tensor.extract_slice %alphas[%i, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<3xf32>
    %beta = tensor.extract_slice %betas[%i, 0] [1, 24] [1, 1] : tensor<3x24xf32> to tensor<24xf32>
    %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
    %pb = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %pw = arith.mulf %streams, %pb : tensor<8x4x64xf32>
    %u = mhc.reduce sum %pw dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
    %f = math.tanh %u : tensor<8x64xf32>
    %hb = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
    %e = arith.mulf %hb, %fb : tensor<8x4x64xf32>
    %res = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %start = math.exp %res : tensor<8x4x4xf32>
    %map = scf.for %j = %first to %turns step %step iter_args(%it = %start) -> (tensor<8x4x4xf32>) {
      %row = mhc.reduce sum %it dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
      %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
      %by_row = arith.divf %it, %row_all : tensor<8x4x4xf32>
      %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
      %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
      %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
      scf.yield %by_col : tensor<8x4x4xf32>
    }
    %mix = mhc.batch_matmul %map, %streams : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
    %next = arith.addf %e, %mix : tensor<8x4x64xf32>
    scf.yield %next : tensor<8x4x64xf32>
  }
  %mean = mhc.reduce mean %out dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %mean : tensor<8x64xf32>
}

// CHECK-LABEL: @layers_that_share_their_weights
func.func @layers_that_share_their_weights(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>,
                                           %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> tensor<8x4x64xf32> {
  // CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %arg0)
  // CHECK: mhc.pre(x = %[[X]] :
  // CHECK-SAME: res_map = identity
  // CHECK: mhc.post(
  // CHECK: scf.yield
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %out = scf.for %i = %first to %layers step %step iter_args(%streams = %x) -> (tensor<8x4x64xf32>) {
    %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
    %pb = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %pw = arith.mulf %streams, %pb : tensor<8x4x64xf32>
    %u = mhc.reduce sum %pw dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
    %f = math.tanh %u : tensor<8x64xf32>
    %hb = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
    %e = arith.mulf %hb, %fb : tensor<8x4x64xf32>
    %res = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
    %mix = mhc.batch_matmul %res, %streams : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
    %next = arith.addf %e, %mix : tensor<8x4x64xf32>
    scf.yield %next : tensor<8x4x64xf32>
  }
  return %out : tensor<8x4x64xf32>
}

// A given product and the mean square beside it.
// CHECK-LABEL: @projections
func.func @projections(%x: tensor<8x256xf32>, %phis: tensor<3x24x256xf32>, %start: tensor<8x24xf32>)
    -> tensor<8x24xf32> {
  // CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %arg2)
  // CHECK: %[[P:.*]], %[[S:.*]] = mhc.projection({{.*}}stat_form = mean_square
  // CHECK: mhc.broadcast %[[S]]
  // CHECK: arith.addf %[[P]]
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %out = scf.for %i = %first to %layers step %step iter_args(%sum = %start) -> (tensor<8x24xf32>) {
    %phi = tensor.extract_slice %phis[%i, 0, 0] [1, 24, 256] [1, 1, 1] : tensor<3x24x256xf32> to tensor<24x256xf32>
    %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
    %square = arith.mulf %x, %x : tensor<8x256xf32>
    %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
    %wide = mhc.broadcast %ms dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
    %both = arith.addf %proj, %wide : tensor<8x24xf32>
    %next = arith.addf %both, %sum : tensor<8x24xf32>
    scf.yield %next : tensor<8x24xf32>
  }
  return %out : tensor<8x24xf32>
}

// The mean square stands outside the loop: a projection inside cannot give it to the code before.
// CHECK-LABEL: @no_projection_with_a_statistic_outside_the_loop
func.func @no_projection_with_a_statistic_outside_the_loop(%x: tensor<8x256xf32>, %phis: tensor<3x24x256xf32>,
                                                           %start: tensor<8x24xf32>)
    -> (tensor<8x24xf32>, tensor<8xf32>) {
  // CHECK-NOT: mhc.projection
  // CHECK: return
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %layers = arith.constant 3 : index
  %square = arith.mulf %x, %x : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %out = scf.for %i = %first to %layers step %step iter_args(%sum = %start) -> (tensor<8x24xf32>) {
    %phi = tensor.extract_slice %phis[%i, 0, 0] [1, 24, 256] [1, 1, 1] : tensor<3x24x256xf32> to tensor<24x256xf32>
    %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
    %next = arith.addf %proj, %sum : tensor<8x24xf32>
    scf.yield %next : tensor<8x24xf32>
  }
  return %out, %ms : tensor<8x24xf32>, tensor<8xf32>
}

// A carried value is no streams when it does not start from streams.
// CHECK-LABEL: @no_contract_of_other_carried_values
func.func @no_contract_of_other_carried_values(%z: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.contract
  // CHECK: return
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %turns = arith.constant 3 : index
  %start = math.exp %z : tensor<8x4x64xf32>
  %out = scf.for %i = %first to %turns step %step iter_args(%it = %start) -> (tensor<8x4x64xf32>) {
    %sum = mhc.reduce sum %it dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
    %all = mhc.broadcast %sum dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
    %next = arith.divf %it, %all : tensor<8x4x64xf32>
    scf.yield %next : tensor<8x4x64xf32>
  }
  return %out : tensor<8x4x64xf32>
}

// A reshape in a loop is the one before it: the logits of all turns.
// CHECK-LABEL: @reshape_in_a_loop
func.func @reshape_in_a_loop(%z: tensor<?x16xf32>) -> tensor<?x4x4xf32> {
  // CHECK: %[[Z:.*]] = tensor.expand_shape %arg0
  // CHECK: mhc.sinkhorn(logits = %[[Z]] : tensor<?x4x4xf32>) <init = log, order = row_col, denom = none, eps = 0.0, iters = 3>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %z, %c0 : tensor<?x16xf32>
  %start = tensor.splat %zero[%M] : tensor<?x4xf32>
  %fg:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%f = %start, %g = %start) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %own = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
    %g_all = mhc.broadcast %g dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %zg = arith.addf %own, %g_all : tensor<?x4x4xf32>
    %exp_row = math.exp %zg : tensor<?x4x4xf32>
    %sum_row = mhc.reduce sum %exp_row dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %log_row = math.log %sum_row : tensor<?x4xf32>
    %f_next = arith.negf %log_row : tensor<?x4xf32>
    %f_all = mhc.broadcast %f_next dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %zf = arith.addf %own, %f_all : tensor<?x4x4xf32>
    %exp_col = math.exp %zf : tensor<?x4x4xf32>
    %sum_col = mhc.reduce sum %exp_col dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %log_col = math.log %sum_col : tensor<?x4xf32>
    %g_next = arith.negf %log_col : tensor<?x4xf32>
    scf.yield %f_next, %g_next : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %logits = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %f_out = mhc.broadcast %fg#0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %sum = arith.addf %logits, %f_out : tensor<?x4x4xf32>
  %g_out = mhc.broadcast %fg#1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %all = arith.addf %sum, %g_out : tensor<?x4x4xf32>
  %h = math.exp %all : tensor<?x4x4xf32>
  return %h : tensor<?x4x4xf32>
}
