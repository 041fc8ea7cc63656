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

def UnrollLoopsPass : Pass<"mhc-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll every loop with a constant number of turns";
  let description = [{
    Buffers are planned for straight-line code. What raising did not recognise is unrolled here, inner loops first.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DescribeEntriesPass : Pass<"mhc-describe-entries", "::mlir::ModuleOp"> {
  let summary = "Check that public functions can be entries, and write down the names of their sizes";
  let description = [{
    Gives every argument and result of a public function its attributes `mhc.name` (a default, unless the user gave one)
    and `mhc.dims`, the symbols of its dimensions: equal symbols have equal sizes, `M` is the first dynamic one.

    An error says why a function cannot be an entry: an argument that is no ranked tensor of a known element type, a
    result size that no argument has, control flow that is left, a call that was not inlined.

    Before:
    ```mlir
    func.func @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
    After:
    ```mlir
    func.func @layer(%x: tensor<?x4xf32> {mhc.dims = ["M", "4"], mhc.name = "arg0"})
        -> (tensor<?x4xf32> {mhc.dims = ["M", "4"], mhc.name = "result0"})
    ```
  }];
}

def FuseElementwisePass : Pass<"mhc-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Join elementwise linalg ops with the op that reads them";
  let description = [{
    Upstream's fusion of a producer with its only reader, in one walk: the pattern driver of upstream's pass is slower
    than linear in the size of a block.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def BufferizePass : Pass<"mhc-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn tensors into buffers";
  let description = [{
    Upstream's bufferization with an analysis of our own, because upstream's is quadratic in the length of a block and our
    code is simple: destinations are new tensors. An op writes in place where the destination has no other use and is
    the result of an op that owns its buffer; anywhere else it writes into a copy. Functions take and return row-major
    buffers.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def ResultParamsPass : Pass<"mhc-result-params", "::mlir::func::FuncOp"> {
  let summary = "Let entries write their results into the caller's buffers";
  let description = [{
    Each result becomes a trailing argument with the attribute `mhc.result`. A buffer that the function allocates for its
    result is replaced by that argument, seen through reshapes; any other value (an argument, a part of a buffer, a
    buffer that is returned twice) is copied into it.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def PlanMemoryPass : Pass<"mhc-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Place all temporaries of an entry in one arena";
  let description = [{
    Sizes are polynomials of the symbols in `mhc.dims`. The arena has one region per product of symbols, and one for
    what does not depend on any; in a region, sizes are numbers, so that offsets are planned at compile time: buffers
    that live at the same time do not overlap, others share memory (best fit, in program order). The symbol is
    rounded up to a multiple of 64, which keeps every offset aligned for any size of the arguments.

    One `memref.alloc` remains, the arena. The attribute `mhc.memory` records for each region the bytes of the arena, of
    the largest sum of live buffers (what no plan can beat) and of all buffers together (no sharing).

    Before:
    ```mlir
    %a = memref.alloc(%M) : memref<?x4xf32>
    ```
    After:
    ```mlir
    %arena = memref.alloc(%bytes) {alignment = 64 : i64} : memref<?xi8>
    %a = memref.view %arena[%offset][%M] : memref<?xi8> to memref<?x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // MHC_TRANSFORMS_PASSES
