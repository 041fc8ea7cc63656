//===- Projection.td - Projection onto mixing coefficients, with the RMS statistic ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_PROJECTION
#define MHC_IR_OPS_PROJECTION

include "mhc/IR/MhcBase.td"

def Mhc_ProjectionOp : Mhc_KernelOp<"projection", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                   DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                   DeclareOpInterfaceMethods<FlattenableOpInterface>]> {
  let summary = "Project the flattened streams onto mixing coefficients and take their RMS statistic";
  let description = [{
    `proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]`, with k over the n*C values of a token in memory order, and
    the statistic of the same pass over x: `mean_square` is `ms[m] = mean_k x[m,k]^2`, `inv_rms` the multiplier s that
    `norm` makes of it (math.md 3.2). With `stat_form = applied`, proj is already multiplied by s.
    The product is taken before the norm: s is one number per token, and norm_weight is absorbed in phi.

    `precision` is the least accuracy of the products x * W with W = phi * norm_weight in f32; a kernel may do better.
    They add at most e * S to the error of proj, S = sum_k |x[m,k] W[j,k]|, beside the rounding of f32 sums:

    | precision | a factor | e |
    | --- | --- | --- |
    | `ieee` | is taken as it is | 0 |
    | `tf32x3` | is two terms of 11 bits | 2^-21 |
    | `bf16x3` (default) | is two terms of 8 bits | 2^-15 |
    | `tf32` | is one term of 11 bits | 2^-10 |

    One term of b bits, rounded to nearest, leaves 2^-b of a number, and two leave 2^-(2b+1), for the first leaves half
    a unit of its last place. Of two terms the product of both second ones is left out, 2^-2b: e is 2 * 2^-b of one
    term, 2^-2b + 2 * 2^-(2b+1) of two. A bf16 x is one term of 8 bits exactly, so that W alone counts: 2^-17 in place
    of 2^-15, 2^-11 in place of 2^-10.

    C1: `stat` is present unless `stat_form` is `applied`.

    ```mlir
    func.func @projection(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>) -> (tensor<?x24xf32>, tensor<?xf32>) {
      %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
        -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
      return %proj, %stat : tensor<?x24xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Mhc_Phi<"N">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps,
    Mhc_StatAttr:$stat_form, Mhc_OptionalPrecision:$precision);
  let results = (outs Mhc_Tensor<[F32], ["M", "N"]>:$proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$stat); // C1
  let flops = "2*M*K*N + 2*M*K";
  let dimRules = [Mhc_DimRule<"K", "n*C">];
  let dimBounds = [Mhc_StreamCount, Mhc_ChannelCount, Mhc_SumLength, Mhc_RowCount];
  let verifyExtra = 1;
}

def Mhc_GatesOp : Mhc_KernelOp<"gates", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                         DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                         AttrSizedResultSegments]> {
  let summary = "Turn projected coefficients into gates and residual logits";
  let description = [{
    `z = s * proj * alpha + beta`, with `alpha[0]` on the first n columns, `alpha[1]` on the next n and `alpha[2]` on the
    rest; `h_pre = sigmoid(z_pre) + pre_eps`, `h_post = post_mult * sigmoid(z_post)`, `logits = z_res` (math.md 3.3).
    `stat_form` says what `stat` holds; `norm_eps` is read for `mean_square` only.

    C1: `stat` is present unless `stat_form` is `applied`. C2: with `h_post` and `logits`, N = 2n + R and A = 3; without
    both, N = n and A = 1.

    ```mlir
    func.func @gates(%proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
        -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>) {
      %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
          alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
        <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
        -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
      return %h_pre, %h_post, %logits : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x16xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "N"]>:$proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$stat,
    Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["N"]>:$beta,
    Mhc_StatAttr:$stat_form, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps, Mhc_Factor:$post_mult);
  let results = (outs Mhc_Tensor<[F32], ["M", "n"]>:$h_pre, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_post,
    Optional<Mhc_Tensor<[F32], ["M", "R"]>>:$logits); // C2
  let flops = "6*M*N";
  let verifyExtra = 1;
}

def Mhc_GatesBwdOp : Mhc_KernelOp<"gates_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.gates";
  let description = [{
    Computes z of `mhc.gates` again and, with s from `stat` as there (math.md 3.3):

        dz        = d_h_pre * g (1 - g), d_h_post * post_mult * g (1 - g) with g = sigmoid(z), and d_logits
        d_beta[j] = sum_m dz[m,j]         d_alpha[a] = sum over m and the columns of group a of dz * s * proj
        d_proj    = dz * alpha * s        d_stat = sum_j dz[j] * alpha * proj[j], times ds/dms for `mean_square`

    An absent `d_h_post` or `d_logits` counts as zero. A gradient that is no result is not computed. `d_alpha` and
    `d_beta` start from `d_alpha_in` and `d_beta_in`, or from zero.

    C1: `stat` is present unless `stat_form` is `applied`, and only then may `d_stat` be. C2: A is 3 and N = 2n + R, or
    A is 1, N = n, and there is neither `d_h_post` nor `d_logits`.

    ```mlir
    func.func @gates_bwd(%d_h_pre: tensor<?x4xf32>, %d_h_post: tensor<?x4xf32>, %d_logits: tensor<?x16xf32>,
                         %proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
        -> (tensor<?x24xf32>, tensor<?xf32>, tensor<3xf32>, tensor<24xf32>) {
      %d_proj, %d_stat, %d_alpha, %d_beta = mhc.gates_bwd(d_h_pre = %d_h_pre : tensor<?x4xf32>,
          d_h_post = %d_h_post : tensor<?x4xf32>, d_logits = %d_logits : tensor<?x16xf32>, proj = %proj : tensor<?x24xf32>,
          stat = %stat : tensor<?xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
        <stat_form = inv_rms, norm_eps = 0.0, post_mult = 2.0>
        -> (d_proj : tensor<?x24xf32>, d_stat : tensor<?xf32>, d_alpha : tensor<3xf32>, d_beta : tensor<24xf32>)
      return %d_proj, %d_stat, %d_alpha, %d_beta : tensor<?x24xf32>, tensor<?xf32>, tensor<3xf32>, tensor<24xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n"]>:$d_h_pre, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_post,
    Optional<Mhc_Tensor<[F32], ["M", "R"]>>:$d_logits, Mhc_Tensor<[F32], ["M", "N"]>:$proj,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$stat, Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["N"]>:$beta,
    Optional<Mhc_WeightGradient<["A"], "d_alpha">>:$d_alpha_in, Optional<Mhc_WeightGradient<["N"], "d_beta">>:$d_beta_in,
    Mhc_StatAttr:$stat_form, Mhc_Eps:$norm_eps, Mhc_Factor:$post_mult);
  let results = (outs Optional<Mhc_Tensor<[F32], ["M", "N"]>>:$d_proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$d_stat,
    Optional<Mhc_WeightGradient<["A"]>>:$d_alpha, Optional<Mhc_WeightGradient<["N"]>>:$d_beta);
  let flops = "16*M*N";
  let verifyExtra = 1;
}

def Mhc_ProjectionBwdOp : Mhc_KernelOp<"projection_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                          AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.projection in one pass over the streams";
  let description = [{
    With W = phi * norm_weight (math.md 3.2):

        d_x[m,k]   = sum_j d_proj[m,j] * W[j,k] + t[m] * x[m,k]       dW[j,k] = sum_m d_proj[m,j] * x[m,k]
        d_phi[j,k] = dW[j,k] * norm_weight[k]                         d_norm_weight[k] = sum_j dW[j,k] * phi[j,k]

    where t is `2/K * d_stat` for `mean_square`, and for `inv_rms` with s and ms of `mhc.projection`
    `-s^3/K * d_stat` (inside; and clamp where sqrt(ms) is above eps), `-s^2/(K sqrt(ms)) * d_stat` (outside; 0 where ms
    is) or 0 (none), and at most the largest f32, which matters to tokens far below eps. Without `d_stat`, t is 0. A
    gradient that is no result is not computed; those that have a start begin with it instead of zero.

    `precision` bounds the error of the products as in `mhc.projection`, with S = sum_m |d_proj x| for d_phi and
    S = sum_j |d_proj W| for d_x. A d_x in bf16 loses up to 2^-8 when it is stored: there `bf16x3` asks no more of its
    products than the 2^-10 of `tf32`. Of a factor far below its neighbours a term may leave 2^-24 of the largest.

    C1: `stat_form` is not `applied`: that form is `inv_rms` and a product. C2: with `d_stat`, `inv_rms` needs `stat`,
    what `mhc.projection` returned for x: it spares a second pass over x. C3: `d_norm_weight` needs `norm_weight`.

    ```mlir
    func.func @projection_bwd(%d_proj: tensor<?x24xf32>, %d_stat: tensor<?xf32>, %x: tensor<?x4x64xbf16>,
                              %phi: tensor<24x256xf32>, %sum: tensor<?x4x64xbf16>, %grad: tensor<24x256xf32>)
        -> (tensor<?x4x64xbf16>, tensor<24x256xf32>) {
      %d_x, %d_phi = mhc.projection_bwd(d_proj = %d_proj : tensor<?x24xf32>, d_stat = %d_stat : tensor<?xf32>,
          x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>, d_x_in = %sum : tensor<?x4x64xbf16>,
          d_phi_in = %grad : tensor<24x256xf32>)
        <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = mean_square>
        -> (d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
      return %d_x, %d_phi : tensor<?x4x64xbf16>, tensor<24x256xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "N"]>:$d_proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$d_stat,
    Mhc_Streams<>:$x, Mhc_Phi<"N">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$stat, Optional<Mhc_StreamGradient<"d_x">>:$d_x_in,
    Optional<Mhc_PhiGradient<"N", "d_phi">>:$d_phi_in, Optional<Mhc_WeightGradient<["K"], "d_norm_weight">>:$d_norm_weight_in,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps,
    Mhc_StatAttr:$stat_form, Mhc_OptionalPrecision:$precision);
  let results = (outs Optional<Mhc_StreamGradient<>>:$d_x, Optional<Mhc_PhiGradient<"N">>:$d_phi,
    Optional<Mhc_WeightGradient<["K"]>>:$d_norm_weight);
  let flops = "4*M*K*N + 2*M*K";
  let hasCanonicalizeMethod = 1;
  let dimRules = [Mhc_DimRule<"K", "n*C">];
  let dimBounds = [Mhc_StreamCount, Mhc_ChannelCount, Mhc_SumLength, Mhc_RowCount];
  let verifyExtra = 1;
}

#endif // MHC_IR_OPS_PROJECTION
