// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// The DeepSeek-V4 model code. rsqrt of the mean square scales the projection; a split kernel makes the coefficients,
// with the softmax written out; the residual mix is a product over [tokens, n, n, C] summed over its input streams.
// Model entry copies the embedding; the head in front of the output is a projection of its own.

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
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                    %phi: tensor<24x256xf32> {mhc.name = "phi"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xf32> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 1.0e-06 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %splat_1 = tensor.splat %cst[%M] : tensor<?x4xf32>
  %cst_1 = arith.constant 2.0 : f32
  %splat_2 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %splat_3 = tensor.splat %cst[%M] : tensor<?x4x4xf32>
  %splat_4 = tensor.splat %cst[%M] : tensor<?x1x4xf32>
  %c19 = arith.constant 19 : index
  %c1 = arith.constant 1 : index
  %splat_5 = tensor.splat %cst[%M] : tensor<?x4x1xf32>

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %x_flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %mean [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %1 = arith.addf %0, %splat : tensor<?x1xf32>
  %inv_rms = math.rsqrt %1 : tensor<?x1xf32>

  // Gates
  %2 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %3 = arith.mulf %2, %proj : tensor<?x24xf32>
  %4 = tensor.extract_slice %3[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %5 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %6 = mhc.broadcast %5[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %7 = arith.mulf %4, %6 : tensor<?x4xf32>
  %8 = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %9 = tensor.expand_shape %8 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %10 = mhc.broadcast %9[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %7, %10 : tensor<?x4xf32>
  %11 = tensor.extract_slice %3[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %12 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %13 = mhc.broadcast %12[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %14 = arith.mulf %11, %13 : tensor<?x4xf32>
  %15 = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %16 = tensor.expand_shape %15 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %17 = mhc.broadcast %16[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %14, %17 : tensor<?x4xf32>
  %18 = tensor.extract_slice %3[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %19 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %20 = mhc.broadcast %19[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %21 = arith.mulf %18, %20 : tensor<?x16xf32>
  %22 = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %23 = tensor.expand_shape %22 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
  %24 = mhc.broadcast %23[%M] dims = [0, 1] : tensor<1x16xf32> -> tensor<?x16xf32>
  %z_res = arith.addf %21, %24 : tensor<?x16xf32>
  %25 = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %h_pre = arith.addf %25, %splat_1 : tensor<?x4xf32>
  %26 = mhc.sigmoid %z_post : tensor<?x4xf32>
  %h_post = arith.mulf %26, %splat_2 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %max = mhc.reduce max %logits dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %27 = tensor.expand_shape %max [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %28 = mhc.broadcast %27 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %29 = arith.subf %logits, %28 : tensor<?x4x4xf32>
  %30 = math.exp %29 : tensor<?x4x4xf32>
  %sum = mhc.reduce sum %30 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %31 = tensor.expand_shape %sum [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %32 = mhc.broadcast %31 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %33 = arith.divf %30, %32 : tensor<?x4x4xf32>
  %start = arith.addf %33, %splat_3 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %34 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %35 = arith.addf %34, %splat_4 : tensor<?x1x4xf32>
  %36 = mhc.broadcast %35 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %37 = arith.divf %start, %36 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c19 step %c1 iter_args(%it = %37) -> (tensor<?x4x4xf32>) {
    %sum_2 = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %38 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %39 = arith.addf %38, %splat_5 : tensor<?x4x1xf32>
    %40 = mhc.broadcast %39 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %41 = arith.divf %it, %40 : tensor<?x4x4xf32>
    %sum_3 = mhc.reduce sum %41 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %42 = tensor.expand_shape %sum_3 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %43 = arith.addf %42, %splat_4 : tensor<?x1x4xf32>
    %44 = mhc.broadcast %43 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %45 = arith.divf %41, %44 : tensor<?x4x4xf32>
    scf.yield %45 : tensor<?x4x4xf32>
  }

  // Input of the sublayer
  %46 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %47 = mhc.broadcast %46 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x, %47 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>

  // The sublayer
  %48 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %48 : tensor<?x64xf32>

  // Streams after the sublayer
  %49 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %50 = mhc.broadcast %49 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %51 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %52 = mhc.broadcast %51 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %50, %52 : tensor<?x4x64xf32>
  %53 = tensor.expand_shape %sk [[0], [1], [2, 3]] output_shape [%M, 4, 4, 1] : tensor<?x4x4xf32> into tensor<?x4x4x1xf32>
  %54 = mhc.broadcast %53 dims = [0, 1, 2, 3] : tensor<?x4x4x1xf32> -> tensor<?x4x4x64xf32>
  %55 = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [%M, 4, 1, 64] : tensor<?x4x64xf32> into tensor<?x4x1x64xf32>
  %56 = mhc.broadcast %55 dims = [0, 1, 2, 3] : tensor<?x4x1x64xf32> -> tensor<?x4x4x64xf32>
  %57 = arith.mulf %54, %56 : tensor<?x4x4x64xf32>
  %mixed = mhc.reduce sum %57 dims = [1] : tensor<?x4x4x64xf32> -> tensor<?x4x64xf32>
  %x_next = arith.addf %branch, %mixed : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}

// Exit of the model: streams weighed by gates of their own.
// CHECK-LABEL: func.func @head
// CHECK: mhc.head
func.func @head(%x: tensor<?x4x64xf32> {mhc.name = "x"},
                %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<1xf32> {mhc.name = "alpha"},
                %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 1.0e-06 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %splat_1 = tensor.splat %cst[%M] : tensor<?x4xf32>

  // Head: a projection of its own weighs the streams
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %x_flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %0 = tensor.expand_shape %mean [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %1 = arith.addf %0, %splat : tensor<?x1xf32>
  %inv_rms = math.rsqrt %1 : tensor<?x1xf32>
  %2 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
  %3 = arith.mulf %2, %proj : tensor<?x4xf32>
  %4 = tensor.extract_slice %alpha[0] [1] [1] : tensor<1xf32> to tensor<f32>
  %5 = mhc.broadcast %4[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %6 = arith.mulf %3, %5 : tensor<?x4xf32>
  %7 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %8 = mhc.broadcast %7[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z_head = arith.addf %6, %8 : tensor<?x4xf32>
  %9 = mhc.sigmoid %z_head : tensor<?x4xf32>
  %h_head = arith.addf %9, %splat_1 : tensor<?x4xf32>
  %10 = tensor.expand_shape %h_head [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %11 = mhc.broadcast %10 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x, %11 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}
