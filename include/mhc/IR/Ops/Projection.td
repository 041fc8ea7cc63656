//===- Projection.td - Projection onto mixing coefficients, with the RMS statistic ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_PROJECTION
#define MHC_IR_OPS_PROJECTION

include "mhc/IR/MhcBase.td"

def Mhc_ProjectionOp : Mhc_KernelOp<"projection", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Project the flattened streams onto mixing coefficients and take their RMS statistic";
  let description = [{
    `proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]`, with k over the n*C values of a token in memory order, and
    the statistic of the same pass over x: `mean_square` is `ms[m] = mean_k x[m,k]^2`, `inv_rms` the multiplier s that
    `norm` makes of it (mhc.md 3.2). With `stat_form = applied`, proj is already multiplied by s.
    The product is taken before the norm: s is one number per token, and norm_weight is absorbed in phi.

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
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, F64Attr:$norm_eps,
    Mhc_StatAttr:$stat_form);
  let results = (outs Mhc_Tensor<[F32], ["M", "N"]>:$proj, Optional<Mhc_Tensor<[F32], ["M"]>>:$stat); // C1
  let flops = "2*M*K*N + 2*M*K";
  let dimRules = [Mhc_DimRule<"K", "n*C">];
  let verifyExtra = 1;
}

def Mhc_GatesOp : Mhc_KernelOp<"gates", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                         AttrSizedResultSegments]> {
  let summary = "Turn projected coefficients into gates and residual logits";
  let description = [{
    `z = s * proj * alpha + beta`, with `alpha[0]` on the first n columns, `alpha[1]` on the next n and `alpha[2]` on the
    rest; `h_pre = sigmoid(z_pre) + pre_eps`, `h_post = post_mult * sigmoid(z_post)`, `logits = z_res` (mhc.md 3.3).
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
    Mhc_StatAttr:$stat_form, F64Attr:$norm_eps, F64Attr:$pre_eps, F64Attr:$post_mult);
  let results = (outs Mhc_Tensor<[F32], ["M", "n"]>:$h_pre, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_post,
    Optional<Mhc_Tensor<[F32], ["M", "R"]>>:$logits); // C2
  let flops = "6*M*N";
  let verifyExtra = 1;
}

#endif // MHC_IR_OPS_PROJECTION
