//===- Passes.td - Passes from mhc to mhc ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long because the record of a pass is its manual, with an example.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_PASSES
#define MHC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def InlinePass : Pass<"mhc-inline", "::mlir::ModuleOp"> {
  let summary = "Replace calls by what they call";
  let description = [{
    Fusion and the plan of memory are for functions without calls, so that every call is replaced, those of functions
    with `no_inline` too. Calls of functions without a body and of recursive ones stay. `no_inline` and `mhc.vjp` are
    removed.

    With `keep-for-gradients`, before `mhc-autodiff`, the calls of functions with `no_inline` or `mhc.vjp` stay: a
    derivative that the user names belongs to the call.

    Before, and with `keep-for-gradients` after:
    ```mlir
    func.func private @round(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhc.vjp = @round_bwd} {
      %y = math.roundeven %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = call @round(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.roundeven %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let options = [Option<"keepForGradients", "keep-for-gradients", "bool", /*default=*/"false",
                        "Keep calls of functions with no_inline or mhc.vjp">];
}

def SimplifyPass : Pass<"mhc-simplify", "::mlir::ModuleOp"> {
  let summary = "Drop what is unused, computed twice or folds";
  let description = [{
    What `symbol-dce`, `cse` and `canonicalize` do one after the other, without what a module of public functions of one
    block each does not need.

    Before:
    ```mlir
    %a = arith.addf %x, %y : tensor<4xf32>
    %b = arith.addf %x, %y : tensor<4xf32>
    %c = arith.mulf %a, %b : tensor<4xf32>
    ```
    After:
    ```mlir
    %a = arith.addf %x, %y : tensor<4xf32>
    %c = arith.mulf %a, %a : tensor<4xf32>
    ```
  }];
  let options = [Option<"dropsSymbols", "drops-symbols", "bool", /*default=*/"true",
                        "Drop private functions that nothing calls">];
}

def PrintAlgebraPass : Pass<"mhc-print-algebra", "::mlir::ModuleOp"> {
  let summary = "Print the values of all functions as expressions of their indices";
  let description = [{
    Writes how the compiler reads each value: a sum of products of elements, functions of them and reductions, in the
    normal form in which it compares them. Variable `i0` is the index of the value's first dimension, `i1/4<8` the digit
    `(i1 div 4) mod 8`. The module stays as it is.

    For
    ```mlir
    func.func @aggregate(%h: tensor<?x4xf32>, %x: tensor<?x4x8xf32>) -> tensor<?x1x8xf32> {
      %row = tensor.expand_shape %h [[0], [1, 2]] output_shape [2, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
      %u = mhc.batch_matmul %row, %x : (tensor<?x1x4xf32>, tensor<?x4x8xf32>) -> tensor<?x1x8xf32>
      return %u : tensor<?x1x8xf32>
    }
    ```
    it prints `%1 = sum{r0<4}(%arg0[i0,r0] * %arg1[i0,r0,i2])`.
  }];
}

def ReadSizesPass : Pass<"mhc-read-sizes", "::mlir::func::FuncOp"> {
  let summary = "Read the sizes that exporters compute";
  let description = [{
    With open sizes exporters compute the shape of a reshape, allow for sizes of 1 and for negative ones, and assert what
    they need. A reshape becomes ops that join and split dimensions. An element that the body of loops reads
    at the index of the loops, or at 0 where the size is 1, becomes an operand. A size that the body states, such as by a
    cast, is one of the types of arguments and of all that is made of them. Assertions that the other ops imply go. What
    is not known stays.

    Before:
    ```mlir
    func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x4x2xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %m = tensor.dim %x, %c0 : tensor<?x?x8xf32>
      %k = tensor.dim %x, %c1 : tensor<?x?x8xf32>
      %shape = tensor.from_elements %m, %k, %c4, %c2 : tensor<4xindex>
      %y = tensor.reshape %x(%shape) : (tensor<?x?x8xf32>, tensor<4xindex>) -> tensor<?x?x4x2xf32>
      return %y : tensor<?x?x4x2xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<?x?x8xf32>) -> tensor<?x?x4x2xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %x, %c0 : tensor<?x?x8xf32>
      %k = tensor.dim %x, %c1 : tensor<?x?x8xf32>
      %y = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%m, %k, 4, 2]
        : tensor<?x?x8xf32> into tensor<?x?x4x2xf32>
      return %y : tensor<?x?x4x2xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def StateSizesPass : Pass<"mhc-state-sizes", "::mlir::ModuleOp"> {
  let summary = "Write down what functions demand of their sizes";
  let description = [{
    Gives every argument and result with open sizes `mhc.dims`, the symbols of its dimensions. Equal symbols have equal
    sizes; `M*d1` and `M+d1-1` are sizes that follow from others. Equalities that no argument states are in
    `mhc.conditions` of the function. Later passes replace the ops that demand this, and join dimensions: the sizes of
    entries are described from what is written down here.

    Before:
    ```mlir
    func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %z = arith.mulf %x, %y : tensor<?x?xf32>
      return %z : tensor<?x?xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<?x?xf32> {mhc.dims = ["M", "d1"]}, %y: tensor<?x?xf32> {mhc.dims = ["M", "d1"]})
        -> (tensor<?x?xf32> {mhc.dims = ["M", "d1"]}) {
      %z = arith.mulf %x, %y : tensor<?x?xf32>
      return %z : tensor<?x?xf32>
    }
    ```
  }];
}

def ImportPass : Pass<"mhc-import", "::mlir::func::FuncOp"> {
  let summary = "Turn what exporters write into leaf ops";
  let description = [{
    `mhc-raise` begins with this pass; gradients need it where nothing is raised, for leaf ops have gradients and those
    of linalg have none. In this order:

    - `mhc-read-sizes`;
    - `scf.while` whose number of iterations is known becomes `scf.for`, and so does `tm_tensor.scan`;
    - a table that is gathered of constants, as JAX takes rows of an identity, becomes a constant; elements of a vector
      at such places, as `repeat_interleave` takes them, become a concatenation of repeated ones;
    - a convolution, or another op with a short window, becomes one op for each point of it;
    - ops of linalg become leaf ops; assertions inside their bodies go;
    - a number that is read from a tensor and repeated becomes a slice that is repeated;
    - a size of an argument is read from the argument, wherever it is needed;
    - insertions that fill an empty tensor, and parts chosen by an index, become `tensor.concat`;
    - a size that the type of one operand or result of an op states is stated by all;
    - tokens in two dimensions of open size are joined to one where nothing keeps them apart.

    Ops that cannot be read stay, and so do loops whose number of iterations is unknown.

    Before:
    ```mlir
    %y = linalg.generic {...} ins(%x : tensor<?x4xf32>) outs(%start : tensor<?xf32>) { ^bb0(%a, %sum): addf %a, %sum }
    ```
    After:
    ```mlir
    %y = mhc.reduce sum %x dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def NormalisePass : Pass<"mhc-normalise", "::mlir::func::FuncOp"> {
  let summary = "Bring what mhc-raise reads to its normal form";
  let description = [{
    What `mhc-raise` does between `mhc-import` and its search, alone: to look at, and to test. Arithmetic has one form,
    views stand behind what computes, what is computed of all parts of a value is computed of the value, and what is
    computed twice is one value.

    Before:
    ```mlir
    %z = arith.addf %x, %zero : tensor<8x4xf32>
    ```
    After: `%z` is `%x`.
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def RaisePass : Pass<"mhc-raise"> {
  let summary = "Recognise mHC ops in chains of plain tensor ops";
  let description = [{
    Finds the mHC ops in code that spells them out. Matching is by dataflow: every value is brought to a normal form, a
    sum of products of tensors under index maps, so that a batched matrix product, a multiplication followed by a
    reduction and a sum over slices are the same thing. Values that other code uses stay available. Streams keep
    the layout that they have, [M,n,C] or [M,C,n]: no transpose is added.

    What exporters write is read by `mhc-import` first, and brought to a normal form (`mhc-normalise`). On a module, the
    pass replaces calls by what they call before that, as `mhc-inline{keep-for-gradients}` does. A function, or a module,
    in which nothing is found stays as it came in.

    A remark says what was found. A near miss gets one remark, named by the code of its reason (docs/reasons.md); gates
    of such a site get the attribute `mhc.told`, so that `mhc-fuse` does not say what it misses there as well. An
    analysis remark, `sites`, counts both for each function; another one, `bare-exp`, says where a found iteration starts
    from exponentials that overflow, and `fewer-roundings` where one by logarithms, or the weights of permutations, round to
    a narrow type in between, which the op does not.

    `limit` is for bisecting: of the ops that the pass would find in a function, the first N are, in the order in which
    it finds them. A function in which it was reached gets the attribute `mhc.raise_limited`: what later passes miss
    there is a matter of the limit, and no remark.
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"-1", "Find at most N ops; all with -1">];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def SetPrecisionPass : Pass<"mhc-set-precision", "::mlir::func::FuncOp"> {
  let summary = "Give one precision to all ops that leave it open";
  let description = [{
    Sets `precision` (mhc.projection has the bounds) where an op may have it and has not, so that what raising found is
    as exact as asked. Fusion and gradients take it over. What the program says itself stays.

    Before:
    ```mlir
    %proj, %stat = mhc.projection(...) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (...)
    ```
    After `mhc-set-precision{precision=ieee}`:
    ```mlir
    %proj, %stat = mhc.projection(...) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms, precision = ieee> -> (...)
    ```
  }];
  let options = [
    Option<"precision", "precision", "::mhc::Precision", /*default=*/"::mhc::Precision::bf16x3",
           "Least accuracy of the products",
           [{::llvm::cl::values(
             clEnumValN(::mhc::Precision::ieee, "ieee", "f32"),
             clEnumValN(::mhc::Precision::tf32x3, "tf32x3", "two terms of tf32"),
             clEnumValN(::mhc::Precision::bf16x3, "bf16x3", "two terms of bf16"),
             clEnumValN(::mhc::Precision::tf32, "tf32", "one term of tf32"))}]>
  ];
  let dependentDialects = ["::mhc::MhcDialect"];
}

def SetGdnImplPass : Pass<"mhc-set-gdn-impl", "::mlir::func::FuncOp"> {
  let summary = "Choose the kernels of gated delta front ends that leave it open";
  let description = [{
    Sets `impl` of `mhc.pre_gated_delta_rule` and its gradient where it is absent: `fused` is one kernel, `streamed` one
    for each branch, with the same bits. `ref` replaces the ops by the leaf ops that define them. Without the option, the
    string attribute `mhc.gdn_impl` of the function chooses.

    Before:
    ```mlir
    %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(...) <num_key_heads = 1, ..., seq_layout = MbD> -> (...)
    ```
    After `mhc-set-gdn-impl{impl=streamed}`:
    ```mlir
    %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(...) <num_key_heads = 1, ..., seq_layout = MbD, impl = streamed> -> (...)
    ```
  }];
  let options = [Option<"impl", "impl", "std::string", /*default=*/"", "ref, streamed or fused">];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def FoldExpandPass : Pass<"mhc-fold-expand", "::mlir::func::FuncOp"> {
  let summary = "Read the one row of equal streams where it lies";
  let description = [{
    The streams of `mhc.expand` are copies of a row. Where all of its readers are kernels that take the row in their
    place, they do, with the attribute that says so, and no copy is written: around the first sublayer of a model, and
    in the gradients of its last one where the streams are added up behind it. Where one reader needs streams, they are
    there for all. Interleaved streams (`Cn`) stay: the fast kernels of GPUs read whole vectors of them.

    Before:
    ```mlir
    %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
    %y = mhc.post(..., x = %x : tensor<?x4x64xbf16>, ...) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
    ```
    After:
    ```mlir
    %y = mhc.post(..., x = %e : tensor<?x64xbf16>, ...) <layout = nC, orient = io, equal_x> -> (out : tensor<?x4x64xbf16>)
    ```
  }];
  let dependentDialects = ["::mhc::MhcDialect"];
}

def FoldContractPass : Pass<"mhc-fold-contract", "::mlir::func::FuncOp"> {
  let summary = "Add up the streams where they are made";
  let description = [{
    Where `mhc.contract` alone reads the streams of a `mhc.post`, as behind the last sublayer of a model, the post writes
    their sum or mean, with the same bits, and no streams. Where something else reads them, they are written, and both
    ops stay. Interleaved streams (`Cn`) stay, as in `mhc-fold-expand`.

    Before:
    ```mlir
    %y = mhc.post(...) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
    %s = mhc.contract(x = %y : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
    ```
    After:
    ```mlir
    %s = mhc.post(...) <layout = nC, orient = io, contracted = sum> -> (out : tensor<?x64xbf16>)
    ```
  }];
  let dependentDialects = ["::mhc::MhcDialect"];
}

def ViewGatePass : Pass<"mhc-view-gate", "::mlir::func::FuncOp"> {
  let summary = "Read the gates of gated delta front ends where they lie";
  let description = [{
    `gate` of `mhc.pre_gated_delta_rule` is a copy of channels of its operand. Where loops over elements alone read it,
    they read those channels: the kernel neither reads nor writes them. Other users, such as a product, a call or a
    return, need tensors without gaps, and so does `gate` then: the note `gate-copied` names one. Where the batch is
    inside the tokens, one loop may read the part, in its order.

    Before:
    ```mlir
    %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x100xbf16>, ...) <..., seq_layout = bMD> -> (...)
    %y = mhc.silu %gate : tensor<1x?x2x16xbf16>
    ```
    After:
    ```mlir
    %part = tensor.extract_slice %x[0, 0, 64] [1, %M, 32] [1, 1, 1] : tensor<1x?x100xbf16> to tensor<1x?x32xbf16>
    %z = tensor.expand_shape %part [[0], [1], [2, 3]] output_shape [1, %M, 2, 16] : tensor<1x?x32xbf16> into tensor<1x?x2x16xbf16>
    %query, %key, %value, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<1x?x100xbf16>, ...) <..., seq_layout = bMD> -> (...)
    %y = mhc.silu %z : tensor<1x?x2x16xbf16>
    ```
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect"];
}

def FusePass : Pass<"mhc-fuse", "::mlir::func::FuncOp"> {
  let summary = "Join mHC ops into fewer kernels";
  let description = [{
    At level `layer`, joins projection, gates, residual map and aggregate on the same streams into one `mhc.pre`, and
    into `mhc.head` when only the sublayer input is used. The fused kernel reads the streams once, where projection and
    aggregate read them twice, so that every chain that can be joined is. At level `model`, also joins `mhc.post` and the
    `mhc.pre` of the streams that it makes into one `mhc.post_pre`, their gradients into one `mhc.post_pre_bwd`, and
    `mhc.post` and the `mhc.head` of its streams into one `mhc.post_head`, which writes the streams only where something
    else reads them. A norm with a weight, `mhc.rms_norm` or written out, that alone reads the u of a `mhc.post_pre`
    becomes a part of it, and rounds once in place of twice. A program with gradients keeps it (`norms=false`): there u
    is kept or made again for the norm's own gradient, and a model serves with the bits that it was trained with. From
    `layer` on, a sum of two gradients of streams is added up in the `mhc.pre_bwd` or `mhc.post_bwd` that makes one of them. At every level but
    `none`, ops whose results are partly unused are narrowed, gradients of parts that
    fill a tensor are laid side by side instead of added up among zeros, and matrix products round their own results,
    also where these are reshaped, transposed or joined before.

    A remark says what was fused and how many bytes it saves; a chain that was declined gets a remark named by the code
    of its reason (docs/reasons.md). An analysis remark, `sites`, counts both for each function.

    `limit` is for bisecting: of the chains that the pass would fuse in a function, the first N are, in the order of
    the program.
  }];
  let options = [
    Option<"level", "level", "::mhc::FuseLevel", /*default=*/"::mhc::FuseLevel::layer", "What one kernel may span",
           [{::llvm::cl::values(
             clEnumValN(::mhc::FuseLevel::none, "none", "nothing: each op its own kernel"),
             clEnumValN(::mhc::FuseLevel::chain, "chain", "each mHC op"),
             clEnumValN(::mhc::FuseLevel::layer, "layer", "one pre and one post per sublayer"),
             clEnumValN(::mhc::FuseLevel::model, "model", "the post of one sublayer and the pre of the next"))}]>,
    Option<"limit", "limit", "int64_t", /*default=*/"-1", "Fuse at most N chains; all with -1">,
    Option<"norms", "norms", "bool", /*default=*/"true", "Join the norm of u with the boundary in front of it">
  ];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect"];
}

def SetLayoutPass : Pass<"mhc-set-layout", "::mlir::func::FuncOp"> {
  let summary = "Choose the memory order of streams where it is free";
  let description = [{
    Ops that share streams have one layout: `nC`, [M,n,C], or `Cn`, [M,C,n]. It is free where ops with a layout alone make
    and read the streams, as from `mhc.expand` to `mhc.contract`; their number of tokens may be read by others. Arguments
    and results of the function keep their order, and no streams are transposed: weights that multiply a flattened token
    are, `phi` and `norm_weight`, and their gradients.

    `auto` takes the layout in which kernels move fewer bytes on `target`. Bytes are those of the records, twice as many
    where the runtime has no fast kernel for the op in that layout (mhc/Analysis/LayoutCost.h), and those of the
    transposed weights where the number of tokens is known. Where both layouts cost the same, streams keep theirs. `nC` and
    `Cn` are taken at any cost.

    Results differ by rounding: a projection adds its terms in another order.

    A remark says what was turned, why, and how many bytes of weights are transposed; streams that would be turned and are
    not free have one named by the code of its reason (docs/reasons.md).

    Before:
    ```mlir
    %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = Cn> -> (streams : tensor<?x1024x4xbf16>)
    %y = mhc.post(f = %f : tensor<?x1024xbf16>, h_post = %g : tensor<?x4xf32>, x = %x : tensor<?x1024x4xbf16>, ...) <layout = Cn, ...> -> (...)
    ```
    After `mhc-set-layout{layout=nC}`:
    ```mlir
    %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = nC> -> (streams : tensor<?x4x1024xbf16>)
    %y = mhc.post(f = %f : tensor<?x1024xbf16>, h_post = %g : tensor<?x4xf32>, x = %x : tensor<?x4x1024xbf16>, ...) <layout = nC, ...> -> (...)
    ```
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"auto\"", "nC, Cn, or auto for the cheaper one">,
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"", "What auto asks for: cpu, or cuda:sm_90a and the like">
  ];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect"];
}

def AutodiffPass : Pass<"mhc-autodiff", "::mlir::ModuleOp"> {
  let summary = "Build the gradients of a function";
  let description = [{
    Makes three functions beside `function`, called NAME here:

    - `NAME_grad`: arguments and cotangents of the results to results and gradients;
    - `NAME_fwd`: arguments to results and saved values;
    - `NAME_bwd`: saved values and cotangents to gradients. A saved value that is an argument or a result of NAME is
      passed under its name, the others are called `saved0`, `saved1`, ... What would only be transposed again, such as
      heads of attention, is saved transposed.

    The gradient of `x` is called `d_x`, as is the cotangent of a result `x`. Every float argument has one, unless it has
    the attribute `mhc.no_grad`, for which nothing is computed then.

    With the attribute `mhc.main_grad`, a gradient is added to a tensor that the caller passes, in f32 where the argument
    has 16 bits: `NAME_grad` and `NAME_bwd` have one more argument `d_x`, and their result `d_x` is computed in place of
    it (`mhc.in_place`). Sums over microbatches need no pass of their own and are not rounded.

    The pass walks the function backwards and asks each op for its vector-Jacobian product (DifferentiableOpInterface).
    An op without one is decomposed and its leaves are differentiated; calls are replaced by what they call; a loop of
    constant bounds is written out, so that each iteration saves the values of its own backward pass; both sides of a
    branch are computed. The attribute `mhc.vjp = @f_bwd` on a function `f` names the function that computes its gradients, from its
    arguments and the cotangents of its results; a function without a body needs one. Its calls must not have been
    inlined (`mhc-inline=keep-for-gradients`).

    Cotangents are added in the order of the backward pass, in f32 where values have 16 bits. Kernels add to the sum of
    those before them, in f32 registers; with `sums=stored` they round it to the type of the streams, with `sums=f32` it
    stays in f32 until the last one, for twice the bytes.

    With `recompute`, or without it the string attribute `mhc.recompute_mode` of the function, the layers of each chain of `mhc.post` are cut into groups: `groups=N` of N layers, `all` of all
    of them, `auto` of sqrt(nL/(n+2)) in a chain of L layers with n streams, which needs the least memory. What enters a
    group stays saved, as does what its last layer writes. The streams inside it are built again by one `mhc.rebuild`
    before the backward pass of the group, with the sublayers' inputs where the backward pass reads all of them, and their norms again from those. The
    gradients have the same bits. The attribute `mhc.recompute` of NAME_grad has the layers of each group, for each
    chain. A remark says what was rebuilt, and which streams were not the output of `mhc.post` and stay saved.

    Before:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
    After, and `@f_grad` and `@f`:
    ```mlir
    func.func @f_fwd(%x: tensor<4xf32> {mhc.name = "arg0"}) -> (tensor<4xf32> {mhc.name = "result0"}) {
      %y = math.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @f_bwd(%y: tensor<4xf32> {mhc.name = "result0"}, %d_y: tensor<4xf32> {mhc.name = "d_result0"})
        -> (tensor<4xf32> {mhc.name = "d_arg0"}) {
      %d_x = arith.mulf %d_y, %y : tensor<4xf32>
      return %d_x : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", /*default=*/"", "The function to differentiate">,
    Option<"sums", "sums", "::mhc::GradientSums", /*default=*/"::mhc::GradientSums::stored",
           "How kernels store a gradient of streams that others add to",
           [{::llvm::cl::values(
             clEnumValN(::mhc::GradientSums::stored, "stored", "in the type of the streams"),
             clEnumValN(::mhc::GradientSums::f32, "f32", "in f32 until the last one"))}]>,
    Option<"recompute", "recompute", "std::string", /*default=*/"",
           "Which streams the backward pass computes again: none, all, auto or groups=N; default is the function's "
           "mhc.recompute_mode">
  ];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def PipelineSplitPass : Pass<"mhc-pipeline-split", "::mlir::ModuleOp"> {
  let summary = "Cut functions into the stages of a pipeline, each a function of its own";
  let description = [{
    Each function with `mhc.post` becomes `stages` functions NAME_stage0, NAME_stage1, ..., and calls them. A stage ends
    behind an `mhc.post`, so that it hands over the streams, and stages have equally many of them, up to one. What else
    a later stage reads of an earlier one is handed over as well, such as the h_pre of the single-pass form, from stage
    to stage. Names of such values are `cut1.0`: of the first cut, the first value.

    What depends on no streams is computed in each stage that reads it. A stage has the arguments that it reads; a weight
    that two stages read is an argument of both, and its gradient the sum of theirs. Attributes of the function, such as
    `mhc.recompute_mode`, are those of each stage: groups of recomputation end at a cut. Behind `mhc-raise` and before
    `mhc-fuse`, fusion across layers ends there, too.

    Functions without an `mhc.post` that make weights, such as those at the start and those after a step, become one
    function for each stage as well, with the results that are its own: tensors with the names of what the stage reads,
    and what is made of them or of their gradients, `d_W` of `W`. Tensors of several stages are those of one pair of
    stages or, where not all are of the same pair, of all stages.

    Before:
    ```mlir
    func.func @f(%x: tensor<8x4x16xf32>, %f0: tensor<8x16xf32>, %f1: tensor<8x16xf32>, %h: tensor<8x4xf32>,
                 %w: tensor<8x4x4xf32>) -> tensor<8x4x16xf32> {
      %y = mhc.post(f = %f0 : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                    h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
      %z = mhc.post(f = %f1 : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %y : tensor<8x4x16xf32>,
                    h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
      return %z : tensor<8x4x16xf32>
    }
    ```
    After `mhc-pipeline-split=stages=2`, and `@f`, which calls both:
    ```mlir
    func.func @f_stage0(%x: tensor<8x4x16xf32>, %f0: tensor<8x16xf32>, %h: tensor<8x4xf32>, %w: tensor<8x4x4xf32>)
        -> (tensor<8x4x16xf32> {mhc.name = "cut1.0"})
    func.func @f_stage1(%y: tensor<8x4x16xf32> {mhc.name = "cut1.0"}, %f1: tensor<8x16xf32>, %h: tensor<8x4xf32>,
                        %w: tensor<8x4x4xf32>) -> tensor<8x4x16xf32>
    ```
  }];
  let options = [Option<"stages", "stages", "int64_t", /*default=*/"2", "How many stages">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposePass : Pass<"mhc-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replace mHC ops by the leaf ops that define them";
  let description = [{
    The inverse of raising and fusing, used by the reference evaluator and by tests: every op that can be decomposed is,
    until only leaf ops are left.
  }];
  let dependentDialects = ["::mhc::MhcDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def FlattenBranchesPass : Pass<"mhc-flatten-branches", "::mlir::func::FuncOp"> {
  let summary = "Compute both sides of a branch and select one";
  let description = [{
    Buffers are planned for straight-line code, so that the memory of both sides is part of the plan. An error says why a
    branch cannot be flattened: an op that may only run where its side is taken, or sizes that differ between the sides.
    An element that a side reads by index is the first one where the side is not taken. A part that sizes decide to read
    is empty there, and zeros stand for it.

    Before:
    ```mlir
    %out = scf.if %c -> tensor<?xf32> {
      %y = math.tanh %x : tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    } else {
      scf.yield %x : tensor<?xf32>
    }
    ```
    After:
    ```mlir
    %y = math.tanh %x : tensor<?xf32>
    %out = arith.select %c, %y, %x : tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DescribeEntriesPass : Pass<"mhc-describe-entries", "::mlir::ModuleOp"> {
  let summary = "Check that public functions can be entries, and write down the names of their sizes";
  let description = [{
    Gives every argument and result of a public function its attributes `mhc.name` (a default, unless the user gave one)
    and `mhc.dims`, the symbols of its dimensions: equal symbols have equal sizes, `M` is the first dynamic one. What
    `mhc-state-sizes` wrote down still holds.

    A result with the attribute `mhc.in_place` takes over the memory of the argument of its name, which gets the
    attribute as well.

    An error says why a function cannot be an entry: an argument that is no ranked tensor of a known element type, a
    result size that no argument has, control flow other than `scf.for` and `scf.while`, a carried tensor whose size
    changes, a call that was not inlined.

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

def KeepScalarsPass : Pass<"mhc-keep-scalars", "::mlir::func::FuncOp"> {
  let summary = "Keep elements of tensors in tensors";
  let description = [{
    For a target whose memory the host cannot read. A scalar that is taken out of a tensor, and what is computed from it,
    becomes a tensor of rank 0, which linalg ops read as an operand. An error says where the host itself would need the
    value, such as the number of iterations of a loop.

    Before:
    ```mlir
    %scale = tensor.extract %scales[%c1] : tensor<3xf32>
    %y = linalg.generic {...} ins(%x : ...) outs(...) { ^bb0(%a, %out): mulf %a, %scale }
    ```
    After:
    ```mlir
    %scale = tensor.extract_slice %scales[1] [1] [1] : tensor<3xf32> to tensor<f32>
    %y = linalg.generic {...} ins(%x, %scale : ...) outs(...) { ^bb0(%a, %b, %out): mulf %a, %b }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"mhc-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Join elementwise linalg ops with the op that reads them";
  let description = [{
    Upstream's fusion of a producer with its only reader, or with the first of several where plain loops then store the
    value for the others: an optimizer's step becomes one loop for each weight. What is made of far smaller tensors by one
    op, as a causal mask, is made again by each of its readers. A loop has at most 64 ops, so that a
    chain of any length compiles in time that grows with it. In one walk: the pattern driver of upstream's pass is slower
    than linear in the size of a block.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def SplitSumsPass : Pass<"mhc-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Make long sums of short ones";
  let description = [{
    A sum of n terms of one sign that are added in f32 one after the other may be off by n units of roundoff. A sum of
    more than 256 becomes sums of blocks, in f32, which threads may share, and the sum of those and of what is left, in
    f64. Where it falls into blocks depends on its length alone, so that the result does not depend on threads. Where an
    operand has no element for each term, as in a product of matrices, all of the sum is in f64.

    Before:
    ```mlir
    %sum = linalg.generic {...} ins(%x : tensor<1000x8xf32>) outs(%zeros : tensor<8xf32>) { ^bb0(%a, %s): addf %s, %a }
    ```
    After:
    ```mlir
    %blocks = linalg.generic {...} ins(%x : tensor<1000x8xf32>) outs(%z : tensor<4x8xf32>) { ^bb0(%a, %s): addf %s, %a }
    %wide = linalg.generic {...} ins(%blocks : tensor<4x8xf32>) outs(%w : tensor<8xf64>) { ^bb0(%a, %s): extf, addf }
    %sum = linalg.generic {...} ins(%wide : tensor<8xf64>) outs(%empty : tensor<8xf32>) { ^bb0(%a, %s): truncf %a }
    ```
  }];
  let options = [Option<"onGpu", "on-gpu", "bool", "false",
                        "A warp adds a sum, in f64 where it is long: only few and very long ones are split">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReuseOperandsPass : Pass<"mhc-reuse-operands", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops write over an operand that nobody else reads";
  let description = [{
    An elementwise op that would write into a new tensor writes over an operand instead, where that is read at the same
    place only and has no other reader. Bufferization does not see this by itself: it would need to know that an op reads
    no place after it is written.

    Before:
    ```mlir
    %empty = tensor.empty(%M) : tensor<?xf32>
    %y = linalg.generic {...} ins(%x, %e : ...) outs(%empty : tensor<?xf32>) { ^bb0(%a, %b, %out): subf %b, %a }
    ```
    After:
    ```mlir
    %y = linalg.generic {...} ins(%x : ...) outs(%e : tensor<?xf32>) { ^bb0(%a, %out): subf %out, %a }
    ```
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

def CarryLoopsPass : Pass<"mhc-carry-loops", "::mlir::func::FuncOp"> {
  let summary = "Keep what a loop carries in one buffer";
  let description = [{
    Bufferization lets an iteration yield any buffer. Here it ends with a copy into the buffer that the loop started
    with, so that memory does not depend on the number of iterations and can be planned. Values that the condition of a
    `scf.while` passes on stay in one buffer, too, which is made in front of the loop.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %start) -> (memref<?xf32>) {
      scf.yield %y : memref<?xf32>
    }
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      memref.copy %y, %start : memref<?xf32> to memref<?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
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

def AnnounceGradientsPass : Pass<"mhc-announce-gradients", "::mlir::ModuleOp"> {
  let summary = "Say when a gradient that ranks add up is complete";
  let description = [{
    Behind the last use of a result that is a part of a sum over ranks (`mhc.partial`) an entry calls the function
    `gradient_complete`, which the user of the model may give: the sum over ranks starts while the rest of the backward
    pass is computed. mhc-train adds up several gradients at a time.

    Before:
    ```mlir
    func.func @loss_grad(%x: memref<4x8xf32>, %d_w: memref<4x8xf32> {mhc.partial = "dp", mhc.result}) {
      linalg.copy ins(%x : memref<4x8xf32>) outs(%d_w : memref<4x8xf32>)
      return
    }
    ```
    After:
    ```mlir
    func.func private @gradient_complete(memref<?xf32> {mhc.dims = ["N"], mhc.name = "gradient"})
        attributes {mhc.outside_function}
    func.func @loss_grad(%x: memref<4x8xf32>, %d_w: memref<4x8xf32> {mhc.partial = "dp", mhc.result}) {
      linalg.copy ins(%x : memref<4x8xf32>) outs(%d_w : memref<4x8xf32>)
      %row = memref.collapse_shape %d_w [[0, 1]] : memref<4x8xf32> into memref<32xf32>
      %gradient = memref.cast %row : memref<32xf32> to memref<?xf32>
      call @gradient_complete(%gradient) : (memref<?xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CheckSizesPass : Pass<"mhc-check-sizes", "::mlir::ModuleOp"> {
  let summary = "Check sizes and places that are known only when an entry runs";
  let description = [{
    What buffers are used for demands that a part lies in its whole, that an element is there, that sizes are equal. What
    does not follow from `mhc.dims` becomes a call of `mhc.check_size`: the first number must lie between the others. An
    entry whose check fails ends with an error that has the number, the range and the place in the source; what would
    come behind it is left out.

    An index that the body of a loop reads from a tensor is checked in front of the loop, by one that finds the least and
    the largest. On a GPU the body itself has the check; an element that is not there is zero, and the next
    synchronisation has the error. An integer division that has no result, by zero or of the least number by -1, is an
    assertion that fails.

    Before:
    ```mlir
    func.func @f(%x: memref<?xf32> {mhc.dims = ["M"]}, %i: memref<index>) -> f32 {
      %place = memref.load %i[] : memref<index>
      %element = memref.load %x[%place] : memref<?xf32>
      return %element : f32
    }
    ```
    After:
    ```mlir
    func.func private @mhc.check_size(index, index, index)
    func.func @f(%x: memref<?xf32> {mhc.dims = ["M"]}, %i: memref<index>) -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %place = memref.load %i[] : memref<index>
      %size = memref.dim %x, %c0 : memref<?xf32>
      %last = arith.subi %size, %c1 : index
      func.call @mhc.check_size(%place, %c0, %last) {mhc.checked = "the index in dimension 0"}
        : (index, index, index) -> ()
      %element = memref.load %x[%place] : memref<?xf32>
      return %element : f32
    }
    ```
  }];
  let options = [Option<"onGpu", "on-gpu", "bool", "false",
                        "The tensors are in the memory of a GPU: loops check the indices that they read from them">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlanMemoryPass : Pass<"mhc-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Place all temporaries of an entry in one arena";
  let description = [{
    Sizes are polynomials of the symbols in `mhc.dims`. The arena has one region per product of symbols, and one for
    what does not depend on any; in a region, sizes are numbers, so that offsets are planned at compile time: buffers
    that live at the same time do not overlap, others share memory (best fit, in program order). A loop uses the same
    memory in every iteration; buffers from outside that it reads live until its end. The symbol is rounded up to a
    multiple of 64, which keeps every offset aligned for any size of the arguments. A sum in floating point, which does
    not wrap, says whether the arena is 2^61 bytes or more; it then asks for as many, which there are not.

    One `memref.alloc` remains, the arena. The attribute `mhc.memory` records for each region the bytes of the arena, of
    the largest sum of live buffers (what no plan can beat) and of all buffers together (no sharing). `mhc.temporaries`
    has each buffer with its size, the first and the last step of the function that touch it, and its line.

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
