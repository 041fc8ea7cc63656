//===- Expr.h - Tensor elements as expressions --------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element of a tensor is a sum of products:
//
//   sum over terms of  coefficient * exp(exponent) * product of  node[index]^power
//
// A node is a tensor that is defined once: a value of the IR, a function of expressions, a reduction, a sum that is a
// factor of a product. Its definition speaks of its own index variables only, so that one expression, however it was
// written, shaped and ordered, is one node: two expressions are equal where their normal forms are.
//
// The functions below keep the normal form. They hold for real numbers; where a step rounds is not seen here.
//
//===------------------------------------------------------------------------===//
#ifndef MHC_ALGEBRA_EXPR_H
#define MHC_ALGEBRA_EXPR_H

#include "mhc/Algebra/Index.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/Support/Allocator.h"
#include <map>
#include <memory>

namespace mhc::algebra {

struct Node;
struct Term;
using Expr = std::vector<Term>;

/// A node at an index for each of its dimensions. One that is equal is the same object.
struct Element {
  const algebra::Node *node;
  llvm::ArrayRef<Index> at; ///< equal indices are one array
  unsigned number;          ///< in order of making
};

struct Factor {
  const Element *element;
  int halves = 2; ///< twice the power: -1 is one over the square root

  const Node *node() const { return element->node; }
  llvm::ArrayRef<Index> at() const { return element->at; }
};

struct Term {
  double coefficient = 1;
  Expr exponent; ///< of Euler's number; without terms for one
  llvm::SmallVector<Factor, 2> factors;
};

/// A tensor. Dimension i of its definition is variable i; variables behind those are what a reduction runs over.
struct Node {
  enum Kind {
    Base,     ///< an IR value that is not looked into, or a constant
    Extent,   ///< a size as a number
    Position, ///< its own index as a number
    Apply,    ///< a function of the elements of `parts`
    Reduce,   ///< the sum, or the maximum, of one part over `bound`
    Sum       ///< a part that is no single product
  };
  Kind kind;
  unsigned number = 0;        ///< in order of making
  unsigned shape = 0;         ///< the number of the first one that differs in offsets at most
  bool isNonNegative = false; ///< whether no element is less than zero, as far as is known
  llvm::SmallVector<Size, 4> dims, bound;
  mlir::Value value;     ///< of a base that is no constant
  mlir::Attribute label; ///< the constant of a base; the name of a function; "sum" or "max" of a reduction
  Size size;             ///< of an extent; of a base the values before it that were at its place in memory
  std::vector<Expr> parts;
  llvm::SmallVector<int64_t, 2> fixed;     ///< the same as fixedExtents() of its terms
  llvm::FoldingSetNodeIDRef id;            ///< what it is found by
  const Node *next = nullptr;              ///< another one of the same hash
  mutable const Element *latest = nullptr; ///< of its elements, the one that was asked for last

  Node(Kind kind, llvm::ArrayRef<Size> extents) : kind(kind), dims(extents.begin(), extents.end()) {}
  void profile(llvm::FoldingSetNodeID &id) const;
  void profileShape(llvm::FoldingSetNodeID &id) const;
  /// Whether this is the function `name`.
  bool isApply(llvm::StringRef name) const;
  bool isReduce(llvm::StringRef name) const;
};

/// Whether a variable is read.
bool dependsOn(const Factor &factor, Var var);
bool dependsOn(const Term &term, Var var);
/// How many parts dimensions have of which a term reads one only, ascending: one of its positions, or a run of them.
llvm::SmallVector<int64_t, 2> fixedExtents(const Term &term);

/// The order of two expressions that are alike by the first offset in which they differ: negative, zero or positive.
int compareOffsets(const Expr &a, const Expr &b);

/// Whether an expression is known to be nowhere less than zero.
bool isNonNegative(const Factor &factor);
bool isNonNegative(const Term &term);
bool isNonNegative(const Expr &expr);

class Closer;
class Digits;

/// Makes expressions and holds all nodes. Variables of an expression are numbers that the caller chooses, below
/// `kFirstFresh`. A result is nothing where an index cannot be written, or where it grows beyond all bounds.
class Algebra {
public:
  static constexpr Var kFirstFresh = 1 << 20;

  explicit Algebra(mlir::MLIRContext *context) : context(context) {}

  Sizes sizes;

  Var freshVar() { return nextVar++; }
  /// Lets fresh variables begin again, where no expression has one: elements of equal names are one object.
  void forgetFreshVars() { nextVar = kFirstFresh; }

  static Expr number(double value);
  static Expr of(const Element *element, int halves = 2);
  Expr extent(Size size);
  /// An index as a number.
  std::optional<Expr> position(const Index &index);
  /// 1 where two numbers are equal, 0 elsewhere.
  std::optional<Expr> equal(const Expr &a, const Expr &b);
  /// A value of the IR at an index.
  Expr base(mlir::Value value, llvm::ArrayRef<Size> dims, llvm::ArrayRef<Index> at);
  /// Another value has taken the place of one that is gone.
  void renew(mlir::Value value) { ++renewed[value]; }
  Expr constant(mlir::Attribute elements, llvm::ArrayRef<Size> dims, llvm::ArrayRef<Index> at);

