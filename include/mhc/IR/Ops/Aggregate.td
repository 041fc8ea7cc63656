//===- Aggregate.td - Input of a sublayer from its streams ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_AGGREGATE
#define MHC_IR_OPS_AGGREGATE

include "mhc/IR/MhcBase.td"

def Mhc_AggregateOp : Mhc_KernelOp<"aggregate", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Mix the streams into one sublayer input";
  let description = [{
    `u[m,c] = sum_i h_pre[m,i] * x[m,i,c]` (mhc.md 3.6), products and sum in f32.

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

#endif // MHC_IR_OPS_AGGREGATE
