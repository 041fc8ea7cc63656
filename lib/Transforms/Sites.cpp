//===- Sites.cpp - Remarks on sites, found and missed --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Sites.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mhc;

#include "mhc/Transforms/Reasons.cpp.inc"

const ReasonInfo &mhc::infoOf(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

const ReasonInfo *mhc::lookupReason(StringRef code) {
  const auto *found = llvm::find_if(kReasons, [&](const ReasonInfo &info) { return info.code == code; });
  return found == std::end(kReasons) ? nullptr : found;
}

static FunctionOpInterface functionAround(Operation *op) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  return func ? func : op->getParentOfType<FunctionOpInterface>();
}

static StringRef functionOf(Operation *op) {
  FunctionOpInterface func = functionAround(op);
  return func ? func.getName() : StringRef();
}

void mhc::remarkMissed(StringRef kind, const Miss &miss) {
  const ReasonInfo &info = infoOf(miss.reason);
  if (FunctionOpInterface func = functionAround(miss.at); func && func->hasAttr(kRaiseLimited))
    return;
  auto options =
      remark::RemarkOpts::name(info.code).category(info.pass).subCategory(kind).function(functionOf(miss.at));
  remark::missed(miss.at->getLoc(), options)
      << remark::reason("{0}", info.meaning) << remark::metric("Found", miss.found)
      << remark::metric("Needed", miss.needed) << remark::suggest("{0}", info.change);
}

std::string mhc::describe(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!shaped || !shaped.hasRank()) {
    stream << type;
    return text;
  }
  stream << "[";
  llvm::interleaveComma(shaped.getShape(), stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "] of " << shaped.getElementType();
  return text;
}

std::string mhc::describe(Value value) {
  std::string maker;
  if (Operation *op = value.getDefiningOp())
    maker = "'" + op->getName().getStringRef().str() + "'";
  else
    maker = "argument " + std::to_string(cast<BlockArgument>(value).getArgNumber());
  return maker + ", " + describe(value.getType());
}

std::string mhc::describe(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

Operation *mhc::opAtFault(Value value, Operation *user) {
  if (Operation *maker = value.getDefiningOp())
    return maker;
  return value.hasOneUse() ? *value.user_begin() : user;
}

void Sites::take(Operation *op, StringRef kind, StringRef text) {
  ++numTaken;
  ++takenByKind[kind.str()];
  remark::passed(op->getLoc(), remark::RemarkOpts::name(kind).category(pass).function(functionOf(op))) << text;
}

/// The values that one is computed of, nearest first. A site has few: further ones belong to the site before.
static llvm::SmallSetVector<Value, 16> nearestSources(Value value) {
  constexpr size_t kMostSources = 64;
  llvm::SmallSetVector<Value, 16> sources;
  sources.insert(value);
  for (size_t next = 0; next < sources.size() && sources.size() < kMostSources; ++next)
    if (Operation *op = sources[next].getDefiningOp())
      sources.insert_range(op->getOperands());
  return sources;
}

void Sites::decline(StringRef kind, const Miss &miss) {
  bool isIteration = kind == "sinkhorn";
  if (!mayTake() || (!isIteration && readByIterations.contains(miss.site.second)) ||
      (miss.site.first && !reported.insert(miss.site).second))
    return;
  if (isIteration && miss.site.first)
    readByIterations.insert_range(nearestSources(miss.site.first));
  ++declinedByKind[kind.str()];
  declinedAt[kind.str()].insert(miss.site.first);
  remarkMissed(kind, miss);
}

void Sites::note(Operation *op, StringRef code, const Twine &text) const {
  remark::analysis(op->getLoc(), remark::RemarkOpts::name(code).category(pass).function(functionOf(op)))
      << remark::add("{0}", text.str());
}

/// "2 gates, 2 post"
static std::string countsText(const std::map<std::string, unsigned> &counts) {
  return llvm::join(
      llvm::map_range(counts, [](const auto &entry) { return std::to_string(entry.second) + " " + entry.first; }),
      ", ");
}

void Sites::remarkCounts(Operation *func) const {
  if (takenByKind.empty() && declinedByKind.empty())
    return;
  std::string made = takenByKind.empty() ? "nothing" : countsText(takenByKind);
  note(func, "sites", "made " + made + (declinedByKind.empty() ? "" : "; declined " + countsText(declinedByKind)));
}
