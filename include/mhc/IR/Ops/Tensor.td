//===- Tensor.td - Leaf ops of the tensor language ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_TENSOR
#define MHC_IR_OPS_TENSOR

include "mhc/IR/MhcBase.td"

defvar Mhc_AnyFloatTensor = RankedTensorOf<Mhc_Floats>;
/// Exporters' statistics are in f64 now and then; they stay so.
defvar Mhc_WideFloats = Mhc_Floats # [F64];
defvar Mhc_WideFloatTensor = RankedTensorOf<Mhc_WideFloats>;

defvar Mhc_TokenNumbers = TensorRankOf<[I32], [1]>;

class Mhc_UnaryOp<string mnemonic, string formula>
    : Mhc_LeafOp<mnemonic, [Elementwise, SameOperandsAndResultType]> {
  let summary = "Apply " # formula # " to each element";
  let description = "\n    `out = " # formula # [{`, evaluated without overflow.

    ```mlir
    func.func @}] # mnemonic # [{(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %out = mhc.}] # mnemonic # [{ %x : tensor<?x4xf32>
      return %out : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_AnyFloatTensor:$x);
  let results = (outs Mhc_AnyFloatTensor:$out);
  let assemblyFormat = "$x attr-dict `:` type($out)";
}
def Mhc_SigmoidOp : Mhc_UnaryOp<"sigmoid", "1/(1 + exp(-x))">;
def Mhc_SiluOp : Mhc_UnaryOp<"silu", "x/(1 + exp(-x))">;
def Mhc_SoftplusOp : Mhc_UnaryOp<"softplus", "log(1 + exp(x))">;

def Mhc_SoftmaxOp : Mhc_LeafOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "Take the softmax along one dimension";
  let description = [{
    `out = exp(x - max x) / sum exp(x - max x)`, with maximum and sum along `dim`.

    ```mlir
    func.func @softmax(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
      %out = mhc.softmax %x dim = 2 : tensor<?x4x4xf32>
      return %out : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_AnyFloatTensor:$x, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Mhc_AnyFloatTensor:$out);
  let assemblyFormat = "$x `dim` `=` $dim attr-dict `:` type($out)";
  let hasVerifier = 1;
}

