//===- Case.cpp - One kernel at one shape ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"
#include "mhcrt/kernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mhc;
using namespace mhc::bench;

/// A gated delta net, whose channels are those of its heads.
static bool hasHeads(const KernelInfo &info) { return llvm::is_contained(info.dims, "hv"); }

/// Sizes by letter. A plain product stands for the projection, a batch of products for the mix of the streams. Heads
/// are those of Qwen3-Next.
static llvm::StringMap<double> sizesByLetter(const KernelInfo &info, Sizes sizes) {
  double M = sizes.M, C = sizes.C, n = sizes.n;
  if (hasHeads(info))
    return {{"M", M}, {"b", 1}, {"k", 4}, {"hv", 32}, {"dk", 128}, {"dv", 128}, {"s", 9}};
  if (llvm::is_contained(info.dims, "B"))
    return {{"B", M}, {"M", n}, {"K", n}, {"N", C}};
  return {{"M", M},     {"C", C}, {"n", n}, {"K", n * C}, {"N", 2 * n + n * n},
          {"R", n * n}, {"A", 3}, {"V", M}, {"E", M * C}};
}

/// Tensors of a list.
constexpr int64_t kListLength = 4;

/// The default or first choice of each enum, 20 iterations, 16 heads, eps of 1e-6, a rate of 0.1, a threshold of 20 and
/// factors of 2.
static double attributeValue(const KernelAttr &attr) {
  switch (attr.kind) {
  case KernelAttr::Int:
    return attr.name.ends_with("heads") ? 16 : 20;
  case KernelAttr::Float:
    return attr.name.ends_with("eps") ? 1e-6 : attr.name == "rate" ? 0.1 : attr.name.ends_with("threshold") ? 20 : 2;
  case KernelAttr::Enum:
    return attr.whenAbsent.value_or(0);
  case KernelAttr::Bool:
  case KernelAttr::Unit:
    return attr.name == "qk_l2norm";
  }
  llvm_unreachable("all kinds are above");
}

llvm::ArrayRef<unsigned> mhc::bench::dimsOf(const Case &c, unsigned index) {
  return c.info->tensors[index].dimsWhere([&](llvm::StringRef name) {
    return llvm::any_of(llvm::zip(c.info->attrs, c.values.attrs), [&](auto pair) {
      auto [attr, value] = pair;
      return attr.name == name && value != 0;
    });
  });
}

bool mhc::bench::isActivation(const KernelInfo &info, unsigned index) {
  int self = static_cast<int>(index);
  const KernelTensor &tensor = info.tensors[index];
  return (tensor.elementOf >= 0 && (!tensor.orF32 || tensor.isResult || hasTokens(info, index))) ||
         llvm::any_of(info.tensors, [&](const KernelTensor &other) { return other.elementOf == self; });
}

bool mhc::bench::isTokenDim(const KernelInfo &info, unsigned dim) {
  return info.dims[dim] == (llvm::is_contained(info.dims, "B") ? "B" : "M");
}

bool mhc::bench::hasTokens(const KernelInfo &info, unsigned index) {
  return llvm::any_of(info.tensors[index].dims, [&](unsigned dim) { return isTokenDim(info, dim); });
}

bool mhc::bench::hasActivations(const KernelInfo &info) {
  return llvm::any_of(llvm::seq<unsigned>(0, info.tensors.size()), [&](unsigned i) { return isActivation(info, i); });
}

bool mhc::bench::hasChannels(const KernelInfo &info) {
  return !hasHeads(info) &&
         llvm::any_of(info.dims, [](llvm::StringRef dim) { return dim == "C" || dim == "K" || dim == "E"; });
}

bool mhc::bench::hasOperand(const Case &c, llvm::StringRef name) {
  for (auto [record, tensor] : llvm::zip(c.info->tensors, c.tensors))
    if (record.name == name)
      return tensor.count > 0;
  return false;
}

/// Parameters, starts of gradients, weights of another sublayer and what only a reader beside the gradient wants that
/// may be absent are; the statistic of a projection is there, and so is the gradient of what is.
static bool isPresent(const Case &c, unsigned index) {
  const KernelTensor &tensor = c.info->tensors[index];
  if (!tensor.isOptional)
    return !tensor.isList || hasTokens(*c.info, index);
  if (tensor.isResult && tensor.name.starts_with("d_"))
    return hasOperand(c, tensor.name.drop_front(2));
  if (hasOperand(c, "d_y") && (tensor.name == "d_out" || tensor.name == "next_h_res")) // another start
    return false;
  return hasTokens(*c.info, index) && !tensor.name.ends_with("_in") && tensor.name != "silu";
}

