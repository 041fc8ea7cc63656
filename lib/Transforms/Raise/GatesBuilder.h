//===- GatesBuilder.h - Builds the gates of one site ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_GATESBUILDER_H
#define MHC_LIB_TRANSFORMS_RAISE_GATESBUILDER_H

#include "Linear.h"

namespace mhc {

/// The groups of one mhc.gates: one, or three, of which one gate may be absent.
class GatesBuilder {
public:
  GatesBuilder(algebra::Reading &reading, Sites &sites, llvm::ArrayRef<LinearGroup> groups,
               llvm::ArrayRef<SigmoidOp> gates)
      : reading(reading), algebra(reading.algebra()), sites(sites), groups(groups), gates(gates),
        lead(*llvm::find_if_not(this->groups, std::mem_fn(&LinearGroup::isAbsent))), builder(lead.root.getContext()),
        loc(lead.root.getLoc()), leaf(builder, loc) {}
  void run();

private:
  bool placeBuilder();
  bool readAtBuilder();
  mlir::Value buildStreams();
  mlir::Value zeroRows(mlir::Value like, int64_t axis, int64_t count);
  mlir::Value buildPhi();
  bool foldsGammas() const;
  mlir::Value buildGamma(const LinearGroup &group);
  mlir::Value buildAlpha();
  mlir::Value buildBeta();
  mlir::Value buildVector(const algebra::Expr &expr, const LinearGroup &group, bool hasRows);
  mlir::Value buildVectors(algebra::Expr LinearGroup::*vector, bool hasRows);
  mlir::Value buildPart(const algebra::Factor &factor, llvm::ArrayRef<IndexVars> dims);
  mlir::Value buildProduct(const algebra::Factor &factor, const LinearGroup &group);
  mlir::Value buildElement(const algebra::Factor &factor, const LinearGroup &group, bool hasRows);
  mlir::Value buildFactor(const algebra::Factor &factor, const LinearGroup &group, bool hasRows);
  mlir::Value buildTerm(const algebra::Term &term, const LinearGroup &group, bool hasRows);
  /// Groups that are rows of one weight, one behind the other; or an absent one, where `first` is null.
  struct Run {
    const LinearGroup *first;
    int64_t extent; ///< of all its groups
  };
  llvm::SmallVector<Run> runs() const;
  bool buildProjection();
  bool takeProjection();
  bool buildStat();
  void mapSquares(mlir::IRMapping &known);
  bool replaceRoots(GatesOp made);
  mlir::Value lateInput() const;
  void declineInput(llvm::StringRef name, mlir::Value value, llvm::StringRef needed);
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t offset, int64_t size) {
    bool isWhole = mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(dim) == size;
    return isWhole ? value : leaf.slice(value, dim, offset, size);
  }
  int64_t rows() const {
    int64_t rows = 0;
    for (const LinearGroup &group : groups)
      rows += group.extent;
    return rows;
  }

  algebra::Reading &reading;
  algebra::Algebra &algebra;
  Sites &sites;
  std::vector<LinearGroup> groups;
  llvm::ArrayRef<SigmoidOp> gates;
  const LinearGroup &lead; ///< the first that is there: what all share is read of it
  mlir::OpBuilder builder;
  mlir::Location loc;
  LeafBuilder leaf;
  mlir::Operation *user = nullptr; ///< what is there before it may be read
  ProjectionOp projection;         ///< where it is made
  mlir::Value proj, stat;
  Layout layout = Layout::nC;
  PhiLayout phiLayout = PhiLayout::out_in;
  llvm::SmallVector<mlir::Value> roots; ///< null for an absent gate
  double preEps = 0, postMult = 1;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_GATESBUILDER_H
