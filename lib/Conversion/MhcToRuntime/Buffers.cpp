//===- Buffers.cpp - Buffers as a pointer and sizes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

Value AddressBuilder::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder atStart = OpBuilder::atBlockBegin(constantBlock);
    known = arith::ConstantOp::create(atStart, builder.getUnknownLoc(), value);
  }
  return known;
}

Value AddressBuilder::index(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return value;
  return constant(cast<TypedAttr>(cast<Attribute>(size)));
}

/// Numbers are folded as the code computes them at run time, modulo 2^64: an index beyond its dimension may overflow,
/// and is an error when the code runs.
static uint64_t modular(int64_t number) { return static_cast<uint64_t>(number); }

OpFoldResult AddressBuilder::add(Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return number(static_cast<int64_t>(modular(*x) + modular(*y)));
  if (x == 0)
    return b;
  if (y == 0)
    return a;
  return arith::AddIOp::create(builder, loc, index(a), index(b)).getResult();
}

OpFoldResult AddressBuilder::mul(Location loc, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return number(static_cast<int64_t>(modular(*x) * modular(*y)));
  if (x == 1 || y == 0)
    return b;
  if (y == 1 || x == 0)
    return a;
  return arith::MulIOp::create(builder, loc, index(a), index(b)).getResult();
}

Type mhc::memoryType(Type element) { return element.isIndex() ? IntegerType::get(element.getContext(), 64) : element; }

Value AddressBuilder::advance(Location loc, Value pointer, Type element, OpFoldResult offset) {
  element = memoryType(element);
  std::optional<int64_t> known = getConstantIntValue(offset);
  if (known == 0)
    return pointer;
  if (known && llvm::isInt<LLVM::kGEPConstantBitWidth>(*known)) // more would be cut off
    return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, LLVM::GEPArg(*known));
  Value elements = known ? LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), *known).getResult()
                         : arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index(offset)).getResult();
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer, LLVM::GEPArg(elements));
}

SmallVector<OpFoldResult> AddressBuilder::rowMajor(Location loc, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size());
  OpFoldResult stride = number(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0)
      stride = mul(loc, stride, sizes[i]);
  }
  return strides;
}

Value AddressBuilder::elementPointer(Location loc, const Buffer &buffer, ValueRange indices) {
  OpFoldResult offset = number(0);
  for (auto [index, stride] : llvm::zip(indices, buffer.strides))
    offset = add(loc, offset, mul(loc, index, stride));
  return advance(loc, buffer.pointer, buffer.element, offset);
}

static Buffer subview(AddressBuilder &address, memref::SubViewOp op, const Buffer &source) {
  Buffer result{source.base, source.pointer, source.element, {}, {}};
  llvm::SmallBitVector dropped = op.getDroppedDims();
  OpFoldResult offset = address.number(0);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  for (auto [i, start] : llvm::enumerate(op.getMixedOffsets())) {
    offset = address.add(op.getLoc(), offset, address.mul(op.getLoc(), start, source.strides[i]));
    if (dropped[i])
      continue;
    result.sizes.push_back(sizes[i]);
    result.strides.push_back(address.mul(op.getLoc(), strides[i], source.strides[i]));
  }
  result.pointer = address.advance(op.getLoc(), source.pointer, source.element, offset);
  return result;
}

static Buffer expand(AddressBuilder &address, memref::ExpandShapeOp op, const Buffer &source) {
  Buffer result{source.base, source.pointer, source.element, op.getMixedOutputShape(), {}};
  result.strides.resize(result.sizes.size());
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = source.strides[i];
    for (int64_t dim : llvm::reverse(group)) {
      result.strides[dim] = stride;
      if (dim != group.front())
        stride = address.mul(op.getLoc(), stride, result.sizes[dim]);
    }
  }
  if (source.sizes.empty()) // all dimensions have size one
    result.strides.assign(result.sizes.size(), address.number(1));
  return result;
}

static Buffer collapse(AddressBuilder &address, memref::CollapseShapeOp op, const Buffer &source) {
  Buffer result{source.base, source.pointer, source.element, {}, {}};
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    OpFoldResult size = address.number(1), stride = address.number(1);
    bool found = false; // the innermost dimension that is longer than one
    for (int64_t dim : llvm::reverse(group)) {
      bool isOne = getConstantIntValue(source.sizes[dim]) == 1;
      if (!found && !isOne)
        stride = source.strides[dim];
      found |= !isOne;
      size = address.mul(op.getLoc(), size, source.sizes[dim]);
    }
    result.sizes.push_back(size);
    result.strides.push_back(stride);
  }
  return result;
}

std::optional<Buffer> AddressBuilder::view(Operation *op, const Buffer &source) {
  Location loc = op->getLoc();
  return TypeSwitch<Operation *, std::optional<Buffer>>(op)
      .Case([&](memref::SubViewOp op) { return subview(*this, op, source); })
      .Case([&](memref::ExpandShapeOp op) { return expand(*this, op, source); })
      .Case([&](memref::CollapseShapeOp op) { return collapse(*this, op, source); })
      .Case([&](memref::CastOp) { return source; })
      .Case([&](memref::ReinterpretCastOp op) {
        OpFoldResult offset = op.getMixedOffsets().front();
        Value pointer = advance(loc, source.base, source.element, offset);
        return Buffer{source.base, pointer, source.element, op.getMixedSizes(), op.getMixedStrides()};
      })
      .Case([&](memref::ViewOp op) {
        Value pointer = advance(loc, source.pointer, builder.getI8Type(), op.getByteShift());
        Buffer result{pointer, pointer, op.getType().getElementType(), {}, {}};
        auto dynamic = op.getSizes().begin();
        for (int64_t size : op.getType().getShape())
          result.sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult(*dynamic++) : number(size));
        result.strides = rowMajor(loc, result.sizes);
        return result;
      })
      .Default([](Operation *) { return std::nullopt; });
}
