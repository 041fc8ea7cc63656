// RUN: mhc-opt %s -mhc-raise -mhc-fuse --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --implicit-check-not='[Missed]'
// RUN: mhcc %s --verify

// One stream has nothing to mix, and its kernels would only cost: it stays as it is.
// CHECK: [Missed] stream-count | Category:mhc-raise:gates | Function=layer | {{.*}}Found="1 stream in argument 0 'x', [?, 1, 64] of f32", Needed="at least 2 streams"
func.func @layer(%x: tensor<?x1x64xf32> {mhc.name = "x"}, %phi: tensor<3x64xf32> {mhc.name = "phi"},
                %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<3xf32> {mhc.name = "beta"}, %f: tensor<?x64xf32> {mhc.name = "f"})
    -> (tensor<?x64xf32> {mhc.name = "u"}, tensor<?x1x64xf32> {mhc.name = "out"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x1x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x1x64xf32> into tensor<?x64xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x3xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x3xf32>
  %t = arith.mulf %h, %s_all : tensor<?x3xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>
  %scaled = arith.mulf %t, %alpha_all : tensor<?x3xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x3xf32>
  %zpre = tensor.extract_slice %z[0, 0] [%M, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %zpost = tensor.extract_slice %z[0, 1] [%M, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %zres = tensor.extract_slice %z[0, 2] [%M, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %h_pre = mhc.sigmoid %zpre : tensor<?x1xf32>
  %h_post1 = mhc.sigmoid %zpost : tensor<?x1xf32>
  %h_post = arith.addf %h_post1, %h_post1 : tensor<?x1xf32>
  %zm = tensor.expand_shape %zres [[0], [1, 2]] output_shape [%M, 1, 1] : tensor<?x1xf32> into tensor<?x1x1xf32>
  %e = math.exp %zm : tensor<?x1x1xf32>
  %row = mhc.reduce sum %e dims = [2] : tensor<?x1x1xf32> -> tensor<?x1xf32>
  %rowa = mhc.broadcast %row dims = [0, 1] : tensor<?x1xf32> -> tensor<?x1x1xf32>
  %r1 = arith.divf %e, %rowa : tensor<?x1x1xf32>
  %col = mhc.reduce sum %r1 dims = [1] : tensor<?x1x1xf32> -> tensor<?x1xf32>
  %cola = mhc.broadcast %col dims = [0, 2] : tensor<?x1xf32> -> tensor<?x1x1xf32>
  %map = arith.divf %r1, %cola : tensor<?x1x1xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x1xf32> -> tensor<?x1x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x1x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x1x64xf32> -> tensor<?x64xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x1x1xf32>, tensor<?x1x64xf32>) -> tensor<?x1x64xf32>
  %hw = mhc.broadcast %h_post dims = [0, 1] : tensor<?x1xf32> -> tensor<?x1x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x1x64xf32>
  %b = arith.mulf %hw, %fw : tensor<?x1x64xf32>
  %out = arith.addf %mixed, %b : tensor<?x1x64xf32>
  return %u, %out : tensor<?x64xf32>, tensor<?x1x64xf32>
}

// CHECK: [Missed] stream-count | Category:mhc-raise:gates | Function=many | {{.*}}Found="17 streams", Needed="at most 16 streams"
func.func @many(%x: tensor<?x17x8xf32>, %phi: tensor<323x136xf32>, %alpha: tensor<1xf32>, %beta: tensor<323xf32>)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x17x8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x17x8xf32> into tensor<?x136xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x136xf32>, tensor<323x136xf32>) -> tensor<?x323xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x323xf32>
  %scaled = arith.mulf %h, %alpha_all : tensor<?x323xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<323xf32> -> tensor<?x323xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x323xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [%M, 17] [1, 1] : tensor<?x323xf32> to tensor<?x17xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x17xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x17xf32> -> tensor<?x17x8xf32>
  %products = arith.mulf %x, %weights : tensor<?x17x8xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x17x8xf32> -> tensor<?x8xf32>
  return %u : tensor<?x8xf32>
}

// One stream without a dimension of its own, its first gate with an eps.
// CHECK: [Missed] stream-count | Category:mhc-raise:gates | Function=rows | {{.*}}Found="1 stream in argument 0, [?, 64] of f32", Needed="at least 2 streams"
func.func @rows(%x: tensor<?x64xf32>, %phi: tensor<3x64xf32>, %alpha: tensor<3xf32>, %beta: tensor<3xf32>)
    -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %h = mhc.matmul %x, %phi transpose_rhs : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x3xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>
  %scaled = arith.mulf %h, %alpha_all : tensor<?x3xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x3xf32>
  %zpre = tensor.extract_slice %z[0, 0] [%M, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %gate = mhc.sigmoid %zpre : tensor<?x1xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?x1xf32>
  %h_pre = arith.addf %gate, %eps_all : tensor<?x1xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %u = arith.mulf %x, %weights : tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// A network of another kind: residual, with a gate for each token that has no alpha.
// CHECK-NOT: [Missed]
func.func @residual(%x: tensor<?x64xf32>, %w: tensor<1x64xf32>, %b: tensor<1xf32>, %f: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %h = mhc.matmul %x, %w transpose_rhs : (tensor<?x64xf32>, tensor<1x64xf32>) -> tensor<?x1xf32>
  %b_all = mhc.broadcast %b[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %z = arith.addf %h, %b_all : tensor<?x1xf32>
  %gate = mhc.sigmoid %z : tensor<?x1xf32>
  %weights = mhc.broadcast %gate dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %gated = arith.mulf %x, %weights : tensor<?x64xf32>
  %y = mhc.matmul %gated, %f : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %out = arith.addf %x, %y : tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}

// A gate with all that mHC has, of another tensor than the one it multiplies.
// CHECK-NOT: [Missed]
func.func @other(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %phi: tensor<1x64xf32>, %alpha: tensor<1xf32>, %beta: tensor<1xf32>)
    -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %h = mhc.matmul %x, %phi transpose_rhs : (tensor<?x64xf32>, tensor<1x64xf32>) -> tensor<?x1xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %scaled = arith.mulf %h, %alpha_all : tensor<?x1xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x1xf32>
  %gate = mhc.sigmoid %z : tensor<?x1xf32>
  %weights = mhc.broadcast %gate dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %out = arith.mulf %y, %weights : tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}

// Three outputs of a linear layer on rows are no gates of one stream.
// CHECK-NOT: [Missed]
func.func @linear(%x: tensor<?x64xf32>, %w: tensor<3x64xf32>, %b: tensor<3xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %h = mhc.matmul %x, %w transpose_rhs : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x3xf32>
  %b_all = mhc.broadcast %b[%M] dims = [1] : tensor<3xf32> -> tensor<?x3xf32>
  %z = arith.addf %h, %b_all : tensor<?x3xf32>
  %first = tensor.extract_slice %z[0, 0] [%M, 1] [1, 1] : tensor<?x3xf32> to tensor<?x1xf32>
  %y = mhc.sigmoid %first : tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// Gates that are computed one by one, each for a part of the streams, are no gates of one stream.
// CHECK: [Missed] gate-rows | Category:mhc-raise:gates | Function=gates_one_by_one | Found="1 row for 1 stream of argument 0, [?, 2, 64] of f32", Needed="one row for each stream, all in one product"
func.func @gates_one_by_one(%x: tensor<?x2x64xf32>, %phi: tensor<2x128xf32>, %alpha: tensor<1xf32>,
    %beta: tensor<2xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x64xf32> into tensor<?x128xf32>
  %alphas = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %phi0 = tensor.extract_slice %phi[0, 0] [1, 128] [1, 1] : tensor<2x128xf32> to tensor<1x128xf32>
  %p0 = mhc.matmul %flat, %phi0 transpose_rhs : (tensor<?x128xf32>, tensor<1x128xf32>) -> tensor<?x1xf32>
  %a0 = arith.mulf %p0, %alphas : tensor<?x1xf32>
  %beta0 = tensor.extract_slice %beta[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %b0 = mhc.broadcast %beta0[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %z0 = arith.addf %a0, %b0 : tensor<?x1xf32>
  %g0 = mhc.sigmoid %z0 : tensor<?x1xf32>
  %w0 = mhc.broadcast %g0 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [%M, 1, 64] [1, 1, 1] : tensor<?x2x64xf32> to tensor<?x64xf32>
  %u0 = arith.mulf %x0, %w0 : tensor<?x64xf32>
  %phi1 = tensor.extract_slice %phi[1, 0] [1, 128] [1, 1] : tensor<2x128xf32> to tensor<1x128xf32>
  %p1 = mhc.matmul %flat, %phi1 transpose_rhs : (tensor<?x128xf32>, tensor<1x128xf32>) -> tensor<?x1xf32>
  %a1 = arith.mulf %p1, %alphas : tensor<?x1xf32>
  %beta1 = tensor.extract_slice %beta[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %b1 = mhc.broadcast %beta1[%M] dims = [1] : tensor<1xf32> -> tensor<?x1xf32>
  %z1 = arith.addf %a1, %b1 : tensor<?x1xf32>
  %g1 = mhc.sigmoid %z1 : tensor<?x1xf32>
  %w1 = mhc.broadcast %g1 dims = [0, 1] : tensor<?x1xf32> -> tensor<?x64xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [%M, 1, 64] [1, 1, 1] : tensor<?x2x64xf32> to tensor<?x64xf32>
  %u1 = arith.mulf %x1, %w1 : tensor<?x64xf32>
  %u = arith.addf %u0, %u1 : tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}
