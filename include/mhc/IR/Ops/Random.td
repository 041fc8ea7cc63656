//===- Random.td - Random numbers by counter, and dropout ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_RANDOM
#define MHC_IR_OPS_RANDOM

include "mhc/IR/MhcBase.td"

class Mhc_RandomBase<string mnemonic, list<Trait> traits = []> : Mhc_KernelOp<mnemonic, traits> {
  let dimRules = [Mhc_SeedSize];
}

def Mhc_RandomOp : Mhc_RandomBase<"random"> {
  let summary = "Make random numbers that depend on their place only";
  let description = [{
    Philox 4x32-10 of Salmon et al. (Random123) with key `seed[0]` and counter `(e / 4, stream, seed[1])`, in words of 32
    bits the lowest first; element e is made of word `e mod 4`. So the same seed gives the same numbers on any number of
    threads, `seed[1]` is free to count steps, and ops with different `stream` are independent.

    `uniform` is the upper 24 bits of the word over 2^24. `normal` is the transform of Box and Muller on words 0 and 1
    and on words 2 and 3.

    ```mlir
    func.func @random(%seed: tensor<2xi64>) -> tensor<1024xf32> {
      %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = normal, stream = 3> -> (out : tensor<1024xf32>)
      return %out : tensor<1024xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Seed:$seed, Mhc_DistributionAttr:$distribution,
    Mhc_StreamNumber:$stream);
  let results = (outs Mhc_Tensor<[F32], ["E"]>:$out);
  let flops = "0";
  let verifyExtra = 1;
}

def Mhc_DropoutOp : Mhc_RandomBase<"dropout", [DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Drop elements at random and scale the others";
  let description = [{
    `out[m,c] = x[m,c] / (1 - rate)` where the uniform number of element `m*C + c` (`mhc.random`) is at least `rate`, and
    0 elsewhere. The op is its own gradient: the backward pass draws the same numbers again and no mask is saved.

    ```mlir
    func.func @dropout(%x: tensor<?x64xbf16>, %seed: tensor<2xi64>) -> tensor<?x64xbf16> {
      %out = mhc.dropout(x = %x : tensor<?x64xbf16>, seed = %seed : tensor<2xi64>) <rate = 0.1, stream = 3>
        -> (out : tensor<?x64xbf16>)
      return %out : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<Mhc_Floats, ["M", "C"]>:$x, Mhc_Seed:$seed, Mhc_Rate:$rate,
    Mhc_StreamNumber:$stream);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$out);
  let flops = "M*C";
  let hasFolder = 1;
}

#endif // MHC_IR_OPS_RANDOM
