// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// TileKernels' reference ops, bf16 activations and f32 coefficients. The mean of squares is a sum over 256, inside the
// root; alpha is one vector; ten Sinkhorn iterations are written out, as a traced Python loop gives them. Model entry
// and the learned head have ops of their own.

// Entry of the model: every stream is a copy of the embedding.
// CHECK-LABEL: func.func @expand
// CHECK: mhc.expand
func.func @expand(%x: tensor<?x64xbf16> {mhc.name = "x"})
    -> (tensor<?x4x64xbf16> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xbf16> into tensor<?x1x64xbf16>
  %1 = mhc.broadcast %0 dims = [0, 1, 2] : tensor<?x1x64xbf16> -> tensor<?x4x64xbf16>
  return %1 : tensor<?x4x64xbf16>
}

// One sublayer with its hyper-connection; tanh(u @ w_sub^T) stands for attention or MLP.
// CHECK-LABEL: func.func @sublayer
// CHECK: mhc.pre
// CHECK: mhc.post
func.func @sublayer(%x: tensor<?x4x64xbf16> {mhc.name = "x"},
                    %phi: tensor<24x256xf32> {mhc.name = "phi"},
                    %norm_weight: tensor<256xf32> {mhc.name = "norm_weight"},
                    %alpha: tensor<3xf32> {mhc.name = "alpha"},
                    %beta: tensor<24xf32> {mhc.name = "beta"},
                    %w_sub: tensor<64x64xbf16> {mhc.name = "w_sub"})
    -> (tensor<?x4x64xbf16> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %cst = arith.constant 256.0 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %cst_1 = arith.constant 1.0e-06 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x1xf32>
  %cst_2 = arith.constant 0.01 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x4xf32>
  %cst_3 = arith.constant 1.0 : f32
  %splat_3 = tensor.splat %cst_3[%M] : tensor<?x4xf32>
  %splat_4 = tensor.splat %cst_1[%M] : tensor<?x4x4xf32>
  %splat_5 = tensor.splat %cst_1[%M] : tensor<?x1x4xf32>
  %splat_6 = tensor.splat %cst_1[%M] : tensor<?x4x1xf32>

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xbf16> into tensor<?x256xbf16>
  %0 = arith.extf %x_flat : tensor<?x256xbf16> to tensor<?x256xf32>
  %1 = mhc.broadcast %norm_weight dims = [1] : tensor<256xf32> -> tensor<24x256xf32>
  %phi_gamma = arith.mulf %phi, %1 : tensor<24x256xf32>
  %proj = mhc.matmul %0, %phi_gamma transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %0, %0 : tensor<?x256xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %2 = tensor.expand_shape %sum [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %mean = arith.divf %2, %splat : tensor<?x1xf32>
  %3 = arith.addf %mean, %splat_1 : tensor<?x1xf32>
  %inv_rms = math.rsqrt %3 : tensor<?x1xf32>

  // Gates
  %4 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %5 = arith.mulf %4, %proj : tensor<?x24xf32>
  %6 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %7 = mhc.broadcast %6 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %8 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %9 = mhc.broadcast %8 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %10 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %11 = mhc.broadcast %10 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all = tensor.concat dim(0) %7, %9, %11 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %12 = tensor.expand_shape %alpha_all [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %13 = mhc.broadcast %12[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %14 = arith.mulf %5, %13 : tensor<?x24xf32>
  %15 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %16 = mhc.broadcast %15[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z = arith.addf %14, %16 : tensor<?x24xf32>
  %17 = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %18 = tensor.extract_slice %z[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %19 = tensor.extract_slice %z[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %20 = mhc.sigmoid %17 : tensor<?x4xf32>
  %h_pre = arith.addf %20, %splat_2 : tensor<?x4xf32>
  %21 = mhc.sigmoid %18 : tensor<?x4xf32>
  %h_post = arith.mulf %21, %splat_3 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %19 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %22 = mhc.softmax %logits dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %22, %splat_4 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %23 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %24 = arith.addf %23, %splat_5 : tensor<?x1x4xf32>
  %25 = mhc.broadcast %24 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %26 = arith.divf %start, %25 : tensor<?x4x4xf32>
  %sum_2 = mhc.reduce sum %26 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %27 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %28 = arith.addf %27, %splat_6 : tensor<?x4x1xf32>
  %29 = mhc.broadcast %28 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %30 = arith.divf %26, %29 : tensor<?x4x4xf32>
  %sum_3 = mhc.reduce sum %30 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %31 = tensor.expand_shape %sum_3 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %32 = arith.addf %31, %splat_5 : tensor<?x1x4xf32>
  %33 = mhc.broadcast %32 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %34 = arith.divf %30, %33 : tensor<?x4x4xf32>
  %sum_4 = mhc.reduce sum %34 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %35 = tensor.expand_shape %sum_4 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %36 = arith.addf %35, %splat_6 : tensor<?x4x1xf32>
  %37 = mhc.broadcast %36 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %38 = arith.divf %34, %37 : tensor<?x4x4xf32>
  %sum_5 = mhc.reduce sum %38 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %39 = tensor.expand_shape %sum_5 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %40 = arith.addf %39, %splat_5 : tensor<?x1x4xf32>
  %41 = mhc.broadcast %40 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %42 = arith.divf %38, %41 : tensor<?x4x4xf32>
  %sum_6 = mhc.reduce sum %42 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %43 = tensor.expand_shape %sum_6 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %44 = arith.addf %43, %splat_6 : tensor<?x4x1xf32>
  %45 = mhc.broadcast %44 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %46 = arith.divf %42, %45 : tensor<?x4x4xf32>
  %sum_7 = mhc.reduce sum %46 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %47 = tensor.expand_shape %sum_7 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %48 = arith.addf %47, %splat_5 : tensor<?x1x4xf32>
  %49 = mhc.broadcast %48 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %50 = arith.divf %46, %49 : tensor<?x4x4xf32>
  %sum_8 = mhc.reduce sum %50 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %51 = tensor.expand_shape %sum_8 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %52 = arith.addf %51, %splat_6 : tensor<?x4x1xf32>
  %53 = mhc.broadcast %52 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %54 = arith.divf %50, %53 : tensor<?x4x4xf32>
  %sum_9 = mhc.reduce sum %54 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %55 = tensor.expand_shape %sum_9 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %56 = arith.addf %55, %splat_5 : tensor<?x1x4xf32>
  %57 = mhc.broadcast %56 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %58 = arith.divf %54, %57 : tensor<?x4x4xf32>
  %sum_10 = mhc.reduce sum %58 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %59 = tensor.expand_shape %sum_10 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %60 = arith.addf %59, %splat_6 : tensor<?x4x1xf32>
  %61 = mhc.broadcast %60 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %62 = arith.divf %58, %61 : tensor<?x4x4xf32>
  %sum_11 = mhc.reduce sum %62 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %63 = tensor.expand_shape %sum_11 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %64 = arith.addf %63, %splat_5 : tensor<?x1x4xf32>
  %65 = mhc.broadcast %64 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %66 = arith.divf %62, %65 : tensor<?x4x4xf32>
  %sum_12 = mhc.reduce sum %66 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %67 = tensor.expand_shape %sum_12 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %68 = arith.addf %67, %splat_6 : tensor<?x4x1xf32>
  %69 = mhc.broadcast %68 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %70 = arith.divf %66, %69 : tensor<?x4x4xf32>
  %sum_13 = mhc.reduce sum %70 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %71 = tensor.expand_shape %sum_13 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %72 = arith.addf %71, %splat_5 : tensor<?x1x4xf32>
  %73 = mhc.broadcast %72 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %74 = arith.divf %70, %73 : tensor<?x4x4xf32>
  %sum_14 = mhc.reduce sum %74 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %75 = tensor.expand_shape %sum_14 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %76 = arith.addf %75, %splat_6 : tensor<?x4x1xf32>
  %77 = mhc.broadcast %76 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %78 = arith.divf %74, %77 : tensor<?x4x4xf32>
  %sum_15 = mhc.reduce sum %78 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %79 = tensor.expand_shape %sum_15 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %80 = arith.addf %79, %splat_5 : tensor<?x1x4xf32>
  %81 = mhc.broadcast %80 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %82 = arith.divf %78, %81 : tensor<?x4x4xf32>
  %sum_16 = mhc.reduce sum %82 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %83 = tensor.expand_shape %sum_16 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %84 = arith.addf %83, %splat_6 : tensor<?x4x1xf32>
  %85 = mhc.broadcast %84 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %86 = arith.divf %82, %85 : tensor<?x4x4xf32>
  %sum_17 = mhc.reduce sum %86 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %87 = tensor.expand_shape %sum_17 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %88 = arith.addf %87, %splat_5 : tensor<?x1x4xf32>
  %89 = mhc.broadcast %88 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %90 = arith.divf %86, %89 : tensor<?x4x4xf32>
  %sum_18 = mhc.reduce sum %90 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %91 = tensor.expand_shape %sum_18 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %92 = arith.addf %91, %splat_6 : tensor<?x4x1xf32>
  %93 = mhc.broadcast %92 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %94 = arith.divf %90, %93 : tensor<?x4x4xf32>
  %sum_19 = mhc.reduce sum %94 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %95 = tensor.expand_shape %sum_19 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %96 = arith.addf %95, %splat_5 : tensor<?x1x4xf32>
  %97 = mhc.broadcast %96 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %98 = arith.divf %94, %97 : tensor<?x4x4xf32>

  // Input of the sublayer
  %99 = arith.extf %x : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %100 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %101 = mhc.broadcast %100 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %99, %101 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %102 = arith.truncf %u : tensor<?x64xf32> to tensor<?x64xbf16>

  // The sublayer
  %103 = mhc.matmul %102, %w_sub transpose_rhs : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  %f = math.tanh %103 : tensor<?x64xbf16>

  // Streams after the sublayer
  %104 = arith.extf %x : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %105 = arith.extf %f : tensor<?x64xbf16> to tensor<?x64xf32>
  %106 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %107 = mhc.broadcast %106 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %108 = tensor.expand_shape %105 [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %109 = mhc.broadcast %108 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %107, %109 : tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %98, %104 transpose_lhs : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %branch, %mixed : tensor<?x4x64xf32>
  %110 = arith.truncf %x_next : tensor<?x4x64xf32> to tensor<?x4x64xbf16>
  return %110 : tensor<?x4x64xbf16>
}

// Exit of the model: streams weighed by gates of their own.
// CHECK-LABEL: func.func @head
// CHECK: mhc.head
func.func @head(%x: tensor<?x4x64xbf16> {mhc.name = "x"},
                %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %norm_weight: tensor<256xf32> {mhc.name = "norm_weight"},
                %alpha: tensor<1xf32> {mhc.name = "alpha"},
                %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xbf16> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %cst = arith.constant 256.0 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %cst_1 = arith.constant 1.0e-06 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x1xf32>
  %cst_2 = arith.constant 0.01 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x4xf32>

  // Head: a projection of its own weighs the streams
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xbf16> into tensor<?x256xbf16>
  %0 = arith.extf %x_flat : tensor<?x256xbf16> to tensor<?x256xf32>
  %1 = mhc.broadcast %norm_weight dims = [1] : tensor<256xf32> -> tensor<4x256xf32>
  %phi_gamma = arith.mulf %phi, %1 : tensor<4x256xf32>
  %proj = mhc.matmul %0, %phi_gamma transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %0, %0 : tensor<?x256xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %2 = tensor.expand_shape %sum [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %mean = arith.divf %2, %splat : tensor<?x1xf32>
  %3 = arith.addf %mean, %splat_1 : tensor<?x1xf32>
  %inv_rms = math.rsqrt %3 : tensor<?x1xf32>
  %4 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
  %5 = arith.mulf %4, %proj : tensor<?x4xf32>
  %6 = mhc.broadcast %alpha dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %7 = tensor.expand_shape %6 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %8 = mhc.broadcast %7[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %9 = arith.mulf %5, %8 : tensor<?x4xf32>
  %10 = tensor.expand_shape %beta [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %11 = mhc.broadcast %10[%M] dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
  %z = arith.addf %9, %11 : tensor<?x4xf32>
  %12 = mhc.sigmoid %z : tensor<?x4xf32>
  %h_head = arith.addf %12, %splat_2 : tensor<?x4xf32>
  %13 = arith.extf %x : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %14 = tensor.expand_shape %h_head [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %15 = mhc.broadcast %14 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %13, %15 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %16 = arith.truncf %u : tensor<?x64xf32> to tensor<?x64xbf16>
  return %16 : tensor<?x64xbf16>
}
