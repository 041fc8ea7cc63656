// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// mHC-lite (flash-mHC, the path without Triton). An RMS norm stands in front of the projection. The residual matrix is
// a mixture of all 24 permutations of four streams, so it needs no iteration. The wrapped layer keeps its own
// residual, which is why the outer product of both gates is taken out of the matrix.

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                    %phi: tensor<32x256xf32> {mhc.name = "phi"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<32xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 2.0 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x4xf32>

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %x_norm = mhc.rms_norm %x_flat eps = 1.1920928955078125e-07 : tensor<?x256xf32>
  %proj = mhc.matmul %x_norm, %phi transpose_rhs : (tensor<?x256xf32>, tensor<32x256xf32>) -> tensor<?x32xf32>

  // Gates
  %0 = tensor.extract_slice %proj[0, 0] [%M, 4] [1, 1] : tensor<?x32xf32> to tensor<?x4xf32>
  %1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %2 = mhc.broadcast %1[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %3 = arith.mulf %0, %2 : tensor<?x4xf32>
  %4 = tensor.extract_slice %beta[0] [4] [1] : tensor<32xf32> to tensor<4xf32>
  %5 = tensor.expand_shape %4 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %6 = mhc.broadcast %5[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %3, %6 : tensor<?x4xf32>
  %7 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x32xf32> to tensor<?x4xf32>
  %8 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %9 = mhc.broadcast %8[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %10 = arith.mulf %7, %9 : tensor<?x4xf32>
  %11 = tensor.extract_slice %beta[4] [4] [1] : tensor<32xf32> to tensor<4xf32>
  %12 = tensor.expand_shape %11 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %13 = mhc.broadcast %12[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %10, %13 : tensor<?x4xf32>
  %14 = tensor.extract_slice %proj[0, 8] [%M, 24] [1, 1] : tensor<?x32xf32> to tensor<?x24xf32>
  %15 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %16 = mhc.broadcast %15[%M] dims = [] : tensor<f32> -> tensor<?x24xf32>
  %17 = arith.mulf %14, %16 : tensor<?x24xf32>
  %18 = tensor.extract_slice %beta[8] [24] [1] : tensor<32xf32> to tensor<24xf32>
  %19 = tensor.expand_shape %18 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %20 = mhc.broadcast %19[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z_res = arith.addf %17, %20 : tensor<?x24xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %21 = mhc.sigmoid %z_post : tensor<?x4xf32>
  %h_post = arith.mulf %21, %splat : tensor<?x4xf32>

  // Residual matrix: mixture of permutations
  %22 = mhc.softmax %z_res dim = 1 : tensor<?x24xf32>
  %permutations = arith.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]> : tensor<24x16xf32>
  %23 = mhc.matmul %22, %permutations : (tensor<?x24xf32>, tensor<24x16xf32>) -> tensor<?x16xf32>
  %24 = tensor.expand_shape %23 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>

  // The layer keeps its own residual: take it out of the matrix
  %25 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %26 = mhc.broadcast %25 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %27 = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %28 = mhc.broadcast %27 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %29 = arith.mulf %26, %28 : tensor<?x4x4xf32>
  %folded = arith.subf %24, %29 : tensor<?x4x4xf32>

  // Input of the sublayer
  %30 = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %31 = mhc.batch_matmul %30, %x : (tensor<?x1x4xf32>, tensor<?x4x64xf32>) -> tensor<?x1x64xf32>
  %u = tensor.collapse_shape %31 [[0, 1], [2]] : tensor<?x1x64xf32> into tensor<?x64xf32>

  // The sublayer
  %32 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %32 : tensor<?x64xf32>

  // Streams after the sublayer
  %33 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %34 = mhc.broadcast %33 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %35 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %36 = mhc.broadcast %35 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %34, %36 : tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %folded, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}
