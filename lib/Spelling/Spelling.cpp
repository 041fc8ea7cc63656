//===- Spelling.cpp - The spelling of each library ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function per library: what its public forward code does, as differences from the default spelling.
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Spelling.h"

#include <map>

namespace mhc::spelling {

int64_t Attributes::residualLogits() const {
  if (res != "perm")
    return n * n;
  int64_t permutations = 1;
  for (int64_t i = 2; i <= n; ++i)
    permutations *= i;
  return permutations;
}

/// Megatron-LM, HyperConnectionModule: 1/r with r = |x|/sqrt(K) + eps, one alpha vector, bmm of the transposed matrix.
static Spelling megatronNative() {
  Spelling how;
  how.root = Spelling::Root::Norm;
  how.transposePhi = true;
  how.alphaVector = true;
  how.keepDims = true;
  how.mix = Spelling::Mix::TransposeMatmul;
  how.biasApart = true;
  how.roundCoeffs = true;
  return how;
}

/// Megatron-LM, the torch fallback of the fused kernels: divides after alpha, returns all coefficients in one tensor.
static Spelling megatronFusedFallback() {
  Spelling how = megatronNative();
  how.scale = Spelling::Scale::AfterAlpha;
  how.divide = true;
  how.packCoeffs = true;
  return how;
}

/// TransformerEngine: streams innermost, statistic of the raw projection applied after alpha, log potentials.
static Spelling te() {
  Spelling how;
  how.scale = Spelling::Scale::AfterAlpha;
  how.root = Spelling::Root::Sqrt;
  how.divide = true;
  how.transposePhi = true;
  how.potentials = true;
  how.aggregate = Spelling::Aggregate::Matmul;
  how.outerMatmul = true;
  return how;
}

/// TileKernels: sum of squares over K, one alpha vector, unrolled Sinkhorn.
static Spelling tilekernels() {
  Spelling how;
  how.meanAsSum = true;
  how.alphaVector = true;
  how.keepDims = true;
  how.unroll = true;
  return how;
}

/// Liger: phi as [K, N], a slice of alpha and b per group, einsum over the input streams.
static Spelling liger() {
  Spelling how;
  how.keepDims = true;
  how.unroll = true;
  how.mixFirst = true;
  return how;
}

/// The paper's equations: r = |x|/sqrt(nC) divides after alpha, everything else is a matrix product.
static Spelling paper() {
  Spelling how;
  how.scale = Spelling::Scale::AfterAlpha;
  how.root = Spelling::Root::Norm;
  how.divide = true;
  how.sigmoid = Spelling::Sigmoid::Exp;
  how.aggregate = Spelling::Aggregate::Matmul;
  how.outerMatmul = true;
  how.mixFirst = true;
  return how;
}

/// DeepSeek-V4 reference model: softmax written out in the split kernel, mix as product and sum.
static Spelling deepseekV4() {
  Spelling how;
  how.explicitSoftmax = true;
  how.keepDims = true;
  how.mix = Spelling::Mix::MulReduce;
  return how;
}

/// mHC-lite: F.rms_norm in front of the projection, matmul for everything.
static Spelling mhcLite() {
  Spelling how;
  how.scale = Spelling::Scale::RmsNormOp;
  how.keepDims = true;
  how.aggregate = Spelling::Aggregate::Matmul;
  how.mixFirst = true;
  return how;
}

/// lucidrains/hyper-connections: L1 normalisation, one product for branch input and residual.
static Spelling hyperConnections() {
  Spelling how;
  how.keepDims = true;
  how.l1Norm = true;
  how.jointMix = true;
  return how;
}

/// mHC.cu, the naive model of its tests: x over its root first, one projection per group.
static Spelling mhcCu() {
  Spelling how;
  how.scale = Spelling::Scale::Input;
  how.root = Spelling::Root::Sqrt;
  how.divide = true;
  how.transposePhi = true;
  how.splitPhi = true;
  how.keepDims = true;
  how.aggregate = Spelling::Aggregate::Matmul;
  return how;
}

Spelling spellingOf(const std::string &variant, bool &known) {
  static const std::map<std::string, Spelling (*)()> table = {
      {"megatron_native", megatronNative},
      {"megatron_fused_fallback", megatronFusedFallback},
      {"te", te},
      {"tilekernels", tilekernels},
      {"liger", liger},
      {"paper", paper},
      {"deepseek_v4", deepseekV4},
      {"deepseek_v41_single_pass", deepseekV4},
      {"mhc_lite", mhcLite},
      {"hyper_connections", hyperConnections},
      {"mhc_cu", mhcCu},
      {"pre_gated_delta_rule", [] { return Spelling(); }},
  };
  auto found = table.find(variant);
  known = found != table.end();
  return known ? found->second() : Spelling();
}

} // namespace mhc::spelling
