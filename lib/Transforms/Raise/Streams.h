//===- Streams.h - Readings of a sum as a mix of streams ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_STREAMS_H
#define MHC_LIB_TRANSFORMS_RAISE_STREAMS_H

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"

namespace mhc {

/// sum_i mix[...] * x[m,i,c] with the variables of each part.
struct Mix {
  Factor x;
  std::vector<Factor> weights; ///< factors that run over the streams but not over the channels
  double coefficient;
  Var stream;
  Vars tokens, channels;
  Layout layout;

  /// The weights, where they are coefficients that were found.
  mlir::Value coefficients() const;
  /// The variables of each dimension of the streams, or of what has `stream` in their place, in the layout of x.
  llvm::SmallVector<Vars> groups(Var stream) const;
  llvm::SmallVector<Vars> groups() const { return groups(stream); }
};

/// One way to take a sum for a mix, and the terms beside it.
struct MixReading {
  Mix mix;
  std::vector<Term> branches;
};

/// Every reading of a form, the likeliest first. `user` is where the streams are to be read.
std::vector<MixReading> readMixes(FormBuilder &forms, const Form &form, mlir::Operation *user);

/// Whether a factor is a tensor with a row for each token.
bool isPerToken(const FormBuilder &forms, const Factor &factor, const Vars &tokens);

Vars without(llvm::ArrayRef<Var> vars, llvm::ArrayRef<Var> dropped);
Vars joined(llvm::ArrayRef<Vars> parts);

/// The op whose result may be a mix, and what it takes to build and to explain there.
class MixSite {
public:
  MixSite(FormBuilder &forms, Sites &sites, mlir::Operation *op)
      : forms(forms), op(op), root(op->getResult(0)), builder(op), leaf(builder, op->getLoc()), sites(sites) {}

  /// A value for a product of factors over `vars`, which become the dimensions of `groups`.
  mlir::Value materialise(llvm::ArrayRef<Factor> factors, double coefficient, llvm::ArrayRef<Vars> groups,
                          const Vars &sums = {});
  mlir::Value rebuild(const Factor &factor, llvm::ArrayRef<Vars> groups) {
    return forms.rebuild(builder, op->getLoc(), factor, groups);
  }
  /// Replaces the root, of dimensions `own`, by the result of `made`, whose dimensions are indexed by `groups`.
  bool finish(mlir::Operation *made, llvm::ArrayRef<Vars> groups, llvm::ArrayRef<Vars> own,
              llvm::StringRef detail = {});
  void decline(llvm::StringRef kind, const Mix &mix, Reason reason, mlir::Value at, const std::string &found,
               const std::string &needed);
  /// `wider` has more bits than the streams.
  void declineWidth(llvm::StringRef kind, const Mix &mix, Reason reason, mlir::Value wider);
  /// Whether the gates of the streams were told to be missing.
  bool missesGates(const Mix &mix) const { return sites.hasDeclined("gates", mix.x.base); }

  FormBuilder &forms;
  mlir::Operation *op;
  mlir::Value root;
  mlir::OpBuilder builder;
  LeafBuilder leaf;

private:
  Sites &sites;
};

/// What stands beside the mix of a combine: gate[m,o] * (f[m,c] + bias[c]), behind a dropout or not.
struct Branch {
  mlir::Value gate, f, bias;
  DropoutOp dropout;
};

/// Where the terms beside a mix are one dropout in the order of the streams, puts in their place what it drops from.
/// False where they are a dropout otherwise; says why.
bool takeDropout(MixSite &site, std::vector<Term> &terms, const Mix &mix, Var output, DropoutOp &dropout);

/// Reads the terms gate[m,o] * f[m,c] and gate[m,o] * bias[c], or a dropout of them; `output` is o.
std::optional<Branch> readBranch(MixSite &site, std::vector<Term> terms, const Mix &mix, Var output);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_STREAMS_H
