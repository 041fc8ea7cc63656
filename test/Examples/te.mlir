// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// TransformerEngine's reference ops. Streams are innermost, [tokens, C, n]. The projection returns the raw product and
// the mean of squares; alpha comes first, the root of mean square + eps divides after it. Weights of an RMS norm are
// folded into phi. Sinkhorn runs in log space on a row and a column potential. Everything that touches streams is a
// matrix product.

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x64x4xf32> {mhc.name = "x"},
                    %phi: tensor<24x256xf32> {mhc.name = "phi"},
                    %norm_weight: tensor<256xf32> {mhc.name = "norm_weight"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"},
                    %bias: tensor<64xf32> {mhc.name = "bias"})
    -> (tensor<?x64x4xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 1.1920928955078125e-07 : f32
  %M = tensor.dim %x, %c0 : tensor<?x64x4xf32>
  %splat = tensor.splat %cst[%M] : tensor<?xf32>
  %cst_1 = arith.constant 2.0 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %cst_2 = arith.constant 0.0 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x4xf32>
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  %0 = mhc.broadcast %norm_weight dims = [1] : tensor<256xf32> -> tensor<24x256xf32>
  %phi_gamma = arith.mulf %phi, %0 : tensor<24x256xf32>
  %phi_t = mhc.transpose %phi_gamma perm = [1, 0] : tensor<24x256xf32> -> tensor<256x24xf32>
  %proj = mhc.matmul %x_flat, %phi_t : (tensor<?x256xf32>, tensor<256x24xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %1 = arith.addf %mean, %splat : tensor<?xf32>
  %rms = math.sqrt %1 : tensor<?xf32>

  // Gates
  %2 = tensor.extract_slice %proj[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %3 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %4 = mhc.broadcast %3[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %5 = arith.mulf %2, %4 : tensor<?x4xf32>
  %6 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %7 = arith.divf %5, %6 : tensor<?x4xf32>
  %8 = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %9 = mhc.broadcast %8[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %7, %9 : tensor<?x4xf32>
  %10 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %11 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %12 = mhc.broadcast %11[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %13 = arith.mulf %10, %12 : tensor<?x4xf32>
  %14 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %15 = arith.divf %13, %14 : tensor<?x4xf32>
  %16 = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %17 = mhc.broadcast %16[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %15, %17 : tensor<?x4xf32>
  %18 = tensor.extract_slice %proj[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %19 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %20 = mhc.broadcast %19[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %21 = arith.mulf %18, %20 : tensor<?x16xf32>
  %22 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x16xf32>
  %23 = arith.divf %21, %22 : tensor<?x16xf32>
  %24 = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %25 = mhc.broadcast %24[%M] dims = [1] : tensor<16xf32> -> tensor<?x16xf32>
  %z_res = arith.addf %23, %25 : tensor<?x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %26 = mhc.sigmoid %z_post : tensor<?x4xf32>
  %h_post = arith.mulf %26, %splat_1 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %sk:2 = scf.for %i = %c0 to %c20 step %c1 iter_args(%it = %splat_2, %it_1 = %splat_2) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %27 = mhc.broadcast %it_1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %28 = arith.addf %logits, %27 : tensor<?x4x4xf32>
    %max = mhc.reduce max %28 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %29 = mhc.broadcast %max dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %30 = arith.subf %28, %29 : tensor<?x4x4xf32>
    %31 = math.exp %30 : tensor<?x4x4xf32>
    %sum = mhc.reduce sum %31 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %32 = math.log %sum : tensor<?x4xf32>
    %33 = arith.addf %32, %max : tensor<?x4xf32>
    %34 = arith.subf %splat_2, %33 : tensor<?x4xf32>
    %35 = mhc.broadcast %34 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %36 = arith.addf %logits, %35 : tensor<?x4x4xf32>
    %max_1 = mhc.reduce max %36 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %37 = mhc.broadcast %max_1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %38 = arith.subf %36, %37 : tensor<?x4x4xf32>
    %39 = math.exp %38 : tensor<?x4x4xf32>
    %sum_1 = mhc.reduce sum %39 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %40 = math.log %sum_1 : tensor<?x4xf32>
    %41 = arith.addf %40, %max_1 : tensor<?x4xf32>
    %42 = arith.subf %splat_2, %41 : tensor<?x4xf32>
    scf.yield %34, %42 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %43 = mhc.broadcast %sk#0 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %44 = arith.addf %logits, %43 : tensor<?x4x4xf32>
  %45 = mhc.broadcast %sk#1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %46 = arith.addf %44, %45 : tensor<?x4x4xf32>
  %47 = math.exp %46 : tensor<?x4x4xf32>

  // Input of the sublayer
  %48 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %49 = mhc.batch_matmul %x, %48 : (tensor<?x64x4xf32>, tensor<?x4x1xf32>) -> tensor<?x64x1xf32>
  %u = tensor.collapse_shape %49 [[0], [1, 2]] : tensor<?x64x1xf32> into tensor<?x64xf32>

  // The sublayer
  %50 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %50 : tensor<?x64xf32>

  // Streams after the sublayer
  %51 = mhc.broadcast %bias[%M] dims = [1] : tensor<64xf32> -> tensor<?x64xf32>
  %52 = arith.addf %f, %51 : tensor<?x64xf32>
  %53 = tensor.expand_shape %52 [[0], [1, 2]] output_shape [%M, 64, 1] : tensor<?x64xf32> into tensor<?x64x1xf32>
  %54 = tensor.expand_shape %h_post [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %branch = mhc.batch_matmul %53, %54 : (tensor<?x64x1xf32>, tensor<?x1x4xf32>) -> tensor<?x64x4xf32>
  %mixed = mhc.batch_matmul %x, %47 : (tensor<?x64x4xf32>, tensor<?x4x4xf32>) -> tensor<?x64x4xf32>
  %x_next = arith.addf %branch, %mixed : tensor<?x64x4xf32>
  return %x_next : tensor<?x64x4xf32>
}
