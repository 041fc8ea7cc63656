//===- Post.td - Streams after a sublayer ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_POST
#define MHC_IR_OPS_POST

include "mhc/IR/MhcBase.td"

def Mhc_PostOp : Mhc_KernelOp<"post", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Mix the residual streams and add the sublayer's output to each";
  let description = [{
    `out[m,o,c] = h_post[m,o] * (f[m,c] + bias[c]) + sum_i A[m,o,i] * x[m,i,c]`, where A is `h_res` for `orient = oi`
    and its transpose for `io` (mhc.md 3.7). Sums in f32, one rounding at the store.

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
    Mhc_Tensor<[F32], ["M", "n"]>:$h_post, Mhc_Streams<>:$x, Mhc_Tensor<[F32], ["M", "n", "n"]>:$h_res,
    Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient);
  let results = (outs Mhc_Streams<"x">:$out);
  let flops = "2*M*n*n*C + 2*M*n*C";
}

#endif // MHC_IR_OPS_POST
