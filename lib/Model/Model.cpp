//===- Model.cpp - A model from its configuration ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Model/Model.h"
#include "Functions.h"

using namespace mhc::model;

std::string mhc::model::writeModel(const Config &config) {
  std::string text =
      writeLoss(config) + "\n" + writeInit(config) + "\n" + writeUpdate(config) + "\n" + writeGradientNorm(config);
  if (config.dropout == 0)
    return text;
  Config whole = config;
  whole.dropout = 0;
  return text + "\n" + writeLoss(whole, "evaluate");
}
