// RUN: mhc-tblgen --gen-torch-boxed-ops -I %mhc_src_root/include -I %mhc_src_root/python -I %mlir_include_dir %s | FileCheck %s --check-prefix=BOXED
// RUN: mhc-tblgen --gen-torch-python -I %mhc_src_root/include -I %mhc_src_root/python -I %mlir_include_dir %s -o %t.py
// RUN: FileCheck %s --check-prefix=PYTHON --input-file=%t.py
// RUN: %python -m py_compile %t.py

// An op and its derivative, with every kind of argument that an op of PyTorch may have.

include "TorchClasses.td"

def Tiny_MixOp : Mhc_KernelOp<"mix"> {
  let summary = "Mix streams";
  let description = [{
    Says "how" and \n.

    ```mlir
    left out
    ```
  }];
  let arguments = (ins Mhc_Streams<>:$x, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$weight, Mhc_Phi<"N">:$phi,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$past, Optional<Mhc_Seed>:$seed, Mhc_LayoutAttr:$layout,
    Mhc_PhiLayoutAttr:$phi_layout, Mhc_IterCount:$iters, F64Attr:$eps, BoolAttr:$fold, Mhc_OptionalPrecision:$precision,
    Mhc_OptionalRate:$rate);
  let results = (outs Mhc_Like<"x", ["M", "C"]>:$out, Optional<Mhc_Tensor<[F32], ["M", "R"]>>:$rest,
    Optional<Mhc_Tensor<[F32], ["M"]>>:$stat);
}

def Tiny_MixBwdOp : Mhc_KernelOp<"mix_bwd"> {
  let summary = "Gradients of mix";
  let arguments = (ins Mhc_Like<"x", ["M", "C"]>:$d_out, Optional<Mhc_Tensor<[F32], ["M", "R"]>>:$d_rest, Mhc_Streams<>:$x,
    Optional<Mhc_LikeOrF32<"x", ["K"]>>:$weight, Mhc_Phi<"N">:$phi, Mhc_Tensor<[F32], ["M"]>:$stat,
    Optional<Mhc_Streams<"x">>:$out, Optional<Mhc_Seed>:$seed, Optional<Mhc_StreamGradient<"d_x">>:$d_x_in,
    Mhc_LayoutAttr:$layout, Mhc_PhiLayoutAttr:$phi_layout, Mhc_OrientAttr:$orient, Mhc_OptionalRate:$rate);
  let results = (outs Optional<Mhc_StreamGradient<>>:$d_x, Optional<Mhc_PhiGradient<"N">>:$d_phi,
    Optional<Mhc_WeightGradient<["K"]>>:$d_weight);
}

// Tokens are one dim where they are not in front of all others.
def Tiny_TurnOp : Mhc_KernelOp<"turn"> {
  let summary = "Turn streams";
  let arguments = (ins Mhc_Flippable<Mhc_Floats, ["M", "b", "D"], ["b", "M", "D"], "seq_layout">:$x,
    Optional<Mhc_Tensor<[F32], ["p", "b"]>>:$past, Mhc_SeqLayoutAttr:$seq_layout);
  let results = (outs Mhc_Like<"x", ["b", "M", "D", "R"]>:$out, Optional<Mhc_Tensor<[F32], ["p"]>>:$rest);
}

def : Torch_Ops<[Tiny_MixOp, Tiny_MixBwdOp, Tiny_TurnOp]>;
def : Torch_Default<"layout", "\"nC\"">;
def : Torch_Default<"eps", "1e-6">;
def : Torch_Function<Tiny_MixOp, [Torch_Result<"rest", "fold">], ["past"]> {
  let sizes = [Mhc_DimRule<"R", "2 * iters">];
}

// Operands that must be there come first; sizes that no operand has, attributes and the mask go by name.
// BOXED:      static const BoxedTensor mix_tensors[] = {
// BOXED-NEXT: {"x", false, 3, {0, 1, 2}, {0, 2, 1}, 0, -1, 0, -1, 8, 16},
// BOXED-NEXT: {"phi", false, 2, {4, 3}, {3, 4}, 1, 0, 0, -1, 40, 48},
// BOXED-NEXT: {"weight", true, 1, {3}, {}, -1, 0, 0, -1, 24, 32},
// BOXED-NEXT: {"past", true, 1, {0}, {}, -1, -1, 0, -1, 56, 64},
// BOXED-NEXT: {"seed", true, 1, {5}, {}, -1, -1, 64, -1, 72, 80},
// BOXED-NEXT: {"out", false, 2, {0, 2}, {}, -1, 0, 0, -1, 88, 96},
// BOXED:      static const char *const mix_precision[] = {"ieee", "tf32x3", "bf16x3", "tf32"};
// BOXED:      {"precision", BoxedAttr::Word, true, 2, {mix_precision, 4}, {{[0-9]+}}, 4},
// BOXED-NEXT: {"rate", BoxedAttr::Float, true, 0, {}, {{[0-9]+}}, 8},
// BOXED:      static const BoxedDim mix_dims[] = {
// BOXED-NEXT: {"M", false, {{[0-9]+}}},
// BOXED:      {"R", true, {{[0-9]+}}},
// BOXED:      static_assert(sizeof(mhcrt_mix_args) <= kMostArgsBytes && 7 <= kMostDims);
// BOXED-NEXT: static const BoxedOp op_mix = {
// BOXED:      return mhcrt_mix(context, static_cast<const mhcrt_mix_args *>(args));
// BOXED:      static const Kernel kernel = gpuKernel("mhcrt_mix");
// BOXED:      sizeof(mhcrt_mix_args), {mix_tensors, 8}, 5, {mix_attrs, 7}, {mix_dims, 7}, 0, true};
// BOXED-NEXT: static void boxed_mix(StableIValue *stack, uint64_t, uint64_t) { callBoxed(op_mix, stack); }
// BOXED-NEXT: static void refused_mix(StableIValue *stack, uint64_t, uint64_t) { refuseBoxed(op_mix, stack); }
// BOXED-NEXT: static void compiled_mix(StableIValue *stack, uint64_t, uint64_t) { callCompiled(op_mix, stack); }
// A gradient that starts from another.
// BOXED:      {"d_x_in", true, 3, {0, 3, 1}, {0, 1, 3}, 0, 1, 0, 9,
// BOXED:      {"out", false, 4, {1, 0, 2, 4}, {}, -1, 0, 0, -1,
// BOXED:      sizeof(mhcrt_turn_args), {turn_tensors, 4}, 2, {turn_attrs, 1}, {turn_dims, 5}, 5, true};
// BOXED:      library.def("mix(Tensor x, Tensor phi, Tensor? weight=None, Tensor? past=None, Tensor? seed=None, *, SymInt R,
// BOXED-SAME:   str layout, str phi_layout, int iters, float eps, bool fold, str? precision=None, float? rate=None,
// BOXED-SAME:   bool[] output_mask) -> (Tensor out, Tensor rest, Tensor stat)");
// BOXED-NEXT: library.def("mix.compiled(Tensor[] operands, SymInt[] sizes, str call) -> Tensor[]");
// BOXED:      library.impl("mix_bwd", &boxed_mix_bwd);
// BOXED-NEXT: library.impl("mix_bwd.compiled", &compiled_mix_bwd);
// BOXED:      STABLE_TORCH_LIBRARY_IMPL(mhc, CompositeExplicitAutograd, library) {
// BOXED-NEXT: library.impl("mix", &refused_mix);

