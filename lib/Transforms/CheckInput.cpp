//===- CheckInput.cpp - Checks that MLIR's verifiers lack ----- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/CheckInput.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/TensorBytes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mhc;

static LogicalResult checkType(Operation *op, Type type, DenseSet<Type> &good) {
  return good.insert(type).second ? verifyBytes(op, type) : success();
}

/// Upstream's verifiers count the groups and look at no dimension.
static LogicalResult checkGroups(Operation *op, ArrayRef<ReassociationIndices> groups, int64_t rank) {
  int64_t next = 0;
  for (const ReassociationIndices &group : groups)
    for (int64_t dim : group)
      if (dim != next++)
        return op->emitError() << "'" << op->getName() << "' has dimension " << dim << " in a group; needed "
                               << next - 1;
  if (next != rank && !groups.empty())
    return op->emitError() << "'" << op->getName() << "' has " << next << " dimensions in groups; needed " << rank;
  return success();
}

/// Upstream's verifier does not compare the two; the buffers that it copies need it.
static LogicalResult checkPad(tensor::PadOp op) {
  Type type = op.getSourceType().getElementType(), result = op.getResultType().getElementType();
  if (type != result)
    return op.emitError() << "'tensor.pad' has a result with elements of type " << result << "; needed " << type;
  return success();
}

/// One number has sizes of 1, which the verifiers of memref's reshapes want, but not tensor's.
static LogicalResult checkOneNumber(Operation *op, RankedTensorType from, RankedTensorType to) {
  if (from.getRank() != 0 && to.getRank() != 0)
    return success();
  for (auto [dim, size] : llvm::enumerate(from.getRank() == 0 ? to.getShape() : from.getShape()))
    if (size != 1)
      return op->emitError() << "'" << op->getName() << "' of " << from << " makes " << to
                             << "; needed 1 as the size of dimension " << dim;
  return success();
}

static LogicalResult checkCollapse(tensor::CollapseShapeOp op) {
  if (failed(checkGroups(op, op.getReassociationIndices(), op.getSrcType().getRank())))
    return failure();
  return checkOneNumber(op, op.getSrcType(), op.getResultType());
}

/// Its own verifier does not compare the two; that of memref.expand_shape, which it becomes, does.
static LogicalResult checkExpansion(tensor::ExpandShapeOp op) {
  if (failed(checkGroups(op, op.getReassociationIndices(), op.getResultType().getRank())) ||
      failed(checkOneNumber(op, op.getSrcType(), op.getResultType())))
    return failure();
  for (auto [dim, stated, size] : llvm::enumerate(op.getStaticOutputShape(), op.getResultType().getShape()))
    if (stated != size && !ShapedType::isDynamic(size)) // a type may leave open what folding has found
      return op.emitError() << "'tensor.expand_shape' states another size for dimension " << dim << " than its type "
                            << op.getResultType();
  for (OpFoldResult size : op.getMixedOutputShape())
    if (std::optional<int64_t> number = getConstantIntValue(size); number && *number < 0)
      return op.emitError() << "'tensor.expand_shape' has " << *number << " as a size";
  return verifyBytes(op, op.getResultType().clone(op.getStaticOutputShape()));
}

/// From the type, or where folding will find it.
static std::optional<int64_t> knownSize(Value tensor, int64_t dim) {
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = insert.getDest();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  return empty ? getConstantIntValue(empty.getMixedSizes()[dim]) : std::nullopt;
}

/// Upstream's verifier skips all sizes if one is dynamic.
static LogicalResult checkLoops(linalg::LinalgOp op) {
  SmallVector<int64_t> known(op.getNumLoops(), ShapedType::kDynamic);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      std::optional<int64_t> size = loop ? knownSize(operand.get(), dim) : std::nullopt;
      if (!size)
        continue;
      int64_t &other = known[loop.getPosition()];
      if (other != *size && !ShapedType::isDynamic(other))
        return op.emitOpError() << "has both " << other << " and " << *size << " as the size of loop "
                                << loop.getPosition();
      other = *size;
    }
  return success();
}

