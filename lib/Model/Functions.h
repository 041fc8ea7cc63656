//===- Functions.h - The functions of a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_MODEL_FUNCTIONS_H
#define MHC_LIB_MODEL_FUNCTIONS_H

#include "mhc/Model/Config.h"

namespace mhc::model {

// Each as the text of one function.
std::string writeLoss(const Config &config, const std::string &name = "loss");
std::string writeInit(const Config &config);
std::string writeUpdate(const Config &config);
std::string writeGradientSquares(const Config &config);

} // namespace mhc::model

#endif // MHC_LIB_MODEL_FUNCTIONS_H
