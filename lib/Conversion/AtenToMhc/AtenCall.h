//===- AtenCall.h - One call of an ATen op ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_ATENCALL_H
#define MHC_LIB_CONVERSION_ATENCALL_H

#include "mhc/Analysis/Polynomial.h"
#include "mhc/Conversion/WriteAten.h"
#include "mhc/IR/LeafBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mhc::aten {

using Dims = llvm::SmallVector<Polynomial>;

/// The sizes of a graph's tensors in symbols, and values that hold them.
class SymbolicSizes {
public:
  explicit SymbolicSizes(mlir::func::FuncOp func) : func(func) {}

  /// The sizes of an argument, or of a result of a call. What is no polynomial is a symbol of its own.
  Dims of(mlir::Value value);
  /// An argument, or a result that stays, is there for what follows.
  void keep(mlir::Value value);
  /// A size, from the sizes of what is kept; null where nothing has one of its symbols.
  mlir::OpFoldResult materialise(mlir::OpBuilder &builder, mlir::Location loc, const Polynomial &size);

private:
  /// A size that a tensor has along a dimension.
  struct KnownSize {
    Polynomial size;
    mlir::Value tensor;
    int64_t dim;
  };

  unsigned symbolOf(llvm::StringRef name);
  mlir::Value valueOf(mlir::OpBuilder &builder, mlir::Location loc, unsigned symbol);
  /// A symbol that only a sum has, whose other symbols are known: h is s - (s - h).
  mlir::Value solve(mlir::OpBuilder &builder, mlir::Location loc, unsigned symbol);

  mlir::func::FuncOp func;
  llvm::StringMap<unsigned> symbols;
  llvm::DenseMap<unsigned, std::pair<mlir::Value, int64_t>> kept; ///< the first tensor that has a symbol, and where
  std::vector<KnownSize> sums;                                    ///< of several symbols
  llvm::DenseMap<unsigned, mlir::Value> values;
};

/// A call and what its arguments are, by the names of the op's schema. An attribute holds a literal, or as an `index`
/// the number of the operand that is the argument; an argument that is None is absent.
class AtenCall {
public:
  using Value = mlir::Value;

  AtenCall(mlir::Operation *op, const llvm::DenseMap<Value, Value> &leaves, SymbolicSizes &sizes);

  /// A value of any type; null where the argument is a literal.
  Value value(llvm::StringRef name) const { return leafOf(op->getAttr(name)); }
  /// A tensor of f64, f32, bf16 or f16; null where the argument is something else.
  Value tensor(llvm::StringRef name) const;
  /// A list of those; empty where one of them is something else.
  llvm::SmallVector<Value> tensors(llvm::StringRef name) const;
  /// A tensor of booleans.
  Value mask(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return op->hasAttr(name); }
  /// A literal, as it is written.
  mlir::Attribute literal(llvm::StringRef name) const { return op->getAttr(name); }
  std::optional<double> number(llvm::StringRef name) const;
  std::optional<int64_t> integer(llvm::StringRef name) const;
  /// A factor or a step, which is 1 where it is absent; nothing where it is no literal.
  std::optional<double> factor(llvm::StringRef name) const { return has(name) ? number(name) : 1; }
  bool flag(llvm::StringRef name) const;
  /// A list of integers; nothing where one is no literal.
  std::optional<llvm::SmallVector<int64_t>> integers(llvm::StringRef name) const;
  /// A tensor of integers that is a constant of the graph, or a list of one such tensor.
  std::optional<llvm::SmallVector<int64_t>> constant(llvm::StringRef name) const;
  /// A dimension of a tensor, counted from the front.
  std::optional<int64_t> dim(llvm::StringRef name, Value tensor) const;
  /// One or several dimensions, counted from the front; all where the argument is absent or empty.
  std::optional<llvm::SmallVector<int64_t>> dims(llvm::StringRef name, Value tensor) const;

