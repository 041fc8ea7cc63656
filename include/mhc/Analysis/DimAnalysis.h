//===- DimAnalysis.h - Which dimensions of a function are equal ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the dimensions of all tensors of a function, and the index values that hold sizes, into classes of equal size.
// Facts about sizes come from DimsOpInterface for our ops and from a short list for upstream ones.
//
// A fact stated by an op inside a loop or a branch is taken to hold always: where it does not, the op would be
// undefined as soon as it runs.
//
// mhc-state-sizes writes the input program's constraints on its sizes down, as `mhc.dims` of arguments and results and
// as `mhc.conditions` of the function, because passes may replace the ops that imply them. Those facts are read as
// well.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_DIMANALYSIS_H
#define MHC_ANALYSIS_DIMANALYSIS_H

#include "mhc/Analysis/Polynomial.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>
#include <string>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mhc {

/// Sizes of an argument or a result, one text per dimension: a number, a symbol, or a sum of products of symbols.
inline constexpr llvm::StringLiteral kDims = "mhc.dims";
/// Whether a dimension there is one symbol: no number, no sum of products, and not "?".
bool isSymbol(llvm::StringRef dim);
/// Equalities of a function's sizes that no dimension of an argument states: "M*d1=d2*d3".
inline constexpr llvm::StringLiteral kConditions = "mhc.conditions";

class DimAnalysis {
public:
  /// Stands for the number that an index value holds, in place of a dimension.
  static constexpr int kIndexValue = -1;

  explicit DimAnalysis(mlir::func::FuncOp func);

  /// Whether dimension `da` of `a` and dimension `db` of `b` always have the same size.
  bool sameSize(mlir::Value a, int da, mlir::Value b, int db) const;

  /// Adds the dimensions of a value that was made since the analysis, from those of its operands. They get no symbol.
  void learn(mlir::Value value);
  /// Forgets the values of an op that is about to be erased: a later one may take their place in memory.
  void forget(mlir::Operation *op);
  void forget(mlir::ValueRange values);

  /// Whether a number is a product of sizes of tensors.
  bool isSize(mlir::Value number) const;

  /// Whether one number is at most another for all sizes of tensors.
  bool isAtMost(mlir::Value less, mlir::Value more) const;

  /// The size, where it is known.
  std::optional<int64_t> constantSize(mlir::Value value, int dim) const;

  /// The size in terms of sizes that do not follow from others: equal sizes have one value. Nothing for a dimension
  /// that the function does not have.
  std::optional<Polynomial> value(mlir::Value value, int dim) const;

  /// A name for the size: the number where it is known; `M` for the first dynamic size among the function's arguments,
  /// `d1`, `d2`, ... for the next ones; `M*d1+2` for a size of an argument that follows from others; `?` for a size
  /// that no argument has.
  std::string symbol(mlir::Value value, int dim) const;
  /// The sizes of a tensor, as `mhc.dims` has them: symbols, and what follows from those of arguments.
  mlir::ArrayAttr symbols(mlir::Value tensor) const;
  /// Further equations between the arguments' sizes, in the form of `mhc.conditions`.
  mlir::ArrayAttr conditions(mlir::MLIRContext *context) const;

  /// Whether a size is a constant times other sizes.
  bool isProduct(mlir::Value value, int dim, int64_t factor, llvm::ArrayRef<std::pair<mlir::Value, int>> parts) const;

  /// Whether two lists of dimensions have as many elements, whatever the unknown sizes are.
  bool sameProduct(llvm::ArrayRef<std::pair<mlir::Value, int>> a, llvm::ArrayRef<std::pair<mlir::Value, int>> b) const;

  /// The size as a constant times symbols, such as 4 and `M` for streams that were folded into the tokens, and `M*d1`
  /// for tokens that are sequences and batches. The symbol is empty where the size is known.
  std::pair<int64_t, std::string> factors(mlir::Value value, int dim) const;

