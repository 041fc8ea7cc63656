//===- GatedDelta.h - The search for gated delta front ends ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_GATEDDELTA_H
#define MHC_LIB_TRANSFORMS_RAISE_GATEDDELTA_H

#include "GatedDeltaMatch.h"
#include "Mix.h"

namespace mhc::gated {

/// An expression with the number of its channels.
using Part = std::pair<algebra::Expr, int64_t>;
using VarSize = algebra::DimVars::value_type;

/// The results of the op.
enum { kQuery, kKey, kValue, kGate, kBeta, kDecay, kNumResults };

/// A value that one of the results replaces, times a factor, and the result's indices in the variables of `dims`.
struct Target {
  mlir::Value value;
  algebra::Indices from;
  llvm::SmallVector<algebra::DimVars> dims;
  double factor = 1; ///< of the result
};

/// The values that an operand is the concatenation of, with their channels.
struct Source {
  std::vector<std::pair<algebra::Reading::Found, int64_t>> parts;
  /// The parts before z, where a front end has none: any channels do, as nothing reads what becomes of them.
  std::optional<size_t> gateAt;
  int64_t gateChannels = 0;

  /// The type of all of them, or f32.
  mlir::Type elementType() const {
    mlir::Type type = mlir::getElementTypeOrSelf(parts[0].first.value);
    auto isSame = [&](const auto &part) { return mlir::getElementTypeOrSelf(part.first.value) == type; };
    return llvm::all_of(parts, isSame) ? type : mlir::Float32Type::get(type.getContext());
  }
};

/// Everything that was found of one front end.
struct Front {
  const ActivatedConvolution *q, *k, *v;
  const Decay *decay;
  algebra::Expr decayed; ///< g
  int64_t keyHeads;
  algebra::Size batch, tokens;
  std::vector<Part> inputs; ///< q, k, v, z, beta, alpha
  Source source;
  bool isTokenFirst = false;
  std::array<std::vector<Target>, kNumResults> targets;

  int64_t heads() const { return decay->heads; }
  int64_t keySize() const { return q->channels / keyHeads; }
  int64_t valueSize() const { return v->channels / heads(); }
};

/// Finds all front ends of a function.
class GatedDeltaRaiser {
public:
  GatedDeltaRaiser(mlir::func::FuncOp func, algebra::Reading &reading, Sites &sites)
      : func(func), reading(reading), algebra(reading.algebra()), sites(sites) {}
  /// Whether it raised one.
  bool run();

private:
  void readValues();
  algebra::Expr part(const algebra::Expr &whole, int64_t first, int64_t count);
  std::optional<std::pair<algebra::Expr, algebra::Indices>> readAs(mlir::Value value, llvm::ArrayRef<VarSize> order);
  std::optional<Front> findInside(const ActivatedConvolution &q, mlir::Value whole, bool isTokenFirst);
  bool findTargets(Front &front);
  std::vector<Decay::Alpha> alphasOf(const Decay &decay, const ActivatedConvolution &conv);
  std::optional<int64_t> keyHeadsOf(const ActivatedConvolution &q, const ActivatedConvolution &k, int64_t heads);
  std::vector<Target> headsIn(const ActivatedConvolution &conv, int64_t keyHeads, int64_t heads);
  bool addFound(const std::optional<algebra::Expr> &expr, llvm::ArrayRef<algebra::DimVars> dims,
                std::vector<Target> &targets);
  std::optional<algebra::Expr> inHeads(const algebra::Expr &expr, int64_t heads, int64_t size);
  std::optional<algebra::Reading::Found> firstOf(const algebra::Expr &expr, mlir::Operation *at);
  std::optional<algebra::Reading::Found> wholeOf(llvm::ArrayRef<Part> parts, llvm::ArrayRef<VarSize> order,
                                                 mlir::Operation *at);
  std::optional<Source> sourceOf(llvm::ArrayRef<Part> parts, llvm::ArrayRef<VarSize> order, mlir::Operation *at);
  mlir::Value join(mlir::OpBuilder &builder, mlir::Location loc, const Source &source, llvm::ArrayRef<VarSize> order);
  bool contains(const ActivatedConvolution &all, const ActivatedConvolution &heads);
  bool isAlike(const ActivatedConvolution &a, const ActivatedConvolution &b);
  std::optional<Front> findApart(const ActivatedConvolution &q);
  std::optional<algebra::Expr> findGate(const Front &front);
  std::optional<algebra::Expr> findBeta(const Front &front);
  bool build(const Front &front);
  bool take(std::optional<Front> front);
  void decline(mlir::Operation *at, Reason reason, const llvm::Twine &found, const llvm::Twine &needed);

  mlir::func::FuncOp func;
  algebra::Reading &reading;
  algebra::Algebra &algebra;
  Sites &sites;
  llvm::SmallVector<mlir::Value> values;
  std::vector<std::pair<mlir::Value, Opened>> activatedValues;
  std::vector<ActivatedConvolution> activated; ///< one for each node
  std::vector<Decay> decays;
  std::optional<std::pair<mlir::Value, GatedFault>> fault; ///< the first one
  llvm::DenseSet<const algebra::Node *> used;              ///< of q, k and v
  bool seesConvolution = false, seesDecay = false;         ///< that are declined
  bool seesNorm = false;                                   ///< of q or k, whatever it is
  llvm::StringRef missing;                                 ///< from the last one that was looked at
};

/// Values that are no part of a front end: products, and others whose tokens are moved.
llvm::DenseSet<mlir::Value> projections(mlir::func::FuncOp func);

/// The dimension that a variable runs over; none where it has one value.
inline algebra::DimVars dimOf(algebra::Var var, algebra::Size size) {
  return size == algebra::Size(1) ? algebra::DimVars() : algebra::DimVars{{var, size}};
}

} // namespace mhc::gated

#endif // MHC_LIB_TRANSFORMS_RAISE_GATEDDELTA_H
