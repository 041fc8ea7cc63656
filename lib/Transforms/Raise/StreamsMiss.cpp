//===- StreamsMiss.cpp - Residual maps that no combine was found for ----*- C++ -*-===//
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

void mhc::explainStreams(func::FuncOp func, Sites &sites) {
  func.walk([&](Operation *op) {
    if (isa<SinkhornOp, PermutationMixOp>(op))
      explainMap(sites, op->getResult(0));
  });
}
