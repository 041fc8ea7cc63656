//===- Passes.td - Passes that leave the dialect ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_CONVERSION_PASSES
#define MHC_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertMhcToLinalgPass : Pass<"convert-mhc-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Turn leaf ops and elementwise ops on tensors into linalg";
  let description = [{
    Every leaf op, and every `arith` or `math` op on tensors, becomes one `linalg.generic` (`softmax`, `rms_norm` and
    `reduce` of a narrow type become two or three). A splat is read as a scalar and a broadcast as an index map, as any
    tensor library does; nothing else is fused. Sums and transcendental functions of bf16 and f16 are computed in f32.

    Before:
    ```mlir
    %wide = mhc.broadcast %h dims = [0, 1] : tensor<?x1xf32> -> tensor<?x4xf32>
    %out = arith.mulf %x, %wide : tensor<?x4xf32>
    ```
    After:
    ```mlir
    %empty = tensor.empty(%M) : tensor<?x4xf32>
    %out = linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d0, 0), (d0, d1) -> (d0, d1)],
                           iterator_types = ["parallel", "parallel"]} ins(%x, %h) outs(%empty) { mulf }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineLoopsPass : Pass<"mhc-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Give every different loop nest a function of its own";
  let description = [{
    Moves each linalg op and each `memref.copy` of an entry into a private function; equal ones share it. The layers of
    a model repeat the same few loops, so that the optimiser and the code generator see each of them once, whatever the
    depth of the model, and an entry becomes a straight list of calls.

    Buffers that cannot overlap are marked `llvm.noalias`. A function whose outermost loop may run on several threads is
    marked `mhc.parallel = array<i64: depth of that loop, argument, dimension of the argument that is its length, iterations for an element of it>`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect"];
}

def OrderSumsPass : Pass<"mhc-order-sums", "::mlir::func::FuncOp"> {
  let summary = "Turn reductions into loops that say the order of their sums";
  let description = [{
    LLVM may vectorise a sum only where it may be reordered, and then picks an order by what the loop costs: the same sum
    would have other bits where its terms are stored as well. Here an addition that may be reordered (`reassoc`, and no
    other flag) gets its order. A loop of 16 or more iterations adds to 16 sums side by side, whose terms a loop over
    these lanes computes; then come the halves of the lanes, and one by one what is behind the last 16 iterations.
    Shorter loops add one by one, or belong to a lane of the loop around them. No addition may be reordered after that.

    Before:
    ```mlir
    linalg.generic {...} ins(%x : memref<?xf32>) outs(%sum : memref<f32>) { addf %s, %a fastmath<reassoc> }
    ```
    After:
    ```mlir
    %lanes = scf.for %i = 0 to %end step 16 iter_args(%sums = dense<-0.0>) -> vector<16xf32> {
      scf.for %lane = 0 to 16 { memref.store %x[%i + %lane], %terms[%lane] }
      %terms = vector.load
      arith.addf %sums, %terms
    }
    // %sum + (the halves of %lanes, added until one is left), then
    scf.for %i = %end to %length { addf }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def FoldFillsPass : Pass<"mhc-fold-fills", "::mlir::func::FuncOp"> {
  let summary = "Let reductions on a GPU start from constants";
  let description = [{
    A reduction on tensors starts from what `linalg.fill` has left in its output. On a GPU that is a launch of its own,
    and memory to read again. Where nothing else uses the buffer in between, the fill goes, and the reduction is marked
    `mhc.starts`: a constant for each output, or `unit` for one that is loaded. mhc-loops-to-gpu reads it.

    Before:
    ```mlir
    linalg.fill ins(%zero : f32) outs(%sum : memref<96xf32>)
    linalg.generic {...} ins(%x : memref<512x96xf32>) outs(%sum : memref<96xf32>) {...}
    ```
    After:
    ```mlir
    linalg.generic {...} ins(%x : memref<512x96xf32>) outs(%sum : memref<96xf32>) attrs = {mhc.starts = [0.0 : f32]} {...}
    ```
  }];
}

def LoopsToGpuPass : Pass<"mhc-loops-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Turn loop functions into GPU kernels";
  let description = [{
    The loop nest of each function that mhc-outline-loops made moves into a kernel of the `gpu.module` @mhc_device. All
    parallel loops become one count of iterations, one iteration per thread, or up to eight neighbours that vectors load
    and store; reductions stay loops inside a thread, whose sums are kept in registers. A warp shares the reduction of a
    long row, or of one of few long columns, in a fixed order. The function stays on the host, computes the count and
    launches the kernel.

    Before:
    ```mlir
    func.func private @mhc_loop_1(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
      linalg.generic {...} ins(%a : memref<?x4xf32>) outs(%b : memref<?x4xf32>) {...}
    ```
    After:
    ```mlir
    gpu.module @mhc_device [#nvvm.target<chip = "sm_90a">] {
      gpu.func @mhc_loop_1(%a: memref<?x4xf32>, %b: memref<?x4xf32>, %count: index) kernel
    }
    func.func private @mhc_loop_1(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
      gpu.launch_func @mhc_device::@mhc_loop_1 blocks in (...) threads in (...) args(%a, %b, %count)
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", /*default=*/"\"sm_90a\"", "GPU to generate code for">,
                 Option<"optLevel", "opt-level", "unsigned", /*default=*/"2", "Level of LLVM's optimiser">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandMathPass : Pass<"mhc-expand-math", "::mlir::ModuleOp"> {
  let summary = "Write transcendental functions and conversions of bf16 out in plain arithmetic";
  let description = [{
    So that loops with them can be vectorised without a vector library. Polynomials take the place of exp, log,
    log1p, tanh and erf of f32, good to two units in the last place (erf: four); the other functions stay calls of the C
    library. Conversions of bf16 become integer arithmetic. In GPU kernels square roots are correctly rounded, and
    functions without a polynomial are left to the conversion to NVVM.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ConvertMhcToRuntimePass : Pass<"convert-mhc-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn entries into C functions that call the runtime";
  let description = [{
    Every public function becomes `mhc_entry_<name>(context, arguments, results)`, the `mhcrt_entry` of mhcrt.h, and is
    listed in the text `mhc_model_manifest` (mhcrt/model.h). Each `mhc.launch` becomes a call of the kernel that its
    record names; all of the call follows from the record. The one `memref.alloc` of a function is its arena, and comes
    from `mhcrt_workspace`.

    Buffers become plain pointers: sizes are known from the descriptors of the arguments, and kernels and loop functions
    take pointer and sizes. A loop function marked `mhc.parallel` becomes three: the loop over a range, that loop on
    arguments from memory, and one that gives ranges to the threads by `mhcrt_parallel_loop`. An error of a kernel is kept in the context, which makes the kernels behind it do nothing;
    the entry returns it.

    With another target than `cpu`, which the manifest then names, tensors and arena are in the memory of the GPU. A
    `gpu.launch_func` becomes a call of `mhcrt_cuda_loop`, constants are copied there by `mhcrt_constant`, and an element
    that the host would have to load or store is an error. A check in a kernel notes that it failed in a global of the
    kernel's image, which the runtime reads when it waits.

    With `lines`, `mhcrt_set_location` goes before each call of a kernel or loop, so that errors and profilers name the
    line of the source.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu\"", "cpu or cuda:ARCH">,
                 Option<"lines", "lines", "bool", /*default=*/"false", "Tell the runtime the lines of calls">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def ReadAtenPass : Pass<"mhc-read-aten", "::mlir::func::FuncOp"> {
  let summary = "Turn the ATen ops of a captured PyTorch graph into leaf ops";
  let description = [{
    A graph is a function of ops that are named as PyTorch names them, with `torch.` in front where they are not of `aten`
    or `prims`, and the name of each node as the location. The attributes of an op are its arguments by their names in the
    op's schema: a literal, or the number of an operand as an `index`. Sizes that types leave open are in `mhc.dims`, of
    arguments and, a list for each result, of ops.

    What is read becomes leaf ops. All other nodes leave the function: their results are arguments of it, and what they
    read of leaf ops are results, under the names of the nodes (`mhc.name`). So do nodes that are marked `mhc.outside`,
    but for views.

    With `in-place`, calls of `mhc` ops become the ops of the dialect, by their records. What is not read stays where it is,
    and reads leaf ops; a node that is marked `mhc.pure` neither changes a tensor nor draws random numbers, so that a pass
    may move it. Results of the function are the values that nodes read of leaf ops, as before.

    Before:
    ```mlir
    func.func @graph(%x: tensor<8x4xf32> {mhc.name = "x"}) -> tensor<8x4xf32> {
      %0 = "aten.exp.default"(%x) {self = 0 : index} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("exp")
      %1 = "aten.cos.default"(%0) {self = 0 : index} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("cos")
      return %1 : tensor<8x4xf32>
    }
    ```
    After:
    ```mlir
    func.func @graph(%x: tensor<8x4xf32> {mhc.name = "x"}) -> (tensor<8x4xf32> {mhc.name = "exp"}) {
      %0 = math.exp %x : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>
    }
    ```
  }];
  let options = [Option<"all", "all", "bool", /*default=*/"false",
                        "An op that is not read is an error; results stay as they are">,
                 Option<"inPlace", "in-place", "bool", /*default=*/"false",
                        "Calls of mhc ops are read, too, and all that is not read stays in the function">];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WriteAtenPass : Pass<"mhc-write-aten", "::mlir::ModuleOp"> {
  let summary = "Print what was fused of a PyTorch graph as calls of PyTorch's ops";
  let description = [{
    Of each function that mhc-read-aten made, prints one JSON object to the standard output: `calls`, of `mhc` ops by the
    names of their records and of ATen ops in between, in an order in which they can run, and `nodes`, the values that
    take the place of nodes of the graph. A node that no fused op is behind stays, and is not named. An op that has no
    form in PyTorch is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MHC_CONVERSION_PASSES
