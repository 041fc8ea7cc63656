//===- EqualStreams.h - Streams that are one row ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_EQUALSTREAMS_H
#define MHC_IR_EQUALSTREAMS_H

#include "mlir/IR/Builders.h"

namespace mhc {

/// The op again, at the builder's insertion point, with its equal streams (KernelTensor::equalAttr) written out by
/// mhc.expand, or with streams out that mhc.contract adds up; null where it has neither. The last op that it makes has
/// the results.
mlir::Operation *withWholeStreams(mlir::OpBuilder &builder, mlir::Operation *op);

/// Replaces the ops under `root` that have equal streams by those, for passes that look for streams.
void writeOutEqualStreams(mlir::Operation *root);

} // namespace mhc

#endif // MHC_IR_EQUALSTREAMS_H
