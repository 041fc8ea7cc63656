//===- RaiseCheckTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matchers are not known to be wrong, so these tests change what they found before the numeric check looks at it.
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/RaiseCheck.h"
#include "ParseModule.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/NumericCheck/NumericCheck.h"
#include "gtest/gtest.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <iostream>

using namespace mhc;
using mhc::test::Module;
using mlir::Value;

/// A row step and a column step; sigmoid and softmax written out; streams that are mixed.
static const char *const kChains = R"mlir(
  func.func @f(%z: tensor<8x4x4xf32>, %y: tensor<8x4xf32>, %x: tensor<8x4x64xf32>)
      -> (tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<8x64xf32>) {
    %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
    %exp = math.exp %z : tensor<8x4x4xf32>
    %s_row = mhc.reduce sum %exp dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %e_row = arith.addf %s_row, %eps : tensor<8x4xf32>
    %b_row = mhc.broadcast %e_row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %row = arith.divf %exp, %b_row : tensor<8x4x4xf32>
    %s_col = mhc.reduce sum %row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %e_col = arith.addf %s_col, %eps : tensor<8x4xf32>
    %b_col = mhc.broadcast %e_col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %col = arith.divf %row, %b_col : tensor<8x4x4xf32>
    %one = arith.constant dense<1.0> : tensor<8x4xf32>
    %minus = arith.negf %y : tensor<8x4xf32>
    %decay = math.exp %minus : tensor<8x4xf32>
    %below = arith.addf %decay, %one : tensor<8x4xf32>
    %gate = arith.divf %one, %below : tensor<8x4xf32>
    %weights = mhc.broadcast %gate dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
    %products = arith.mulf %x, %weights : tensor<8x4x64xf32>
    %u = mhc.reduce sum %products dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
    return %col, %gate, %u : tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<8x64xf32>
  })mlir";

/// Raises the chains with `check`. Remarks go to the standard output, where test/Transforms/Raise/numeric-check.test
/// reads them.
static void raise(Module &module, RaiseCheck check) {
  mlir::func::FuncOp func = module.func();
  ASSERT_TRUE(func);
  mlir::MLIRContext *context = func->getContext();
  mlir::ScopedDiagnosticHandler handler(context, [](mlir::Diagnostic &remark) { std::cout << remark.str() << "\n"; });
  mlir::remark::RemarkCategories categories;
  categories.missed = ".*";
  (void)mlir::remark::enableOptimizationRemarks(*context, /*streamer=*/nullptr,
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
                                                /*printAsEmitRemarks=*/true);
  mlir::PassManager passes(context);
  passes.addNestedPass<mlir::func::FuncOp>(createRaisePass(std::move(check)));
  EXPECT_TRUE(succeeded(passes.run(func->getParentOfType<mlir::ModuleOp>())));
}

template <typename Op>
static int count(Module &module) {
  int found = 0;
  module.func().walk([&](Op) { ++found; });
  return found;
}

/// Asks the numeric check about what `sabotage` made of the op that was found.
template <typename Op>
static RaiseCheck sabotaged(NumericCheck &numericCheck, void (*sabotage)(Op)) {
  return [&numericCheck, sabotage](llvm::ArrayRef<Value> was, llvm::ArrayRef<Value> becomes) {
    if (auto op = becomes[0].getDefiningOp<Op>())
      sabotage(op);
    return numericCheck.findDifference(was, becomes);
  };
}

TEST(RaiseCheck, AcceptsWhatIsFound) {
  Module module(kChains);
  NumericCheck numericCheck;
  raise(module, [&](auto was, auto becomes) { return numericCheck.findDifference(was, becomes); });
  EXPECT_EQ(count<SinkhornOp>(module), 1);
  EXPECT_EQ(count<SigmoidOp>(module), 1);
  EXPECT_EQ(count<AggregateOp>(module), 1);
  EXPECT_EQ(numericCheck.counts().compared, 3u);
  EXPECT_EQ(numericCheck.counts().unknown, 0u);
}

TEST(RaiseCheck, LeavesASinkhornWithAnotherCount) {
  Module module(kChains);
  NumericCheck numericCheck;
  raise(module, sabotaged<SinkhornOp>(numericCheck, [](SinkhornOp op) { op.setIters(op.getIters() + 1); }));
  EXPECT_EQ(count<SinkhornOp>(module), 0);
  EXPECT_EQ(count<mlir::math::ExpOp>(module), 1);
  EXPECT_EQ(count<SigmoidOp>(module), 1);
}

TEST(RaiseCheck, LeavesASinkhornWithAnotherEps) {
  Module module(kChains);
  NumericCheck numericCheck;
  raise(module, sabotaged<SinkhornOp>(numericCheck, [](SinkhornOp op) { op.setEps(llvm::APFloat(2.0e-06)); }));
  EXPECT_EQ(count<SinkhornOp>(module), 0);
}

TEST(RaiseCheck, LeavesASinkhornOfAnotherOrder) {
  Module module(kChains);
  NumericCheck numericCheck;
  raise(module, sabotaged<SinkhornOp>(numericCheck, [](SinkhornOp op) { op.setOrder(Order::col_row); }));
  EXPECT_EQ(count<SinkhornOp>(module), 0);
}

TEST(RaiseCheck, LeavesWhatReadsAnotherValue) {
  Module module(kChains);
  NumericCheck numericCheck;
  raise(module, sabotaged<AggregateOp>(numericCheck, [](AggregateOp op) {
          op.getHPreMutable().assign(op->getParentOfType<mlir::func::FuncOp>().getArgument(1));
        }));
  EXPECT_EQ(count<AggregateOp>(module), 0);
  EXPECT_EQ(count<mlir::arith::MulFOp>(module), 1);
}
