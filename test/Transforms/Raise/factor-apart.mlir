// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// The factor 2 stands apart in both products with h_post: it is the gate's own, and what is subtracted from the residual
// map is h_post h_pre^T.
// CHECK-LABEL: @fold_with_factor_apart(
// CHECK: mhc.pre({{.*}}post_mult = 2.0,{{.*}}fold_pre = true
// CHECK-NOT: arith.subf
// CHECK: mhc.post({{.*}}h_post = %h_post
func.func @fold_with_factor_apart(%x: tensor<?x4x16xf32>, %phi: tensor<24x64xf32>, %alpha: tensor<3xf32>,
                                  %beta: tensor<24xf32>, %w: tensor<16x16xf32>) -> tensor<?x4x16xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %eps = arith.constant 1.0e-05 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %eps_1 = tensor.splat %eps[%M] : tensor<?xf32>
  %eps_4 = tensor.splat %eps[%M] : tensor<?x4xf32>
  %one_1 = tensor.splat %one[%M] : tensor<?xf32>
  %two_4 = tensor.splat %two[%M] : tensor<?x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<24x64xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %root = math.sqrt %mean : tensor<?xf32>
  %rms = arith.addf %root, %eps_1 : tensor<?xf32>
  %inverse = arith.divf %one_1, %rms : tensor<?xf32>
  %inverses = mhc.broadcast %inverse dims = [0] : tensor<?xf32> -> tensor<?x24xf32>
  %normed = arith.mulf %inverses, %p : tensor<?x24xf32>
  %p_pre = tensor.extract_slice %normed[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %p_post = tensor.extract_slice %normed[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %p_res = tensor.extract_slice %normed[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %alpha_pre = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %alpha_post = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %alpha_res = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %alphas_pre = mhc.broadcast %alpha_pre[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %alphas_post = mhc.broadcast %alpha_post[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %alphas_res = mhc.broadcast %alpha_res[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %beta_pre = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %beta_post = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %beta_res = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %betas_pre = mhc.broadcast %beta_pre[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %betas_post = mhc.broadcast %beta_post[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %betas_res = mhc.broadcast %beta_res[%M] dims = [1] : tensor<16xf32> -> tensor<?x16xf32>
  %a_pre = arith.mulf %p_pre, %alphas_pre : tensor<?x4xf32>
  %a_post = arith.mulf %p_post, %alphas_post : tensor<?x4xf32>
  %a_res = arith.mulf %p_res, %alphas_res : tensor<?x16xf32>
  %z_pre = arith.addf %a_pre, %betas_pre : tensor<?x4xf32>
  %z_post = arith.addf %a_post, %betas_post : tensor<?x4xf32>
  %z_res = arith.addf %a_res, %betas_res : tensor<?x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<?x4xf32>
  %logits = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %start = mhc.sigmoid %logits : tensor<?x4x4xf32>
  %rows = mhc.reduce sum %start dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %rows_eps = arith.addf %rows, %eps_4 : tensor<?x4xf32>
  %by_row = mhc.broadcast %rows_eps dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %half = arith.divf %start, %by_row : tensor<?x4x4xf32>
  %columns = mhc.reduce sum %half dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %columns_eps = arith.addf %columns, %eps_4 : tensor<?x4xf32>
  %by_column = mhc.broadcast %columns_eps dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %map = arith.divf %half, %by_column : tensor<?x4x4xf32>
  %posts = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %twice_pre = arith.mulf %two_4, %h_pre : tensor<?x4xf32>
  %pres = mhc.broadcast %twice_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %posts, %pres : tensor<?x4x4xf32>
  %fold = arith.subf %map, %outer : tensor<?x4x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x16xf32>
  %weighed = arith.mulf %x, %weights : tensor<?x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<?x4x16xf32> -> tensor<?x16xf32>
  %y = mhc.matmul %u, %w transpose_rhs : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %f = math.tanh %y : tensor<?x16xf32>
  %twice_post = arith.mulf %h_post, %two_4 : tensor<?x4xf32>
  %gates = mhc.broadcast %twice_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<?x16xf32> -> tensor<?x4x16xf32>
  %branch = arith.mulf %gates, %fs : tensor<?x4x16xf32>
  %mixed = mhc.batch_matmul %fold, %x : (tensor<?x4x4xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
  %out = arith.addf %branch, %mixed : tensor<?x4x16xf32>
  return %out : tensor<?x4x16xf32>
}
