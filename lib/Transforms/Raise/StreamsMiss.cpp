//===- StreamsMiss.cpp - What was found and is read by plain code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"

using namespace mlir;
using namespace mhc;

/// Code that only measures or returns a map is none that mixes streams.
static void explainMap(Sites &sites, Value map) {
  SmallVector<Operation *> readers;
  usersThroughViews(map, readers);
  auto *reader = llvm::find_if(readers, llvm::IsaPred<MatmulOp, BatchMatmulOp>);
  if (reader == readers.end() || llvm::any_of(readers, llvm::IsaPred<PostOp>))
    return;
  sites.decline("post", {Reason::combineForm,
                         *reader,
                         describe((*reader)->getResult(0)),
                         "a sum of h_res x and h_post times the sublayer's output",
                         {map, Value()}});
}

static void explainGates(Sites &sites, GatesOp gates) {
  if (Operation *user = plainUser(gates.getHPre()))
    sites.decline("aggregate", {Reason::aggregateForm,
                                user,
                                describe(user->getResult(0)),
                                "a sum over the streams of h_pre x",
                                {gates.getHPre(), Value()}});
  Value logits = gates.getLogits();
  if (!logits || isOnlyReshaped(logits)) // which fuses without a residual map
    return;
  if (Operation *user = plainUser(logits))
    sites.decline("pre", {Reason::residualForm,
                          user,
                          describe(user->getResult(0)),
                          "one residual map of the logits",
                          {user->getResult(0), Value()}});
}

void mhc::explainStreams(func::FuncOp func, Sites &sites) {
  func.walk([&](Operation *op) {
    if (isa<SinkhornOp, PermutationMixOp>(op))
      explainMap(sites, op->getResult(0));
    else if (auto gates = dyn_cast<GatesOp>(op))
      explainGates(sites, gates);
  });
}
