//===- Ops/Launch.td - Any kernel op on buffers ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_LAUNCH
#define MHC_IR_OPS_LAUNCH

include "mhc/IR/MhcBase.td"

def Mhc_LaunchOp : Op<Mhc_Dialect, "launch", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                              AttrSizedOperandSegments]> {
  let summary = "Call a runtime kernel on buffers";
  let description = [{
    The form of every kernel op after bufferization: `kernel` names the op whose record describes the tensors, `inputs`
    are read and `outputs` overwritten, both in the order of the record; `counts` tells for each tensor of the record
    how many there are: one, none where it is absent, any number of a list. The attributes of the op are in `config`.

    Made by bufferization and consumed by `convert-mhc-to-runtime`; no other pass sees it.

    ```mlir
    func.func @launch(%logits: memref<?x4x4xf32>, %mix: memref<?x4x4xf32>) {
      mhc.launch "mhc.sinkhorn" ins(%logits : memref<?x4x4xf32>) outs(%mix : memref<?x4x4xf32>)
        counts = [1, 1] config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>,
        eps = 0.0 : f64, iters = 20 : i64}
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<AnyMemRef>:$inputs, Variadic<AnyMemRef>:$outputs,
    DenseI64ArrayAttr:$counts, DictionaryAttr:$config);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    `counts` `=` $counts `config` `=` $config attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MHC_IR_OPS_LAUNCH
