//===- ExpandMath.cpp - Transcendental functions as polynomials ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transcendental.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mhc {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
/// The bits of an f32 and arithmetic on them.
struct Bits {
  PatternRewriter &rewriter;
  Location loc;

  Value constant(int32_t value) { return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(value)); }
  Value of(Value f32) { return arith::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), f32); }
  Value add(Value a, Value b) { return arith::AddIOp::create(rewriter, loc, a, b); }
  Value shiftRight(Value a, int32_t by) { return arith::ShRUIOp::create(rewriter, loc, a, constant(by)); }
};

/// truncf f32 -> bf16, rounded to nearest even, in integers. Upstream's form selects between bf16 values, for which
/// LLVM calls a function that not every C library has.
struct ExpandTruncToBf16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isBF16() || !op.getIn().getType().isF32())
      return rewriter.notifyMatchFailure(op, "not from f32 to bf16");
    Bits bits{rewriter, op.getLoc()};
    Value value = bits.of(op.getIn()), high = bits.shiftRight(value, 16);
    Value odd = arith::AndIOp::create(rewriter, op.getLoc(), high, bits.constant(1));
    Value rounded = bits.shiftRight(bits.add(value, bits.add(odd, bits.constant(0x7fff))), 16);
    // The carry must not turn a NaN into a number.
    Value quiet = arith::OrIOp::create(rewriter, op.getLoc(), high, bits.constant(0x40));
    Value isNan = arith::CmpFOp::create(rewriter, op.getLoc(), arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    Value result = arith::SelectOp::create(rewriter, op.getLoc(), isNan, quiet, rounded);
    Value half = arith::TruncIOp::create(rewriter, op.getLoc(), rewriter.getI16Type(), result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), half);
    return success();
  }
};

/// extf bf16 -> f32: sixteen zeros behind the bits.
struct ExpandExtFromBf16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isBF16() || !op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not from bf16 to f32");
    Bits bits{rewriter, op.getLoc()};
    Value half = arith::BitcastOp::create(rewriter, op.getLoc(), rewriter.getI16Type(), op.getIn());
    Value word = arith::ExtUIOp::create(rewriter, op.getLoc(), rewriter.getI32Type(), half);
    Value shifted = arith::ShLIOp::create(rewriter, op.getLoc(), word, bits.constant(16));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), shifted);
    return success();
  }
};

/// cast between f64 and a 16-bit float -> two casts, which need no library.
template <typename Op>
struct CastThroughF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!from.isF64() && !to.isF64())
      return rewriter.notifyMatchFailure(op, "neither side is f64");
    if (from.getIntOrFloatBitWidth() != 16 && to.getIntOrFloatBitWidth() != 16)
      return rewriter.notifyMatchFailure(op, "neither side has 16 bits");
    Value middle = Op::create(rewriter, op.getLoc(), rewriter.getF32Type(), op.getIn());
    rewriter.replaceOpWithNewOp<Op>(op, to, middle);
    return success();
  }
};

static bool isInKernel(Operation *op) { return op->getParentOfType<gpu::GPUModuleOp>() != nullptr; }

/// In a kernel, sqrt -> LLVM's own, rounded correctly. The conversion to NVVM would call the GPU's library, whose root
/// is an approximation unless the program asks otherwise.
struct RoundSqrt : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SqrtOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isInKernel(op) || !(type.isF32() || type.isF64()))
      return rewriter.notifyMatchFailure(op, "not of f32 or f64 in a kernel");
    StringAttr name = rewriter.getStringAttr(type.isF32() ? "llvm.sqrt.f32" : "llvm.sqrt.f64");
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(op, type, name, op->getOperands());
    return success();
  }
};

/// In a kernel, rsqrt -> 1 / sqrt, which is what the CPU computes; the GPU's own is an approximation.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    if (!isInKernel(op))
      return rewriter.notifyMatchFailure(op, "not in a kernel");
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), 1.0));
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

struct ExpandMath : mhc::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::TruncFOp, arith::ExtFOp>(op) || isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandTruncToBf16, ExpandExtFromBf16, CastThroughF32<arith::TruncFOp>, CastThroughF32<arith::ExtFOp>>(
        &getContext());
    patterns.add<RoundSqrt, ExpandRsqrt>(&getContext());
    populateTranscendentalPatterns(patterns);
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == math::LogOp::getOperationName() || name == math::Log1pOp::getOperationName() ||
             name == math::ErfOp::getOperationName();
    });
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns))) || failed(callLibrary()))
      signalPassFailure();
  }

  /// LLVM has intrinsics for the other functions, which become calls of the C library; not for these.
  LogicalResult callLibrary() {
    ConversionTarget target(getContext());
    // The GPU has a library of its own, which the conversion to NVVM calls.
    target.addDynamicallyLegalOp<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp, math::ErfOp, math::ErfcOp>(
        isInKernel);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};
} // namespace
