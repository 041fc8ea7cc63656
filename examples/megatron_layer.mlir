// Two transformer layers (four sublayers: attention and MLP of each) with manifold-constrained hyper-connections, as
// Megatron-LM's native module computes them (HyperConnectionModule, transformer/hyper_connection.py), op by op and with
// nothing fused:
//
//   entry     one stream becomes n = 4
//   per site  projection of all streams, 1 / (|x| / sqrt(nC) + eps), gates, 20 Sinkhorn turns, aggregate,
//             the sublayer, and the streams after it (transposed residual matrix, gated output, gated bias)
//   exit      the mean of the streams
//
// The sublayer is a small MLP, tanh(u @ w_sub^T), whose bias is added with the gated output. Tokens are the flattened
// sequence and batch axes, C = 32. data/ holds arguments and results by their names here; data/README.md says where
// they are from.

func.func @layer(%x: tensor<?x32xf32> {mhc.name = "x"},
                 %phi0: tensor<24x128xf32> {mhc.name = "phi0"},
                 %alpha0: tensor<3xf32> {mhc.name = "alpha0"},
                 %beta0: tensor<24xf32> {mhc.name = "beta0"},
                 %w_sub0: tensor<32x32xf32> {mhc.name = "w_sub0"},
                 %bias0: tensor<32xf32> {mhc.name = "bias0"},
                 %phi1: tensor<24x128xf32> {mhc.name = "phi1"},
                 %alpha1: tensor<3xf32> {mhc.name = "alpha1"},
                 %beta1: tensor<24xf32> {mhc.name = "beta1"},
                 %w_sub1: tensor<32x32xf32> {mhc.name = "w_sub1"},
                 %bias1: tensor<32xf32> {mhc.name = "bias1"},
                 %phi2: tensor<24x128xf32> {mhc.name = "phi2"},
                 %alpha2: tensor<3xf32> {mhc.name = "alpha2"},
                 %beta2: tensor<24xf32> {mhc.name = "beta2"},
                 %w_sub2: tensor<32x32xf32> {mhc.name = "w_sub2"},
                 %bias2: tensor<32xf32> {mhc.name = "bias2"},
                 %phi3: tensor<24x128xf32> {mhc.name = "phi3"},
                 %alpha3: tensor<3xf32> {mhc.name = "alpha3"},
                 %beta3: tensor<24xf32> {mhc.name = "beta3"},
                 %w_sub3: tensor<32x32xf32> {mhc.name = "w_sub3"},
                 %bias3: tensor<32xf32> {mhc.name = "bias3"})
    -> (tensor<?x32xf32> {mhc.name = "out"}, tensor<?x128xf32> {mhc.name = "streams"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x32xf32>
  %cst = arith.constant 11.313708498984761 : f32
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

  // One stream becomes n
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%M, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
  %1 = mhc.broadcast %0 dims = [0, 1, 2] : tensor<?x1x32xf32> -> tensor<?x4x32xf32>
  %x_flat = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>

  // Projection of all streams, and their root mean square
  %phi_t = mhc.transpose %phi0 perm = [1, 0] : tensor<24x128xf32> -> tensor<128x24xf32>
  %proj = mhc.matmul %x_flat, %phi_t : (tensor<?x128xf32>, tensor<128x24xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x_flat, %x_flat : tensor<?x128xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<?x128xf32> -> tensor<?xf32>
  %2 = tensor.expand_shape %sum [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2 = math.sqrt %2 : tensor<?x1xf32>
  %rms = arith.divf %norm2, %splat : tensor<?x1xf32>
  %3 = arith.addf %rms, %splat_1 : tensor<?x1xf32>
  %inv_rms = arith.divf %splat_2, %3 : tensor<?x1xf32>

  // Gates
  %4 = mhc.broadcast %inv_rms dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %5 = arith.mulf %4, %proj : tensor<?x24xf32>
  %6 = tensor.extract_slice %alpha0[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %7 = mhc.broadcast %6 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %8 = tensor.extract_slice %alpha0[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %9 = mhc.broadcast %8 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %10 = tensor.extract_slice %alpha0[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %11 = mhc.broadcast %10 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all = tensor.concat dim(0) %7, %9, %11 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %12 = tensor.expand_shape %alpha_all [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %13 = mhc.broadcast %12[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %14 = arith.mulf %5, %13 : tensor<?x24xf32>
  %15 = tensor.expand_shape %beta0 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %16 = mhc.broadcast %15[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z = arith.addf %14, %16 : tensor<?x24xf32>
  %17 = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %18 = tensor.extract_slice %z[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %19 = tensor.extract_slice %z[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %20 = mhc.sigmoid %17 : tensor<?x4xf32>
  %h_pre = arith.addf %20, %splat_3 : tensor<?x4xf32>
  %21 = mhc.sigmoid %18 : tensor<?x4xf32>
  %h_post = arith.mulf %21, %splat_4 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits = tensor.expand_shape %19 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %22 = mhc.softmax %logits dim = 2 : tensor<?x4x4xf32>
  %start = arith.addf %22, %splat_5 : tensor<?x4x4xf32>
  %sum_1 = mhc.reduce sum %start dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %23 = tensor.expand_shape %sum_1 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %24 = arith.addf %23, %splat_6 : tensor<?x1x4xf32>
  %25 = mhc.broadcast %24 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %26 = arith.divf %start, %25 : tensor<?x4x4xf32>
  %sk = scf.for %i = %c0 to %c19 step %c1 iter_args(%it = %26) -> (tensor<?x4x4xf32>) {
    %sum_2 = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %27 = tensor.expand_shape %sum_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %28 = arith.addf %27, %splat_7 : tensor<?x4x1xf32>
    %29 = mhc.broadcast %28 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %30 = arith.divf %it, %29 : tensor<?x4x4xf32>
    %sum_3 = mhc.reduce sum %30 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %31 = tensor.expand_shape %sum_3 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %32 = arith.addf %31, %splat_6 : tensor<?x1x4xf32>
    %33 = mhc.broadcast %32 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %34 = arith.divf %30, %33 : tensor<?x4x4xf32>
    scf.yield %34 : tensor<?x4x4xf32>
  }

  // Site 0: input, sublayer, streams after it
  %x_streams = tensor.expand_shape %x_flat [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %35 = tensor.expand_shape %h_pre [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %36 = mhc.broadcast %35 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %weighted = arith.mulf %x_streams, %36 : tensor<?x4x32xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  %37 = mhc.matmul %u, %w_sub0 transpose_rhs : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %f = math.tanh %37 : tensor<?x32xf32>
  %x_streams_1 = tensor.expand_shape %x_flat [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %38 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %39 = mhc.broadcast %38 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %40 = tensor.expand_shape %f [[0, 1], [2]] output_shape [%M, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
  %41 = mhc.broadcast %40 dims = [0, 1, 2] : tensor<?x1x32xf32> -> tensor<?x4x32xf32>
  %branch = arith.mulf %39, %41 : tensor<?x4x32xf32>
  %42 = tensor.expand_shape %h_post [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %43 = mhc.broadcast %42 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %44 = tensor.expand_shape %bias0 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
  %45 = mhc.broadcast %44[%M] dims = [0, 1, 2] : tensor<1x1x32xf32> -> tensor<?x4x32xf32>
  %46 = arith.mulf %43, %45 : tensor<?x4x32xf32>
  %47 = arith.addf %branch, %46 : tensor<?x4x32xf32>
  %48 = mhc.transpose %sk perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed = mhc.batch_matmul %48, %x_streams_1 : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %x_next = arith.addf %47, %mixed : tensor<?x4x32xf32>
  %x_flat_1 = tensor.collapse_shape %x_next [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>

  // Projection of all streams, and their root mean square
  %phi_t_1 = mhc.transpose %phi1 perm = [1, 0] : tensor<24x128xf32> -> tensor<128x24xf32>
  %proj_1 = mhc.matmul %x_flat_1, %phi_t_1 : (tensor<?x128xf32>, tensor<128x24xf32>) -> tensor<?x24xf32>
  %square_1 = arith.mulf %x_flat_1, %x_flat_1 : tensor<?x128xf32>
  %sum_4 = mhc.reduce sum %square_1 dims = [1] : tensor<?x128xf32> -> tensor<?xf32>
  %49 = tensor.expand_shape %sum_4 [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2_1 = math.sqrt %49 : tensor<?x1xf32>
  %rms_1 = arith.divf %norm2_1, %splat : tensor<?x1xf32>
  %50 = arith.addf %rms_1, %splat_1 : tensor<?x1xf32>
  %inv_rms_1 = arith.divf %splat_2, %50 : tensor<?x1xf32>

  // Gates
  %51 = mhc.broadcast %inv_rms_1 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %52 = arith.mulf %51, %proj_1 : tensor<?x24xf32>
  %53 = tensor.extract_slice %alpha1[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %54 = mhc.broadcast %53 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %55 = tensor.extract_slice %alpha1[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %56 = mhc.broadcast %55 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %57 = tensor.extract_slice %alpha1[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %58 = mhc.broadcast %57 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all_1 = tensor.concat dim(0) %54, %56, %58 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %59 = tensor.expand_shape %alpha_all_1 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %60 = mhc.broadcast %59[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %61 = arith.mulf %52, %60 : tensor<?x24xf32>
  %62 = tensor.expand_shape %beta1 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %63 = mhc.broadcast %62[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z_1 = arith.addf %61, %63 : tensor<?x24xf32>
  %64 = tensor.extract_slice %z_1[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %65 = tensor.extract_slice %z_1[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %66 = tensor.extract_slice %z_1[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %67 = mhc.sigmoid %64 : tensor<?x4xf32>
  %h_pre_1 = arith.addf %67, %splat_3 : tensor<?x4xf32>
  %68 = mhc.sigmoid %65 : tensor<?x4xf32>
  %h_post_1 = arith.mulf %68, %splat_4 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits_1 = tensor.expand_shape %66 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %69 = mhc.softmax %logits_1 dim = 2 : tensor<?x4x4xf32>
  %start_1 = arith.addf %69, %splat_5 : tensor<?x4x4xf32>
  %sum_5 = mhc.reduce sum %start_1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %70 = tensor.expand_shape %sum_5 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %71 = arith.addf %70, %splat_6 : tensor<?x1x4xf32>
  %72 = mhc.broadcast %71 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %73 = arith.divf %start_1, %72 : tensor<?x4x4xf32>
  %sk_1 = scf.for %i_1 = %c0 to %c19 step %c1 iter_args(%it_1 = %73) -> (tensor<?x4x4xf32>) {
    %sum_6 = mhc.reduce sum %it_1 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %74 = tensor.expand_shape %sum_6 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %75 = arith.addf %74, %splat_7 : tensor<?x4x1xf32>
    %76 = mhc.broadcast %75 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %77 = arith.divf %it_1, %76 : tensor<?x4x4xf32>
    %sum_7 = mhc.reduce sum %77 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %78 = tensor.expand_shape %sum_7 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %79 = arith.addf %78, %splat_6 : tensor<?x1x4xf32>
    %80 = mhc.broadcast %79 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %81 = arith.divf %77, %80 : tensor<?x4x4xf32>
    scf.yield %81 : tensor<?x4x4xf32>
  }

  // Site 1: input, sublayer, streams after it
  %x_streams_2 = tensor.expand_shape %x_flat_1 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %82 = tensor.expand_shape %h_pre_1 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %83 = mhc.broadcast %82 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %weighted_1 = arith.mulf %x_streams_2, %83 : tensor<?x4x32xf32>
  %u_1 = mhc.reduce sum %weighted_1 dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  %84 = mhc.matmul %u_1, %w_sub1 transpose_rhs : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %f_1 = math.tanh %84 : tensor<?x32xf32>
  %x_streams_3 = tensor.expand_shape %x_flat_1 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %85 = tensor.expand_shape %h_post_1 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %86 = mhc.broadcast %85 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %87 = tensor.expand_shape %f_1 [[0, 1], [2]] output_shape [%M, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
  %88 = mhc.broadcast %87 dims = [0, 1, 2] : tensor<?x1x32xf32> -> tensor<?x4x32xf32>
  %branch_1 = arith.mulf %86, %88 : tensor<?x4x32xf32>
  %89 = tensor.expand_shape %h_post_1 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %90 = mhc.broadcast %89 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %91 = tensor.expand_shape %bias1 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
  %92 = mhc.broadcast %91[%M] dims = [0, 1, 2] : tensor<1x1x32xf32> -> tensor<?x4x32xf32>
  %93 = arith.mulf %90, %92 : tensor<?x4x32xf32>
  %94 = arith.addf %branch_1, %93 : tensor<?x4x32xf32>
  %95 = mhc.transpose %sk_1 perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed_1 = mhc.batch_matmul %95, %x_streams_3 : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %x_next_1 = arith.addf %94, %mixed_1 : tensor<?x4x32xf32>
  %x_flat_2 = tensor.collapse_shape %x_next_1 [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>

  // Projection of all streams, and their root mean square
  %phi_t_2 = mhc.transpose %phi2 perm = [1, 0] : tensor<24x128xf32> -> tensor<128x24xf32>
  %proj_2 = mhc.matmul %x_flat_2, %phi_t_2 : (tensor<?x128xf32>, tensor<128x24xf32>) -> tensor<?x24xf32>
  %square_2 = arith.mulf %x_flat_2, %x_flat_2 : tensor<?x128xf32>
  %sum_8 = mhc.reduce sum %square_2 dims = [1] : tensor<?x128xf32> -> tensor<?xf32>
  %96 = tensor.expand_shape %sum_8 [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2_2 = math.sqrt %96 : tensor<?x1xf32>
  %rms_2 = arith.divf %norm2_2, %splat : tensor<?x1xf32>
  %97 = arith.addf %rms_2, %splat_1 : tensor<?x1xf32>
  %inv_rms_2 = arith.divf %splat_2, %97 : tensor<?x1xf32>

  // Gates
  %98 = mhc.broadcast %inv_rms_2 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %99 = arith.mulf %98, %proj_2 : tensor<?x24xf32>
  %100 = tensor.extract_slice %alpha2[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %101 = mhc.broadcast %100 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %102 = tensor.extract_slice %alpha2[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %103 = mhc.broadcast %102 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %104 = tensor.extract_slice %alpha2[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %105 = mhc.broadcast %104 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all_2 = tensor.concat dim(0) %101, %103, %105 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %106 = tensor.expand_shape %alpha_all_2 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %107 = mhc.broadcast %106[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %108 = arith.mulf %99, %107 : tensor<?x24xf32>
  %109 = tensor.expand_shape %beta2 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %110 = mhc.broadcast %109[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z_2 = arith.addf %108, %110 : tensor<?x24xf32>
  %111 = tensor.extract_slice %z_2[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %112 = tensor.extract_slice %z_2[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %113 = tensor.extract_slice %z_2[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %114 = mhc.sigmoid %111 : tensor<?x4xf32>
  %h_pre_2 = arith.addf %114, %splat_3 : tensor<?x4xf32>
  %115 = mhc.sigmoid %112 : tensor<?x4xf32>
  %h_post_2 = arith.mulf %115, %splat_4 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits_2 = tensor.expand_shape %113 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %116 = mhc.softmax %logits_2 dim = 2 : tensor<?x4x4xf32>
  %start_2 = arith.addf %116, %splat_5 : tensor<?x4x4xf32>
  %sum_9 = mhc.reduce sum %start_2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %117 = tensor.expand_shape %sum_9 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %118 = arith.addf %117, %splat_6 : tensor<?x1x4xf32>
  %119 = mhc.broadcast %118 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %120 = arith.divf %start_2, %119 : tensor<?x4x4xf32>
  %sk_2 = scf.for %i_2 = %c0 to %c19 step %c1 iter_args(%it_2 = %120) -> (tensor<?x4x4xf32>) {
    %sum_10 = mhc.reduce sum %it_2 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %121 = tensor.expand_shape %sum_10 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %122 = arith.addf %121, %splat_7 : tensor<?x4x1xf32>
    %123 = mhc.broadcast %122 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %124 = arith.divf %it_2, %123 : tensor<?x4x4xf32>
    %sum_11 = mhc.reduce sum %124 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %125 = tensor.expand_shape %sum_11 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %126 = arith.addf %125, %splat_6 : tensor<?x1x4xf32>
    %127 = mhc.broadcast %126 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %128 = arith.divf %124, %127 : tensor<?x4x4xf32>
    scf.yield %128 : tensor<?x4x4xf32>
  }

  // Site 2: input, sublayer, streams after it
  %x_streams_4 = tensor.expand_shape %x_flat_2 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %129 = tensor.expand_shape %h_pre_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %130 = mhc.broadcast %129 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %weighted_2 = arith.mulf %x_streams_4, %130 : tensor<?x4x32xf32>
  %u_2 = mhc.reduce sum %weighted_2 dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  %131 = mhc.matmul %u_2, %w_sub2 transpose_rhs : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %f_2 = math.tanh %131 : tensor<?x32xf32>
  %x_streams_5 = tensor.expand_shape %x_flat_2 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %132 = tensor.expand_shape %h_post_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %133 = mhc.broadcast %132 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %134 = tensor.expand_shape %f_2 [[0, 1], [2]] output_shape [%M, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
  %135 = mhc.broadcast %134 dims = [0, 1, 2] : tensor<?x1x32xf32> -> tensor<?x4x32xf32>
  %branch_2 = arith.mulf %133, %135 : tensor<?x4x32xf32>
  %136 = tensor.expand_shape %h_post_2 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %137 = mhc.broadcast %136 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %138 = tensor.expand_shape %bias2 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
  %139 = mhc.broadcast %138[%M] dims = [0, 1, 2] : tensor<1x1x32xf32> -> tensor<?x4x32xf32>
  %140 = arith.mulf %137, %139 : tensor<?x4x32xf32>
  %141 = arith.addf %branch_2, %140 : tensor<?x4x32xf32>
  %142 = mhc.transpose %sk_2 perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed_2 = mhc.batch_matmul %142, %x_streams_5 : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %x_next_2 = arith.addf %141, %mixed_2 : tensor<?x4x32xf32>
  %x_flat_3 = tensor.collapse_shape %x_next_2 [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>

  // Projection of all streams, and their root mean square
  %phi_t_3 = mhc.transpose %phi3 perm = [1, 0] : tensor<24x128xf32> -> tensor<128x24xf32>
  %proj_3 = mhc.matmul %x_flat_3, %phi_t_3 : (tensor<?x128xf32>, tensor<128x24xf32>) -> tensor<?x24xf32>
  %square_3 = arith.mulf %x_flat_3, %x_flat_3 : tensor<?x128xf32>
  %sum_12 = mhc.reduce sum %square_3 dims = [1] : tensor<?x128xf32> -> tensor<?xf32>
  %143 = tensor.expand_shape %sum_12 [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm2_3 = math.sqrt %143 : tensor<?x1xf32>
  %rms_3 = arith.divf %norm2_3, %splat : tensor<?x1xf32>
  %144 = arith.addf %rms_3, %splat_1 : tensor<?x1xf32>
  %inv_rms_3 = arith.divf %splat_2, %144 : tensor<?x1xf32>

  // Gates
  %145 = mhc.broadcast %inv_rms_3 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %146 = arith.mulf %145, %proj_3 : tensor<?x24xf32>
  %147 = tensor.extract_slice %alpha3[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %148 = mhc.broadcast %147 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %149 = tensor.extract_slice %alpha3[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %150 = mhc.broadcast %149 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %151 = tensor.extract_slice %alpha3[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %152 = mhc.broadcast %151 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha_all_3 = tensor.concat dim(0) %148, %150, %152 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %153 = tensor.expand_shape %alpha_all_3 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %154 = mhc.broadcast %153[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %155 = arith.mulf %146, %154 : tensor<?x24xf32>
  %156 = tensor.expand_shape %beta3 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
  %157 = mhc.broadcast %156[%M] dims = [0, 1] : tensor<1x24xf32> -> tensor<?x24xf32>
  %z_3 = arith.addf %155, %157 : tensor<?x24xf32>
  %158 = tensor.extract_slice %z_3[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %159 = tensor.extract_slice %z_3[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %160 = tensor.extract_slice %z_3[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %161 = mhc.sigmoid %158 : tensor<?x4xf32>
  %h_pre_3 = arith.addf %161, %splat_3 : tensor<?x4xf32>
  %162 = mhc.sigmoid %159 : tensor<?x4xf32>
  %h_post_3 = arith.mulf %162, %splat_4 : tensor<?x4xf32>

  // Residual matrix: Sinkhorn
  %logits_3 = tensor.expand_shape %160 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %163 = mhc.softmax %logits_3 dim = 2 : tensor<?x4x4xf32>
  %start_3 = arith.addf %163, %splat_5 : tensor<?x4x4xf32>
  %sum_13 = mhc.reduce sum %start_3 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %164 = tensor.expand_shape %sum_13 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %165 = arith.addf %164, %splat_6 : tensor<?x1x4xf32>
  %166 = mhc.broadcast %165 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
  %167 = arith.divf %start_3, %166 : tensor<?x4x4xf32>
  %sk_3 = scf.for %i_3 = %c0 to %c19 step %c1 iter_args(%it_3 = %167) -> (tensor<?x4x4xf32>) {
    %sum_14 = mhc.reduce sum %it_3 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %168 = tensor.expand_shape %sum_14 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
    %169 = arith.addf %168, %splat_7 : tensor<?x4x1xf32>
    %170 = mhc.broadcast %169 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x4xf32>
    %171 = arith.divf %it_3, %170 : tensor<?x4x4xf32>
    %sum_15 = mhc.reduce sum %171 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %172 = tensor.expand_shape %sum_15 [[0, 1], [2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    %173 = arith.addf %172, %splat_6 : tensor<?x1x4xf32>
    %174 = mhc.broadcast %173 dims = [0, 1, 2] : tensor<?x1x4xf32> -> tensor<?x4x4xf32>
    %175 = arith.divf %171, %174 : tensor<?x4x4xf32>
    scf.yield %175 : tensor<?x4x4xf32>
  }

  // Site 3: input, sublayer, streams after it
  %x_streams_6 = tensor.expand_shape %x_flat_3 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %176 = tensor.expand_shape %h_pre_3 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %177 = mhc.broadcast %176 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %weighted_3 = arith.mulf %x_streams_6, %177 : tensor<?x4x32xf32>
  %u_3 = mhc.reduce sum %weighted_3 dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  %178 = mhc.matmul %u_3, %w_sub3 transpose_rhs : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %f_3 = math.tanh %178 : tensor<?x32xf32>
  %x_streams_7 = tensor.expand_shape %x_flat_3 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %179 = tensor.expand_shape %h_post_3 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %180 = mhc.broadcast %179 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %181 = tensor.expand_shape %f_3 [[0, 1], [2]] output_shape [%M, 1, 32] : tensor<?x32xf32> into tensor<?x1x32xf32>
  %182 = mhc.broadcast %181 dims = [0, 1, 2] : tensor<?x1x32xf32> -> tensor<?x4x32xf32>
  %branch_3 = arith.mulf %180, %182 : tensor<?x4x32xf32>
  %183 = tensor.expand_shape %h_post_3 [[0], [1, 2]] output_shape [%M, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %184 = mhc.broadcast %183 dims = [0, 1, 2] : tensor<?x4x1xf32> -> tensor<?x4x32xf32>
  %185 = tensor.expand_shape %bias3 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
  %186 = mhc.broadcast %185[%M] dims = [0, 1, 2] : tensor<1x1x32xf32> -> tensor<?x4x32xf32>
  %187 = arith.mulf %184, %186 : tensor<?x4x32xf32>
  %188 = arith.addf %branch_3, %187 : tensor<?x4x32xf32>
  %189 = mhc.transpose %sk_3 perm = [0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %mixed_3 = mhc.batch_matmul %189, %x_streams_7 : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %x_next_3 = arith.addf %188, %mixed_3 : tensor<?x4x32xf32>
  %x_flat_4 = tensor.collapse_shape %x_next_3 [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>

  // The mean of the streams leaves the model
  %x_streams_8 = tensor.expand_shape %x_flat_4 [[0], [1, 2]] output_shape [%M, 4, 32] : tensor<?x128xf32> into tensor<?x4x32xf32>
  %190 = mhc.reduce mean %x_streams_8 dims = [1] : tensor<?x4x32xf32> -> tensor<?x32xf32>
  return %190, %x_flat_4 : tensor<?x32xf32>, tensor<?x128xf32>
}
