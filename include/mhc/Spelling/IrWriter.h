//===- IrWriter.h - Text of unfused IR ------------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one function of unfused IR, op by op, as text. It knows the syntax and infers result types; it does not know
// mHC. The number of tokens M always comes first. It is a number that the writer is made with, or the one dynamic
// dimension: then the writer reads it with tensor.dim from the first token argument and passes it on wherever an op
// wants it.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_SPELLING_IRWRITER_H
#define MHC_SPELLING_IRWRITER_H

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mhc::spelling {

enum class Element { F32, BF16, F16, F64, I1, I32, I64 };

/// The name of a type in the IR: "f32".
const char *elementName(Element element);

using Dims = std::vector<int64_t>;

/// The number of tokens: that of the writer, or "?" in the IR.
constexpr int64_t kTokens = -1;

struct Type {
  Dims dims;
  Element element = Element::F32;

  std::string str() const;
  bool isDynamic() const;
  bool operator==(const Type &other) const { return dims == other.dims && element == other.element; }
};

/// An SSA value: its name with the percent sign, and its type.
struct Value {
  std::string name;
  Type type;

  explicit operator bool() const { return !name.empty(); }
  int64_t rank() const { return static_cast<int64_t>(type.dims.size()); }
  int64_t dim(int64_t index) const { return type.dims[index < 0 ? index + rank() : index]; }
};

using Values = std::vector<Value>;

class IrWriter {
public:
  /// `tokens` is what kTokens stands for.
  explicit IrWriter(int64_t tokens = kTokens) : tokenCount(tokens) {}

  /// `attributes` is such as "mhc.no_grad", for more than the name.
  Value argument(const std::string &name, Type type, const std::string &attributes = "");
  void result(const std::string &name, Value value);
  /// A string on the function itself.
  void functionAttribute(const std::string &name, const std::string &text);
  /// The function with everything written so far.
  std::string finish(const std::string &entry) const;

  /// Name of the next value, for readers; made unique when it is taken.
  IrWriter &as(const std::string &hint);
  void comment(const std::string &text);

  /// Asked before every commutative op whether to swap its operands; unset means never.
  std::function<bool()> swapOperands;

  /// A tensor of one number.
  Value splat(double value, Type type);
  /// A constant tensor with all its elements.
  Value constant(const std::vector<double> &elements, Type type);
  /// The i32 numbers 0 to count-1.
  Value iota(int64_t count);

  Value add(Value lhs, Value rhs) { return binary("arith.addf", lhs, rhs, /*commutative=*/true); }
  Value sub(Value lhs, Value rhs) { return binary("arith.subf", lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary("arith.mulf", lhs, rhs, /*commutative=*/true); }
  Value div(Value lhs, Value rhs) { return binary("arith.divf", lhs, rhs); }
  Value max(Value lhs, Value rhs) { return binary("arith.maximumf", lhs, rhs, /*commutative=*/true); }
  /// `op` with the number as right operand.
  Value add(Value lhs, double rhs) { return add(lhs, splat(rhs, lhs.type)); }
  Value mul(Value lhs, double rhs) { return mul(lhs, splat(rhs, lhs.type)); }
  Value div(Value lhs, double rhs) { return div(lhs, splat(rhs, lhs.type)); }
  Value max(Value lhs, double rhs) { return max(lhs, splat(rhs, lhs.type)); }

  /// Elementwise op of one operand: "math.exp", "mhc.sigmoid", ...
  Value unary(const std::string &op, Value operand);
  /// Compares integers; `predicate` is that of arith.cmpi: "eq", "sle".
  Value compare(const std::string &predicate, Value lhs, Value rhs);
  /// Compares floats: "ogt", "oeq".
  Value compareFloat(const std::string &predicate, Value lhs, Value rhs);
  Value select(Value condition, Value yes, Value no);
  /// Widens or rounds, also to and from i32; the same value when the element type is right already.
  Value convert(Value operand, Element element);

  /// The one result of a function of the module.
  Value call(const std::string &function, Value operand, Type result);

  Value matmul(Value lhs, Value rhs, bool transposeRhs = false);
  Value batchMatmul(Value lhs, Value rhs, bool transposeLhs = false, bool transposeRhs = false);
  Value transpose(Value operand, const Dims &perm);
  /// `kind` is sum, max or mean.
  Value reduce(const std::string &kind, Value operand, const Dims &dims);
  Value softmax(Value operand, int64_t dim);
  /// Rows `ids`, of i32, of a table.
  Value take(Value table, Value ids);
  /// A seed and an offset.
  Value seed(int64_t seed, int64_t offset);
  Value dropout(Value operand, Value seed, double rate, int64_t stream);
  /// `distribution` is uniform or normal; `count` numbers.
  Value random(Value seed, const std::string &distribution, int64_t stream, int64_t count);
  /// Tokens along `dim` moved by `by` within their sequences, which begin at `starts`, or all of them where that is
  /// absent.
  Value shift(Value operand, Value starts, int64_t dim, int64_t by);
  /// Zeros along `dim`, in front of and behind a tensor of known sizes.
  Value pad(Value operand, int64_t dim, int64_t low, int64_t high);
  /// The start of the sequence of each of `count` tokens, a number, from the ends of the sequences.
  Value sequenceStarts(Value cuSeqlens, int64_t count);
  Value rmsNorm(Value operand, Value weight, double eps);
  /// Operand dimension i becomes result dimension dims[i]; the same value when nothing changes.
  Value broadcast(Value operand, const Dims &shape, const Dims &dims);

  /// Any change of shape that keeps the leading dimension or, for static tensors, the element count.
  Value reshape(Value operand, const Dims &shape);
  /// [M, n, ...] as [M*n, ...] for a matmul, and back.
  Value mergeTokens(Value operand);
  Value splitTokens(Value operand, int64_t n);
  /// `sizes` may name kTokens; `drop` are unit dimensions that the result leaves out.
  Value slice(Value operand, const Dims &offsets, const Dims &sizes, const Dims &drop = {});
  /// Elements [begin, begin + size) along one dimension.
  Value sliceDim(Value operand, int64_t dim, int64_t begin, int64_t size);
  Value concat(const Values &operands, int64_t dim);

  /// An op whose tensors have names: mhc.`name`(operand = ...) <attributes> -> (result : ...). Absent operands are left
  /// out.
  Values named(const std::string &name, const std::vector<std::pair<std::string, Value>> &operands,
               const std::string &attributes, const std::vector<std::pair<std::string, Type>> &results);

  /// scf.for over `count` iterations that carries `init`.
  Values loop(int64_t count, Values init, const std::function<Values(Values)> &body);

private:
  Value define(Type type, const std::string &text);
  Value binary(const std::string &op, Value lhs, Value rhs, bool commutative = false);
  std::string uniqueName(const std::string &wanted);
  std::string indexConstant(int64_t value);
  std::string scalar(double value, Element element);
  std::string tokens();
  Dims resolve(Dims dims) const;
  Value reassociate(const char *op, Value operand, Type type, const std::vector<Dims> &groups);

  int64_t tokenCount;
  std::vector<std::string> arguments, results, functionAttributes;
  Values returned;
  std::string prologue, body;
  std::string hint, tokenSource;
  std::map<std::string, std::string> constants;
  std::set<std::string> taken;
  std::map<std::string, int> suffixes; ///< the last one that a wanted name got: the search goes on behind it
  int64_t counter = 0;
  int indent = 1;
};

/// Shortest text that MLIR reads back as the same number.
std::string formatFloat(double value);

} // namespace mhc::spelling

#endif // MHC_SPELLING_IRWRITER_H
