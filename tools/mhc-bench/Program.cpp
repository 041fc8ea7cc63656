//===- Program.cpp - Kernels that are timed together ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "mhcrt/mhcrt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mhc;
using namespace mhc::bench;

double Program::bytes() const {
  double sum = 0;
  for (const Case &c : cases)
    sum += c.bytes;
  return sum;
}

double Program::flops() const {
  double sum = 0;
  for (const Case &c : cases)
    sum += c.flops;
  return sum;
}

/// mhc.pre_bwd takes the gradient that goes around the sublayer into d_x, and mhc.post_bwd need not make it.
static Case postBwd(Sizes sizes, int32_t dtype) {
  return makeCase(*lookupKernelInfo("mhc.post_bwd"), sizes, dtype, {"d_x"});
}

/// mhc.post_bwd whose d_x adds to a gradient in f32, as --grad-sums=f32 has it.
static Case postBwdInF32(Sizes sizes, int32_t dtype) {
  Case c = makeCase(*lookupKernelInfo("mhc.post_bwd"), sizes, dtype, {}, {"d_x_in"});
  for (auto [record, tensor] : llvm::zip(c.info->tensors, c.tensors))
    if (record.name == "d_x_in" || record.name == "d_x") {
      c.bytes += tensor.elements * (4 - mhcrt_dtype_bytes(tensor.dtype));
      tensor.dtype = MHCRT_F32;
    }
  return c;
}

static std::vector<Program> sublayer(Sizes sizes, int32_t dtype) {
  auto kernel = [&](llvm::StringRef name) { return makeCase(*lookupKernelInfo(name), sizes, dtype, {}); };
  const Case pre = kernel("mhc.pre"), post = kernel("mhc.post"), preBwd = kernel("mhc.pre_bwd");
  const Case postBwd = ::postBwd(sizes, dtype);
  return {{"sublayer forward", {pre, post}},
          {"sublayer backward", {postBwd, preBwd}},
          {"sublayer", {pre, post, postBwd, preBwd}}};
}

/// From one sublayer to the next and back, by the ops across it and by those of either sublayer.
static std::vector<Program> boundary(Sizes sizes, int32_t dtype) {
  auto kernel = [&](llvm::StringRef name) { return makeCase(*lookupKernelInfo(name), sizes, dtype, {}); };
  const Case preBwd = makeCase(*lookupKernelInfo("mhc.pre_bwd"), sizes, dtype, {"d_out", "h_res"}, {"d_x_in"});
  return {{"boundary", {kernel("mhc.post_pre"), kernel("mhc.post_pre_bwd")}},
          {"boundary apart", {kernel("mhc.post"), kernel("mhc.pre"), preBwd, kernel("mhc.post_bwd")}}};
}

llvm::Error mhc::bench::checkNames(llvm::ArrayRef<std::string> kernels, llvm::ArrayRef<std::string> names) {
  for (const std::string &kernel : kernels)
    if (!llvm::is_contained(names, kernel))
      return llvm::createStringError("there is no kernel '" + kernel + "'; there are '" + llvm::join(names, "', '") +
                                     "'");
  return llvm::Error::success();
}

std::vector<Program> mhc::bench::makePrograms(Sizes sizes, int32_t dtype, llvm::ArrayRef<std::string> kernels) {
  std::vector<Program> programs;
  for (const KernelInfo *info : allKernelInfos()) {
    Case c = makeCase(*info, sizes, hasActivations(*info) ? dtype : int32_t(MHCRT_F32), {});
    programs.push_back({c.kernel, {c}});
  }
  programs.push_back({"post_bwd without d_x", {postBwd(sizes, dtype)}});
  for (llvm::StringRef name : {"d_bias", "d_x_in"})
    programs.push_back({("post_bwd with " + name).str(),
                        {makeCase(*lookupKernelInfo("mhc.post_bwd"), sizes, dtype, /*without=*/{}, {name})}});
  programs.push_back({"post_bwd in f32", {postBwdInF32(sizes, dtype)}});
  programs.push_back({"pre_gated_delta_rule without gate",
                      {makeCase(*lookupKernelInfo("mhc.pre_gated_delta_rule"), sizes, dtype, {"gate"})}});
  programs.push_back(
      {"pre_bwd without d_out", {makeCase(*lookupKernelInfo("mhc.pre_bwd"), sizes, dtype, {"d_out", "h_res"})}});
  for (llvm::StringRef name : {"pre_gated_delta_rule", "pre_gated_delta_rule_bwd"})
    programs.push_back(
        {(name + " packed").str(),
         {makeCase(*lookupKernelInfo(("mhc." + name).str()), sizes, dtype, /*without=*/{}, {"cu_seqlens"})}});
  for (llvm::StringRef name : {"post", "post_bwd"})
    programs.push_back({(name + " with dropout").str(),
                        {makeCase(*lookupKernelInfo(("mhc." + name).str()), sizes, dtype, /*without=*/{}, {"seed"})}});
  programs.push_back(
      {"post_pre with norm", {makeCase(*lookupKernelInfo("mhc.post_pre"), sizes, dtype, {}, {"u_norm_weight"})}});
  programs.push_back({"post_head without y", {makeCase(*lookupKernelInfo("mhc.post_head"), sizes, dtype, {"y"})}});
  for (llvm::StringRef name : {"pre", "post", "pre_bwd", "post_bwd", "post_pre", "post_pre_bwd", "post_head"})
    programs.push_back({(name + " of equal streams").str(),
                        {makeCase(*lookupKernelInfo(("mhc." + name).str()), sizes, dtype, {}, {"equal_x"})}});
  programs.push_back(
      {"post of contracted streams", {makeCase(*lookupKernelInfo("mhc.post"), sizes, dtype, {}, {"contracted"})}});
  for (llvm::StringRef name : {"sinkhorn", "sinkhorn_bwd", "pre", "pre_bwd", "post_pre", "post_pre_bwd"}) {
    const KernelInfo &info = *lookupKernelInfo(("mhc." + name).str());
    Case c = makeCase(info, sizes, hasActivations(info) ? dtype : int32_t(MHCRT_F32), {});
    takeLimit(c, /*steps=*/20);
    c.flops = info.flops(c.values);
    programs.push_back({(name + " newton").str(), {c}});
  }
  for (const auto &several : {sublayer(sizes, dtype), boundary(sizes, dtype)})
    llvm::append_range(programs, several);
  llvm::erase_if(
      programs, [&](const Program &program) { return !kernels.empty() && !llvm::is_contained(kernels, program.name); });
  return programs;
}
