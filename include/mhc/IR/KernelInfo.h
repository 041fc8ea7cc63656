//===- KernelInfo.h - The record of a kernel op ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mhc-tblgen fills one KernelInfo per kernel op from its TableGen record. The shape verifier, the textual form, the
// cost model, bufferization and the runtime call read it; none of them knows an op by name.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_KERNELINFO_H
#define MHC_IR_KERNELINFO_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir {
class OpAsmParser;
class OpAsmPrinter;
class OpBuilder;
class RewriterBase;
} // namespace mlir

namespace mhc {

/// Equal labels mean equal sizes; -1 is a dimension related to no other. One inner list per operand or result, empty
/// for one that is not a ranked tensor.
struct DimLabels {
  llvm::SmallVector<llvm::SmallVector<int>> operands;
  llvm::SmallVector<llvm::SmallVector<int>> results;
};

/// Sizes of the dims, values of the attributes and numbers of tensors, in the order of the record. Enums count as their
/// number.
struct KernelSizes {
  llvm::SmallVector<double> dims;
  llvm::SmallVector<double> attrs;
  llvm::SmallVector<double> counts;
};

struct KernelTensor {
  llvm::StringRef name;
  bool isResult;
  bool isOptional;
  /// Any number of tensors of one type, none among them.
  bool isList;
  /// Indices into KernelInfo::dims, in memory order.
  llvm::ArrayRef<unsigned> dims;
  /// The same when the attribute `flipAttr` is present and not its first value; empty when nothing flips.
  llvm::ArrayRef<unsigned> flippedDims;
  llvm::StringRef flipAttr;
  /// The same without n when the attribute `equalAttr` is set: one row stands for every stream.
  llvm::ArrayRef<unsigned> equalDims;
  llvm::StringRef equalAttr;
  /// Tensor whose element type this one must have, or -1; `orF32` allows f32 as well.
  int elementOf;
  bool orF32;
  /// Result that starts from this operand, or -1.
  int startOf;
  /// Result that may take over this operand's buffer, or -1.
  int takenOverBy;
  /// Width of integers, or 0.
  int integerBits;
  /// Dim that integers count along, or -1.
  int indexOf;
  /// Dim that integers cut into runs, or -1.
  int cutsOf;
  /// How many elements of an operand are read; null where all are.
  double (*elementsRead)(const KernelSizes &);

  /// The dims in memory order. `isSet` says whether an attribute is present and not its first value.
  llvm::ArrayRef<unsigned> dimsWhere(llvm::function_ref<bool(llvm::StringRef attr)> isSet) const;
};

struct KernelAttr {
  enum Kind { Enum, Int, Float, Bool, Unit };
  llvm::StringRef name;
  Kind kind;
  /// C type in kernels.h.
  llvm::StringRef cType;
  /// For enums: value of a case, name of a value, attribute of a value.
  std::optional<int64_t> (*symbolize)(llvm::StringRef);
  llvm::StringRef (*stringify)(int64_t);
  mlir::Attribute (*make)(mlir::MLIRContext *, int64_t);
  int64_t (*read)(mlir::Attribute);
  /// Default value for an op that lacks the attribute; none if the attribute is required.
  std::optional<int64_t> whenAbsent;
};

struct KernelDimRule {
  unsigned dim;
  llvm::ArrayRef<unsigned> uses; ///< dims that `value` reads
  llvm::StringRef text;
  double (*value)(const KernelSizes &);
};

struct KernelInfo {
  llvm::StringRef opName;               ///< "mhc.sinkhorn"
  llvm::StringRef symbol;               ///< "mhcrt_sinkhorn"
  llvm::ArrayRef<KernelTensor> tensors; ///< operands, then results
  llvm::ArrayRef<llvm::StringRef> dims; ///< in the order of the runtime call
  llvm::ArrayRef<KernelAttr> attrs;
  llvm::ArrayRef<KernelDimRule> dimRules;
  double (*flops)(const KernelSizes &);
  bool roundsInside; ///< results of 16 bits are made of values that were rounded to 16 bits on the way
};

/// The record of the kernel op called `opName`, or null.
const KernelInfo *lookupKernelInfo(llvm::StringRef opName);
/// All records, by name.
llvm::ArrayRef<const KernelInfo *> allKernelInfos();

/// n! for the dim rules.
double factorial(double n);

/// The operand of that name; null where the op has none, or any number of it.
mlir::Value kernelOperand(mlir::Operation *op, llvm::StringRef name);
llvm::ArrayRef<unsigned> kernelTensorDims(mlir::Operation *op, const KernelInfo &info, unsigned index);
/// The same from a dictionary of the op's attributes.
llvm::ArrayRef<unsigned> kernelTensorDims(mlir::DictionaryAttr attrs, const KernelTensor &tensor);
DimLabels kernelDimLabels(mlir::Operation *op);
/// Value of an attribute as a number; enums count as their case. Null where it may be absent and is.
double kernelAttrValue(const KernelAttr &attr, mlir::Attribute value);

mlir::ParseResult parseKernelOp(mlir::OpAsmParser &parser, mlir::OperationState &result, const KernelInfo &info);
void printKernelOp(mlir::OpAsmPrinter &printer, mlir::Operation *op, const KernelInfo &info);
/// Checks dims, dim rules and element types against the record.
llvm::LogicalResult verifyKernelDims(mlir::Operation *op);
void nameKernelResults(mlir::Operation *op, llvm::function_ref<void(mlir::Value, llvm::StringRef)> setName);

/// Replaces a kernel op by itself with other results: a type for each result of the record, null for one that is
/// absent.
mlir::Operation *replaceWithResults(mlir::RewriterBase &rewriter, mlir::Operation *op, const KernelInfo &info,
                                    llvm::ArrayRef<mlir::Type> types);

/// Sizes of the results of an op with DimsOpInterface, taken from its operands. Fails when one cannot be.
llvm::LogicalResult reifyShapes(mlir::OpBuilder &builder, mlir::Operation *op,
                                llvm::SmallVectorImpl<llvm::SmallVector<mlir::OpFoldResult>> &shapes);

} // namespace mhc

#endif // MHC_IR_KERNELINFO_H
