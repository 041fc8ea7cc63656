//===- TmTensor.td - Ops of torch-mlir that are not of linalg ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_TMTENSOR
#define MHC_IR_TMTENSOR

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TmTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let summary = "What torch-mlir writes where linalg has no word";
  let description = [{
    With `output_type="linalg-on-tensors"` torch-mlir has a dialect of its own for a few ops of PyTorch. Here is the one
    that sublayers use. It is read only: canonicalization replaces it.
  }];
  let cppNamespace = "::mhc::tm_tensor";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
}

def TmTensor_ScanOp : Op<TmTensor_Dialect, "scan", [Pure, SingleBlock]> {
  let summary = "Combine each element with all before it along one dimension";
  let description = [{
    `scanned[0]` is `x[0]`, and `scanned[i]` is the body's function of `scanned[i-1]` and `x[i]`. Where it is not
    inclusive, `scanned[0]` is `start`, and `scanned[i]` the function of `scanned[i-1]` and `x[i-1]`. `last` is the last
    element of `scanned`. With constants for operands it is a constant, else a loop over the dimension.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$out, AnyRankedTensor:$start, I64Attr:$dimension,
                       BoolAttr:$inclusive);
  let results = (outs AnyRankedTensor:$scanned, AnyRankedTensor:$last);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` attr-dict `ins` `(` $x `:` type($x) `)`
    `outs` `(` $out `,` $start `:` type($out) `,` type($start) `)` $body `->` type($scanned) `,` type($last)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def TmTensor_YieldOp : Op<TmTensor_Dialect, "yield", [Pure, Terminator, HasParent<"ScanOp">]> {
  let summary = "The element that a scan's body computes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "attr-dict $value `:` type($value)";
}

#endif // MHC_IR_TMTENSOR
