//===- Variants.cpp - Parameters of each library --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The defaults of the public implementations, as differences from those of Attributes. Golden cases do not use them:
// their manifests give the attributes of each case.
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/Spelling.h"

#include <map>

namespace mhc::spelling {

/// The machine epsilon of f32, PyTorch's default for RMS norms.
static constexpr double kEpsilon = 0x1p-23;

static Attributes megatron() {
  Attributes a;
  a.layout = "nC_flat";
  a.norm = "outside";
  a.preEps = 1e-6;
  return a;
}

static Attributes te() {
  Attributes a;
  a.layout = "Cn";
  a.normEps = kEpsilon;
  a.init = "log";
  a.denom = "none";
  return a;
}

static Attributes tilekernels() {
  Attributes a;
  a.preEps = 1e-6;
  a.postMult = 1;
  a.iters = 10;
  return a;
}

static Attributes deepseekV4() {
  Attributes a;
  a.preEps = 1e-6;
  return a;
}

static Attributes liger() {
  Attributes a;
  a.phiLayout = "in_out";
  a.resOrient = "oi";
  return a;
}

static Attributes paper() {
  Attributes a;
  a.phiLayout = "in_out";
  a.normEps = 0;
  a.init = "exp";
  a.order = "col_row";
  a.denom = "none";
  a.resOrient = "oi";
  return a;
}

static Attributes mhcLite() {
  Attributes a;
  a.normEps = kEpsilon;
  a.res = "perm";
  a.resOrient = "oi";
  a.foldPre = true;
  return a;
}

static Attributes mhcCu() {
  Attributes a;
  a.normEps = a.skEps = 1e-5;
  a.init = "exp";
  a.resOrient = "oi";
  return a;
}

static const std::map<std::string, Attributes (*)()> &table() {
  static const std::map<std::string, Attributes (*)()> table = {
      {"megatron_native", megatron},
      {"megatron_fused_fallback", megatron},
      {"te", te},
      {"tilekernels", tilekernels},
      {"liger", liger},
      {"paper", paper},
      {"deepseek_v4", deepseekV4},
      {"mhc_lite", mhcLite},
      {"mhc_cu", mhcCu},
  };
  return table;
}

Attributes attributesOf(const std::string &variant) { return table().at(variant)(); }

std::vector<std::string> modelVariants() {
  std::vector<std::string> names;
  for (auto &[name, make] : table())
    names.push_back(name);
  return names;
}

} // namespace mhc::spelling
