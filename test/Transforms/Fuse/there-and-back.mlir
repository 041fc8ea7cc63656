// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s --check-prefix=FUSED
// RUN: mhc-opt %s -mhc-raise -mhc-fuse -mhc-decompose -canonicalize -cse | FileCheck %s

// A sublayer there and back: two kernels, and leaf ops only when they are decomposed again.

// FUSED-LABEL: @sublayer
// CHECK-LABEL: @sublayer
func.func @sublayer(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4x64xf32> {
  // FUSED-NOT: mhc.{{reduce|broadcast|batch_matmul|sigmoid}}
  // FUSED: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0
  // FUSED: %[[F:.*]] = math.tanh %[[U]]
  // FUSED: %[[OUT:.*]] = mhc.post(f = %[[F]] : tensor<8x64xf32>, h_post = %[[POST]] : tensor<8x4xf32>, x = %arg0
  // FUSED: return %[[OUT]]
  // CHECK-NOT: mhc.{{(projection|gates|sinkhorn|aggregate|pre|post)\(}}
  // CHECK: mhc.matmul
  // CHECK: mhc.batch_matmul
  // CHECK-NOT: mhc.{{(projection|gates|sinkhorn|aggregate|pre|post)\(}}
  // CHECK: return
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
  %e = math.exp %logits : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %e dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_b = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row = arith.divf %e, %rows_b : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_b = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_row, %cols_b : tensor<8x4x4xf32>
  %pb = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %pw = arith.mulf %x, %pb : tensor<8x4x64xf32>
  %u = mhc.reduce sum %pw dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %f = math.tanh %u : tensor<8x64xf32>
  %hb = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hb, %fb : tensor<8x4x64xf32>
  %mixed = mhc.batch_matmul %mix, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %next = arith.addf %branch, %mixed : tensor<8x4x64xf32>
  return %next : tensor<8x4x64xf32>
}

// Coefficients that are computed in f32 and rounded to bf16 before they are used.
// FUSED-LABEL: @sublayer_in_bf16
// CHECK-LABEL: @sublayer_in_bf16
func.func @sublayer_in_bf16(%x: tensor<8x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4x64xbf16> {
  // FUSED-NOT: arith.{{truncf|extf}}
  // FUSED: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0
  // FUSED-SAME: h_pre_format = bf16, h_post_format = bf16, h_res_format = bf16>
  // FUSED-NEXT: %[[F:.*]] = math.tanh %[[U]]
  // FUSED-NEXT: %[[OUT:.*]] = mhc.post(f = %[[F]] : tensor<8x64xbf16>, h_post = %[[POST]] : tensor<8x4xf32>, x = %arg0
  // FUSED-SAME: h_res = %[[RES]]
  // FUSED-NEXT: return %[[OUT]]
  // CHECK: %[[PRE:.*]] = arith.truncf %{{.*}} : tensor<8x4xf32> to tensor<8x4xbf16>
  // CHECK: %[[POST:.*]] = arith.truncf %{{.*}} : tensor<8x4xf32> to tensor<8x4xbf16>
  // CHECK: %[[RES:.*]] = arith.truncf %{{.*}} : tensor<8x4x4xf32> to tensor<8x4x4xbf16>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %pre_eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %xw = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %xw [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
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
  %e = math.exp %logits : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %e dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_b = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row = arith.divf %e, %rows_b : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_b = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %mix = arith.divf %by_row, %cols_b : tensor<8x4x4xf32>
  %h_pre_h = arith.truncf %h_pre : tensor<8x4xf32> to tensor<8x4xbf16>
  %h_post_h = arith.truncf %h_post : tensor<8x4xf32> to tensor<8x4xbf16>
  %mix_h = arith.truncf %mix : tensor<8x4x4xf32> to tensor<8x4x4xbf16>
  %pb = mhc.broadcast %h_pre_h dims = [0, 1] : tensor<8x4xbf16> -> tensor<8x4x64xbf16>
  %pw = arith.mulf %x, %pb : tensor<8x4x64xbf16>
  %pww = arith.extf %pw : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %uw = mhc.reduce sum %pww dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %u = arith.truncf %uw : tensor<8x64xf32> to tensor<8x64xbf16>
  %f = math.tanh %u : tensor<8x64xbf16>
  %hb = mhc.broadcast %h_post_h dims = [0, 1] : tensor<8x4xbf16> -> tensor<8x4x64xbf16>
  %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xbf16> -> tensor<8x4x64xbf16>
  %branch = arith.mulf %hb, %fb : tensor<8x4x64xbf16>
  %mixed = mhc.batch_matmul %mix_h, %x : (tensor<8x4x4xbf16>, tensor<8x4x64xbf16>) -> tensor<8x4x64xbf16>
  %next = arith.addf %branch, %mixed : tensor<8x4x64xbf16>
  return %next : tensor<8x4x64xbf16>
}
