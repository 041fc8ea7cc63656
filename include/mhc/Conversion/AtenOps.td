//===- AtenOps.td - The ops of PyTorch that the compiler knows ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place of each name. A record without a name of its own is read and written as one op of ours with the same
// operands. `def Clamp` is read by the C++ function `readClamp` of lib/Conversion/AtenToMhc. Both ways of such an op have
// nothing in common but its name: lib/Conversion/MhcToAten writes it with other arguments than the operands of one op.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_CONVERSION_ATENOPS
#define MHC_CONVERSION_ATENOPS

class AtenOp<string section_, list<string> names_, string meaning_, string leaf_ = ""> {
  string section = section_;
  list<string> names = names_; // the first of them is what calls of `leaf` are written as
  string meaning = meaning_;   // what calls are read as
  string leaf = leaf_;         // our op with the same operands; none where there are several, or other operands
}
class Elementwise<list<string> names, string leaf, string meaning = "">
  : AtenOp<"Element by element", names, meaning, leaf>;
class Reduction<list<string> names, string meaning> : AtenOp<"Sums and products", names, meaning>;
class View<list<string> names, string meaning> : AtenOp<"Views", names, meaning>; // shows elements of another tensor
class Maker<list<string> names, string meaning> : AtenOp<"Copies and new tensors", names, meaning>;
class Unread<list<string> names, string meaning, string leaf = "">
  : AtenOp<"Written or looked for, and not read as calls", names, meaning, leaf>;

def : Elementwise<["aten.add.Tensor", "aten.add.Scalar"], "arith.addf">;
def : Elementwise<["aten.sub.Tensor", "aten.sub.Scalar"], "arith.subf">;
def : Elementwise<["aten.mul.Tensor", "aten.mul.Scalar"], "arith.mulf">;
def : Elementwise<["aten.div.Tensor", "aten.div.Scalar"], "arith.divf">;
def : Elementwise<["aten.maximum.default"], "arith.maximumf">;
def : Elementwise<["aten.minimum.default"], "arith.minimumf">;
def : Elementwise<["aten.neg.default"], "arith.negf">;
def : Elementwise<["aten.abs.default"], "math.absf">;
def : Elementwise<["aten.exp.default"], "math.exp">;
def : Elementwise<["aten.exp2.default"], "math.exp2">;
def : Elementwise<["aten.expm1.default"], "math.expm1">;
def : Elementwise<["aten.log.default"], "math.log">;
def : Elementwise<["aten.log1p.default"], "math.log1p">;
def : Elementwise<["aten.sqrt.default"], "math.sqrt">;
def : Elementwise<["aten.rsqrt.default"], "math.rsqrt">;
def : Elementwise<["aten.tanh.default"], "math.tanh">;
def : Elementwise<["aten.erf.default"], "math.erf">;
def : Elementwise<["aten.sigmoid.default"], "mhc.sigmoid">;
def : Elementwise<["aten.silu.default"], "mhc.silu">;
def Softplus : Elementwise<["aten.softplus.default"], "mhc.softplus", "with the `beta` and `threshold` of the default">;
def Where : Elementwise<["aten.where.self"], "arith.select">;
def ReversedSub : Elementwise<["aten.rsub.Tensor", "aten.rsub.Scalar"], "", "a difference, the operands swapped">;
def Clamp : Elementwise<["aten.clamp.default", "aten.clamp.Tensor", "aten.clamp_min.default", "aten.clamp_min.Tensor",
                         "aten.clamp_max.default"], "", "the larger one, the smaller one, or both">;
def Power : Elementwise<["aten.pow.Tensor_Scalar"], "", "a square, or `math.powf`">;
def Reciprocal : Elementwise<["aten.reciprocal.default"], "", "a quotient">;
def Relu : Elementwise<["aten.relu.default"], "", "the larger one of zero and an element">;
def AddMultiplied : Elementwise<["aten.addcmul.default"], "", "a sum with a product, rounded once">;