static CaseTensor makeTensor(const Case &c, unsigned index) {
  const KernelTensor &tensor = c.info->tensors[index];
  double elements = 1, smallest = INFINITY;
  for (unsigned dim : dimsOf(c, index)) {
    elements *= c.values.dims[dim];
    smallest = std::min(smallest, c.values.dims[dim]);
  }
  const bool isTokenwise = hasTokens(*c.info, index);
  const int64_t count = tensor.isList ? kListLength : 1;
  if (tensor.integerBits)
    return {count,
            tensor.integerBits == 32 ? MHCRT_I32 : MHCRT_I64,
            count * static_cast<int64_t>(elements),
            0,
            false,
            tensor.indexOf < 0 ? INT32_MAX : static_cast<int64_t>(c.values.dims[tensor.indexOf]),
            tensor.cutsOf < 0 ? -1 : static_cast<int64_t>(c.values.dims[tensor.cutsOf])};
  // Rows of a weight have length one, so that a product is as large as its other operand.
  double scale = isTokenwise ? 1.0 : 1.0 / std::sqrt(elements / smallest);
  return {count, isActivation(*c.info, index) ? c.dtype : MHCRT_F32, count * static_cast<int64_t>(elements), scale,
          tensor.name != "stat"};
}

bool mhc::bench::isLeftOut(const Case &c, const KernelAttr &attr) {
  return attr.kind != KernelAttr::Enum && attr.whenAbsent &&
         !hasOperand(c, attr.name == "u_norm_eps" ? "u_norm_weight" : "seed");
}

void mhc::bench::settleAttributes(Case &c) {
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (isLeftOut(c, attr))
      value = *attr.whenAbsent;
}

double *mhc::bench::attributeOf(Case &c, llvm::StringRef name) {
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (attr.name == name)
      return &value;
  return nullptr;
}

void mhc::bench::takeLimit(Case &c, int64_t steps) {
  const double *map = attributeOf(c, "res_map");
  *attributeOf(c, "solver") = map && *map != MHCRT_RES_MAP_SINKHORN ? MHCRT_SOLVER_SINKHORN : MHCRT_SOLVER_NEWTON;
  if (*attributeOf(c, "solver") == MHCRT_SOLVER_SINKHORN)
    return;
  *attributeOf(c, "init") = MHCRT_INIT_LOG, *attributeOf(c, "order") = MHCRT_ORDER_ROW_COL;
  *attributeOf(c, "denom") = MHCRT_DENOM_NONE, *attributeOf(c, "iters") = static_cast<double>(steps);
  for (llvm::StringRef format : {"format", "sk_format"})
    if (double *value = attributeOf(c, format))
      *value = MHCRT_FORMAT_F32;
}

Case mhc::bench::makeCase(const KernelInfo &info, Sizes sizes, int32_t dtype, llvm::ArrayRef<llvm::StringRef> without,
                          llvm::ArrayRef<llvm::StringRef> with) {
  Case c{&info, info.opName.drop_front(strlen("mhc.")).str(), sizes, dtype, {}, {}, 0, 0};
  llvm::StringMap<double> letters = sizesByLetter(info, sizes);
  for (llvm::StringRef dim : info.dims)
    c.values.dims.push_back(letters.lookup(dim));
  for (const KernelAttr &attr : info.attrs)
    c.values.attrs.push_back(llvm::is_contained(with, attr.name) ? 1 : attributeValue(attr));
  c.values.counts.resize(info.tensors.size()); // rules may look, though none asks
  for (const KernelDimRule &rule : info.dimRules)
    c.values.dims[rule.dim] = rule.value(c.values);
  for (unsigned i = 0; i < info.tensors.size(); ++i) {
    const llvm::StringRef name = info.tensors[i].name;
    const bool isLeftOut = llvm::is_contained(without, name) || (!isPresent(c, i) && !llvm::is_contained(with, name));
    c.tensors.push_back(isLeftOut ? CaseTensor{0, MHCRT_NONE, 0, 0, false} : makeTensor(c, i));
    c.values.counts[i] = c.tensors[i].count;
  }
  for (unsigned i = 0; i < info.tensors.size(); ++i) { // a part that is read may depend on any tensor
    const bool isPart = info.tensors[i].elementsRead && c.tensors[i].count;
    const double elements = isPart ? info.tensors[i].elementsRead(c.values) : c.tensors[i].elements;
    c.bytes += elements * mhcrt_dtype_bytes(c.tensors[i].dtype);
  }
  settleAttributes(c);
  c.flops = info.flops(c.values);
  return c;
}