  std::optional<Expr> add(const Expr &a, const Expr &b);
  static Expr scale(Expr expr, double coefficient);
  std::optional<Expr> multiply(const Expr &a, const Expr &b);
  std::optional<Expr> divide(const Expr &a, const Expr &b);
  /// expr^(halves/2)
  std::optional<Expr> power(const Expr &expr, int halves);
  std::optional<Expr> exp(const Expr &expr);
  std::optional<Expr> log(const Expr &expr);
  /// A function that nothing is known of; `name` with all its attributes.
  std::optional<Expr> apply(llvm::StringRef name, llvm::ArrayRef<Expr> arguments);
  /// The sum or the maximum ("max") over variables of these extents.
  std::optional<Expr> reduce(llvm::StringRef kind, const Expr &expr, llvm::ArrayRef<std::pair<Var, Size>> over);
  /// An expression in which a sum over a position that must equal another is its summand there: a product with a
  /// diagonal matrix is one with a vector. Not so by itself: a mix of streams by the identity is a mix.
  std::optional<Expr> choose(const Expr &expr);
  /// A sum of fewer terms, where a product with a matrix less the identity is the product less its operand:
  ///   x[i] + sum over j of (h[i, j] - (i == j)) * x[j]  ->  sum over j of h[i, j] * x[j]
  /// Nothing where there is none.
  std::optional<Expr> spread(const Expr &expr);
  /// A value whose parts lie one after the other along a dimension. `whole` are the value's own indices; variable i of
  /// a part is the index of its dimension i.
  Expr join(mlir::Value value, llvm::ArrayRef<Size> dims, llvm::ArrayRef<Index> whole, unsigned dim,
            llvm::ArrayRef<Expr> parts, llvm::ArrayRef<Size> extents);
  /// Parts that lie one after the other along a dimension.
  struct Joined {
    unsigned dim;
    std::vector<Expr> parts;
    llvm::SmallVector<Size> extents;
  };
  /// The parts of a value that is no one expression of them; null for others.
  const Joined *partsOf(const Node *node) const;
  /// A value that shows `source` at `at`, which are indices of the value's own, where those cut digits that the source
  /// tells apart.
  Expr view(mlir::Value value, llvm::ArrayRef<Size> dims, llvm::ArrayRef<Index> whole, const Expr &source,
            llvm::ArrayRef<Index> at);

  /// Whether two differ in offsets only.
  bool isAlike(const Expr &a, const Expr &b);

  /// Puts the index that `at` gives in place of each variable.
  std::optional<Expr> substitute(const Expr &expr, llvm::function_ref<Index(Var)> at);
  /// Puts expressions in place of the elements for which `by` has one, where an expression names them itself.
  std::optional<Expr> replace(const Expr &expr, llvm::function_ref<std::optional<Expr>(const Element *)> by);
  /// The element of a node.
  std::optional<Expr> element(const Node *node, llvm::ArrayRef<Index> at);

  /// The summand of a reduction, or argument of a function, at `element` and, for a reduction, at `bound`.
  std::optional<Expr> part(const Element *element, llvm::ArrayRef<Index> bound = {}, unsigned number = 0);
  /// Indices for all variables of a node's definition, those of a reduction fresh. Without `at`, for `bound` of `part`.
  struct Open {
    Indices indices;
    llvm::SmallVector<std::pair<Var, Size>> over;
  };
  Open open(const Node &node, llvm::ArrayRef<Index> at = {});
  const Element *elementAt(const Node *node, llvm::ArrayRef<Index> at) { return elementOf(node, unique(at)); }
  /// The one array of these indices.
  llvm::ArrayRef<Index> unique(llvm::ArrayRef<Index> at);
  /// The same of indices that are that array.
  const Element *elementOf(const Node *node, llvm::ArrayRef<Index> at);
  /// The same terms and factors with other elements.
  static void replaceElements(Expr &expr, llvm::function_ref<const Element *(const Element *)> replace);

  /// An expression as one node: it is `coefficient` times the node's element at `at`.
  struct Closed {
    const Node *node;
    Indices at;
    double coefficient;
  };
  /// Nothing for zero, and where variables have no digits that all indices agree on. With `isPositive`, the coefficient
  /// of a sum is positive.
  std::optional<Closed> close(const Expr &expr, bool isPositive = false);

