//===- Pre.td - Everything before a sublayer in one kernel; the learned contraction ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_PRE
#define MHC_IR_OPS_PRE

include "mhc/IR/MhcBase.td"

def Mhc_PreOp : Mhc_KernelOp<"pre", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                     DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                     DeclareOpInterfaceMethods<FlattenableOpInterface>, AttrSizedOperandSegments,
                                     AttrSizedResultSegments]> {
  let summary = "Compute a sublayer's mixing coefficients and its input in one pass over the streams";
  let description = [{
    The chain `projection`, `gates`, residual map (`sinkhorn`, `permutation_mix` or the logits themselves) and
    `aggregate` on the same x, which is read once. With `fold_pre`, `h_res` is the residual map minus
    `h_post * h_pre^T` (math.md 3.7). `proj` and `stat`, the raw product and the multiplier of `mhc.projection`, are
    what `mhc.pre_bwd` reads in addition to the operands. `precision` is that of the projection.

    In the single-pass form (math.md 3.9), `u` mixes x by `h_in`, the h_pre of the sublayer before, and `h_pre` is for
    the sublayer behind. Without `u` nothing is mixed: something else reads `h_pre`.

    Where `h_pre_format`, `h_post_format` and `h_res_format` are `bf16` or `f16`, the coefficients are rounded to it
    before they are used, as in models that compute them in f32 and mix streams of bf16: the gates h_pre and h_post
    behind their sigmoids, so that `u` and the fold have the rounded ones, and h_res behind the residual map and the
    fold. The results keep their type f32 and hold the rounded numbers; `mhc.post` has nothing to round. `sk_format` is
    the `format` of `mhc.sinkhorn`, `solver` its `solver`.

    With `equal_x`, x is one row that stands for every stream, as `mhc.expand` would write them: 2C elements a token pass
    through memory, for x and u.

    C1: the constraints of `mhc.sinkhorn` hold when `res_map` is `sinkhorn`; otherwise `init`, `order`, `denom`,
    `sk_eps`, `iters` and `sk_format` are not read, and `solver` may not be `newton`. C2: A is 3. C3: `h_in` goes with
    `u`, and without `fold_pre`.

    ```mlir
    func.func @pre(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
        -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
      %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
          alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
         res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
         fold_pre = false>
        -> (u : tensor<?x64xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
      return %u, %h_post, %h_res : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_MaybeEqualStreams<"equal_x">:$x, Mhc_Phi<"N">:$phi,
    Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight, Mhc_Tensor<[F32], ["A"]>:$alpha,
    Mhc_Tensor<[F32], ["N"]>:$beta, Mhc_AddedOperand<Mhc_Tensor<[F32], ["M", "n"]>, 4>:$h_in,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps,
    Mhc_Factor:$post_mult, Mhc_ResMapAttr:$res_map, Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom,
    Mhc_Eps:$sk_eps, Mhc_IterCount:$iters, BoolAttr:$fold_pre, Mhc_OptionalPrecision:$precision,
    Mhc_OptionalFormat:$h_pre_format, Mhc_OptionalFormat:$h_post_format, Mhc_OptionalFormat:$h_res_format,
    Mhc_OptionalFormat:$sk_format, Mhc_OptionalSolver:$solver, Mhc_EqualStreams:$equal_x);
  let results = (outs Optional<Mhc_Like<"x", ["M", "C"]>>:$u, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre,
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res,
    Optional<Mhc_Tensor<[F32], ["M", "N"]>>:$proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$stat);
  let flops = "2*M*K*N + 2*M*K + 6*M*N + (res_map == 0 ? M*n*n*(solver == 1 ? 7*n + 25 : 4*iters) : 0) + "
              "(res_map == 1 ? M*factorial(n)*(n + 4) : 0) + u_count*2*M*n*C";
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"N", "2*n + (res_map == 1 ? factorial(n) : n*n)">,
                  Mhc_DimRule<"A", "3">];
  let verifyExtra = 1;
}

def Mhc_PreBwdOp : Mhc_KernelOp<"pre_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                            AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.pre, with the streams' in one accumulated write";
  let description = [{
    The chain `aggregate_bwd`, `sinkhorn_bwd` or `permutation_mix_bwd`, `gates_bwd` and `projection_bwd`:

        d_h_pre[m,i] += sum_c d_u[m,c] * x[m,i,c]
        d_x[m,i,c]    = d_x_in[m,i,c] + h_pre[m,i] * d_u[m,c] + sum_j d_proj[m,j] * W[j,k] + t[m] * x[m,i,c]

    with k, W and t of `mhc.projection_bwd`; sums in f32, one rounding of d_x. In place of a start, the gradient of the
    `mhc.post` that mixed x may be folded in, from its operands:

        d_x_in[m,i,c] = sum_o A[m,o,i] * d_out[m,o,c]        A = h_res for oi, its transpose for io (math.md 3.7)

    which spares writing that sum, n elements a token and channel. With `fold_pre`, `d_h_res * h_pre` and
    `h_post * d_h_res` are subtracted from the gates' gradients first (math.md 3.7). An absent `d_h_pre` counts as zero.
    Without `d_u`, the terms with it are left out.
    A gradient that is no result is not computed; those that have a start begin with it instead of zero.

    `proj` and `stat` are those of `mhc.pre`: 4(N+1) bytes a token that spare the product of x and phi. The gates and
    the residual map are computed again. `precision` is that of `mhc.projection_bwd`; the products of d_u with x and
    h_pre are f32.

    `h_pre_format`, `h_post_format` and `sk_format` are those of `mhc.pre`: gates that are multiplied are the rounded
    ones, the slopes of the sigmoids those of the numbers before, and the residual logits are rounded as
    `mhc.sinkhorn_bwd` wants them. The derivative of a rounding counts as one, and no gradient is rounded but those that
    are stored. A program whose own derivative goes through casts rounds the gradients of the coefficients as well, and
    is off by up to 2^-9 of each for bf16, 2^-12 for f16.

    With `equal_x` and `equal_d_out`, the tensor is one row that stands for every stream; `d_x` is that of each stream.

    C1: the constraints of `mhc.sinkhorn`, as for `mhc.pre`. C2: A is 3. C3: `d_norm_weight` needs `norm_weight`.
    C4: `d_out` and `h_res` go together, with `d_x` and without `d_x_in`; `orient` is read with them only.

    ```mlir
    func.func @pre_bwd(%d_u: tensor<?x64xbf16>, %d_h_post: tensor<?x4xf32>, %d_h_res: tensor<?x4x4xf32>,
                       %x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                       %proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %d_out: tensor<?x4x64xbf16>,
                       %h_res: tensor<?x4x4xf32>)
        -> (tensor<?x4x64xbf16>, tensor<24x256xf32>) {
      %d_x, %d_phi = mhc.pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
          d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
          alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
          stat = %stat : tensor<?xf32>, d_out = %d_out : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
         res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
         fold_pre = false, orient = oi>
        -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
      return %d_x, %d_phi : tensor<?x4x64xbf16>, tensor<24x256xf32>
    }
    ```
  }];
  let arguments = (ins Optional<Mhc_Like<"x", ["M", "C"]>>:$d_u, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_pre,
    Mhc_Tensor<[F32], ["M", "n"]>:$d_h_post, Mhc_Tensor<[F32], ["M", "n", "n"]>:$d_h_res,
    Mhc_MaybeEqualStreams<"equal_x">:$x,
    Mhc_Phi<"N">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight, Mhc_Tensor<[F32], ["A"]>:$alpha,
    Mhc_Tensor<[F32], ["N"]>:$beta, Mhc_Tensor<[F32], ["M", "N"]>:$proj, Mhc_Tensor<[F32], ["M"]>:$stat,
    Optional<Mhc_MaybeEqualStreams<"equal_d_out", "x">>:$d_out, Optional<Mhc_Tensor<[F32], ["M", "n", "n"]>>:$h_res,
    Optional<Mhc_StreamGradient<"d_x">>:$d_x_in, Optional<Mhc_PhiGradient<"N", "d_phi">>:$d_phi_in,
    Optional<Mhc_WeightGradient<["K"], "d_norm_weight">>:$d_norm_weight_in,
    Optional<Mhc_WeightGradient<["A"], "d_alpha">>:$d_alpha_in, Optional<Mhc_WeightGradient<["N"], "d_beta">>:$d_beta_in,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps,
    Mhc_Factor:$post_mult, Mhc_ResMapAttr:$res_map, Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom,
    Mhc_Eps:$sk_eps, Mhc_IterCount:$iters, BoolAttr:$fold_pre, Mhc_OrientAttr:$orient,
    Mhc_OptionalPrecision:$precision, Mhc_OptionalFormat:$h_pre_format, Mhc_OptionalFormat:$h_post_format,
    Mhc_OptionalFormat:$sk_format, Mhc_OptionalSolver:$solver, Mhc_EqualStreams:$equal_x,
    Mhc_EqualStreams:$equal_d_out);
  let results = (outs Optional<Mhc_StreamGradient<>>:$d_x, Optional<Mhc_PhiGradient<"N">>:$d_phi,
    Optional<Mhc_WeightGradient<["K"]>>:$d_norm_weight, Optional<Mhc_WeightGradient<["A"]>>:$d_alpha,
    Optional<Mhc_WeightGradient<["N"]>>:$d_beta);
  let flops = "4*M*K*N + 2*M*K + 22*M*N + (res_map == 0 ? M*n*n*(solver == 1 ? 10*n + 40 : 12*iters) : 0) + "
              "(res_map == 1 ? M*factorial(n)*(n + 8) : 0) + d_u_count*4*M*n*C + "
              "d_out_count*2*M*n*n*C";
  let hasCanonicalizeMethod = 1;
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"N", "2*n + (res_map == 1 ? factorial(n) : n*n)">,
                  Mhc_DimRule<"A", "3">];
  let verifyExtra = 1;
}

def Mhc_HeadOp : Mhc_KernelOp<"head", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                       DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                       DeclareOpInterfaceMethods<FlattenableOpInterface>, AttrSizedResultSegments]> {
  let summary = "Contract the streams with learned weights, in one pass over them";
  let description = [{
    The chain `projection` with N = n, `gates` without `h_post` and `logits`, and `aggregate` (math.md 3.8, head). It is
    also what `mhc.pre` becomes when only u is used: the projection shrinks to n columns. `proj`, `stat`, `precision`
    and `h_pre_format` as in `mhc.pre`.

    ```mlir
    func.func @head(%x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
        -> tensor<?x64xbf16> {
      %out = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
          beta = %beta : tensor<4xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
        -> (out : tensor<?x64xbf16>)
      return %out : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Mhc_Phi<"n">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["n"]>:$beta,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps,
    Mhc_OptionalPrecision:$precision, Mhc_OptionalFormat:$h_pre_format);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$out, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre,
    Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$stat);
  let flops = "2*M*K*n + 2*M*K + 6*M*n + 2*M*n*C";
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"A", "1">];
}

def Mhc_HeadBwdOp : Mhc_KernelOp<"head_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                              AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.head, with the streams' in one accumulated write";
  let description = [{
    `mhc.pre_bwd` with the first gate alone: the chain `aggregate_bwd`, `gates_bwd` and `projection_bwd`. `proj` and
    `stat` are those of `mhc.head`, `precision` and `h_pre_format` as in `mhc.pre_bwd`.

    C1: `d_norm_weight` needs `norm_weight`.

    ```mlir
    func.func @head_bwd(%d_out: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %phi: tensor<4x256xf32>,
                        %alpha: tensor<1xf32>, %beta: tensor<4xf32>, %proj: tensor<?x4xf32>, %stat: tensor<?xf32>)
        -> (tensor<?x4x64xbf16>, tensor<4x256xf32>) {
      %d_x, %d_phi = mhc.head_bwd(d_out = %d_out : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>,
          phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>,
          proj = %proj : tensor<?x4xf32>, stat = %stat : tensor<?xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
        -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<4x256xf32>)
      return %d_x, %d_phi : tensor<?x4x64xbf16>, tensor<4x256xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$d_out, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_pre,
    Mhc_Streams<>:$x, Mhc_Phi<"n">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["n"]>:$beta, Mhc_Tensor<[F32], ["M", "n"]>:$proj,
    Mhc_Tensor<[F32], ["M"]>:$stat, Optional<Mhc_StreamGradient<"d_x">>:$d_x_in,
    Optional<Mhc_PhiGradient<"n", "d_phi">>:$d_phi_in,
    Optional<Mhc_WeightGradient<["K"], "d_norm_weight">>:$d_norm_weight_in,
    Optional<Mhc_WeightGradient<["A"], "d_alpha">>:$d_alpha_in, Optional<Mhc_WeightGradient<["n"], "d_beta">>:$d_beta_in,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps,
    Mhc_OptionalPrecision:$precision, Mhc_OptionalFormat:$h_pre_format);
  let results = (outs Optional<Mhc_StreamGradient<>>:$d_x, Optional<Mhc_PhiGradient<"n">>:$d_phi,
    Optional<Mhc_WeightGradient<["K"]>>:$d_norm_weight, Optional<Mhc_WeightGradient<["A"]>>:$d_alpha,
    Optional<Mhc_WeightGradient<["n"]>>:$d_beta);
  let flops = "4*M*K*n + 2*M*K + 22*M*n + 4*M*n*C";
  let hasCanonicalizeMethod = 1;
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"A", "1">];
  let verifyExtra = 1;
}

#endif // MHC_IR_OPS_PRE
