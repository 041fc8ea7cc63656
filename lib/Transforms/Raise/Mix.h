//===- Mix.h - Sums over streams ----------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mix is  sum over j of weights[t, i, j] * x[t, j, c]  for tokens t, streams j and channels c, with an index i of the
// new streams where there are several. Which index is which follows from where it occurs: channels are in x only,
// tokens in both.
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_MIX_H
#define MHC_LIB_TRANSFORMS_RAISE_MIX_H

#include "Raise.h"
#include "mhc/Algebra/Build.h"
#include "mhc/IR/LeafBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace mhc {

/// Variables with their extents, in the order of a tensor's dimensions.
using IndexVars = algebra::DimVars;

/// One way to take a term of a sum for a mix, and the terms beside it.
struct Mix {
  algebra::Expr x; ///< one element of the streams
  mlir::Value streams;
  algebra::Indices at;   ///< of the streams, where that element is
  algebra::Expr weights; ///< one term
  std::pair<algebra::Var, algebra::Size> stream;
  IndexVars tokens, channels;
  Layout layout;
  algebra::Expr branches;

  /// The dimensions of the streams, or of what has `var` in their place.
  llvm::SmallVector<IndexVars> groups(algebra::Var var) const;
  llvm::SmallVector<IndexVars> groups() const { return groups(stream.first); }
};

/// Tells mixes apart by the streams and by the coefficients, where some were found.
struct MixSource {
  const algebra::Node *streams;
  mlir::Value coefficients;
  bool operator==(const MixSource &other) const {
    return streams == other.streams && coefficients == other.coefficients;
  }
};

/// A mix that no op was made of, as long as it may be found within the value at `root`.
struct DeclinedMix {
  std::string kind;
  MixSource source;
  mlir::Operation *root;
  Miss miss;
};

/// A value that may be a mix, and what it takes to build and to explain there.
class MixSite {
public:
  MixSite(algebra::Reading &reading, Sites &sites, mlir::Value root);

  /// Every reading of the value, the likeliest first.
  std::vector<Mix> readings();
  /// Those of h (h_res x + h_post f), where nothing else reads the sum, as (h h_res) x + (h h_post) f.
  std::vector<Mix> readingsOfTerms();

