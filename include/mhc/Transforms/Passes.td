//===- Passes.td - Passes from mhc to mhc ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_PASSES
#define MHC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def RaisePass : Pass<"mhc-raise", "::mlir::func::FuncOp"> {
  let summary = "Recognise mHC ops in chains of plain tensor ops";
  let description = [{
    Finds the mHC ops in code that spells them out. Matching is by dataflow: every value is brought to a normal form, a
    sum of products of tensors under index maps, so that a batched matrix product, a multiplication followed by a
    reduction and a sum over slices are the same thing. Values that other code uses stay available.

    A remark says what was found; a near miss gets a remark with the reason.
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def FusePass : Pass<"mhc-fuse", "::mlir::func::FuncOp"> {
  let summary = "Join mHC ops into fewer kernels";
  let description = [{
    At level `layer`, joins projection, gates, residual map and aggregate on the same streams into one `mhc.pre`, and
    into `mhc.head` when only the sublayer input is used. A chain is taken when the fused kernel moves fewer bytes than
    the ops that it makes dead. At every level but `none`, ops whose results are partly unused are narrowed.

    A remark says what was fused and how many bytes it saves; a chain that was declined gets a remark with the reason.
  }];
  let options = [
    Option<"level", "level", "::mhc::FuseLevel", /*default=*/"::mhc::FuseLevel::layer", "What one kernel may span",
           [{::llvm::cl::values(
             clEnumValN(::mhc::FuseLevel::none, "none", "nothing: each op its own kernel"),
             clEnumValN(::mhc::FuseLevel::chain, "chain", "each mHC op"),
             clEnumValN(::mhc::FuseLevel::layer, "layer", "one pre and one post per sublayer"))}]>
  ];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFused", "num-fused", "Number of chains fused">];
}

def DecomposePass : Pass<"mhc-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replace mHC ops by the leaf ops that define them";
  let description = [{
    The inverse of raising and fusing, used by the reference evaluator and by tests: every op that can be decomposed is,
    until only leaf ops are left.
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // MHC_TRANSFORMS_PASSES
