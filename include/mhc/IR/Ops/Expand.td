//===- Expand.td - Model entry and exit: expand and contract ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_EXPAND
#define MHC_IR_OPS_EXPAND

include "mhc/IR/MhcBase.td"

def Mhc_ExpandOp
    : Mhc_KernelOp<"expand", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                              DeclareOpInterfaceMethods<DifferentiableOpInterface, ["isCheapToRebuild"]>]> {
  let summary = "Copy a tensor into every residual stream";
  let description = [{
    `streams[m,i,c] = x[m,c]`, the entry of an mHC model (math.md 3.1).

    ```mlir
    func.func @expand(%x: tensor<?x64xbf16>) -> tensor<?x4x64xbf16> {
      %streams = mhc.expand(x = %x : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
      return %streams : tensor<?x4x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<Mhc_Floats, ["M", "C"]>:$x, Mhc_LayoutAttr:$layout);
  let results = (outs Mhc_Streams<"x">:$streams);
  let flops = "0";
}

def Mhc_ContractOp : Mhc_KernelOp<"contract", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                               DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Add up the residual streams, or average them";
  let description = [{
    `out[m,c] = sum_i x[m,i,c]`, divided by n when `mode` is `mean` (math.md 3.8). The learned form is `mhc.head`.

    ```mlir
    func.func @contract(%x: tensor<?x4x64xbf16>) -> tensor<?x64xbf16> {
      %out = mhc.contract(x = %x : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
      return %out : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Mhc_LayoutAttr:$layout, Mhc_ContractModeAttr:$mode);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$out);
  let flops = "M*n*C";
}

#endif // MHC_IR_OPS_EXPAND