  /// The first dimension of a function argument that has this size: number of the argument and of its dimension.
  std::optional<std::pair<unsigned, int>> argumentDim(mlir::Value value, int dim) const;

private:
  friend class DimCollector;

  using Key = std::pair<mlir::Value, int>;

  /// More steps and more terms than any size has.
  static constexpr size_t kMostSteps = 16, kMostTerms = 16;

  /// A node of the union-find forest. What is known of a class is kept at its root.
  struct Node {
    unsigned parent;
    std::optional<int64_t> size;
    std::optional<Polynomial> value; ///< in terms of other nodes
    std::optional<std::pair<unsigned, int>> argument;
    std::string name = "?";
    bool isDimension = false; ///< of a tensor, at a root: some number of the class is
  };

  /// Number of named dimensions of a value: its rank, or 0 for what is not a ranked tensor.
  static int rankOf(mlir::Value value);
  /// Unites what an op, whose regions were visited, says is equal.
  void visit(mlir::Operation *op);
  unsigned addNode(std::optional<int64_t> size, bool isDimension);
  unsigned nodeOf(Key key);
  unsigned nodeOf(int64_t number);
  void addResults(mlir::Operation *op);
  unsigned rootOf(unsigned node);
  void unite(Key a, Key b);
  void unite(unsigned a, unsigned b);
  /// Reads `mhc.dims` of tensors and `mhc.conditions`, whose symbols are of one function.
  void readFacts(llvm::ArrayRef<std::pair<mlir::Value, mlir::Attribute>> tensors, mlir::Attribute conditions);
  void readFacts(mlir::func::FuncOp func);
  void setProduct(Key whole, llvm::ArrayRef<Key> parts);
  /// States that `whole` is `offset` more than the sum of `parts`.
  void setSum(Key whole, llvm::ArrayRef<Key> parts, int64_t offset = 0);
  void setDifference(Key whole, Key from, Key part);
  /// States that `whole` is `dividend` over `divisor`, where that leaves nothing.
  void setQuotient(Key whole, Key dividend, Key divisor);
  /// States that a class has a value; classes of equal values become one.
  void setValue(unsigned node, const Polynomial &value);
  /// Whether no term is negative, and all symbols are sizes of tensors.
  bool isSumOfSizes(const Polynomial &value) const;
  bool isKnown(unsigned root) const { return nodes[root].size || nodes[root].value; }
  /// States that both are equal: where they are so for one pair of symbols only, those become one class.
  void equate(const Polynomial &a, const Polynomial &b);
  /// The value of a class in terms of roots: its number, its polynomial or itself.
  Polynomial valueOf(unsigned node) const;
  Polynomial valueOf(Key key);
  /// The same with the values of all symbols put in, again and again. Nothing where that does not end.
  std::optional<Polynomial> expanded(const Polynomial &value) const;
  std::optional<Polynomial> expandedProduct(llvm::ArrayRef<Key> parts) const;
  /// The value as a text, where it follows from sizes that arguments have; empty where it does not.
  std::string textOf(const Polynomial &value) const;
  bool followsFromArguments(const Node &root) const;
  /// The class of a dimension that the function has; null for any other.
  const Node *classOf(mlir::Value value, int dim) const;
  const Node &classOf(unsigned node) const;
  unsigned numberOf(const Node &node) const { return &node - nodes.data(); }
  /// Names the classes and makes every node point to its root.
  void finish();

  llvm::DenseMap<Key, unsigned> numbers; ///< a node for each dimension of unknown size
  std::map<int64_t, unsigned> constants; ///< and one for each number, of which a DenseMap reserves two
  llvm::SmallVector<Node> nodes;
  std::map<Polynomial, unsigned> values;                     ///< to a node
  std::vector<std::pair<Polynomial, Polynomial>> equalities; ///< of values that are written in two ways
};

} // namespace mhc

#endif // MHC_ANALYSIS_DIMANALYSIS_H
