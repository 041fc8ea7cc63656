//===- Model.cpp - A model from its configuration ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Model/Model.h"
#include "Functions.h"
#include "mhc/Spelling/IrWriter.h"

using namespace mhc::model;

/// The collectives of the tensor-parallel ranks. What the one adds up, the gradient of the other gathers.
static std::string writeCollectives(const Config &config) {
  const int64_t tokens = config.batch * config.context;
  const auto element = config.bf16 ? mhc::spelling::Element::BF16 : mhc::spelling::Element::F32;
  const std::string own = mhc::spelling::Type{{tokens / config.tensorRanks, config.hidden}, element}.str();
  const std::string all = mhc::spelling::Type{{tokens, config.hidden}, element}.str();
  auto pair = [](const std::string &name, const std::string &other, const std::string &from, const std::string &to) {
    const std::string vjp = name + "_vjp";
    return "func.func private @" + name + "(" + from + " {mhc.name = \"x\"}) -> (" + to +
           " {mhc.name = \"out\"}) attributes {mhc.vjp = @" + vjp + "}\n" + "func.func private @" + vjp +
           "(%x: " + from + ", %d_out: " + to + ") -> " + from + " {\n" + "  %d_x = func.call @" + other +
           "(%d_out) : (" + to + ") -> " + from + "\n" + "  return %d_x : " + from + "\n}\n";
  };
  return pair(kAllGather, kReduceScatter, own, all) + pair(kReduceScatter, kAllGather, all, own);
}

std::string mhc::model::writeModel(const Config &config) {
  std::string text =
      writeLoss(config) + "\n" + writeInit(config) + "\n" + writeUpdate(config) + "\n" + writeGradientSquares(config);
  if (config.tensorRanks > 1)
    text += "\n" + writeCollectives(config);
  if (config.dropout == 0)
    return text;
  Config whole = config;
  whole.dropout = 0;
  return text + "\n" + writeLoss(whole, "evaluate");
}
