//===- Aggregate.td - Input of a sublayer from its streams ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_AGGREGATE
#define MHC_IR_OPS_AGGREGATE

include "mhc/IR/MhcBase.td"

def Mhc_AggregateOp : Mhc_KernelOp<"aggregate", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                 DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Mix the streams into one sublayer input";
  let description = [{
    `u[m,c] = sum_i h_pre[m,i] * x[m,i,c]` (math.md 3.6), products and sum in f32.

    ```mlir
    func.func @aggregate(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x64xbf16> {
      %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
        -> (u : tensor<?x64xbf16>)
      return %u : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Mhc_Tensor<[F32], ["M", "n"]>:$h_pre, Mhc_LayoutAttr:$layout);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$u);
  let flops = "2*M*n*C";
}

def Mhc_AggregateBwdOp : Mhc_KernelOp<"aggregate_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                        AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.aggregate in one pass over the streams";
  let description = [{
    `d_x[m,i,c] = h_pre[m,i] * d_u[m,c]`, starting from `d_x_in` where it is given, and
    `d_h_pre[m,i] = sum_c d_u[m,c] * x[m,i,c]` (math.md 3.6), products and sums in f32. A gradient that is no result is
    not computed.

    ```mlir
    func.func @aggregate_bwd(%d_u: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>,
                             %sum: tensor<?x4x64xf32>) -> (tensor<?x4x64xf32>, tensor<?x4xf32>) {
      %d_x, %d_h_pre = mhc.aggregate_bwd(d_u = %d_u : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>,
          h_pre = %h_pre : tensor<?x4xf32>, d_x_in = %sum : tensor<?x4x64xf32>) <layout = nC>
        -> (d_x : tensor<?x4x64xf32>, d_h_pre : tensor<?x4xf32>)
      return %d_x, %d_h_pre : tensor<?x4x64xf32>, tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$d_u, Mhc_Streams<>:$x, Mhc_Tensor<[F32], ["M", "n"]>:$h_pre,
    Optional<Mhc_StreamGradient<"d_x">>:$d_x_in, Mhc_LayoutAttr:$layout);
  let results = (outs Optional<Mhc_StreamGradient<>>:$d_x, Optional<Mhc_Tensor<[F32], ["M", "n"]>>:$d_h_pre);
  let flops = "4*M*n*C";
  let hasCanonicalizeMethod = 1;
}

#endif // MHC_IR_OPS_AGGREGATE
