// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// The torch fallback behind Megatron-LM's fused kernels. Differs from the native module in the coefficients: the
// projection is multiplied by alpha first and divided by r + eps after it, and all coefficients leave in one tensor,
// so that they are glued together and cut apart again.

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x256xf32> {mhc.name = "x"},
                    %phi: tensor<24x256xf32> {mhc.name = "phi"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"},
                    %bias: tensor<64xf32> {mhc.name = "bias"})
    -> (tensor<?x256xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x256xf32>
  %cst = arith.constant 16.0 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %cst_1 = arith.constant 1.0e-06 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x1xf32>
  %splat_2 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %cst_2 = arith.constant 2.0 : f32
  %splat_3 = tensor.splat %cst_2[%M] : tensor<?x4xf32>
  %splat_4 = tensor.splat %cst_1[%M] : tensor<?x4x4xf32>
  %splat_5 = tensor.splat %cst_1[%M] : tensor<?x1x4xf32>
  %c19 = arith.constant 19 : index
  %c1 = arith.constant 1 : index
  %splat_6 = tensor.splat %cst_1[%M] : tensor<?x4x1xf32>

  // Projection of all streams, and their root mean square
  %phi_t = mhc.transpose %phi perm = [1, 0] : tensor<24x256xf32> -> tensor<256x24xf32>
  %proj = mhc.matmul %x, %phi_t : (tensor<?x256xf32>, tensor<256x24xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x, %x : tensor<?x256xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %sum [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2 = math.sqrt %0 : tensor<?x1xf32>
  %rms = arith.divf %norm2, %splat : tensor<?x1xf32>
  %1 = arith.addf %rms, %splat_1 : tensor<?x1xf32>

  // Gates
  %2 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %3 = mhc.broadcast %2 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %4 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %5 = mhc.broadcast %4 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %6 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %7 = mhc.broadcast %6 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all = tensor.concat dim(0) %3, %5, %7 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %8 = tensor.expand_shape %alpha_all [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %9 = mhc.broadcast %8[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %10 = arith.mulf %proj, %9 : tensor<?x24xf32>
  %11 = mhc.broadcast %1 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %12 = arith.divf %10, %11 : tensor<?x24xf32>
  %13 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %14 = mhc.broadcast %13[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z = arith.addf %12, %14 : tensor<?x24xf32>
  %15 = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %16 = tensor.extract_slice %z[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %17 = tensor.extract_slice %z[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %18 = mhc.sigmoid %15 : tensor<?x4xf32>
  %h_pre = arith.addf %18, %splat_2 : tensor<?x4xf32>
  %19 = mhc.sigmoid %16 : tensor<?x4xf32>
  %h_post = arith.mulf %19, %splat_3 : tensor<?x4xf32>
  %20 = tensor.concat dim(1) %h_pre, %h_post, %17 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>) -> tensor<?x24xf32>
  %21 = tensor.extract_slice %20[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %22 = tensor.extract_slice %20[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %23 = tensor.extract_slice %20[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %23 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %24 = mhc.softmax %logits dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %24, %splat_4 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %25 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %26 = arith.addf %25, %splat_5 : tensor<?x1x4xf32>
  %27 = mhc.broadcast %26 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %28 = arith.divf %start, %27 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c19 step %c1 iter_args(%it = %28) -> (tensor<?x4x4xf32>) {
    %sum_2 = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %29 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %30 = arith.addf %29, %splat_6 : tensor<?x4x1xf32>
    %31 = mhc.broadcast %30 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %32 = arith.divf %it, %31 : tensor<?x4x4xf32>
    %sum_3 = mhc.reduce sum %32 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %33 = tensor.expand_shape %sum_3 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %34 = arith.addf %33, %splat_5 : tensor<?x1x4xf32>
    %35 = mhc.broadcast %34 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %36 = arith.divf %32, %35 : tensor<?x4x4xf32>
    scf.yield %36 : tensor<?x4x4xf32>
  }

  // Input of the sublayer
  %x_streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %37 = tensor.expand_shape %21 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %38 = mhc.broadcast %37 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x_streams, %38 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>

  // The sublayer
  %39 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %39 : tensor<?x64xf32>

  // Streams after the sublayer
  %x_streams_1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %40 = tensor.expand_shape %22 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %41 = mhc.broadcast %40 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %42 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %43 = mhc.broadcast %42 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %41, %43 : tensor<?x4x64xf32>
  %44 = tensor.expand_shape %22 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %45 = mhc.broadcast %44 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %46 = tensor.expand_shape %bias [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
  %47 = mhc.broadcast %46[%M] dims = [0, 1, 2] : tensor<1x1x64xf32> -> tensor<?x4x64xf32>
  %48 = arith.mulf %45, %47 : tensor<?x4x64xf32>
  %49 = arith.addf %branch, %48 : tensor<?x4x64xf32>
  %50 = mhc.transpose %sk perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed = mhc.batch_matmul %50, %x_streams_1 : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %49, %mixed : tensor<?x4x64xf32>
  %x_flat = tensor.collapse_shape %x_next [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  return %x_flat : tensor<?x256xf32>
}
