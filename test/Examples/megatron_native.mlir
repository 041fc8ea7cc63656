// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// Megatron-LM's own module (HyperConnectionModule without fused kernels), one transformer sublayer and the two ends of
// the model. Streams are one flat row per token, n*C channels. The statistic is r = |x| / sqrt(nC) + eps, with eps
// outside the root, and the projection is multiplied by 1/r. alpha is one vector of 24 numbers. Sinkhorn starts from a
// row softmax + eps and runs columns first; the residual is mixed with the transposed matrix, and the bias of the
// sublayer is weighed on its own. The head is the learned contraction; its eps is inside the root and shared by norm
// and gate.

// Entry of the model: every stream is a copy of the embedding.
// CHECK-LABEL: func.func @expand
// CHECK: mhc.expand
func.func @expand(%x: tensor<?x64xf32> {mhc.name = "x"})
    -> (tensor<?x256xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %1 = mhc.broadcast %0 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %x_flat = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  return %x_flat : tensor<?x256xf32>
}

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
  %cst_2 = arith.constant 1.0 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x1xf32>
  %splat_3 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %cst_3 = arith.constant 2.0 : f32
  %splat_4 = tensor.splat %cst_3[%M] : tensor<?x4xf32>
  %splat_5 = tensor.splat %cst_1[%M] : tensor<?x4x4xf32>
  %splat_6 = tensor.splat %cst_1[%M] : tensor<?x1x4xf32>
  %c19 = arith.constant 19 : index
  %c1 = arith.constant 1 : index
  %splat_7 = tensor.splat %cst_1[%M] : tensor<?x4x1xf32>

  // Projection of all streams, and their root mean square
  %phi_t = mhc.transpose %phi perm = [1, 0] : tensor<24x256xf32> -> tensor<256x24xf32>
  %proj = mhc.matmul %x, %phi_t : (tensor<?x256xf32>, tensor<256x24xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x, %x : tensor<?x256xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %sum [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2 = math.sqrt %0 : tensor<?x1xf32>
  %rms = arith.divf %norm2, %splat : tensor<?x1xf32>
  %1 = arith.addf %rms, %splat_1 : tensor<?x1xf32>
  %inv_rms = arith.divf %splat_2, %1 : tensor<?x1xf32>

  // Gates
  %2 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %3 = arith.mulf %2, %proj : tensor<?x24xf32>
  %4 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %5 = mhc.broadcast %4 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %6 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %7 = mhc.broadcast %6 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %8 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %9 = mhc.broadcast %8 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all = tensor.concat dim(0) %5, %7, %9 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %10 = tensor.expand_shape %alpha_all [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %11 = mhc.broadcast %10[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %12 = arith.mulf %3, %11 : tensor<?x24xf32>
  %13 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %14 = mhc.broadcast %13[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z = arith.addf %12, %14 : tensor<?x24xf32>
  %15 = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %16 = tensor.extract_slice %z[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %17 = tensor.extract_slice %z[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %18 = mhc.sigmoid %15 : tensor<?x4xf32>
  %h_pre = arith.addf %18, %splat_3 : tensor<?x4xf32>
  %19 = mhc.sigmoid %16 : tensor<?x4xf32>
  %h_post = arith.mulf %19, %splat_4 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %17 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %20 = mhc.softmax %logits dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %20, %splat_5 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %21 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %22 = arith.addf %21, %splat_6 : tensor<?x1x4xf32>
  %23 = mhc.broadcast %22 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %24 = arith.divf %start, %23 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c19 step %c1 iter_args(%it = %24) -> (tensor<?x4x4xf32>) {
    %sum_2 = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %25 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %26 = arith.addf %25, %splat_7 : tensor<?x4x1xf32>
    %27 = mhc.broadcast %26 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %28 = arith.divf %it, %27 : tensor<?x4x4xf32>
    %sum_3 = mhc.reduce sum %28 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %29 = tensor.expand_shape %sum_3 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %30 = arith.addf %29, %splat_6 : tensor<?x1x4xf32>
    %31 = mhc.broadcast %30 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %32 = arith.divf %28, %31 : tensor<?x4x4xf32>
    scf.yield %32 : tensor<?x4x4xf32>
  }

  // Input of the sublayer
  %x_streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %33 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %34 = mhc.broadcast %33 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x_streams, %34 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>

  // The sublayer
  %35 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %35 : tensor<?x64xf32>

  // Streams after the sublayer
  %x_streams_1 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %36 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %37 = mhc.broadcast %36 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %38 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %39 = mhc.broadcast %38 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %37, %39 : tensor<?x4x64xf32>
  %40 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %41 = mhc.broadcast %40 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %42 = tensor.expand_shape %bias [[0, 1, 2]] output_shape [1, 1, 64] : tensor<64xf32> into tensor<1x1x64xf32>
  %43 = mhc.broadcast %42[%M] dims = [0, 1, 2] : tensor<1x1x64xf32> -> tensor<?x4x64xf32>
  %44 = arith.mulf %41, %43 : tensor<?x4x64xf32>
  %45 = arith.addf %branch, %44 : tensor<?x4x64xf32>
  %46 = mhc.transpose %sk perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed = mhc.batch_matmul %46, %x_streams_1 : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %45, %mixed : tensor<?x4x64xf32>
  %x_flat = tensor.collapse_shape %x_next [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  return %x_flat : tensor<?x256xf32>
}

// Exit of the model: streams weighed by gates of their own.
// CHECK-LABEL: func.func @head
// CHECK: mhc.head
func.func @head(%x: tensor<?x256xf32> {mhc.name = "x"},
                %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<1xf32> {mhc.name = "alpha"},
                %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x256xf32>
  %cst = arith.constant 1.0e-06 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %splat_1 = tensor.splat %cst[%M] : tensor<?x4xf32>

  // Head: a projection of its own weighs the streams
  %phi_t = mhc.transpose %phi perm = [1, 0] : tensor<4x256xf32> -> tensor<256x4xf32>
  %proj = mhc.matmul %x, %phi_t : (tensor<?x256xf32>, tensor<256x4xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %x, %x : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %mean [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %1 = arith.addf %0, %splat : tensor<?x1xf32>
  %inv_rms = math.rsqrt %1 : tensor<?x1xf32>
  %2 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
  %3 = arith.mulf %2, %proj : tensor<?x4xf32>
  %4 = mhc.broadcast %alpha dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %5 = tensor.expand_shape %4 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %6 = mhc.broadcast %5[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %7 = arith.mulf %3, %6 : tensor<?x4xf32>
  %8 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %9 = mhc.broadcast %8[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z = arith.addf %7, %9 : tensor<?x4xf32>
  %10 = mhc.sigmoid %z : tensor<?x4xf32>
  %h_head = arith.addf %10, %splat_1 : tensor<?x4xf32>
  %x_streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %11 = tensor.expand_shape %h_head [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %12 = mhc.broadcast %11 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x_streams, %12 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// Exit of the model, the plain kind: the mean of the streams.
// CHECK-LABEL: func.func @contract
// CHECK: mhc.contract
func.func @contract(%x: tensor<?x256xf32> {mhc.name = "x"})
    -> (tensor<?x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x256xf32>
  %x_streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 64] : tensor<?x256xf32> into tensor<?x4x64xf32>
  %0 = mhc.reduce mean %x_streams dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