def Mhc_RmsNormOp : Mhc_LeafOp<"rms_norm", [TypesMatchWith<"result has the type of the operand", "x", "out", "$_self">]> {
  let summary = "Divide by the root mean square over the last dimension";
  let description = [{
    `out = x / sqrt(mean(x^2) + eps)`, times `weight` where there is one.

    ```mlir
    func.func @rms_norm(%x: tensor<?x256xf32>, %weight: tensor<256xf32>) -> tensor<?x256xf32> {
      %out = mhc.rms_norm %x, %weight eps = 1.0e-06 : tensor<?x256xf32>, tensor<256xf32>
      return %out : tensor<?x256xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_AnyFloatTensor:$x, Optional<Mhc_AnyFloatTensor>:$weight, Mhc_Eps:$eps);
  let results = (outs Mhc_AnyFloatTensor:$out);
  let assemblyFormat = "$x (`,` $weight^)? `eps` `=` $eps attr-dict `:` type($x) (`,` type($weight)^)?";
  let hasVerifier = 1;
}

def Mhc_ReduceOp : Mhc_LeafOp<"reduce"> {
  let summary = "Add, average or take the maximum over dimensions";
  let description = [{
    Reduces the dimensions `dims`, which the result no longer has. Sums are accumulated in f32. The maximum over nothing
    is minus infinity.

    ```mlir
    func.func @reduce(%x: tensor<?x256xf32>) -> tensor<?xf32> {
      %out = mhc.reduce sum %x dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
      return %out : tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_ReduceKindAttr:$kind, Mhc_WideFloatTensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Mhc_WideFloatTensor:$out);
  let assemblyFormat = "$kind $x `dims` `=` $dims attr-dict `:` type($x) `->` type($out)";
  let hasVerifier = 1;
}

def Mhc_BroadcastOp : Mhc_LeafOp<"broadcast", [], /*rebuilt=*/1> {
  let summary = "Repeat a tensor along new dimensions or dimensions of size one";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`; `dims` ascends. A dimension of size 1 is repeated, as are the
    result dimensions that are not in `dims`. `sizes` gives, in order, the dynamic result sizes that no operand dimension
    gives.

    ```mlir
    func.func @broadcast(%beta: tensor<24xf32>, %M: index) -> tensor<?x24xf32> {
      %out = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
      return %out : tensor<?x24xf32>
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<Mhc_WideFloats # [I32]>:$x, Variadic<Index>:$sizes, DenseI64ArrayAttr:$dims);
  let results = (outs RankedTensorOf<Mhc_WideFloats # [I32]>:$out);
  let assemblyFormat = "$x (`[` $sizes^ `]`)? `dims` `=` $dims attr-dict `:` type($x) `->` type($out)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mhc_TransposeOp : Mhc_LeafOp<"transpose", [], /*rebuilt=*/1> {
  let summary = "Permute dimensions";
  let description = [{
    Result dimension i is operand dimension `perm[i]`.

    ```mlir
    func.func @transpose(%x: tensor<?x4x8xf32>) -> tensor<?x8x4xf32> {
      %out = mhc.transpose %x perm = [0, 2, 1] : tensor<?x4x8xf32> -> tensor<?x8x4xf32>
      return %out : tensor<?x8x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_WideFloatTensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Mhc_WideFloatTensor:$out);
  let assemblyFormat = "$x `perm` `=` $perm attr-dict `:` type($x) `->` type($out)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Mhc_ShiftOp : Mhc_LeafOp<"shift", [TypesMatchWith<"result has the type of the operand", "x", "out", "$_self">]> {
  let summary = "Move tokens along a dimension, within their sequence";
  let description = [{
    `out[..., m, ...] = x[..., m - by, ...]` along `dim`, and 0 where there is no such token. With `starts`, the number
    of the first token of each token's sequence (`mhc.sequence_starts`), tokens of other sequences count as absent. What
    a causal convolution consists of; the gradient is the shift by `-by`.

    ```mlir
    func.func @shift(%x: tensor<1x?x64xf32>, %starts: tensor<?xi32>) -> tensor<1x?x64xf32> {
      %out = mhc.shift %x, %starts dim = 1 by = 3 : tensor<1x?x64xf32>, tensor<?xi32>
      return %out : tensor<1x?x64xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_WideFloatTensor:$x, Optional<Mhc_TokenNumbers>:$starts,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, ConfinedAttr<I64Attr, [Mhc_IntRange<-1048576, 1048576>]>:$by);
  let results = (outs Mhc_WideFloatTensor:$out);
  let assemblyFormat = "$x (`,` $starts^)? `dim` `=` $dim `by` `=` $by attr-dict `:` type($x) (`,` type($starts)^)?";
  let hasVerifier = 1;
}

def Mhc_SequenceStartsOp : Op<Mhc_Dialect, "sequence_starts", [Pure, DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let summary = "Say of each token where its sequence starts";
  let description = [{
    `starts[m] = max {cu_seqlens[i] : cu_seqlens[i] <= m}` of `size` tokens; 0 where there is none.

    ```mlir
    func.func @sequence_starts(%cu_seqlens: tensor<?xi32>, %M: index) -> tensor<?xi32> {
      %starts = mhc.sequence_starts %cu_seqlens[%M] : tensor<?xi32> -> tensor<?xi32>
      return %starts : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins Mhc_TokenNumbers:$cu_seqlens, Optional<Index>:$size);
  let results = (outs Mhc_TokenNumbers:$starts);
  let assemblyFormat = "$cu_seqlens (`[` $size^ `]`)? attr-dict `:` type($cu_seqlens) `->` type($starts)";
  let hasVerifier = 1;
}

#endif // MHC_IR_OPS_TENSOR
