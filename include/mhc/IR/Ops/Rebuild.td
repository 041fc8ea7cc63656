//===- Rebuild.td - Streams of several layers, computed again ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_REBUILD
#define MHC_IR_OPS_REBUILD

include "mhc/IR/MhcBase.td"

def Mhc_RebuildOp : Mhc_KernelOp<"rebuild", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                             AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Compute the streams and inputs of several layers again, in one pass";
  let description = [{
    A chain of `mhc.post`, with an `mhc.aggregate` before each (math.md 3.10). With x[0] = `x`:

        u[k]   = aggregate(x[k], h_pre[k])
        x[k+1] = post(f[k], bias[k], h_post[k], x[k], h_res[k])      out[k] = x[k+1]

    Every x[k+1] is rounded to its element type before it is used again: the results have the bits of the separate ops.
    `x` is read once, as is every element of the lists; the streams between the layers are only written.

    With `seed`, one per layer, the post of layer k has a dropout of `rate` and of the stream number
    `stream + k * stream_step`.

    C1: `f`, `h_post`, `h_res` and `out` have as many tensors as there are layers, at least one; `bias` and `seed` have
    as many or none. `seed` goes with `rate`, `stream` and `stream_step`. C2: `u` and `h_pre` have equally many: none, one per layer, or one more, which is the input of the layer behind
    the last.

    ```mlir
    func.func @rebuild(%x: tensor<?x4x64xbf16>, %f0: tensor<?x64xbf16>, %f1: tensor<?x64xbf16>,
                       %h_post0: tensor<?x4xf32>, %h_post1: tensor<?x4xf32>, %h_res0: tensor<?x4x4xf32>,
                       %h_res1: tensor<?x4x4xf32>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
      %out0, %out1 = mhc.rebuild(x = %x : tensor<?x4x64xbf16>, f = [%f0, %f1] : tensor<?x64xbf16>,
          h_post = [%h_post0, %h_post1] : tensor<?x4xf32>, h_res = [%h_res0, %h_res1] : tensor<?x4x4xf32>)
        <layout = nC, orient = io> -> (out : 2 of tensor<?x4x64xbf16>)
      return %out0, %out1 : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Variadic<Mhc_Tensor<[F32], ["M", "n"]>>:$h_pre,
    Variadic<Mhc_Like<"x", ["M", "C"]>>:$f, Variadic<Mhc_LikeOrF32<"x", ["C"]>>:$bias,
    Variadic<Mhc_Tensor<[F32], ["M", "n"]>>:$h_post, Variadic<Mhc_Tensor<[F32], ["M", "n", "n"]>>:$h_res,
    Variadic<Mhc_Seed>:$seed, Mhc_LayoutAttr:$layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate,
    Mhc_OptionalStreamNumber:$stream, Mhc_Optional<Mhc_StreamStep, "0">:$stream_step);
  let results = (outs Variadic<Mhc_Like<"x", ["M", "C"]>>:$u, Variadic<Mhc_Streams<"x">>:$out);
  let flops = "out_count*(2*M*n*n*C + 2*M*n*C) + u_count*2*M*n*C + seed_count*M*n*C";
  let dimRules = [Mhc_SeedSize];
  let verifyExtra = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // MHC_IR_OPS_REBUILD
