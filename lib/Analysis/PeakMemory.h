//===- PeakMemory.h - Bytes of temporaries that live together ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_ANALYSIS_PEAKMEMORY_H
#define MHC_LIB_ANALYSIS_PEAKMEMORY_H

#include "TensorSizes.h"

namespace mhc {

/// The largest sum of temporaries that live at the same time, each from the op that makes it to its last reader. Views
/// are the tensor they look at. Sizes that are not known count as nothing.
Amount peakTemporaryBytes(mlir::func::FuncOp func, const TensorSizes &sizes);

} // namespace mhc

#endif // MHC_LIB_ANALYSIS_PEAKMEMORY_H