  /// The digits that lists of indices tell apart, found once for lists that may come again; until the next call.
  const Digits &digitsIn(llvm::ArrayRef<llvm::ArrayRef<Index>> arrays, llvm::ArrayRef<std::pair<Var, Size>> over);

private:
  const Node *unique(Node node);
  unsigned shapeOf(const Node &node);
  /// The element of a node whose definition has just been closed.
  Expr closed(Node node, const Indices &at);
  Expr single(const Node *node, llvm::ArrayRef<Index> at);
  /// Sorts factors, and merges those of one element.
  void normalise(Term &term);
  /// Sorts terms, and adds those of one product. False where that is more than any chain has.
  bool normalise(Expr &expr);
  /// The expression as one product; a sum becomes a node. With `isPositive`, its coefficient is positive.
  std::optional<Term> asTerm(const Expr &expr, bool isPositive = false);
  /// The same as `like`, of other parts.
  std::optional<Expr> make(const Node &like, llvm::ArrayRef<Expr> parts, llvm::ArrayRef<std::pair<Var, Size>> over);
  std::optional<Expr> instantiate(const Node *node, llvm::ArrayRef<Index> at);
  std::optional<Expr> instantiateOnce(const Node &node, llvm::ArrayRef<Index> at);
  /// Whether a node is read whole, each of its elements once.
  bool isWhole(const Node &node, llvm::ArrayRef<Index> at);
  /// The index that a bound variable has where a factor is not zero; nothing where it may have several or none.
  std::optional<Index> chosenBy(const Factor &factor, Var var, Size extent);
  /// The sum of a term in which a factor chooses one of the variables; nothing where none does.
  std::optional<Expr> sumOfChosen(const Term &term, llvm::ArrayRef<std::pair<Var, Size>> over);
  std::optional<Expr> sumOfAdded(const Term &term);
  std::optional<Expr> sumOf(Term term, llvm::ArrayRef<std::pair<Var, Size>> over);
  /// The sum of a term over all positions of what a view has apart; nothing where it has none.
  std::optional<Expr> sumOfView(const Term &term, llvm::ArrayRef<std::pair<Var, Size>> over);
  std::optional<Expr> maximumOf(const Expr &expr, llvm::ArrayRef<std::pair<Var, Size>> over);
  /// The reduction of a part that a closer, which has run, has closed.
  Expr reduction(llvm::StringRef kind, const Expr &part, const Closer &closer);
  void simplifySigmoids(Term &term);
  void squareMagnitudes(Term &term);
  /// One expression of variable `part` for all of `parts`, where they differ in a running position only.
  std::optional<Expr> merge(llvm::ArrayRef<Expr> parts, Var part);
  struct Merge;
  std::optional<Expr> mergeParts(llvm::ArrayRef<Expr> parts, Merge &merge);
  std::vector<Expr> spreadAny(llvm::ArrayRef<Expr> parts);
  std::optional<Expr> mergeWindows(llvm::ArrayRef<Expr> pieces, Var part);
  std::optional<Expr> mergeElements(llvm::ArrayRef<const Element *> elements, Merge &merge);
  std::optional<Expr> mergeFactors(llvm::ArrayRef<const Factor *> factors, Merge &merge);
  bool rollOnce(Expr &sum);
  void roll(Expr &sum);
  std::vector<Expr> split(llvm::ArrayRef<Expr> parts, llvm::ArrayRef<Size> extents, llvm::ArrayRef<Index> whole,
                          unsigned dim, int64_t extent);
  std::optional<Expr> elementOfPart(const Node *node, llvm::ArrayRef<Index> at);
  std::optional<Expr> elementOfParts(const Node *node, llvm::ArrayRef<Index> at, int64_t extent, int64_t count);
  std::optional<Expr> elementOfView(const Node *node, llvm::ArrayRef<Index> at);

  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, int64_t> renewed;
  llvm::BumpPtrAllocator ids;
  llvm::DenseMap<uint64_t, const Node *> known; ///< nodes by the hashes of their ids
  /// Shapes by the hashes of their ids.
  llvm::DenseMap<uint64_t, llvm::SmallVector<std::pair<llvm::FoldingSetNodeIDRef, unsigned>, 1>> shapes;
  std::vector<std::unique_ptr<Node>> nodes;
  llvm::DenseSet<const Indices *, IndicesInfo> indices;
  llvm::SpecificBumpPtrAllocator<Indices> indexMemory;
  llvm::DenseMap<std::pair<const Node *, const Index *>, const Element *> elements;
  llvm::BumpPtrAllocator elementMemory;
  std::map<std::vector<uint64_t>, std::shared_ptr<const Digits>> digits;
  llvm::DenseMap<const Node *, Joined> joins;
  struct View {
    Expr source;
    Indices at;
  };
  llvm::DenseMap<const Node *, View> views;
  /// Definitions at indices, whose digits are named in the order in which they occur.
  std::map<std::pair<const Node *, std::vector<int64_t>>, std::optional<Expr>> instances;
  Var nextVar = kFirstFresh;
};

/// The single factor of an expression `coefficient * factor`; null for others.
const Factor *singleFactor(const Expr &expr, int halves = 2);
/// A number to 13 digits: one that is computed in two ways is one number.
double canonicalNumber(double value);
/// The number that an expression is.
std::optional<double> numberOf(const Expr &expr);
/// The index that an expression is as a number; null for others.
const Index *positionOf(const Expr &expr);

} // namespace mhc::algebra

#endif // MHC_ALGEBRA_EXPR_H