// PYTHON:      load(["mix", "mix_bwd", "turn"])
// PYTHON:      @register_fake("mix")
// PYTHON-NEXT: def _(x, phi, weight=None, past=None, seed=None, *, R, layout, phi_layout, output_mask, **_):
// PYTHON-NEXT: return (
// PYTHON-NEXT: x.new_empty(x.shape[:-2] + (x.shape[-1 if layout == "nC" else -2],), dtype=x.dtype),
// PYTHON-NEXT: x.new_empty(x.shape[:-2] + (R,), dtype=torch.float32) if output_mask[1] else None,
// PYTHON-NEXT: x.new_empty(x.shape[:-2], dtype=torch.float32) if output_mask[2] else None,
// PYTHON:      register_fake("mix_bwd")
// PYTHON:      dtype=x.dtype if d_x_in is None else d_x_in.dtype) if output_mask[0] else None,

// A result that only comes with an operand has sizes of that.
// PYTHON:      register_fake("turn")
// PYTHON-NEXT: def _(x, past=None, *, R, seq_layout, output_mask, **_):
// PYTHON:      x.new_empty((x.shape[-2 if seq_layout == "MbD" else -3], x.shape[-3 if seq_layout == "MbD" else -2],
// PYTHON-SAME:   x.shape[-1], R,), dtype=x.dtype),
// PYTHON-NEXT: x.new_empty((past.shape[-2],), dtype=torch.float32) if output_mask[1] else None,

// PYTHON:      def _mix_setup(ctx, operands, attributes, results):
// PYTHON-NEXT: x, phi, weight, past, seed, = operands
// PYTHON-NEXT: out, rest, stat = results
// PYTHON-NEXT: if past is not None:
// PYTHON-NEXT: raise NotImplementedError("mhc::mix has no derivative where 'past' is given")
// PYTHON-NEXT: ctx.save_for_backward(x, phi, stat, weight, seed)
// PYTHON:      ctx.mark_non_differentiable(*(one for one in (stat,) if one is not None))
// PYTHON:      def _mix_backward(ctx, d_out, d_rest, d_stat):
// PYTHON:      if d_out is None:
// PYTHON-NEXT: d_out = x.new_zeros(x.shape[:-2] + (x.shape[-1 if attributes["layout"] == "nC" else -2],), dtype=x.dtype)
// PYTHON-NEXT: d_x, d_phi, d_weight = torch.ops.mhc.mix_bwd.default(
// An optional operand that is another result of the op is of a fusion, as is an attribute that the op lacks.
// PYTHON-NEXT: d_out, x, phi, stat, d_rest, weight, None, seed, None, layout=attributes["layout"],
// PYTHON-SAME:   orient="oi", rate=attributes.get("rate"), output_mask=[needed[0], needed[1], weight is not None and needed[2]])
// PYTHON-NEXT: return d_x, d_phi, d_weight, None, None
// PYTHON:      register_derivative("mix", _mix_setup, _mix_backward, kept=[2])
// PYTHON-NEXT: register_no_derivative("mix_bwd")

// PYTHON:      def mix(x, phi, weight=None, seed=None, *, layout="nC", phi_layout, iters, eps=1e-6, fold, precision=None, rate=None):
// PYTHON-NEXT: r"""Mix streams.
// PYTHON-EMPTY:
// PYTHON-NEXT: Says "how" and \n.
// PYTHON-NEXT: """
// PYTHON-NEXT: try:
// PYTHON-NEXT: R, made = 2 * iters, [True, fold, False]
// PYTHON-NEXT: except (AttributeError, IndexError, TypeError):
// PYTHON-NEXT: R, made = 0, [True] * 3
// PYTHON-NEXT: out, rest, _ = torch.ops.mhc.mix.default(
// PYTHON-NEXT: x, phi, weight, None, seed, R=R, layout=layout,
// PYTHON-SAME: output_mask=made)
// PYTHON-NEXT: return out, rest
