// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s

// Liger-Kernel's reference functions. phi is stored [nC, 24], so no transpose is in front of the product. alpha and
// bias come per group, the residual is mixed by the matrix itself (first index = output stream) and is the left
// operand of the last addition. Eight Sinkhorn iterations are written out.

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
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %cst = arith.constant 1.0e-06 : f32
  %splat = tensor.splat %cst[%M] : tensor<?x1xf32>
  %cst_1 = arith.constant 0.0001 : f32
  %splat_1 = tensor.splat %cst_1[%M] : tensor<?x4xf32>
  %cst_2 = arith.constant 2.0 : f32
  %splat_2 = tensor.splat %cst_2[%M] : tensor<?x4xf32>
  %splat_3 = tensor.splat %cst[%M] : tensor<?x4x4xf32>
  %splat_4 = tensor.splat %cst[%M] : tensor<?x1x4xf32>
  %splat_5 = tensor.splat %cst[%M] : tensor<?x4x1xf32>

  // Projection of all streams, and their root mean square
  %x_flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %x_flat, %phi : (tensor<?x256xf32>, tensor<256x24xf32>) -> tensor<?x24xf32>
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
  %27 = mhc.softmax %logits dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %27, %splat_3 : tensor<?x4x4xf32>
  %sum = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %28 = tensor.expand_shape %sum [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %29 = arith.addf %28, %splat_4 : tensor<?x1x4xf32>
  %30 = mhc.broadcast %29 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %31 = arith.divf %start, %30 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %31 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %32 = tensor.expand_shape %sum_1 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %33 = arith.addf %32, %splat_5 : tensor<?x4x1xf32>
  %34 = mhc.broadcast %33 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %35 = arith.divf %31, %34 : tensor<?x4x4xf32>
  %sum_2 = mhc.reduce sum %35 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %36 = tensor.expand_shape %sum_2 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %37 = arith.addf %36, %splat_4 : tensor<?x1x4xf32>
  %38 = mhc.broadcast %37 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %39 = arith.divf %35, %38 : tensor<?x4x4xf32>
  %sum_3 = mhc.reduce sum %39 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %40 = tensor.expand_shape %sum_3 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %41 = arith.addf %40, %splat_5 : tensor<?x4x1xf32>
  %42 = mhc.broadcast %41 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %43 = arith.divf %39, %42 : tensor<?x4x4xf32>
  %sum_4 = mhc.reduce sum %43 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %44 = tensor.expand_shape %sum_4 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %45 = arith.addf %44, %splat_4 : tensor<?x1x4xf32>
  %46 = mhc.broadcast %45 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %47 = arith.divf %43, %46 : tensor<?x4x4xf32>
  %sum_5 = mhc.reduce sum %47 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %48 = tensor.expand_shape %sum_5 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %49 = arith.addf %48, %splat_5 : tensor<?x4x1xf32>
  %50 = mhc.broadcast %49 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %51 = arith.divf %47, %50 : tensor<?x4x4xf32>
  %sum_6 = mhc.reduce sum %51 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %52 = tensor.expand_shape %sum_6 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %53 = arith.addf %52, %splat_4 : tensor<?x1x4xf32>
  %54 = mhc.broadcast %53 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %55 = arith.divf %51, %54 : tensor<?x4x4xf32>
  %sum_7 = mhc.reduce sum %55 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %56 = tensor.expand_shape %sum_7 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %57 = arith.addf %56, %splat_5 : tensor<?x4x1xf32>
  %58 = mhc.broadcast %57 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %59 = arith.divf %55, %58 : tensor<?x4x4xf32>
  %sum_8 = mhc.reduce sum %59 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %60 = tensor.expand_shape %sum_8 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %61 = arith.addf %60, %splat_4 : tensor<?x1x4xf32>
  %62 = mhc.broadcast %61 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %63 = arith.divf %59, %62 : tensor<?x4x4xf32>
  %sum_9 = mhc.reduce sum %63 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %64 = tensor.expand_shape %sum_9 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %65 = arith.addf %64, %splat_5 : tensor<?x4x1xf32>
  %66 = mhc.broadcast %65 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %67 = arith.divf %63, %66 : tensor<?x4x4xf32>
  %sum_10 = mhc.reduce sum %67 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %68 = tensor.expand_shape %sum_10 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %69 = arith.addf %68, %splat_4 : tensor<?x1x4xf32>
  %70 = mhc.broadcast %69 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %71 = arith.divf %67, %70 : tensor<?x4x4xf32>
  %sum_11 = mhc.reduce sum %71 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %72 = tensor.expand_shape %sum_11 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %73 = arith.addf %72, %splat_5 : tensor<?x4x1xf32>
  %74 = mhc.broadcast %73 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %75 = arith.divf %71, %74 : tensor<?x4x4xf32>
  %sum_12 = mhc.reduce sum %75 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %76 = tensor.expand_shape %sum_12 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %77 = arith.addf %76, %splat_4 : tensor<?x1x4xf32>
  %78 = mhc.broadcast %77 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %79 = arith.divf %75, %78 : tensor<?x4x4xf32>
  %sum_13 = mhc.reduce sum %79 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %80 = tensor.expand_shape %sum_13 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %81 = arith.addf %80, %splat_5 : tensor<?x4x1xf32>
  %82 = mhc.broadcast %81 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
  %83 = arith.divf %79, %82 : tensor<?x4x4xf32>
  %sum_14 = mhc.reduce sum %83 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %84 = tensor.expand_shape %sum_14 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %85 = arith.addf %84, %splat_4 : tensor<?x1x4xf32>
  %86 = mhc.broadcast %85 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %87 = arith.divf %83, %86 : tensor<?x4x4xf32>

  // Input of the sublayer
  %88 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %89 = mhc.broadcast %88 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %weighted = arith.mulf %x, %89 : tensor<?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>

  // The sublayer
  %90 = mhc.matmul %u, %w_sub transpose_rhs : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %f = math.tanh %90 : tensor<?x64xf32>

  // Streams after the sublayer
  %91 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %92 = mhc.broadcast %91 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x64xf32>
  %93 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %94 = mhc.broadcast %93 dims = [0, 1, 2] : tensor<?x1x64xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %92, %94 : tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %87, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %x_next = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  return %x_next : tensor<?x4x64xf32>
}
