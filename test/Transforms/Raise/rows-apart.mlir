// Coefficients that are projected stream by stream: n rows of h_pre and n logits in one weight, as n parts of 1 + n.
// RUN: mhc-opt %s -mhc-raise -mhc-fuse --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// CHECK-LABEL: @rows_of_streams(
// CHECK-DAG: %[[SPLIT:.*]] = tensor.expand_shape %arg1 {{\[}}[0], [1, 2]] output_shape [256, 4, 5]
// CHECK-DAG: %[[PRE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [256, 4, 1]
// CHECK-DAG: %[[RES:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1] [256, 4, 4]
// CHECK: %[[PHI:.*]] = tensor.concat dim(1) %{{.*}}, %arg2, %{{.*}} : (tensor<256x4xf32>, tensor<256x4xf32>, tensor<256x16xf32>) -> tensor<256x24xf32>
// CHECK: mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %[[PHI]]
// CHECK: mhc.post(
func.func @rows_of_streams(%x: tensor<?x4x64xf32>, %w: tensor<256x20xf32>, %post: tensor<256x4xf32>,
                           %bias: tensor<4x5xf32>, %f: tensor<64x64xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %two = arith.constant 2.0 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %two_all = tensor.splat %two[%M] : tensor<?x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x256xf32>
  %normed = arith.mulf %flat, %s_all : tensor<?x256xf32>
  %h = mhc.matmul %normed, %w : (tensor<?x256xf32>, tensor<256x20xf32>) -> tensor<?x20xf32>
  %parts = tensor.expand_shape %h [[0], [1, 2]] output_shape [%M, 4, 5] : tensor<?x20xf32> into tensor<?x4x5xf32>
  %bias_all = mhc.broadcast %bias[%M] dims = [1, 2] : tensor<4x5xf32> -> tensor<?x4x5xf32>
  %z = arith.addf %parts, %bias_all : tensor<?x4x5xf32>
  %z_pre = tensor.extract_slice %z[0, 0, 0] [%M, 4, 1] [1, 1, 1] : tensor<?x4x5xf32> to tensor<?x4xf32>
  %z_res = tensor.extract_slice %z[0, 0, 1] [%M, 4, 4] [1, 1, 1] : tensor<?x4x5xf32> to tensor<?x4x4xf32>
  %z_post = mhc.matmul %normed, %post : (tensor<?x256xf32>, tensor<256x4xf32>) -> tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %half = mhc.sigmoid %z_post : tensor<?x4xf32>
  %h_post = arith.mulf %half, %two_all : tensor<?x4xf32>
  %h_res = mhc.sinkhorn(logits = %z_res : tensor<?x4x4xf32>)
    <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 5> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xf32>)
  %y = mhc.matmul %u, %f : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %out = mhc.post(f = %y : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
                  h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  return %out : tensor<?x4x64xf32>
}
