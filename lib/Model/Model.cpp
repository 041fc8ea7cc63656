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
using mhc::spelling::Element;
using mhc::spelling::Type;

/// A collective that the model has not, of tensors of some rows each. `gradient` makes %d_x; "" where there is none.
static std::string declare(const std::string &name, const Type &from, const Type &to, const std::string &gradient) {
  const std::string x = from.str(), out = to.str(), vjp = name + "_vjp";
  const std::string head =
      "func.func private @" + name + "(" + x + " {mhc.name = \"x\"}) -> (" + out + " {mhc.name = \"out\"})";
  if (gradient.empty())
    return head + "\n";
  return head + " attributes {mhc.vjp = @" + vjp + "}\nfunc.func private @" + vjp + "(%x: " + x + ", %d_out: " + out +
         ") -> " + x + " {\n  %d_x = " + gradient + "\n  return %d_x : " + x + "\n}\n";
}

static std::string call(const std::string &name, const Type &from, const Type &to) {
  return "func.call @" + name + "(%d_out) : (" + from.str() + ") -> " + to.str();
}

/// The collectives of the tensor-parallel ranks. What the one adds up, the gradient of the other gathers; that of the
/// maxima is zero, as they cancel out in a loss.
static std::string writeCollectives(const Config &config) {
  const int64_t all = config.batch * config.context, own = all / config.tensorRanks, C = config.hidden;
  const Element activation = config.bf16 ? Element::BF16 : Element::F32;
  const Type ownTokens{{own, C}, activation}, allTokens{{all, C}, activation}, ownValues{{2, own}},
      allValues{{config.tensorRanks, 2, own}};
  const Type maxima{{all}}, allMaxima{{all * config.tensorRanks}};
  return declare(kAllGather, ownTokens, allTokens, call(kReduceScatter, allTokens, ownTokens)) +
         declare(kReduceScatter, allTokens, ownTokens, call(kAllGather, ownTokens, allTokens)) +
         declare(kGatherIds, {{own}, Element::I32}, {{all}, Element::I32}, "") +
         declare(kGatherMaxima, maxima, allMaxima, "arith.constant dense<0.0> : " + maxima.str()) +
         declare(kScatterValues, allValues, ownValues, call(kGatherValues, ownValues, allValues)) +
         declare(kGatherValues, ownValues, allValues, "");
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
