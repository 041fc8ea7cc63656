//===- PostPre.td - From one sublayer to the next in one kernel ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_POSTPRE
#define MHC_IR_OPS_POSTPRE

include "mhc/IR/MhcBase.td"

def Mhc_PostPreOp : Mhc_KernelOp<"post_pre", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                              DeclareOpInterfaceMethods<FlattenableOpInterface>,
                                              AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Write a sublayer's output to the streams and make the next sublayer's input and coefficients of them";
  let description = [{
    `mhc.post`, whose result is `y`, and `mhc.pre` of y, in one pass over the streams: y is written, but not read again.

        y = post(f, bias, h_post, x, h_res)
        u, h_pre, next_h_post, next_h_res, proj, stat = pre(y, phi, norm_weight, alpha, beta, h_in)

    Operands, attributes and results are those of the two, where `next_h_post` and `next_h_res` are `h_post` and `h_res`
    of `mhc.pre`. y is rounded to its type before pre reads it, so that all results have the bits of the two ops one
    after the other.

    With `u_norm_weight`, what leaves as u is the norm that a sublayer begins with, `mhc.rms_norm` of the mix:

        u[c] = r v[c] u_norm_weight[c],  v[c] = sum_i h_pre[i] y[i, c],  r = 1 / sqrt(mean of v^2 over c + u_norm_eps)

    v itself is no result then. It may be rounded to the type of u before its norm, or not; r may be made of
    mean v^2 = h_pre^T G h_pre / C with G[i, j] = sum_c y[i, c] y[j, c] in f32, whose error is 2^-24 of
    sum_ij h_pre[i] h_pre[j] |G[i, j]| / C, more than of mean v^2 where streams cancel.

    With `equal_x`, x is one row that stands for every stream, as `mhc.expand` would write them.

    It has no gradient of its own: differentiation takes the ops of its parts in its place, and `mhc.post_pre_bwd` is found in
    what they give.

    C1: the constraints of `mhc.sinkhorn` hold when `res_map` is `sinkhorn`. C2: A is 3. C3: `h_in` goes with `u`, and
    without `fold_pre`. C4: `u_norm_weight` and `u_norm_eps` go together, with `u`.

    ```mlir
    func.func @post_pre(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
                        %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
        -> (tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
      %y, %u, %next_h_post, %next_h_res = mhc.post_pre(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
          x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>,
          alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
        <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
         res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
         fold_pre = false>
        -> (y : tensor<?x4x64xbf16>, u : tensor<?x64xbf16>, next_h_post : tensor<?x4xf32>, next_h_res : tensor<?x4x4xf32>)
      return %y, %u, %next_h_post, %next_h_res : tensor<?x4x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>,
          tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$f, Optional<Mhc_LikeOrF32<"x", ["C"]>>:$bias,
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_MaybeEqualStreams<"equal_x">:$x,
    Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res, Optional<Mhc_Seed>:$seed, Mhc_Phi<"N">:$phi,
    Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight, Mhc_Tensor<[F32], ["A"]>:$alpha,
    Mhc_Tensor<[F32], ["N"]>:$beta, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_in,
    Mhc_AddedOperand<Mhc_LikeOrF32<"x", ["C"]>, 7>:$u_norm_weight,
    Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate, Mhc_OptionalStreamNumber:$stream,
    Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps, Mhc_Factor:$post_mult,
    Mhc_ResMapAttr:$res_map, Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom, Mhc_Eps:$sk_eps,
    Mhc_IterCount:$iters, BoolAttr:$fold_pre, Mhc_OptionalPrecision:$precision, Mhc_OptionalFormat:$h_pre_format,
    Mhc_OptionalFormat:$h_post_format, Mhc_OptionalFormat:$h_res_format, Mhc_OptionalFormat:$sk_format,
    Mhc_OptionalSolver:$solver, Mhc_EqualStreams:$equal_x, Mhc_Added<Mhc_Eps, "0", 7>:$u_norm_eps);
  let results = (outs Mhc_Streams<"x">:$y, Optional<Mhc_Like<"x", ["M", "C"]>>:$u,
    Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre, Mhc_Tensor<[F32], ["M", "n"]>:$next_h_post,
    Mhc_Tensor<[F32], ["M", "n", "n"]>:$next_h_res, Optional<Mhc_Tensor<[F32], ["M", "N"]>>:$proj,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$stat);
  let flops = "2*M*n*n*C + 2*M*n*C + seed_count*M*n*C + 2*M*K*N + 2*M*K + 6*M*N + "
              "(res_map == 0 ? M*n*n*(solver == 1 ? 7*n + 25 : 4*iters) : 0) + "
              "(res_map == 1 ? M*factorial(n)*(n + 4) : 0) + u_count*2*M*n*C + u_norm_weight_count*M*(n*n + 2)*C";
  let dimRules = [Mhc_SeedSize, Mhc_DimRule<"K", "n*C">,
                  Mhc_DimRule<"N", "2*n + (res_map == 1 ? factorial(n) : n*n)">, Mhc_DimRule<"A", "3">];
  let verifyExtra = 1;
  let roundsInside = 1;
  let hasCanonicalizeMethod = 1;
}

def Mhc_PostPreBwdOp : Mhc_KernelOp<"post_pre_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                     AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.post_pre: those of y stay on the chip";
  let description = [{
    `mhc.pre_bwd` of y, then `mhc.post_bwd` of its `d_x`, which is not written:

        dy = start + h_pre * d_u + d_proj W + t * y               d_phi, d_norm_weight, d_alpha, d_beta
        d_x = A^T dy,  d_f = h_post . dy,  d_h_res = dy x^T,  d_h_post = dy . f,  d_bias

    `start` is `d_y`, the gradient that others give y, whose memory `d_x` may take over, or the gradient of the
    `mhc.post` that mixed y, from its operands `d_out` and `next_h_res` in the orientation `next_orient`, or nothing.
    `d_next_h_post` and `d_next_h_res` are the gradients of `next_h_post` and `next_h_res`. dy is rounded to the type of
    y before anything is made of it.

    Where `y` is given, the sums over tokens read it; else it is made of x and f again, with the same bits.

    A gradient that is no result is not computed; those of weights begin with their start, where there is one.

    With `equal_x` and `equal_d_out`, the tensor is one row that stands for every stream; `d_x` is that of each stream.

    C1: the constraints of `mhc.sinkhorn`, as for `mhc.pre`. C2: A is 3. C3: `d_norm_weight` needs `norm_weight`.
    C4: `d_out` and `next_h_res` go together, without `d_y`; `next_orient` is read with them only.

    ```mlir
    func.func @post_pre_bwd(%d_u: tensor<?x64xbf16>, %d_next_h_post: tensor<?x4xf32>, %d_next_h_res: tensor<?x4x4xf32>,
                            %y: tensor<?x4x64xbf16>, %d_y: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>,
                            %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
                            %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                            %proj: tensor<?x24xf32>, %stat: tensor<?xf32>)
        -> (tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>) {
      %d_f, %d_x, %d_phi = mhc.post_pre_bwd(d_u = %d_u : tensor<?x64xbf16>, d_next_h_post = %d_next_h_post : tensor<?x4xf32>,
          d_next_h_res = %d_next_h_res : tensor<?x4x4xf32>, y = %y : tensor<?x4x64xbf16>, d_y = %d_y : tensor<?x4x64xbf16>,
          f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
          h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<24x256xf32>, alpha = %alpha : tensor<3xf32>,
          beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>)
        <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
         res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20,
         fold_pre = false, next_orient = oi>
        -> (d_f : tensor<?x64xbf16>, d_x : tensor<?x4x64xbf16>, d_phi : tensor<24x256xf32>)
      return %d_f, %d_x, %d_phi : tensor<?x64xbf16>, tensor<?x4x64xbf16>, tensor<24x256xf32>
    }
    ```
  }];
  let arguments = (ins Optional<Mhc_Like<"x", ["M", "C"]>>:$d_u, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_pre,
    Mhc_Tensor<[F32], ["M", "n"]>:$d_next_h_post, Mhc_Tensor<[F32], ["M", "n", "n"]>:$d_next_h_res,
    Optional<Mhc_Streams<"x">>:$y, Optional<Mhc_SpentStreamGradient<"d_x">>:$d_y,
    Optional<Mhc_MaybeEqualStreams<"equal_d_out", "x">>:$d_out,
    Optional<Mhc_Tensor<[F32], ["M", "n", "n"]>>:$next_h_res, Mhc_Like<"x", ["M", "C"]>:$f,
    Optional<Mhc_LikeOrF32<"x", ["C"]>>:$bias, Mhc_Tensor<[F32], ["M", "n"]>:$h_post,
    Mhc_MaybeEqualStreams<"equal_x">:$x, Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res,
    Optional<Mhc_Seed>:$seed, Mhc_Phi<"N">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["N"]>:$beta, Mhc_Tensor<[F32], ["M", "N"]>:$proj, Mhc_Tensor<[F32], ["M"]>:$stat,
    Optional<Mhc_WeightGradient<["C"], "d_bias">>:$d_bias_in, Optional<Mhc_PhiGradient<"N", "d_phi">>:$d_phi_in,
    Optional<Mhc_WeightGradient<["K"], "d_norm_weight">>:$d_norm_weight_in,
    Optional<Mhc_WeightGradient<["A"], "d_alpha">>:$d_alpha_in, Optional<Mhc_WeightGradient<["N"], "d_beta">>:$d_beta_in,
    Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate, Mhc_OptionalStreamNumber:$stream,
    Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps, Mhc_Factor:$post_mult,
    Mhc_ResMapAttr:$res_map, Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom, Mhc_Eps:$sk_eps,
    Mhc_IterCount:$iters, BoolAttr:$fold_pre, Mhc_OrientAttr:$next_orient, Mhc_OptionalPrecision:$precision,
    Mhc_OptionalFormat:$h_pre_format, Mhc_OptionalFormat:$h_post_format, Mhc_OptionalFormat:$sk_format,
    Mhc_OptionalSolver:$solver, Mhc_EqualStreams:$equal_x, Mhc_EqualStreams:$equal_d_out);
  let results = (outs Optional<Mhc_Like<"x", ["M", "C"]>>:$d_f, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_post,
    Optional<Mhc_Tensor<[F32], ["M", "n", "n"]>>:$d_h_res, Optional<Mhc_StreamGradient<>>:$d_x,
    Optional<Mhc_WeightGradient<["C"]>>:$d_bias, Optional<Mhc_PhiGradient<"N">>:$d_phi,
    Optional<Mhc_WeightGradient<["K"]>>:$d_norm_weight, Optional<Mhc_WeightGradient<["A"]>>:$d_alpha,
    Optional<Mhc_WeightGradient<["N"]>>:$d_beta);
  let flops = "4*M*K*N + 2*M*K + 22*M*N + (res_map == 0 ? M*n*n*(solver == 1 ? 10*n + 40 : 12*iters) : 0) + "
              "(res_map == 1 ? M*factorial(n)*(n + 8) : 0) + d_u_count*4*M*n*C + d_out_count*2*M*n*n*C + "
              "2*M*n*n*C*(d_h_res_count + d_x_count) + 2*M*n*C*(d_f_count + d_h_post_count) + seed_count*M*n*C + "
              "(y_count ? 0 : 2*M*n*n*C + 2*M*n*C)";
  let dimRules = [Mhc_SeedSize, Mhc_DimRule<"K", "n*C">,
                  Mhc_DimRule<"N", "2*n + (res_map == 1 ? factorial(n) : n*n)">, Mhc_DimRule<"A", "3">];
  let verifyExtra = 1;
  let roundsInside = 1;
  let hasCanonicalizeMethod = 1;
}

def Mhc_PostHeadOp : Mhc_KernelOp<"post_head", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                DeclareOpInterfaceMethods<FlattenableOpInterface>,
                                                AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Write the last sublayer's output to the streams and contract them with learned weights";
  let description = [{
    `mhc.post`, whose result is `y`, and `mhc.head` of y, in one pass over the streams.

        y = post(f, bias, h_post, x, h_res)
        out, h_pre, proj, stat = head(y, phi, norm_weight, alpha, beta)

    Operands, attributes and results are those of the two. y is rounded to its type before head reads it, so that all
    results have the bits of the two ops one after the other. Without the result `y`, which nothing else reads then, the
    streams are not written at all.

    With `equal_x`, x is one row that stands for every stream, as `mhc.expand` would write them.

    It has no gradient of its own: differentiation takes the two ops in its place.

    ```mlir
    func.func @post_head(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
                         %h_res: tensor<?x4x4xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>,
                         %beta: tensor<4xf32>) -> tensor<?x64xbf16> {
      %out = mhc.post_head(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>,
          x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, phi = %phi : tensor<4x256xf32>,
          alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
        <layout = nC, orient = oi, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
        -> (out : tensor<?x64xbf16>)
      return %out : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$f, Optional<Mhc_LikeOrF32<"x", ["C"]>>:$bias,
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_MaybeEqualStreams<"equal_x">:$x,
    Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res, Optional<Mhc_Seed>:$seed, Mhc_Phi<"n">:$phi,
    Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight, Mhc_Tensor<[F32], ["A"]>:$alpha,
    Mhc_Tensor<[F32], ["n"]>:$beta,
    Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate, Mhc_OptionalStreamNumber:$stream,
    Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, Mhc_Eps:$norm_eps, Mhc_Eps:$pre_eps,
    Mhc_OptionalPrecision:$precision, Mhc_OptionalFormat:$h_pre_format, Mhc_EqualStreams:$equal_x);
  let results = (outs Optional<Mhc_Streams<"x">>:$y, Mhc_Like<"x", ["M", "C"]>:$out,
    Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$proj,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$stat);
  let flops = "2*M*n*n*C + 2*M*n*C + seed_count*M*n*C + 2*M*K*n + 2*M*K + 6*M*n + 2*M*n*C";
  let dimRules = [Mhc_SeedSize, Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"A", "1">];
  let verifyExtra = 1;
  let roundsInside = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // MHC_IR_OPS_POSTPRE
