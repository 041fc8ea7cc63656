//===- Take.td - Rows of a table by number: an embedding ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_TAKE
#define MHC_IR_OPS_TAKE

include "mhc/IR/MhcBase.td"

def Mhc_TakenRows : Mhc_Tensor<Mhc_Floats, ["V", "C"]> { let elementsRead = "M*C"; }

def Mhc_TakeOp : Mhc_KernelOp<"take", [DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Copy rows of a table";
  let description = [{
    `out[m,c] = table[ids[m],c]`, an embedding. A number that is no row of the table is an error of the call.

    ```mlir
    func.func @take(%table: tensor<256x64xf32>, %ids: tensor<?xi32>) -> tensor<?x64xf32> {
      %out = mhc.take(table = %table : tensor<256x64xf32>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x64xf32>)
      return %out : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_TakenRows:$table, Mhc_Indices<"V", ["M"]>:$ids);
  let results = (outs Mhc_Like<"table", ["M", "C"]>:$out);
  let flops = "0";
}

def Mhc_TakeBwdOp : Mhc_KernelOp<"take_bwd"> {
  let summary = "Gradient of mhc.take: add rows to those of a table";
  let description = [{
    `d_table[v,c] = d_table_in[v,c] + sum_{m: ids[m] = v} d_out[m,c]`, summed in f32 and in the order of m, whatever the
    number of threads. A number that is no row of the table is an error of the call.

    ```mlir
    func.func @take_bwd(%d_out: tensor<?x64xf32>, %ids: tensor<?xi32>, %sum: tensor<256x64xf32>) -> tensor<256x64xf32> {
      %d_table = mhc.take_bwd(d_out = %d_out : tensor<?x64xf32>, ids = %ids : tensor<?xi32>,
        d_table_in = %sum : tensor<256x64xf32>) -> (d_table : tensor<256x64xf32>)
      return %d_table : tensor<256x64xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<Mhc_Floats, ["M", "C"]>:$d_out, Mhc_Indices<"V", ["M"]>:$ids,
    Mhc_WeightGradient<["V", "C"], "d_table">:$d_table_in);
  let results = (outs Mhc_WeightGradient<["V", "C"]>:$d_table);
  let flops = "M*C";
}

#endif // MHC_IR_OPS_TAKE