  mlir::RankedTensorType resultType(unsigned result = 0) const;
  mlir::Type resultElement() const { return resultType().getElementType(); }
  mlir::ValueRange results() const { return op->getResults(); }
  Dims resultDims(unsigned result = 0) { return sizes.of(op->getResult(result)); }
  /// Whether all that reads the results are sums and means over dimensions.
  bool isOnlySummed() const;
  Dims argumentDims(llvm::StringRef name) { return sizes.of(operandOf(op->getAttr(name))); }

  std::optional<LeafBuilder::Sizes> resultSizes(unsigned result = 0);

  // Builders of what several ops are made of. They take null and give null.
  /// The elements of `self` in their order, in the shape of the result.
  Value reshaped();
  /// A tensor in the shape of the result, by the rules of broadcasting.
  Value spread(Value tensor);
  /// A number in the shape of the result.
  Value splat(double value, mlir::Type element);
  /// A part of a tensor along a dimension.
  Value slice(Value tensor, int64_t dim, int64_t start, int64_t size);
  /// The same of an open dimension; null where no value has a size.
  Value slice(Value tensor, int64_t dim, const Polynomial &start, const Polynomial &size);
  /// A number that counts from the end of a dimension where it is negative, from the front.
  static std::optional<Polynomial> place(const Polynomial &whole, int64_t number) {
    return number < 0 ? add(whole, constantPolynomial(number)) : constantPolynomial(number);
  }
  /// A part of a tensor of the size of the result, whose first element is at `offsets`.
  Value part(Value tensor, llvm::ArrayRef<int64_t> offsets);
  /// A reduction of `self`, or of what it became, with or without the dimensions that it goes over.
  Value reduce(ReduceKind kind);
  Value reduce(ReduceKind kind, Value self);
  /// An operand of arithmetic: a tensor or a number, in the shape of the result.
  Value operand(llvm::StringRef name, mlir::Type element);
  /// The type that operands meet in: the widest of them and the result, and f32 where there are several, which is
  /// rounded once behind.
  mlir::Type meetingType(llvm::ArrayRef<llvm::StringRef> names) const;
  Value toResult(Value tensor) { return tensor ? leaf.cast(tensor, resultElement()) : Value(); }

  mlir::OpBuilder builder;
  LeafBuilder leaf;
  mlir::Location loc;

private:
  /// The operand that an argument is; null for a literal.
  Value operandOf(mlir::Attribute argument) const;
  Value leafOf(mlir::Attribute argument) const;
  /// A tensor of signed integers in the type of the result, as PyTorch rounds them first; null for others.
  Value fromIntegers(llvm::StringRef name);

  mlir::Operation *op;
  const llvm::DenseMap<Value, Value> &leaves;
  SymbolicSizes &sizes;
};

/// Leaf ops that compute the results of a call; empty where the op, or this call of it, is not known.
llvm::SmallVector<mlir::Value> readCall(llvm::StringRef name, AtenCall &call);
/// The kernel op that a call of `torch.mhc.NAME.default` is of, by its record; empty for another call.
llvm::SmallVector<mlir::Value> readKernel(llvm::StringRef name, AtenCall &call);
/// Whether a type is that of tensors that are read.
bool isFloat(mlir::Type type);

// Helpers of readers.
/// One op of ours, of the call's operand or operands, in the type that they meet in.
Values readElementwise(AtenCall &call, llvm::StringRef leaf);

inline Values one(mlir::Value value) { return value ? Values{value} : Values(); }

inline int64_t rankOf(mlir::Value tensor) { return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getRank(); }

/// Whether a tensor is of f64, which leaf ops besides arithmetic, sums and views do not take.
inline bool isF64(mlir::Value tensor) { return mlir::getElementTypeOrSelf(tensor).isF64(); }

inline bool sameElements(mlir::Value a, mlir::Value b) {
  return a && b && mlir::getElementTypeOrSelf(a) == mlir::getElementTypeOrSelf(b);
}

} // namespace mhc::aten

#endif // MHC_LIB_CONVERSION_ATENCALL_H
