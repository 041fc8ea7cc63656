//===- Rounding.cpp - Coefficients that are rounded before they are used ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rounding.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mhc;

/// The format that a cast of f32 rounds to.
static std::optional<Format> formatOf(arith::TruncFOp round) {
  return getElementTypeOrSelf(round.getIn()).isF32() ? narrowFormat(getElementTypeOrSelf(round)) : std::nullopt;
}

static void addReaders(Value value, std::optional<Format> format, SmallVectorImpl<CoefficientReader> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<Format> next = format;
    if (auto round = dyn_cast<arith::TruncFOp>(user); round && (!format || format == formatOf(round)))
      next = formatOf(round);
    bool shows = isReshape(user) || isa<BroadcastOp>(user) || (isa<arith::ExtFOp, arith::TruncFOp>(user) && next);
    if (shows && use.getOperandNumber() == 0)
      addReaders(user->getResult(0), next, readers);
    else if (!isa<tensor::DimOp>(user))
      readers.push_back({&use, format});
  }
}

SmallVector<CoefficientReader> mhc::readersOf(Value coefficient) {
  SmallVector<CoefficientReader> readers;
  addReaders(coefficient, std::nullopt, readers);
  return readers;
}

bool mhc::isRoundedAlike(ArrayRef<CoefficientReader> readers) {
  return llvm::all_equal(llvm::map_range(readers, [](auto &reader) { return reader.format; }));
}

std::optional<Format> mhc::commonFormat(ArrayRef<CoefficientReader> readers) {
  return readers.empty() || !isRoundedAlike(readers) ? std::nullopt : readers.front().format;
}

void mhc::replaceCoefficient(Value coefficient, Value fused, std::optional<Format> format) {
  for (const CoefficientReader &reader : readersOf(coefficient))
    if (reader.use->get().getType() == fused.getType() && (!reader.format || reader.format == format))
      reader.use->set(fused);
  coefficient.replaceAllUsesWith(fused);
}
