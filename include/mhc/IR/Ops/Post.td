//===- Post.td - Streams after a sublayer ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_POST
#define MHC_IR_OPS_POST

include "mhc/IR/MhcBase.td"

def Mhc_PostOp : Mhc_KernelOp<"post", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                       DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                       AttrSizedOperandSegments]> {
  let summary = "Mix the residual streams and add the sublayer's output to each";
  let description = [{
    `out[m,o,c] = h_post[m,o] * (f[m,c] + bias[c]) + sum_i A[m,o,i] * x[m,i,c]`, where A is `h_res` for `orient = oi`
    and its transpose for `io` (math.md 3.7). Sums in f32, one rounding at the store.

    With `seed`, `rate` and `stream`, which go together, the first summand goes through a dropout: element e of `out` in
    memory order keeps it, divided by `1 - rate`, where `mhc.dropout` would keep element e, and has 0 of it elsewhere.
    The mix of the streams is never dropped. A rate of 0 folds away.

    With `equal_x`, x is one row that stands for every stream, as `mhc.expand` would write them. With `contracted`, out
    is one row: the sum or the mean of the streams, each rounded to its type first, as `mhc.contract` would read them.

    ```mlir
    func.func @post(%f: tensor<?x64xbf16>, %bias: tensor<64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
                    %h_res: tensor<?x4x4xf32>) -> tensor<?x4x64xbf16> {
      %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %bias : tensor<64xbf16>, h_post = %h_post : tensor<?x4xf32>,
          x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io>
        -> (out : tensor<?x4x64xbf16>)
      return %out : tensor<?x4x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$f, Optional<Mhc_LikeOrF32<"x", ["C"]>>:$bias,
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_MaybeEqualStreams<"equal_x">:$x,
    Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res, Optional<Mhc_Seed>:$seed, Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate,
    Mhc_OptionalStreamNumber:$stream, Mhc_EqualStreams:$equal_x, Mhc_OptionalContracted:$contracted);
  let results = (outs Mhc_MaybeContracted<"contracted", "x">:$out);
  let flops = "2*M*n*n*C + 2*M*n*C + seed_count*M*n*C + (contracted == 0 ? 0 : M*n*C)";
  let dimRules = [Mhc_SeedSize];
  let verifyExtra = 1;
  let hasCanonicalizeMethod = 1;
}

def Mhc_PostBwdOp : Mhc_KernelOp<"post_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                              AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.post in one pass over its output's gradient and the streams";
  let description = [{
    With A as in `mhc.post` (math.md 3.7):

        d_f[m,c]      = sum_o h_post[m,o] * d_out[m,o,c]          d_bias[c] = sum_m d_f[m,c], before d_f is rounded
        d_h_post[m,o] = sum_c d_out[m,o,c] * (f[m,c] + bias[c])
        d_x[m,i,c]    = sum_o A[m,o,i] * d_out[m,o,c]
        dA[m,o,i]     = sum_c d_out[m,o,c] * x[m,i,c]             d_h_res = dA for oi, its transpose for io

    With `seed`, `rate` and `stream` those of `mhc.post`, `d_out` goes through the same dropout where it meets `h_post`
    or `f`: the numbers are drawn again, no mask is saved. `d_x` and dA take it as it is.

    A gradient that is no result is not computed. `d_x` and `d_bias` start from `d_x_in` and `d_bias_in`, or from zero.

    With `equal_x` and `equal_d_out`, the tensor is one row that stands for every stream; `d_x` is that of each stream.

    ```mlir
    func.func @post_bwd(%d_out: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>,
                        %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>)
        -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xbf16>) {
      %d_f, %d_h_post, %d_h_res, %d_x = mhc.post_bwd(d_out = %d_out : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
          h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
        <layout = nC, orient = io>
        -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>)
      return %d_f, %d_h_post, %d_h_res, %d_x : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_MaybeEqualStreams<"equal_d_out", "x">:$d_out, Mhc_Like<"x", ["M", "C"]>:$f,
    Optional<Mhc_LikeOrF32<"x", ["C"]>>:$bias, Mhc_Tensor<[F32], ["M", "n"]>:$h_post,
    Mhc_MaybeEqualStreams<"equal_x">:$x, Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res, Optional<Mhc_Seed>:$seed, Optional<Mhc_StreamGradient<"d_x">>:$d_x_in,
    Optional<Mhc_WeightGradient<["C"], "d_bias">>:$d_bias_in, Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient,
    Mhc_OptionalRate:$rate, Mhc_OptionalStreamNumber:$stream, Mhc_EqualStreams:$equal_x, Mhc_EqualStreams:$equal_d_out);
  let results = (outs Optional<Mhc_Like<"x", ["M", "C"]>>:$d_f, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_post,
    Optional<Mhc_Tensor<[F32], ["M", "n", "n"]>>:$d_h_res, Optional<Mhc_StreamGradient<>>:$d_x,
    Optional<Mhc_WeightGradient<["C"]>>:$d_bias);
  let flops = "2*M*n*n*C*(d_h_res_count + d_x_count) + 2*M*n*C*(d_f_count + d_h_post_count) + seed_count*M*n*C";
  let dimRules = [Mhc_SeedSize];
  let verifyExtra = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // MHC_IR_OPS_POST