def Sum : Reduction<["aten.sum.dim_IntList", "aten.sum.default"], "`mhc.reduce`">;
def Mean : Reduction<["aten.mean.dim", "aten.mean.default"], "`mhc.reduce`">;
def Max : Reduction<["aten.amax.default", "aten.max.default"], "`mhc.reduce`">;
def MaxAndPlace : Reduction<["aten.max.dim"], "`mhc.reduce`, where nothing reads the places">;
def VectorNorm : Reduction<["aten.linalg_vector_norm.default"], "a sum of magnitudes, or the root of one of squares">;
def Softmax : Reduction<["aten._softmax.default", "aten.softmax.int"], "`mhc.softmax`">;
def LogSoftmax : Reduction<["aten._log_softmax.default", "aten.log_softmax.int"], "a difference from a logarithm">;
def LogSigmoid : Reduction<["aten.log_sigmoid_forward.default"], "the negative softplus of the negative">;
def LogSumExp : Reduction<["aten.logsumexp.default"], "a maximum and the logarithm of a sum">;
def RmsNorm : Reduction<["aten._fused_rms_norm.default"], "the norm, written out">;
def Matmul : Reduction<["aten.mm.default", "aten.bmm.default"], "`mhc.matmul`, `mhc.batch_matmul`">;
def MatrixVector : Reduction<["aten.mv.default"], "`mhc.matmul` with one column">;
def AddMatmul : Reduction<["aten.addmm.default", "aten.baddbmm.default"], "those and a sum, with factors of 1">;
def Convolution : Reduction<["aten.convolution.default"],
                             "a sum of moved rows: of one dimension, by channels; `mhc.matmul` where it has one tap">;

def Reshape : View<["aten.reshape.default", "aten.view.default", "aten._unsafe_view.default", "aten.unsqueeze.default",
                    "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims"], "dimensions split and joined">;
def Alias : View<["aten.alias.default"], "the tensor itself">;
def Permute : View<["aten.permute.default"], "`mhc.transpose`">;
def Transpose : View<["aten.transpose.int"], "`mhc.transpose`">;
def MatrixTranspose : View<["aten.t.default"], "`mhc.transpose`">;
def Expand : View<["aten.expand.default"], "`mhc.broadcast`, or `mhc.expand` of a token">;
def Slice : View<["aten.slice.Tensor"], "a slice without steps">;
def Select : View<["aten.select.int"], "a slice of one element">;
def Split : View<["aten.split.Tensor", "aten.split_with_sizes.default"], "slices">;
def Unbind : View<["aten.unbind.int"], "slices of one element">;

def Clone : Maker<["aten.clone.default", "aten.contiguous.default", "aten.lift_fresh_copy.default"],
                  "the tensor itself">;
def Copy : Maker<["aten._to_copy.default", "aten.to.dtype", "prims.convert_element_type.default"], "another type">;
def Repeat : Maker<["aten.repeat.default"], "`mhc.broadcast`, along dimensions of 1 or one other">;
def ScatterSlice : Maker<["aten.slice_scatter.default"], "a concatenation">;
def ScatterSelect : Maker<["aten.select_scatter.default"], "a concatenation">;
def IndexSelect : Maker<["aten.index_select.default"], "slices, where the index is a constant">;
def Index : Maker<["aten.index.Tensor"], "slices, where one index is given, a constant">;
def Concat : Maker<["aten.cat.default"], "a concatenation">;
def Stack : Maker<["aten.stack.default"], "a concatenation">;
def Full : Maker<["aten.full.default", "aten.full_like.default", "aten.new_full.default"], "a constant">;
def Zeros : Maker<["aten.zeros.default", "aten.zeros_like.default", "aten.new_zeros.default"], "a constant">;
def Ones : Maker<["aten.ones.default", "aten.ones_like.default", "aten.new_ones.default"], "a constant">;
def Identity : Maker<["aten.eye.default", "aten.eye.m"], "a constant, where it is small">;
def Diagonal : Maker<["aten.diag_embed.default"], "a product with a small identity">;

def : Unread<["aten.pow.Tensor_Tensor"], "written", "math.powf">;
def : Unread<["aten.constant_pad_nd.default"], "written, of padding and shifts">;
def : Unread<["aten.sym_size.int"], "written, of sizes">;
def : Unread<["operator.add"], "written, of sizes", "arith.addi">;
def : Unread<["operator.mul"], "written, of sizes", "arith.muli">;
def : Unread<["operator.floordiv"], "written, of sizes", "arith.divui">;
def : Unread<["aten.detach.default"], "looked for: of a maximum that a normalisation drops, it is the maximum">;
def : Unread<["aten.repeat_interleave.Tensor"], "looked for: in an index of constants">;

#endif // MHC_CONVERSION_ATENOPS
