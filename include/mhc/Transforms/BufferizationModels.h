//===- BufferizationModels.h - Bufferization of kernel ops ---- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_BUFFERIZATIONMODELS_H
#define MHC_TRANSFORMS_BUFFERIZATIONMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mhc {

/// Attaches BufferizableOpInterface to every kernel op. The dialect itself does not depend on bufferization.
void registerBufferizationModels(mlir::DialectRegistry &registry);

} // namespace mhc

#endif // MHC_TRANSFORMS_BUFFERIZATIONMODELS_H
