// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// lucidrains' hyper-connections, the manifold-constrained variant (mHCv2). Each stream is normalised and projected on
// its own, with weights shared by the streams, so there is no projection of the flattened streams. Column 0 of alpha
// weighs the branch input, the others are the residual matrix; one product makes both. Sinkhorn divides by L1 norms
// that are kept above 1e-12. Streams are summed at the exit of the model.

// Entry of the model: every stream is a copy of the embedding.
// CHECK-LABEL: func.func @expand
// CHECK: mhc.expand
func.func @expand(%x: tensor<?x64xf32> {mhc.name = "x"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %1 = mhc.broadcast %0 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  return %1 : tensor<?x4x64xf32>
}

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.sinkhorn
// CHECK: mhc.aggregate
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                    %norm_gamma: tensor<64xf32> {mhc.name = "norm_gamma"},
                    %static_alpha: tensor<4x5xf32> {mhc.name = "static_alpha"},
                    %dyn_alpha: tensor<64x5xf32> {mhc.name = "dyn_alpha"},
                    %scale_pre: tensor<1xf32> {mhc.name = "scale_pre"},
                    %scale_res: tensor<1xf32> {mhc.name = "scale_res"},
                    %static_beta: tensor<4xf32> {mhc.name = "static_beta"},
                    %dyn_beta: tensor<64xf32> {mhc.name = "dyn_beta"},
                    %scale_beta: tensor<1xf32> {mhc.name = "scale_beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 1.0e-12 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x4x1xf32>
  %cst_1 = arith.constant 8.0 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x4x64xf32>
  %splat_2 = arith.constant dense<1.0> : tensor<64xf32>
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index
  %splat_3 = tensor.splat %cst[%M] : tensor<?x1x4xf32>
  %cst_2 = arith.constant 2.0 : f32
  %splat_4 = tensor.splat %cst_2[%M] : tensor<?x4xf32>

  // Normalised streams
  %square = arith.mulf %x, %x : tensor<?x4x64xf32>
  %sum = mhc.reduce sum %square dims = [2] : tensor<?x4x64xf32> -> tensor<?x4xf32>
  %0 = tensor.expand_shape %sum [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %length = math.sqrt %0 : tensor<?x4x1xf32>
  %1 = arith.maximumf %length, %splat : tensor<?x4x1xf32>
  %2 = mhc.broadcast %1 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %3 = arith.divf %x, %2 : tensor<?x4x64xf32>
  %4 = arith.mulf %3, %splat_1 : tensor<?x4x64xf32>
  %5 = arith.addf %norm_gamma, %splat_2 : tensor<64xf32>
  %6 = tensor.expand_shape %5 [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
  %7 = mhc.broadcast %6[%M] dims = [0, 1, 2] : tensor<1x1x64xf32> -> tensor<?x4x64xf32>
  %normed = arith.mulf %4, %7 : tensor<?x4x64xf32>

  // Weights of branch input and residual
  %8 = tensor.collapse_shape %normed [[0, 1], [2]] : tensor<?x4x64xf32> into tensor<?x64xf32>
  %9 = mhc.matmul %8, %dyn_alpha : (tensor<?x64xf32>, tensor<64x5xf32>) -> tensor<?x5xf32>
  %10 = tensor.expand_shape %9 [[0, 1], [2]] output_shape [%M, 4, 5] : tensor<?x5xf32> into tensor<?x4x5xf32>
  %11 = mhc.broadcast %scale_res dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %12 = tensor.concat dim(0) %scale_pre, %11 : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  %13 = tensor.expand_shape %12 [[0, 1, 2]] output_shape [1, 1, 5] : tensor<5xf32> into tensor<1x1x5xf32>
  %14 = mhc.broadcast %13[%M] dims = [0, 1, 2] : tensor<1x1x5xf32> -> tensor<?x4x5xf32>
  %15 = arith.mulf %10, %14 : tensor<?x4x5xf32>
  %16 = tensor.expand_shape %static_alpha [[0, 1], [2]] output_shape [1, 4, 5] : tensor<4x5xf32> into tensor<1x4x5xf32>
  %17 = mhc.broadcast %16[%M] dims = [0, 1, 2] : tensor<1x4x5xf32> -> tensor<?x4x5xf32>
  %alpha = arith.addf %15, %17 : tensor<?x4x5xf32>
  %18 = tensor.extract_slice %alpha[0, 0, 0] [%M, 4, 1] [1, 1, 1] : tensor<?x4x5xf32> to tensor<?x4x1xf32>
  %19 = tensor.extract_slice %alpha[0, 0, 1] [%M, 4, 4] [1, 1, 1] : tensor<?x4x5xf32> to tensor<?x4x4xf32>
  %20 = mhc.sigmoid %18 : tensor<?x4x1xf32>
  %max = mhc.reduce max %19 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %21 = tensor.expand_shape %max [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %22 = mhc.broadcast %21 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %23 = arith.subf %19, %22 : tensor<?x4x4xf32>
  %24 = math.exp %23 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c20 step %c1 iter_args(%it = %24) -> (tensor<?x4x4xf32>) {
    %25 = math.absf %it : tensor<?x4x4xf32>
    %sum_1 = mhc.reduce sum %25 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %26 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %27 = arith.maximumf %26, %splat_3 : tensor<?x1x4xf32>
    %28 = mhc.broadcast %27 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %29 = arith.divf %it, %28 : tensor<?x4x4xf32>
    %30 = math.absf %29 : tensor<?x4x4xf32>
    %sum_2 = mhc.reduce sum %30 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %31 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %32 = arith.maximumf %31, %splat : tensor<?x4x1xf32>
    %33 = mhc.broadcast %32 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %34 = arith.divf %29, %33 : tensor<?x4x4xf32>
    scf.yield %34 : tensor<?x4x4xf32>
  }

  // Weights of the branch output
  %35 = tensor.expand_shape %dyn_beta [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
  %36 = tensor.collapse_shape %normed [[0, 1], [2]] : tensor<?x4x64xf32> into tensor<?x64xf32>
  %37 = mhc.matmul %36, %35 : (tensor<?x64xf32>, tensor<64x1xf32>) -> tensor<?x1xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2]] output_shape [%M, 4, 1] : tensor<?x1xf32> into tensor<?x4x1xf32>
  %39 = tensor.collapse_shape %38 [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %40 = mhc.broadcast %scale_beta[%M] dims = [1] : tensor<1xf32> -> tensor<?x4xf32>
  %41 = arith.mulf %39, %40 : tensor<?x4xf32>
  %42 = tensor.expand_shape %static_beta [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %43 = mhc.broadcast %42[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %beta = arith.addf %41, %43 : tensor<?x4xf32>
  %44 = mhc.sigmoid %beta : tensor<?x4xf32>
  %45 = arith.mulf %44, %splat_4 : tensor<?x4xf32>

  // Branch input and mixed residual in one product
  %46 = tensor.concat dim(2) %20, %sk : (tensor<?x4x1xf32>, tensor<?x4x4xf32>) -> tensor<?x4x5xf32>
  %mix_h = mhc.batch_matmul %46, %x transpose_lhs : (tensor<?x4x5xf32>, tensor<?x4x64xf32>) -> tensor<?x5x64xf32>
  %u = tensor.extract_slice %mix_h[0, 0, 0] [%M, 1, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x64xf32>
  %mixed = tensor.extract_slice %mix_h[0, 1, 0] [%M, 4, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x4x64xf32>

  // Branch and depth connection
  %47 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %47 : tensor<?x64xf32>
  %48 = tensor.expand_shape %45 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %49 = mhc.broadcast %48 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %50 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %51 = mhc.broadcast %50 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %49, %51 : tensor<?x4x64xf32>
  %x_next = arith.addf %branch, %mixed : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}

// Exit of the model: the sum of the streams.
// CHECK-LABEL: func.func @contract
// CHECK: mhc.contract
func.func @contract(%x: tensor<?x4x64xf32> {mhc.name = "x"})
    -> (tensor<?x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %contracted = mhc.reduce sum %x dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %contracted : tensor<?x64xf32>
}
