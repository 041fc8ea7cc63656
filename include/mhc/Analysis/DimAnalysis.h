//===- DimAnalysis.h - Which dimensions of a function are equal ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the dimensions of all tensors of a function, and the index values that hold sizes, into classes of equal size.
// What an op says about sizes comes from DimsOpInterface for our ops and from a short list for upstream ones.
//
// A fact stated by an op inside a loop or a branch is taken to hold always: where it does not, the op would be
// undefined as soon as it runs.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_DIMANALYSIS_H
#define MHC_ANALYSIS_DIMANALYSIS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mhc {

class DimAnalysis {
public:
  /// In place of a dimension: the number that an index value holds.
  static constexpr int kIndexValue = -1;

  explicit DimAnalysis(mlir::func::FuncOp func);

  /// Whether dimension `da` of `a` and dimension `db` of `b` always have the same size.
  bool sameSize(mlir::Value a, int da, mlir::Value b, int db) const;

  /// Adds the dimensions of a value that was made since the analysis, from those of its operands. They get no symbol.
  void learn(mlir::Value value);
  /// Forgets the values of an op that is about to be erased: a later one may take their place in memory.
  void forget(mlir::Operation *op);

  /// Whether a number is a product of sizes of tensors.
  bool isSize(mlir::Value number) const;

  /// The size, where it is known.
  std::optional<int64_t> constantSize(mlir::Value value, int dim) const;

  /// A name for the size: the number where it is known; `M` for the first dynamic size among the function's arguments,
  /// `d1`, `d2`, ... for the next ones; `?` for a size that no argument has.
  std::string symbol(mlir::Value value, int dim) const;

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

  /// More unknown factors than any size has.
  static constexpr size_t kMaxBases = 16;

  /// A constant times unknown sizes, which are no products themselves as far as is known. The constant is 0 where it is
  /// that, or not known.
  struct Product {
    int64_t factor = 1;
    void multiply(int64_t other) {
      if (llvm::MulOverflow(factor, other, factor))
        factor = 0;
    }
    llvm::SmallVector<unsigned, 2> bases; ///< nodes, sorted
    bool operator==(const Product &other) const { return factor == other.factor && bases == other.bases; }
    bool operator<(const Product &other) const { return std::tie(factor, bases) < std::tie(other.factor, other.bases); }
  };

  /// A node of the union-find forest. What is known of a class is kept at its root.
  struct Node {
    unsigned parent;
    std::optional<int64_t> size;
    std::optional<Product> product;
    std::optional<std::pair<unsigned, int>> argument;
    std::string name;
    bool isDimension = false; ///< of a tensor, at a root: some number of the class is
  };

  /// Number of named dimensions of a value: its rank, or 0 for what is not a ranked tensor.
  static int rankOf(mlir::Value value);
  /// Unites what an op, whose regions were visited, says is equal.
  void visit(mlir::Operation *op);
  unsigned nodeOf(Key key);
  void addResults(mlir::Operation *op);
  unsigned rootOf(unsigned node);
  void unite(Key a, Key b);
  void unite(unsigned a, unsigned b);
  /// States that `whole` is the product of `parts`; equal products of equal sizes become one class.
  void setProduct(Key whole, llvm::ArrayRef<Key> parts);
  /// States that `whole` is `dividend` over `divisor`, where that leaves nothing.
  void setQuotient(Key whole, Key dividend, Key divisor);
  void setProduct(unsigned node, const Product &product);
  /// The product of classes, in terms of those that are none.
  Product productOf(llvm::ArrayRef<unsigned> roots) const;
  /// The same in terms of classes that are no products, however long the chain of products is.
  Product expanded(Product product) const;
  std::optional<Product> productOfDims(llvm::ArrayRef<Key> parts) const;
  /// The class of a dimension that the function has; null for any other.
  const Node *classOf(mlir::Value value, int dim) const;
  const Node &classOf(unsigned node) const;
  unsigned numberOf(const Node &node) const { return &node - nodes.data(); }
  /// Names the classes and makes every node point to its root.
  void finish();

  llvm::DenseMap<Key, unsigned> numbers;       ///< a node for each dimension of unknown size
  llvm::DenseMap<int64_t, unsigned> constants; ///< and one for each number
  llvm::SmallVector<Node> nodes;
  std::map<Product, unsigned> products; ///< to a node
};

} // namespace mhc

#endif // MHC_ANALYSIS_DIMANALYSIS_H
