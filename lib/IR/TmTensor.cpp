//===- TmTensor.cpp - Prefix sums of torch-mlir as loops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/TmTensor.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mhc::tm_tensor;

#include "mhc/IR/TmTensorDialect.cpp.inc"

#define GET_OP_CLASSES
#include "mhc/IR/TmTensor.cpp.inc"

namespace {
/// Every op is pure, so a call may be replaced by its body anywhere.
struct TmTensorInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void TmTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "mhc/IR/TmTensor.cpp.inc"
      >();
  addInterfaces<TmTensorInliner>();
}

Operation *TmTensorDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// The type of a slice across one dimension.
static RankedTensorType acrossDim(RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return type.clone(shape);
}

static bool agree(RankedTensorType a, RankedTensorType b) {
  return a.getElementType() == b.getElementType() && succeeded(verifyCompatibleShape(a, b));
}

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getX().getType());
  const int64_t dim = getDimension();
  if (dim < 0 || dim >= type.getRank())
    return emitOpError() << "has dimension " << dim << " of " << type << "; needed one from 0 to "
                         << type.getRank() - 1;
  auto check = [&](StringRef name, Value value, RankedTensorType needed) -> LogicalResult {
    if (agree(cast<RankedTensorType>(value.getType()), needed))
      return success();
    return emitOpError() << "has " << name << " of type " << value.getType() << "; needed " << needed;
  };
  if (failed(check("'out'", getOut(), type)) || failed(check("'start'", getStart(), acrossDim(type, dim))))
    return failure();
  if (getOut().getType() != getScanned().getType() || getStart().getType() != getLast().getType())
    return emitOpError() << "has results of types " << getResultTypes() << "; needed " << getOut().getType() << " and "
                         << getStart().getType();
  Block &body = getBody().front();
  auto isElement = [&](Type found) { return found == type.getElementType(); };
  if (body.getNumArguments() != 2 || !llvm::all_of(body.getArgumentTypes(), isElement))
    return emitOpError() << "has a body of types (" << body.getArgumentTypes() << "); needed two arguments of type "
                         << type.getElementType();
  Operation &end = body.back();
  if (!isa<YieldOp>(end) || !isElement(end.getOperand(0).getType()))
    return emitOpError() << "has a body that yields " << end.getOperandTypes() << "; needed 'tm_tensor.yield' of "
                         << type.getElementType();
  for (Operation &op : body.without_terminator())
    if (!isPure(&op))
      return emitOpError() << "has '" << op.getName() << "' in its body; needed ops that only compute";
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The number that a body yields; null where it does not fold.
static Attribute yieldOf(Block &body, ArrayRef<Attribute> arguments) {
  mhc::KnownNumbers known;
  for (auto [argument, number] : llvm::zip_equal(body.getArguments(), arguments))
    known[argument] = number;
  for (Operation &op : body.without_terminator())
    if (Attribute number = mhc::foldNumber(op, known))
      known[op.getResult(0)] = number;
    else
      return {};
  return mhc::numberOf(body.getTerminator()->getOperand(0), known);
}

LogicalResult ScanOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  DenseElementsAttr x = adaptor.getX() ? denseElements(adaptor.getX()) : DenseElementsAttr();
  DenseElementsAttr start = adaptor.getStart() ? denseElements(adaptor.getStart()) : DenseElementsAttr();
  auto scanned = cast<RankedTensorType>(getScanned().getType()), last = cast<RankedTensorType>(getLast().getType());
  if (!x || (!getInclusive() && !start) || !scanned.hasStaticShape() || !last.hasStaticShape() || x.empty() ||
      x.getNumElements() > kMostFolded)
    return failure();
  ArrayRef<int64_t> shape = scanned.getShape();
  const int64_t size = shape[getDimension()], stride = ShapedType::getNumElements(shape.drop_front(getDimension() + 1));
  auto from = llvm::to_vector(x.getValues<Attribute>());
  SmallVector<Attribute> all(from.size()), ends(from.size() / size);
  for (size_t place = 0; place < all.size(); ++place) {
    const int64_t turn = place / stride % size, across = place / (stride * size) * stride + place % stride;
    if (turn > 0)
      all[place] = yieldOf(getBody().front(), {all[place - stride], from[getInclusive() ? place : place - stride]});
    else
      all[place] = getInclusive() ? from[place] : start.getValues<Attribute>()[across];
    if (!all[place])
      return failure();
    ends[across] = all[place];
  }
  results.assign({DenseElementsAttr::get(scanned, all), DenseElementsAttr::get(last, ends)});
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

