//===- Sites.cpp - Remarks on sites, found and missed --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Sites.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
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
  remark::missed(miss.place.value_or(miss.at->getLoc()), options)
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
  if (Operation *op = value.getDefiningOp())
    return "'" + op->getName().getStringRef().str() + "', " + describe(value.getType());
  auto argument = cast<BlockArgument>(value);
  auto func = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  // The name tells what is computed outside, as by a node of a captured graph.
  auto name = func ? func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mhc.name") : StringAttr();
  return "argument " + std::to_string(argument.getArgNumber()) +
         (name ? " '" + name.getValue().str() + "', " : std::string(", ")) + describe(argument.getType());
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

using Values = llvm::SmallSetVector<Value, 16>;

/// The matrices of parameters that a value is made of alone; none where something else enters.
static Values weightsIn(Value value) {
  constexpr size_t kMostValues = 32;
  Values all, weights;
  all.insert(value);
  for (size_t next = 0; next < all.size(); ++next) {
    Operation *op = all[next].getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(all[next].getType());
    DenseElementsAttr table;
    if (next == kMostValues || (op && op->getNumRegions() > 0))
      return {};
    if (op && op->getNumOperands() > 0)
      all.insert_range(op->getOperands());
    else if (type && type.getRank() >= 2 && !(op && matchPattern(op, m_Constant(&table))))
      weights.insert(all[next]);
  }
  return weights;
}

/// The weights of the products that a coefficient is computed of, which tell its site from others. The other operand
/// of such a product, and what is squared, are streams, which are computed of the site before.
static Values weightsBehind(Value coefficient) {
  constexpr size_t kMostValues = 2048;
  Values values, weights;
  values.insert(coefficient);
  for (size_t next = 0; next < values.size() && next < kMostValues; ++next) {
    Operation *op = values[next].getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(values[next]).getOwner()->getParentOp();
    if (isa<FunctionOpInterface>(op)) {
      weights.insert(values[next]);
      continue;
    }
    Values own;
    if (isa<arith::MulFOp, MatmulOp, BatchMatmulOp, ProjectionOp, linalg::LinalgOp>(op))
      for (Value operand : op->getOperands())
        own.insert_range(weightsIn(operand));
    bool isSquare = isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1);
    if (own.empty() && !isSquare && !isa<AggregateOp, PostOp>(op))
      values.insert_range(op->getOperands());
    weights.insert_range(own);
  }
  return weights;
}

bool Sites::isTold(Value coefficient) const {
  return llvm::any_of(weightsBehind(coefficient), [&](Value weight) { return told.contains(weight); });
}

void Sites::decline(StringRef kind, const Miss &miss) {
  if (!mayTake() || (miss.site.first && !reported.insert(miss.site).second))
    return;
  Value coefficient = miss.site.second ? miss.site.second : miss.site.first;
  if (coefficient && isTold(coefficient))
    return;
  if (coefficient)
    told.insert_range(weightsBehind(coefficient));
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
