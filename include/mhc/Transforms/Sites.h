//===- Sites.h - Remarks on sites, found and missed ----------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remarks of the passes, in the remark engine of MLIR: category is the pass, subcategory the kind of site, such as
// "post" or "mhc.pre". A missed one is named by the code of its reason and has the arguments Reason, Found, Needed and
// Suggestion. What is neither is an analysis remark: a note.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_SITES_H
#define MHC_TRANSFORMS_SITES_H

#include "mhc/Transforms/RaiseCheck.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace mhc {

#include "mhc/Transforms/Reasons.h.inc"

/// The record of a reason (Reasons.td).
struct ReasonInfo {
  llvm::StringLiteral pass, code, meaning, change;
  bool unfused; ///< whether the site stays unfused
};
const ReasonInfo &infoOf(Reason reason);
/// The reason with a code; null for other text.
const ReasonInfo *lookupReason(llvm::StringRef code);

/// Why a site that looks like mHC stays as it is.
struct Miss {
  Reason reason;
  mlir::Operation *at; ///< the op at fault
  std::string found, needed;
  /// Identifies the site if several of its parts may miss: only the first miss of a site is reported.
  std::pair<mlir::Value, mlir::Value> site;
  std::optional<mlir::Location> place = std::nullopt; ///< where the fault is not in `at`, but in an argument
};
/// Marks a function that the limit of Raise may have left incomplete: missing parts of its sites are not reported.
inline constexpr llvm::StringLiteral kRaiseLimited = "mhc.raise_limited";
/// Marks gates from Raise to Fuse whose site lacks something: what Fuse misses of it is not reported as well.
inline constexpr llvm::StringLiteral kToldByRaise = "mhc.told";

/// One remark for a site that would have become `kind`.
void remarkMissed(llvm::StringRef kind, const Miss &miss);
/// The op that makes `value`; for an argument its only user, or else `user`.
mlir::Operation *opAtFault(mlir::Value value, mlir::Operation *user);
/// For `found` and `needed`: "[?, 4, 64] of bf16"
std::string describe(mlir::Type type);
/// The same with what makes the value: "argument 0, [?, 4, 64] of bf16"
std::string describe(mlir::Value value);
/// As short as it can be: "1e-06"
std::string describe(double number);

/// Counts and reports the sites of one function.
class Sites {
public:
  /// At most `limit` sites are taken; all where it is negative.
  Sites(llvm::StringRef pass, int64_t limit) : pass(pass), limit(limit) {}

  /// Asked by Raise before it replaces values, where there is one.
  RaiseCheck check;

  /// Whether the limit lets one more site be taken.
  bool mayTake() const { return limit < 0 || numTaken < limit; }
  /// Reports that `op` was made; `text` says from what.
  void take(mlir::Operation *op, llvm::StringRef kind, llvm::StringRef text);
  /// Leaves a site as it is. Only the first miss of a site is reported, and none once a limit was reached.
  void decline(llvm::StringRef kind, const Miss &miss);
  /// Whether any site was declined.
  bool hasDeclined() const { return !declinedByKind.empty(); }
  /// Whether a site of this kind was declined that `value` is the first to identify.
  bool hasDeclined(llvm::StringRef kind, mlir::Value value) const {
    auto found = declinedAt.find(kind.str());
    return found != declinedAt.end() && found->second.contains(value);
  }

  /// Whether a miss was reported of the site of a coefficient: of one that is computed by the same weights.
  bool isTold(mlir::Value coefficient) const;

  /// An analysis remark on `op`.
  void note(mlir::Operation *op, llvm::StringRef code, const llvm::Twine &text) const;
  /// A note on the function `func` that counts what was made and what was declined, by kind, if anything was.
  void remarkCounts(mlir::Operation *func) const;

private:
  llvm::StringRef pass;
  int64_t limit, numTaken = 0;
  std::map<std::string, unsigned> takenByKind, declinedByKind;
  std::map<std::string, llvm::DenseSet<mlir::Value>> declinedAt;
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> reported;
  llvm::DenseSet<mlir::Value> told; ///< weights of sites that were declined
};

} // namespace mhc

#endif // MHC_TRANSFORMS_SITES_H