namespace {
/// Writes a scan as a loop that carries what it has written, and the last of that.
class ScanLoop {
public:
  ScanLoop(ScanOp op, OpBuilder &rewriter)
      : op(op), builder(op.getLoc(), rewriter), sizes(tensor::getMixedSizes(builder, op.getLoc(), op.getX())),
        across(acrossDim(cast<RankedTensorType>(op.getX().getType()), op.getDimension())) {}

  SmallVector<Value> write();

private:
  SmallVector<OpFoldResult> offsets(Value turn);
  SmallVector<OpFoldResult> slice();
  Value read(Value turn);
  Value combine(Value before, Value x);
  Value insert(Value x, Value all, Value turn);

  ScanOp op;
  ImplicitLocOpBuilder builder;
  SmallVector<OpFoldResult> sizes;
  RankedTensorType across;
};
} // namespace

SmallVector<OpFoldResult> ScanLoop::offsets(Value turn) {
  SmallVector<OpFoldResult> list(sizes.size(), builder.getIndexAttr(0));
  list[op.getDimension()] = turn;
  return list;
}

SmallVector<OpFoldResult> ScanLoop::slice() {
  SmallVector<OpFoldResult> list = sizes;
  list[op.getDimension()] = builder.getIndexAttr(1);
  return list;
}

Value ScanLoop::read(Value turn) {
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, across, op.getX(), offsets(turn), slice(), ones);
}

Value ScanLoop::insert(Value x, Value all, Value turn) {
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, x, all, offsets(turn), slice(), ones);
}

/// The body for all elements of two slices.
Value ScanLoop::combine(Value before, Value x) {
  SmallVector<OpFoldResult> shape = sizes;
  shape.erase(shape.begin() + op.getDimension());
  Value empty = tensor::EmptyOp::create(builder, shape, across.getElementType());
  SmallVector<AffineMap> maps(3, builder.getMultiDimIdentityMap(across.getRank()));
  SmallVector<utils::IteratorType> loops(across.getRank(), utils::IteratorType::parallel);
  auto write = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), elements.take_front(2));
    for (Operation &computes : body.without_terminator())
      inner.clone(computes, mapping);
    linalg::YieldOp::create(inner, loc, mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
  };
  return linalg::GenericOp::create(builder, across, ValueRange{before, x}, empty, maps, loops, write).getResult(0);
}

SmallVector<Value> ScanLoop::write() {
  Value zero = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  Value size = getValueOrCreateConstantIndexOp(builder, op.getLoc(), sizes[op.getDimension()]);
  Value start = op.getInclusive() ? read(zero) : builder.createOrFold<tensor::CastOp>(across, op.getStart());
  auto loop = scf::ForOp::create(builder, one, size, one, ValueRange{insert(start, op.getOut(), zero), start},
                                 [&](OpBuilder &inner, Location loc, Value turn, ValueRange carried) {
                                   OpBuilder::InsertionGuard guard(builder);
                                   builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                   Value place =
                                       op.getInclusive() ? turn : Value(arith::SubIOp::create(builder, turn, one));
                                   Value next = combine(carried[1], read(place));
                                   scf::YieldOp::create(builder, ValueRange{insert(next, carried[0], turn), next});
                                 });
  return {loop.getResult(0), builder.createOrFold<tensor::CastOp>(op.getLast().getType(), loop.getResult(1))};
}

LogicalResult ScanOp::canonicalize(ScanOp op, PatternRewriter &rewriter) {
  if (cast<RankedTensorType>(op.getX().getType()).getDimSize(op.getDimension()) == 0)
    rewriter.replaceOp(op, {op.getOut(), op.getStart()});
  else
    rewriter.replaceOp(op, ScanLoop(op, rewriter).write());
  return success();
}
