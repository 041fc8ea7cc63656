//===- Pre.td - Everything before a sublayer in one kernel; the learned contraction ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_PRE
#define MHC_IR_OPS_PRE

include "mhc/IR/MhcBase.td"

def Mhc_PreOp : Mhc_KernelOp<"pre", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Compute a sublayer's mixing coefficients and its input in one pass over the streams";
  let description = [{
    The chain `projection`, `gates`, residual map (`sinkhorn`, `permutation_mix` or the logits themselves) and
    `aggregate` on the same x, which is read once. With `fold_pre`, `h_res` is the residual map minus
    `h_post * h_pre^T` (mhc.md 3.7).

    C1: the constraints of `mhc.sinkhorn` hold when `res_map` is `sinkhorn`; otherwise `init`, `order`, `denom`,
    `sk_eps` and `iters` are not read. C2: A is 3.

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
  let arguments = (ins Mhc_Streams<>:$x, Mhc_Phi<"N">:$phi, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$norm_weight,
    Mhc_Tensor<[F32], ["A"]>:$alpha, Mhc_Tensor<[F32], ["N"]>:$beta,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, F64Attr:$norm_eps, F64Attr:$pre_eps,
    F64Attr:$post_mult, Mhc_ResMapAttr:$res_map, Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom,
    F64Attr:$sk_eps, Mhc_IterCount:$iters, BoolAttr:$fold_pre);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$u, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre,
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res);
  let flops = "2*M*K*N + 2*M*K + 6*M*N + (res_map == 0 ? 4*M*n*n*iters : 0) + "
              "(res_map == 1 ? M*factorial(n)*(n + 4) : 0) + 2*M*n*C";
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"N", "2*n + (res_map == 1 ? factorial(n) : n*n)">,
                  Mhc_DimRule<"A", "3">];
  let verifyExtra = 1;
}

def Mhc_HeadOp : Mhc_KernelOp<"head", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Contract the streams with learned weights, in one pass over them";
  let description = [{
    The chain `projection` with N = n, `gates` without `h_post` and `logits`, and `aggregate` (mhc.md 3.8, head). It is
    also what `mhc.pre` becomes when only u is used: the projection shrinks to n columns.

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
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_NormAttr:$norm, F64Attr:$norm_eps, F64Attr:$pre_eps);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$out, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre);
  let flops = "2*M*K*n + 2*M*K + 6*M*n + 2*M*n*C";
  let dimRules = [Mhc_DimRule<"K", "n*C">, Mhc_DimRule<"A", "1">];
}

#endif // MHC_IR_OPS_PRE
