// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// The paper's equations as they stand (arXiv 2512.24880): no eps anywhere, r = |x| / sqrt(nC) divides after alpha, the
// sigmoid is 1 / (1 + exp(-z)), Sinkhorn starts from exp of the logits and runs columns before rows, and the three
// uses of the streams are matrix products.

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                    %phi: tensor<256x24xf32> {mhc.name = "phi"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 16.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %splat = tensor.splat %cst[%M] : tensor<?xf32>
  %cst_1 = arith.constant 1.0 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %cst_2 = arith.constant 2.0 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x4xf32>
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %x_flat, %phi : (tensor<?x256xf32>, tensor<256x24xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x256xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %norm2 = math.sqrt %sum : tensor<?xf32>
  %rms = arith.divf %norm2, %splat : tensor<?xf32>

  // Gates
  %0 = tensor.extract_slice %proj[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %2 = mhc.broadcast %1[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %3 = arith.mulf %0, %2 : tensor<?x4xf32>
  %4 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %5 = arith.divf %3, %4 : tensor<?x4xf32>
  %6 = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %7 = mhc.broadcast %6[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %5, %7 : tensor<?x4xf32>
  %8 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %9 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %10 = mhc.broadcast %9[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %11 = arith.mulf %8, %10 : tensor<?x4xf32>
  %12 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %13 = arith.divf %11, %12 : tensor<?x4xf32>
  %14 = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %15 = mhc.broadcast %14[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %13, %15 : tensor<?x4xf32>
  %16 = tensor.extract_slice %proj[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %17 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %18 = mhc.broadcast %17[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %19 = arith.mulf %16, %18 : tensor<?x16xf32>
  %20 = mhc.broadcast %rms dims = [0] : tensor<?xf32> -> tensor<?x16xf32>
  %21 = arith.divf %19, %20 : tensor<?x16xf32>
  %22 = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %23 = mhc.broadcast %22[%M] dims = [1] : tensor<16xf32> -> tensor<?x16xf32>
  %z_res = arith.addf %21, %23 : tensor<?x16xf32>
  %24 = arith.negf %z_pre : tensor<?x4xf32>
  %25 = math.exp %24 : tensor<?x4xf32>
  %26 = arith.addf %25, %splat_1 : tensor<?x4xf32>
  %h_pre = arith.divf %splat_1, %26 : tensor<?x4xf32>
  %27 = arith.negf %z_post : tensor<?x4xf32>
  %28 = math.exp %27 : tensor<?x4xf32>
  %29 = arith.addf %28, %splat_1 : tensor<?x4xf32>
  %30 = arith.divf %splat_1, %29 : tensor<?x4xf32>
  %h_post = arith.mulf %30, %splat_2 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %31 = math.exp %logits : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c20 step %c1 iter_args(%it = %31) -> (tensor<?x4x4xf32>) {
    %sum_1 = mhc.reduce sum %it dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %32 = mhc.broadcast %sum_1 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %33 = arith.divf %it, %32 : tensor<?x4x4xf32>
    %sum_2 = mhc.reduce sum %33 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %34 = mhc.broadcast %sum_2 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %35 = arith.divf %33, %34 : tensor<?x4x4xf32>
    scf.yield %35 : tensor<?x4x4xf32>
  }

  // Input of the sublayer
  %36 = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %37 = mhc.batch_matmul %36, %x : (tensor<?x1x4xf32>, tensor<?x4x64xf32>) -> tensor<?x1x64xf32>
  %u = tensor.collapse_shape %37 [[0, 1], [2]] : tensor<?x1x64xf32> into tensor<?x64xf32>

  // The sublayer
  %38 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %38 : tensor<?x64xf32>

  // Streams after the sublayer
  %39 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %40 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %branch = mhc.batch_matmul %39, %40 : (tensor<?x4x1xf32>, tensor<?x1x64xf32>) -> tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %sk, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}
