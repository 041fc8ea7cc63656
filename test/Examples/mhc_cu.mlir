// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// mHC.cu, the naive model of its tests. x is divided by its root mean square first, then there is one product per
// group of phi's rows. Sinkhorn starts from exp of the logits and runs rows before columns. The sublayer is an RMS
// norm.

// One sublayer with its hyper-connection; w_sub weighs an RMS norm.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                    %phi: tensor<24x256xf32> {mhc.name = "phi"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64xf32> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 1.0e-05 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %cst_1 = arith.constant 2.0 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index
  %splat_2 = tensor.splat %cst[%M] : tensor<?x4x1xf32>
  %splat_3 = tensor.splat %cst[%M] : tensor<?x1x4xf32>

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %mean [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %1 = arith.addf %0, %splat : tensor<?x1xf32>
  %rms = math.sqrt %1 : tensor<?x1xf32>
  %2 = mhc.broadcast %rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x256xf32>
  %3 = arith.divf %x_flat, %2 : tensor<?x256xf32>
  %4 = tensor.extract_slice %phi[0, 0] [4, 256] [1, 1] : tensor<24x256xf32> to tensor<4x256xf32>
  %5 = tensor.extract_slice %phi[4, 0] [4, 256] [1, 1] : tensor<24x256xf32> to tensor<4x256xf32>
  %6 = tensor.extract_slice %phi[8, 0] [16, 256] [1, 1] : tensor<24x256xf32> to tensor<16x256xf32>
  %phi_t = mhc.transpose %4 perm = [1, 0] : tensor<4x256xf32> -> tensor<256x4xf32>
  %proj = mhc.matmul %3, %phi_t : (tensor<?x256xf32>, tensor<256x4xf32>) -> tensor<?x4xf32>
  %phi_t_1 = mhc.transpose %5 perm = [1, 0] : tensor<4x256xf32> -> tensor<256x4xf32>
  %proj_1 = mhc.matmul %3, %phi_t_1 : (tensor<?x256xf32>, tensor<256x4xf32>) -> tensor<?x4xf32>
  %phi_t_2 = mhc.transpose %6 perm = [1, 0] : tensor<16x256xf32> -> tensor<256x16xf32>
  %proj_2 = mhc.matmul %3, %phi_t_2 : (tensor<?x256xf32>, tensor<256x16xf32>) -> tensor<?x16xf32>

  // Gates
  %7 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %8 = mhc.broadcast %7[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %9 = arith.mulf %proj, %8 : tensor<?x4xf32>
  %10 = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %11 = tensor.expand_shape %10 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %12 = mhc.broadcast %11[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %9, %12 : tensor<?x4xf32>
  %13 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %14 = mhc.broadcast %13[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %15 = arith.mulf %proj_1, %14 : tensor<?x4xf32>
  %16 = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %17 = tensor.expand_shape %16 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %18 = mhc.broadcast %17[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %15, %18 : tensor<?x4xf32>
  %19 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %20 = mhc.broadcast %19[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %21 = arith.mulf %proj_2, %20 : tensor<?x16xf32>
  %22 = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %23 = tensor.expand_shape %22 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
  %24 = mhc.broadcast %23[%M] dims = [0, 1] : tensor<1x16xf32> -> tensor<?x16xf32>
  %z_res = arith.addf %21, %24 : tensor<?x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %25 = mhc.sigmoid %z_post : tensor<?x4xf32>
  %h_post = arith.mulf %25, %splat_1 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %26 = math.exp %logits : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c20 step %c1 iter_args(%it = %26) -> (tensor<?x4x4xf32>) {
    %sum = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %27 = tensor.expand_shape %sum [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %28 = arith.addf %27, %splat_2 : tensor<?x4x1xf32>
    %29 = mhc.broadcast %28 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %30 = arith.divf %it, %29 : tensor<?x4x4xf32>
    %sum_1 = mhc.reduce sum %30 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %31 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %32 = arith.addf %31, %splat_3 : tensor<?x1x4xf32>
    %33 = mhc.broadcast %32 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %34 = arith.divf %30, %33 : tensor<?x4x4xf32>
    scf.yield %34 : tensor<?x4x4xf32>
  }

  // Input of the sublayer
  %35 = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %36 = mhc.batch_matmul %35, %x : (tensor<?x1x4xf32>, tensor<?x4x64xf32>) -> tensor<?x1x64xf32>
  %u = tensor.collapse_shape %36 [[0, 1], [2]] : tensor<?x1x64xf32> into tensor<?x64xf32>

  // The sublayer
  %square_1 = arith.mulf %u, %u : tensor<?x64xf32>
  %mean_1 = mhc.reduce mean %square_1 dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %37 = tensor.expand_shape %mean_1 [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %38 = arith.addf %37, %splat : tensor<?x1xf32>
  %rms_1 = math.sqrt %38 : tensor<?x1xf32>
  %39 = mhc.broadcast %rms_1 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %40 = arith.divf %u, %39 : tensor<?x64xf32>
  %41 = tensor.expand_shape %w_sub [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  %42 = mhc.broadcast %41[%M] dims = [0, 1] : tensor<1x64xf32> -> tensor<?x64xf32>
  %f = arith.mulf %40, %42 : tensor<?x64xf32>

  // Streams after the sublayer
  %43 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %44 = mhc.broadcast %43 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %45 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %46 = mhc.broadcast %45 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %44, %46 : tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %sk, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %branch, %mixed : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}
