//===- Matmul.td - Matrix products, the leaf ops that have a kernel: a BLAS ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_MATMUL
#define MHC_IR_OPS_MATMUL

include "mhc/IR/MhcBase.td"

class Mhc_MatmulBase<string mnemonic, list<string> batch>
    : Mhc_KernelOp<mnemonic, [DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let arguments = (ins
    Mhc_Flippable<Mhc_Floats, batch # ["M", "K"], batch # ["K", "M"], "transpose_lhs">:$lhs,
    Mhc_Flippable<Mhc_Floats, batch # ["K", "N"], batch # ["N", "K"], "transpose_rhs">:$rhs,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Mhc_Tensor<Mhc_Floats, batch # ["M", "N"]>:$out);
  let dimBounds = []; // a sum of nothing is zero: the gradient of a product adds over M, which may be 0
  let hasCanonicalizeMethod = 1;
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Mhc_MatmulOp : Mhc_MatmulBase<"matmul", []> {
  let summary = "Multiply two matrices";
  let description = [{
    `out[m,n] = sum_k lhs[m,k] * rhs[k,n]`, accumulated in f32. `transpose_lhs` says that lhs is stored [K,M],
    `transpose_rhs` that rhs is stored [N,K].

    ```mlir
    func.func @matmul(%x: tensor<?x256xf32>, %phi: tensor<24x256xf32>) -> tensor<?x24xf32> {
      %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
      return %proj : tensor<?x24xf32>
    }
    ```
  }];
  let flops = "2*M*N*K";
}

def Mhc_BatchMatmulOp : Mhc_MatmulBase<"batch_matmul", ["B"]> {
  let summary = "Multiply B pairs of matrices";
  let description = [{
    `out[b,m,n] = sum_k lhs[b,m,k] * rhs[b,k,n]`, accumulated in f32; the flags are those of `mhc.matmul`.

    ```mlir
    func.func @batch_matmul(%h_pre: tensor<?x1x4xf32>, %x: tensor<?x4x64xf32>) -> tensor<?x1x64xf32> {
      %u = mhc.batch_matmul %h_pre, %x : (tensor<?x1x4xf32>, tensor<?x4x64xf32>) -> tensor<?x1x64xf32>
      return %u : tensor<?x1x64xf32>
    }
    ```
  }];
  let flops = "2*B*M*N*K";
}

#endif // MHC_IR_OPS_MATMUL