/// An index known to be out of bounds is an error: it would be read, or folded into ops that do not verify.
static LogicalResult checkIndices(tensor::ExtractOp op) {
  ArrayRef<int64_t> shape = op.getTensor().getType().getShape();
  for (auto [dim, index, size] : llvm::enumerate(op.getIndices(), shape)) {
    std::optional<int64_t> number = getConstantIntValue(index);
    if (number && (*number < 0 || (!ShapedType::isDynamic(size) && *number >= size)))
      return op.emitError() << "'tensor.extract' reads element " << *number << " of dimension " << dim << " of "
                            << op.getTensor().getType();
  }
  return success();
}

/// A number that folding will find.
static std::optional<int64_t> knownNumber(OpFoldResult number) {
  auto value = dyn_cast<Value>(number);
  auto size = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> dim = size ? size.getConstantIndex() : std::nullopt;
  auto type = size ? dyn_cast<RankedTensorType>(size.getSource().getType()) : RankedTensorType();
  if (dim && type && *dim >= 0 && *dim < type.getRank())
    return knownSize(size.getSource(), *dim);
  return getConstantIntValue(number);
}

/// Their verifiers see sizes of types alone. `sizeOf` gives the size of a dimension where one is known.
static LogicalResult checkSlice(OffsetSizeAndStrideOpInterface op,
                                llvm::function_ref<std::optional<int64_t>(int64_t)> sizeOf) {
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    std::optional<int64_t> first = knownNumber(offset), count = knownNumber(size), step = knownNumber(stride);
    std::optional<int64_t> whole = first && count && step && *count > 0 ? sizeOf(dim) : std::nullopt;
    if (!whole)
      continue;
    int64_t last;
    if (llvm::MulOverflow(*count - 1, *step, last) || llvm::AddOverflow(last, *first, last) || last >= *whole)
      return op->emitError() << "'" << op->getName() << "' reaches element " << last << " of dimension " << dim
                             << ", which has " << *whole;
  }
  return success();
}

static LogicalResult checkSlice(OffsetSizeAndStrideOpInterface op, Value tensor) {
  return checkSlice(op, [&](int64_t dim) { return knownSize(tensor, dim); });
}

/// The same where a size follows from other ops. They have been checked.
static LogicalResult checkSlices(func::FuncOp func) {
  std::optional<DimAnalysis> dims;
  WalkResult result = func.walk([&](tensor::ExtractSliceOp op) -> WalkResult {
    return checkSlice(op, [&](int64_t dim) -> std::optional<int64_t> {
      if (!op.getSourceType().isDynamicDim(dim))
        return std::nullopt;
      if (!dims)
        dims.emplace(func);
      return dims->constantSize(op.getSource(), dim);
    });
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkShapes(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tensor::ExpandShapeOp>([](auto op) { return checkExpansion(op); })
      .Case<tensor::CollapseShapeOp>([](auto op) { return checkCollapse(op); })
      .Case<tensor::PadOp>([](auto op) { return checkPad(op); })
      .Case<tensor::ExtractOp>([](auto op) { return checkIndices(op); })
      .Case<tensor::InsertSliceOp>([](auto op) { return checkSlice(op, op.getDest()); })
      .Case<tensor::ExtractSliceOp>([](auto op) { return checkSlice(op, op.getSource()); })
      .Case<linalg::LinalgOp>([](auto op) { return checkLoops(op); })
      .Case<gpu::GPUModuleOp>([](auto op) -> LogicalResult {
        return op.emitError() << "found a 'gpu.module'; needed functions alone, from which kernels are made";
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult mhc::checkInput(Operation *root) {
  DenseSet<Type> good;
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (failed(checkType(op, type, good)))
        return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (failed(checkType(op, type, good)))
            return failure();
    return checkShapes(op);
  });
  if (result.wasInterrupted())
    return failure();
  result = root->walk([](func::FuncOp func) -> WalkResult { return checkSlices(func); });
  return failure(result.wasInterrupted());
}
