//===- GatedDeltaMatch.h - The parts of a gated delta front end ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches a value by its expression alone: heads of q or k, v, the decay g. The parts that are found are expressions
// of the variables below, so that those of different values can be compared.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_GATEDDELTAMATCH_H
#define MHC_LIB_TRANSFORMS_RAISE_GATEDDELTAMATCH_H

#include "mhc/Algebra/Reading.h"
#include "mhc/Transforms/Sites.h"

namespace mhc {

/// The variables of what is found: a sequence, its tokens, the channels of all heads or the heads, the taps, the
/// channels of one head, and the tokens before the first one.
namespace gated {
enum : algebra::Var { batch, token, channel, tap, within, row };
} // namespace gated

/// A value, opened: its expression in variables of its own, one for each dimension of its node.
struct Opened {
  const algebra::Node *node;
  algebra::Indices at; ///< those variables, as indices of the value
  algebra::Expr expr;
  double coefficient; ///< of the node
};
std::optional<Opened> openValue(algebra::Reading &reading, mlir::Value value);

/// Why something that looks like a part is none.
struct GatedFault {
  Reason reason;
  std::string found, needed;
};

constexpr int64_t kMostTaps = 8;

/// Tokens before the first one that are not zero.
struct LeftBoundary {
  algebra::Expr tokens;
  int64_t rows = 0; ///< none where there are no such tokens
};

/// a = bias + sum over taps of weight * x, some tokens before
struct CausalConvolution {
  algebra::Expr x, weight, bias; ///< bias without terms for none
  algebra::Expr starts;          ///< of each token's sequence; without terms for none
  LeftBoundary left;
  int64_t taps, channels;
  algebra::Size batch = 1, tokens = 1;
  std::optional<algebra::Var> batchVar;
  algebra::Var tokenVar;
  llvm::SmallVector<std::pair<algebra::Var, int64_t>> channelVars; ///< with extents, the outer one first
};

/// Sets `fault` where `sum`, a part of `value`, has tokens before, and is no convolution that the op computes.
std::optional<CausalConvolution> matchConvolution(algebra::Reading &reading, const Opened &value,
                                                  const algebra::Expr &sum, std::optional<GatedFault> &fault);

/// The same of one token and those before it, for which there is no dimension, as an expression of `rank` variables and
/// those behind them; without the channels.
std::optional<CausalConvolution> matchOneToken(algebra::Reading &reading, size_t rank, const algebra::Expr &sum);
/// One expression for elements of one tensor that lie in equal steps, `var` the place of each.
std::optional<algebra::Expr> spread(algebra::Reading &reading, llvm::ArrayRef<algebra::Expr> elements,
                                    algebra::Var var);

/// SiLU of a convolution, alone or divided by the norm of heads.
struct ActivatedConvolution : CausalConvolution {
  mlir::Value value; ///< the first value that it was found at
  const algebra::Node *node;
  double coefficient;        ///< of the node
  algebra::Expr expr;        ///< of batch, token, and channel
  std::optional<double> eps; ///< of the norm
  int64_t headSize = 0;      ///< of the norm
  int64_t heads() const { return channels / headSize; }
};
/// Sets `fault` where a SiLU reads tokens before, and is none that the op computes.
std::optional<ActivatedConvolution> matchActivated(algebra::Reading &reading, const Opened &value,
                                                   std::optional<GatedFault> &fault);

/// -exp(A_log) * softplus(alpha + dt_bias), as expressions of batch, token, and channel for the head. Sequences and
/// tokens are told apart by what alpha is a part of, so there are two of each.
struct Decay {
  struct Alpha {
    algebra::Expr alpha, whole;
    algebra::Size batch, tokens;
  };
  bool isNegative; ///< else it lacks the minus
  int64_t heads;
  double threshold;
  algebra::Expr aLog, dtBias;
  llvm::SmallVector<Alpha> alphas; ///< for either order
};
std::optional<Decay> matchDecay(algebra::Reading &reading, const Opened &value, std::optional<GatedFault> &fault);
/// Whether a value is a softplus times what is no exponential, such as one that was computed before.
bool isScaledSoftplus(algebra::Reading &reading, const Opened &value);

/// Whether two expressions are one.
bool isSame(algebra::Reading &reading, const algebra::Expr &a, const algebra::Expr &b);
bool dependsOn(const algebra::Expr &expr, algebra::Var var);
/// A variable of `extent` values, `stride` apart.
algebra::Index strided(algebra::Var var, int64_t stride, int64_t extent);
/// A variable that keeps its name.
algebra::Index sameVar(algebra::Var var);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_GATEDDELTAMATCH_H
