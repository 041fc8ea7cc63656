//===- DialectVersion.cpp - The version of the dialect in bytecode ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upgrades of attributes that have another name, are new or mean something else, and of operands. MLIR reads the
// attributes of an op by their place in its record, so a file that shall outlive a change of a record is written with
// them by name: mhc-opt --emit-bytecode --emit-bytecode-version=4.
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/DialectVersion.h"
#include "mhc/IR/MhcOps.h"

using namespace mlir;
using namespace mhc;

/// Upgrades version 0, where mhc.pre_bwd knew streams in the orientation oi only.
static void addOrientation(Operation *top) {
  top->walk([](PreBwdOp op) {
    if (!op.getOrientAttr())
      op.setOrient(Orient::oi);
  });
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Upgrades version 1, where no op had the operand `seed`: MLIR skips operand counts that are fewer than the op has.
static void countOperands(Operation *top) {
  top->walk([](PostOp op) {
    int32_t bias = op->getNumOperands() - 4;
    op.getProperties().operandSegmentSizes = {1, bias, 1, 1, 1, 0};
  });
  top->walk([](PostBwdOp op) {
    int32_t bias = rankOf(op->getOperand(2)) == 1, starts = op->getNumOperands() - 5 - bias;
    int32_t ofBias = starts > 0 && rankOf(op->getOperands().back()) == 1;
    op.getProperties().operandSegmentSizes = {1, 1, bias, 1, 1, 1, 0, starts - ofBias, ofBias};
  });
  top->walk([](RebuildOp op) {
    auto [inputs, layers] = op.getProperties().resultSegmentSizes;
    int32_t biases = op->getNumOperands() - 1 - inputs - 3 * layers;
    op.getProperties().operandSegmentSizes = {1, inputs, layers, biases, layers, layers, 0};
  });
}

/// From 2, where nothing had a format: absent attributes mean what was before. A program of that version would pass
/// over those that are there.
static void addFormats(Operation *) {}

/// Upgrades version 3, where mhc.pre had no operand `h_in`.
static void countPreOperands(Operation *top) {
  top->walk([](PreOp op) {
    int32_t weights = op->getNumOperands() - 4;
    op.getProperties().operandSegmentSizes = {1, 1, weights, 1, 1, 0};
  });
}

/// From 4, where residual maps had one solver. A program of that version would pass over another.
static void addSolvers(Operation *) {}

/// From 5, where no streams were said to be equal. A program of that version would pass over it.
static void addEqualStreams(Operation *) {}

/// Upgrades version 6, where mhc.post_pre had no norm of u.
static void countPostPreOperands(Operation *top) {
  top->walk([](PostPreOp op) {
    int32_t bias = rankOf(op->getOperand(1)) == 1, seed = rankOf(op->getOperand(bias + 4)) == 1;
    int32_t given = rankOf(op->getOperands().back()) == 2, weights = op->getNumOperands() - 7 - bias - seed - given;
    op.getProperties().operandSegmentSizes = {1, bias, 1, 1, 1, seed, 1, weights, 1, 1, given, 0};
  });
}

/// The step at index v makes version v + 1 of a module of version v. The module is verified behind the last.
static constexpr void (*kUpgrades[])(Operation *top) = {
    addOrientation, countOperands, addFormats, countPreOperands, addSolvers, addEqualStreams, countPostPreOperands};
static_assert(std::size(kUpgrades) == MhcDialectVersion::kCurrent, "each version has a step that leads to it");

void MhcBytecode::writeVersion(DialectBytecodeWriter &writer) const {
  // A writer may be configured to write for an older reader.
  FailureOr<const DialectVersion *> asked = writer.getDialectVersion<MhcDialect>();
  writer.writeVarInt(succeeded(asked) ? static_cast<const MhcDialectVersion *>(*asked)->number
                                      : MhcDialectVersion::kCurrent);
}

std::unique_ptr<DialectVersion> MhcBytecode::readVersion(DialectBytecodeReader &reader) const {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return nullptr;
  if (number > MhcDialectVersion::kCurrent) {
    reader.emitError() << "the file has version " << number << " of the mhc dialect; this program reads versions up to "
                       << MhcDialectVersion::kCurrent;
    return nullptr;
  }
  return std::make_unique<MhcDialectVersion>(number);
}

LogicalResult MhcBytecode::upgradeFromVersion(Operation *top, const DialectVersion &version) const {
  for (auto *upgrade : ArrayRef(kUpgrades).drop_front(static_cast<const MhcDialectVersion &>(version).number))
    upgrade(top);
  return success();
}