  /// Replaces the value by the result of `made`, whose dimensions are `groups`, or by `scaled`, made of it.
  bool finish(mlir::Operation *made, llvm::ArrayRef<IndexVars> groups, const llvm::Twine &detail = {},
              mlir::Value scaled = {});
  /// An expression as a value of the dimensions `groups`; null where the program has none. Of a sequence's own values
  /// each of its tokens has them.
  mlir::Value build(const algebra::Expr &expr, llvm::ArrayRef<IndexVars> groups) {
    return algebra::build(reading, builder, op, expr, groups, /*repeats=*/true);
  }
  /// The streams in the order of their groups; null where their number is open, which no op of streams takes.
  mlir::Value buildStreams(const Mix &mix);
  /// Weights [tokens, ...] for streams x; those of all tokens are repeated.
  mlir::Value buildWeights(const algebra::Expr &expr, const Mix &mix, llvm::ArrayRef<IndexVars> groups, mlir::Value x);
  mlir::Value arrange(const algebra::Reading::Found &found, llvm::ArrayRef<IndexVars> groups) {
    return algebra::arrange(reading, builder, op->getLoc(), found.value, found.at, groups, /*repeats=*/true);
  }
  /// A product as `factor` times a value.
  struct Scaled {
    mlir::Value value;
    double factor = 1;
  };
  /// A value that is a number times a product, with the dimensions `groups` of these sizes: repeated along those that
  /// it lacks.
  Scaled buildPart(const algebra::Expr &product, llvm::ArrayRef<IndexVars> groups,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// The same of a sum of products in f32, of which the program has the factors; null where it has not.
  mlir::Value buildSum(const algebra::Expr &sum, llvm::ArrayRef<IndexVars> groups,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// The value that the program has of an expression; null for none.
  mlir::Value valueOf(const algebra::Expr &expr);
  /// The tensor of which weights are a part that the program has for all tokens only; null for none.
  mlir::Value tableOf(const algebra::Expr &expr);
  /// Two matrices that the program has: an expression is `factor` times the sum over one of their dimensions.
  struct Product {
    algebra::Expr left, right;
    IndexVars::value_type over;
    double factor;
  };
  /// Those whose product, of which `columns` are in the right one alone, an expression is.
  std::optional<Product> findProduct(const algebra::Expr &expr, const IndexVars &columns);
  mlir::Value valueOf(const algebra::Factor &factor) { return valueOf(algebra::Algebra::of(factor.element)); }
  /// Whether the value has the mixed streams in its first dimension, and tokens behind it.
  bool isStreamFirst(const Mix &mix) const;
  /// Whether a factor has a row for each token.
  bool isPerToken(const Mix &mix, const algebra::Factor &factor);
  /// "2 * argument 0, [8, 4] of f32 * ..."
  std::string describeTerm(const algebra::Term &term);

  void decline(llvm::StringRef kind, const Mix &mix, Reason reason, mlir::Value at, const std::string &found,
               const std::string &needed);
  /// `wider` has more bits than the streams.
  void declineWidth(llvm::StringRef kind, const Mix &mix, Reason reason, mlir::Value wider);
  /// Whether the gates of the streams were told to be missing.
  bool missesGates(const Mix &mix) const { return sites.hasDeclined("gates", mix.streams); }
  /// The coefficients, where some were found, that the mix weighs the streams by.
  mlir::Value coefficients(const Mix &mix);
  MixSource sourceOf(const Mix &mix) { return {mix.x[0].factors[0].node(), coefficients(mix)}; }

  algebra::Reading &reading;
  algebra::Algebra &algebra;
  mlir::Value root;
  mlir::Operation *op;
  mlir::OpBuilder builder;
  LeafBuilder leaf;
  algebra::Expr expr;      ///< of the value, in variables that stand for one dimension each
  IndexVars vars;          ///< those variables, in the order of the value's dimensions
  mlir::Value replacement; ///< of the value, once that is replaced
  mlir::Value unknown;     ///< what weights of all tokens would mix if it were known for streams
  std::vector<DeclinedMix> declined;

private:
  mlir::Value buildFromTable(const algebra::Expr &expr, llvm::ArrayRef<IndexVars> groups);
  mlir::Value buildProduct(const algebra::Expr &expr, const Mix &mix, llvm::ArrayRef<IndexVars> groups, bool isPerToken,
                           mlir::Value x);
  std::vector<Mix> readingsOf(const algebra::Expr &expr);
  std::optional<algebra::Expr> multipliedOut();
  std::optional<algebra::Expr> withWholeStreams();
  algebra::Indices openVars(const algebra::Factor &sum, IndexVars &bound);
  std::optional<algebra::Term> openSum(const algebra::Factor &sum, IndexVars &bound);
  void readStreams(const algebra::Term &outer, const algebra::Term &inner, const IndexVars &bound, size_t count,
                   std::vector<Mix> &mixes);
  void readDigits(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes);
  bool joinDigits();
  void readSum(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes);
  void readSumOver(const algebra::Term &term, size_t sum, const IndexVars &bound, llvm::ArrayRef<algebra::Index> over,
                   std::vector<Mix> &mixes);
  void readSums(const algebra::Term &term, size_t sum, std::vector<Mix> &mixes);
  void readRepeated(const algebra::Term &outer, const algebra::Expr &inner, IndexVars::value_type stream,
                    std::vector<Mix> &mixes);
  std::optional<Mix> matchMix(const algebra::Factor &x, const algebra::Term &outer, const algebra::Expr &inner,
                              IndexVars::value_type stream, const IndexVars &rest);
  bool splitVars(Mix &mix, llvm::ArrayRef<algebra::Index> at);
  bool isConsistent(const Mix &mix);

  Sites &sites;
  algebra::Indices at;         ///< the variables as indices of the value itself
  bool countsByDigits = false; ///< a sum over streams has two variables for them
};

bool isStreamCount(algebra::Size extent);

/// The dimensions of a value as its own variables.
llvm::SmallVector<IndexVars> ownDims(algebra::Reading &reading, mlir::Value value);

/// The indices of a tensor with dimensions `groups`, with `at` in place of its variables.
std::optional<algebra::Indices> indicesIn(algebra::Sizes &sizes, llvm::ArrayRef<IndexVars> groups,
                                          llvm::ArrayRef<algebra::Index> at);

/// Replaces `root`, of dimensions `own`, by the result of `made`, whose dimensions have the indices `from`. Gives the
/// value in its place, or null.
mlir::Value replaceRoot(algebra::Reading &reading, Sites &sites, mlir::OpBuilder &builder, mlir::Operation *made,
                        llvm::ArrayRef<algebra::Index> from, llvm::ArrayRef<IndexVars> own, mlir::Value root);
/// The same where `made` was found there.
mlir::Value finishMix(algebra::Reading &reading, Sites &sites, mlir::OpBuilder &builder, mlir::Operation *made,
                      llvm::ArrayRef<algebra::Index> from, llvm::ArrayRef<IndexVars> own, mlir::Value root,
                      const llvm::Twine &detail = {});

/// The streams that an expression is read from at `user`, in the type in which the program keeps them: not what rounds
/// them for one product, nor what rounds those of `bits` or less. With `stored`, as they are stored, and not as a
/// product transposes them.
std::optional<algebra::Reading::Found> findStreams(algebra::Reading &reading, const algebra::Expr &x,
                                                   mlir::Operation *user, bool stored = false, unsigned bits = 0);
/// The factors of a term by whether they depend on a variable: those that do not, with the number, and those that do.
std::pair<algebra::Expr, algebra::Expr> splitBy(const algebra::Term &term, algebra::Var var);
/// Those as [tokens, ...] of `groups`.
mlir::Value buildStreams(algebra::Reading &reading, mlir::OpBuilder &builder, mlir::Operation *user,
                         const algebra::Expr &x, llvm::ArrayRef<IndexVars> groups);

/// Bits of an element.
unsigned widthOf(mlir::Value value);
/// Whether a kernel that stores its result in the type of `x` loses nothing of `value`.
bool keepsPrecision(mlir::Value value, mlir::Value x);
/// Whether a value is streams by what makes, projects or combines it.
bool isProjectedOrMade(mlir::Value value);
/// The same, also where that reads them transposed.
bool areStreams(mlir::Value value);
/// The variables of indices, in their order.
llvm::SmallSetVector<algebra::Var, 4> varsOf(llvm::ArrayRef<algebra::Index> at);
bool dependsOnAny(const algebra::Factor &factor, llvm::ArrayRef<IndexVars::value_type> vars);
bool dependsOnAny(const algebra::Term &term, llvm::ArrayRef<IndexVars::value_type> vars);

/// x' = h_res x + h_post (f + bias)
bool raisePost(MixSite &site, Mix mix);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_MIX_H
