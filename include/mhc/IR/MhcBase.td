//===- MhcBase.td - Dialect, dimensions and op base classes ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_MHCBASE
#define MHC_IR_MHCBASE

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mhc/IR/MhcInterfaces.td"

def Mhc_Dialect : Dialect {
  let name = "mhc";
  let summary = "Manifold-constrained hyper-connections";
  let cppNamespace = "::mhc";
  let description = [{
    A minimal tensor language (the leaf ops) in which every public variant of manifold-constrained hyper-connections
    can be written unfused, and the mHC ops that the compiler finds in such code. Ops have value semantics on ranked
    tensors. What upstream has (arith, math, tensor, scf, func) is not repeated here.

    The letters of dimensions are the same everywhere:

    | letter | meaning |
    | --- | --- |
    | `M` | tokens, all leading axes flattened; may be dynamic |
    | `n` | residual streams, 1 to 16 |
    | `C` | channels of one stream |
    | `K` | `n*C`, the flattened width of one token |
    | `N` | projected coefficients: `2n + R`, or `n` for the head |
    | `R` | residual logits: `n*n`, or `n!` for a permutation map |
    | `A` | gate groups: 3 (pre, post, res), or 1 for the head |

    A kernel op prints its operands and results by the names of its record. Absent optional ones are left out:

    ```mlir
    %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
      <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes. Their C names in kernels.h are mhcrt_<mnemonic> and MHCRT_<MNEMONIC>_<CASE>.
//===----------------------------------------------------------------------===//

class Mhc_Enum<string cpp, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<cpp, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mhc";
}
class Mhc_EnumAttr<I32EnumAttr enum, string mnemonic> : EnumAttr<Mhc_Dialect, enum, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Mhc_Layout : Mhc_Enum<"Layout", "memory order of one token's streams: nC is [n][C], Cn is [C][n]",
  [I32EnumAttrCase<"nC", 0>, I32EnumAttrCase<"Cn", 1>]>;
def Mhc_LayoutAttr : Mhc_EnumAttr<Mhc_Layout, "layout">;

def Mhc_PhiLayout : Mhc_Enum<"PhiLayout", "storage of the projection weight: out_in is [N,K], in_out is [K,N]",
  [I32EnumAttrCase<"out_in", 0>, I32EnumAttrCase<"in_out", 1>]>;
def Mhc_PhiLayoutAttr : Mhc_EnumAttr<Mhc_PhiLayout, "phi_layout">;

def Mhc_Norm : Mhc_Enum<"Norm",
  "multiplier s of a token: inside is 1/sqrt(ms + eps), outside is 1/(sqrt(ms) + eps), clamp is 1/max(sqrt(ms), eps), "
  "none is 1",
  [I32EnumAttrCase<"inside", 0>, I32EnumAttrCase<"outside", 1>, I32EnumAttrCase<"none", 2>,
   I32EnumAttrCase<"clamp", 3>]>;
def Mhc_NormAttr : Mhc_EnumAttr<Mhc_Norm, "norm">;

def Mhc_Stat : Mhc_Enum<"Stat", "what a projection hands on beside the raw product: the mean square, the multiplier s, "
  "or nothing because s is applied to the product",
  [I32EnumAttrCase<"mean_square", 0>, I32EnumAttrCase<"inv_rms", 1>, I32EnumAttrCase<"applied", 2>]>;
def Mhc_StatAttr : Mhc_EnumAttr<Mhc_Stat, "stat">;

def Mhc_Init : Mhc_Enum<"Init", "start of the Sinkhorn iteration (math.md 3.4)",
  [I32EnumAttrCase<"softmax_eps", 0>, I32EnumAttrCase<"exp", 1>, I32EnumAttrCase<"exp_rowmax", 2>,
   I32EnumAttrCase<"exp_colmax", 3>, I32EnumAttrCase<"log", 4>, I32EnumAttrCase<"exp_max", 5>,
   I32EnumAttrCase<"sigmoid", 6>, I32EnumAttrCase<"sigmoid_eps", 7>]>;
def Mhc_InitAttr : Mhc_EnumAttr<Mhc_Init, "init">;

def Mhc_Order : Mhc_Enum<"Order", "which step of an iteration comes first; a row step makes rows sum to one",
  [I32EnumAttrCase<"row_col", 0>, I32EnumAttrCase<"col_row", 1>]>;
def Mhc_OrderAttr : Mhc_EnumAttr<Mhc_Order, "order">;

def Mhc_Denom : Mhc_Enum<"Denom", "divisor of a step: add is sum + eps, clamp is max(sum, eps), none is sum; potentials "
  "scale the start by 1 / (sum + eps) of what the others left (math.md 3.4)",
  [I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"clamp", 1>, I32EnumAttrCase<"none", 2>,
   I32EnumAttrCase<"potentials", 3>]>;
def Mhc_DenomAttr : Mhc_EnumAttr<Mhc_Denom, "denom">;

def Mhc_Orient : Mhc_Enum<"Orient",
  "oi: out[o] = sum_i H[o,i] x[i], the first index is the output stream; io: out[o] = sum_i H[i,o] x[i]",
  [I32EnumAttrCase<"oi", 0>, I32EnumAttrCase<"io", 1>]>;
def Mhc_OrientAttr : Mhc_EnumAttr<Mhc_Orient, "orient">;

def Mhc_ResMap : Mhc_Enum<"ResMap", "map from residual logits to the residual matrix; identity takes the logits as they are",
  [I32EnumAttrCase<"sinkhorn", 0>, I32EnumAttrCase<"permutation", 1>, I32EnumAttrCase<"identity", 2>]>;
def Mhc_ResMapAttr : Mhc_EnumAttr<Mhc_ResMap, "res_map">;

def Mhc_Precision : Mhc_Enum<"Precision",
  "least accuracy of a projection's products, the best first (mhc.projection has the bounds): ieee takes f32 as it is, "
  "tf32x3 and bf16x3 two terms of tf32 and of bf16, tf32 one",
  [I32EnumAttrCase<"ieee", 0>, I32EnumAttrCase<"tf32x3", 1>, I32EnumAttrCase<"bf16x3", 2>, I32EnumAttrCase<"tf32", 3>]>;
def Mhc_PrecisionAttr : Mhc_EnumAttr<Mhc_Precision, "precision">;
/// An attribute that may be absent and then counts as `value`: a case of an enum, or an integer.
class Mhc_Optional<Attr attr, string value> : OptionalAttr<attr> { string whenAbsent = value; }
/// The same of an attribute, or of an operand, that came with a later version of the dialect (DialectVersion.h), when the
/// struct of arguments had callers: its members are at the end, after those of the versions before. An attribute has 8
/// bytes there, for 4 would lie in the padding at the end of an older struct, which nobody sets.
class Mhc_Added<Attr attr, string value, int version> : Mhc_Optional<attr, value> { int since = version; }
class Mhc_AddedOperand<Type type, int version> : Optional<type> { int since = version; }
/// Where it is absent, mhc-set-precision may set it for a whole module.
def Mhc_OptionalPrecision : Mhc_Optional<Mhc_PrecisionAttr, "bf16x3">;

def Mhc_Format : Mhc_Enum<"Format", "type that numbers are rounded to, to nearest even, though they are kept in f32",
  [I32EnumAttrCase<"f32", 0>, I32EnumAttrCase<"bf16", 1>, I32EnumAttrCase<"f16", 2>]>;
def Mhc_FormatAttr : Mhc_EnumAttr<Mhc_Format, "format">;
def Mhc_OptionalFormat : Mhc_Added<Mhc_FormatAttr, "f32", 3>;

def Mhc_Solver : Mhc_Enum<"Solver", "how logits become doubly stochastic: by iterations, or by Newton steps to their limit",
  [I32EnumAttrCase<"sinkhorn", 0>, I32EnumAttrCase<"newton", 1>]>;
def Mhc_SolverAttr : Mhc_EnumAttr<Mhc_Solver, "solver">;
def Mhc_OptionalSolver : Mhc_Added<Mhc_SolverAttr, "sinkhorn", 5>;

/// Says that streams are equal (Mhc_MaybeEqualStreams).
def Mhc_EqualStreams : ConfinedAttr<UnitAttr, []> { int since = 6; }

def Mhc_ContractMode : Mhc_Enum<"ContractMode", "mean divides the sum over streams by n",
  [I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"sum", 1>]>;
def Mhc_Contracted : Mhc_Enum<"Contracted", "whether streams leave as one row, their sum or mean",
  [I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"mean", 2>]>;
def Mhc_ContractedAttr : Mhc_EnumAttr<Mhc_Contracted, "contracted">;
def Mhc_OptionalContracted : Mhc_Added<Mhc_ContractedAttr, "none", 6>;
def Mhc_ContractModeAttr : Mhc_EnumAttr<Mhc_ContractMode, "contract_mode">;

def Mhc_ReduceKind : Mhc_Enum<"ReduceKind", "what a reduction computes",
  [I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"mean", 2>]>;
def Mhc_ReduceKindAttr : Mhc_EnumAttr<Mhc_ReduceKind, "reduce_kind"> { let assemblyFormat = "$value"; }

def Mhc_GdnImpl : Mhc_Enum<"GdnImpl",
  "kernels of a gated delta front end: fused is one for all branches, streamed one for each of them, with the same bits",
  [I32EnumAttrCase<"fused", 0>, I32EnumAttrCase<"streamed", 1>]>;
def Mhc_GdnImplAttr : Mhc_EnumAttr<Mhc_GdnImpl, "gdn_impl">;

def Mhc_SeqLayout : Mhc_Enum<"SeqLayout", "memory order of the tokens of several sequences: MbD is token first, bMD "
  "sequence first", [I32EnumAttrCase<"MbD", 0>, I32EnumAttrCase<"bMD", 1>]>;
def Mhc_SeqLayoutAttr : Mhc_EnumAttr<Mhc_SeqLayout, "seq_layout">;

def Mhc_Distribution : Mhc_Enum<"Distribution", "uniform in [0, 1), or normal with mean 0 and variance 1",
  [I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"normal", 1>]>;
def Mhc_DistributionAttr : Mhc_EnumAttr<Mhc_Distribution, "distribution">;

//===----------------------------------------------------------------------===//
// Numbers and their bounds, which are those of the runtime (KernelCall). An error has the value that was found; the
// reference page leaves the parentheses out.
//===----------------------------------------------------------------------===//

defvar Mhc_Int = "::llvm::cast<::mlir::IntegerAttr>($_self).getInt()";
defvar Mhc_Float = "::llvm::cast<::mlir::FloatAttr>($_self).getValueAsDouble()";
defvar Mhc_IsFinite = "::llvm::cast<::mlir::FloatAttr>($_self).getValue().isFinite()";

class Mhc_Bound<list<string> predicates, string needed>
  : AttrConstraint<And<!foreach(predicate, predicates, CPred<predicate>)>, "that is " # needed # " (found {{$_self}})">;
class Mhc_IntRange<int low, int high>
  : Mhc_Bound<[Mhc_Int # " >= " # low, Mhc_Int # " <= " # high], low # " to " # high>;

/// Iterations of Sinkhorn. Models take 20. Every iteration of the backward kernels keeps 2n(n + 2) vectors of 64 bytes
/// per thread: 1000 of 16 streams are 37 MB.
def Mhc_IterCount : ConfinedAttr<I64Attr, [Mhc_IntRange<0, 1000>]>;
/// Guard of a divisor against 0.
def Mhc_Eps : ConfinedAttr<F64Attr, [Mhc_Bound<[Mhc_IsFinite, Mhc_Float # " >= 0"], "finite and at least 0">]>;
def Mhc_Factor : ConfinedAttr<F64Attr, [Mhc_Bound<[Mhc_IsFinite], "finite">]>;
/// The share of the elements that a dropout drops.
def Mhc_Rate : ConfinedAttr<F64Attr, [Mhc_Bound<[Mhc_Float # " >= 0", Mhc_Float # " < 1"], "at least 0 and less than 1">]>;
/// Number of one of the independent random sequences under one seed: one word of the counter.
def Mhc_StreamNumber : ConfinedAttr<I64Attr, [Mhc_IntRange<0, 4294967295>]>;
def Mhc_StreamStep : ConfinedAttr<I64Attr, [Mhc_IntRange<-4294967295, 4294967295>]>;
/// Rate of an op with an optional dropout, absent together with the seed.
def Mhc_OptionalRate : Mhc_Optional<Mhc_Rate, "0">;
def Mhc_OptionalStreamNumber : Mhc_Optional<Mhc_StreamNumber, "0">;

//===----------------------------------------------------------------------===//
// Tensors. `dims` names the dimensions; equal names must have equal sizes. mhc-tblgen reads the extra fields.
//===----------------------------------------------------------------------===//

defvar Mhc_Floats = [F32, BF16, F16];

class Mhc_Tensor<list<Type> types, list<string> dims, list<int> ranks = [!size(dims)]> : TensorRankOf<types, ranks> {
  list<string> dimNames = dims;
  /// The dims when the attribute `flipAttr` is set to its second value.
  list<string> flippedDims = [];
  string flipAttr = "";
  /// An attribute: where it is set, the tensor has no dim n, for one row stands for every stream.
  string equalAttr = "";
  /// Name of the tensor whose element type this one must have; with `orF32`, f32 is legal as well.
  string elementOf = "";
  bit orF32 = 0;
  /// For an operand: the result that starts from it.
  string startOf = "";
  /// For an operand: the result that may take over its buffer, as one that starts from it always may.
  string takenOverBy = startOf;
  /// For integers: their width; 0 for floats.
  int integerBits = 0;
  /// For integers: the dim that they index, so that each is at least 0 and less than its size.
  string indexOf = "";
  /// For integers: the dim that they cut into runs: they start at 0, do not decrease and end at its size.
  string cutsOf = "";
  /// For an operand: how many of its elements are read, where it is not all of them. A C++ expression as `flops`.
  string elementsRead = "";
}

/// Numbers of rows. A kernel checks them: one that is out of range is an error of the call.
class Mhc_Indices<string dim, list<string> dims> : Mhc_Tensor<[I32], dims> {
  let integerBits = 32;
  let indexOf = dim;
}

/// The ends of runs along a dim, with the 0 in front of the first. A kernel checks them.
class Mhc_Cuts<string dim, list<string> dims> : Mhc_Tensor<[I32], dims> {
  let integerBits = 32;
  let cutsOf = dim;
}

/// A seed and an offset, such as the number of the training step.
def Mhc_Seed : Mhc_Tensor<[I64], ["S"]> { let integerBits = 64; }

/// A tensor that is stored with other dims when the attribute `attr` is set.
class Mhc_Flippable<list<Type> types, list<string> dims, list<string> flipped, string attr> : Mhc_Tensor<types, dims> {
  let flippedDims = flipped;
  let flipAttr = attr;
}

/// The same with the element type of another tensor.
class Mhc_FlippableLike<string like, list<string> dims, list<string> flipped, string attr>
    : Mhc_Flippable<Mhc_Floats, dims, flipped, attr> { let elementOf = like; }

/// The residual streams, [M,n,C] or [M,C,n] by the attribute `layout`.
class Mhc_Streams<string like = ""> : Mhc_Tensor<Mhc_Floats, ["M", "n", "C"]> {
  let flippedDims = ["M", "C", "n"];
  let flipAttr = "layout";
  let elementOf = like;
}
/// Streams that may be equal: with the unit attribute `equal` they are one row, [M,C].
class Mhc_MaybeEqualStreams<string equal, string like = ""> : Mhc_Tensor<Mhc_Floats, ["M", "n", "C"], [2, 3]> {
  let flippedDims = ["M", "C", "n"];
  let flipAttr = "layout";
  let equalAttr = equal;
  let elementOf = like;
}
/// Streams that may leave as their sum or mean: with the attribute `contracted` they are one row, [M,C].
class Mhc_MaybeContracted<string contracted, string like> : Mhc_MaybeEqualStreams<contracted, like>;
/// A tensor with the element type of another.
class Mhc_Like<string like, list<string> dims> : Mhc_Tensor<Mhc_Floats, dims> { let elementOf = like; }
class Mhc_LikeOrF32<string like, list<string> dims> : Mhc_Like<like, dims> { let orF32 = 1; }
/// The projection weight, [rows,K] or [K,rows] by the attribute `phi_layout`.
class Mhc_Phi<string rows> : Mhc_LikeOrF32<"x", [rows, "K"]> {
  let flippedDims = ["K", rows];
  let flipAttr = "phi_layout";
}

// Gradients. A kernel adds the start of a gradient, where there is one, before its one rounding: what several ops
// contribute needs no pass of its own.

/// The gradient of the streams: of x's element type, or f32 while it grows.
class Mhc_StreamGradient<string start = ""> : Mhc_Streams<"x"> {
  let orF32 = 1;
  let startOf = start;
}
/// The same where `taker`, which does not start from it, may have its buffer.
class Mhc_SpentStreamGradient<string taker> : Mhc_StreamGradient { let takenOverBy = taker; }
/// The gradient of the projection weight, stored as the weight is.
class Mhc_PhiGradient<string rows, string start = "">
    : Mhc_Flippable<[F32], [rows, "K"], ["K", rows], "phi_layout"> { let startOf = start; }
/// The gradient of a parameter, a sum over tokens.
class Mhc_WeightGradient<list<string> dims, string start = ""> : Mhc_Tensor<[F32], dims> { let startOf = start; }

//===----------------------------------------------------------------------===//
// Op bases
//===----------------------------------------------------------------------===//

/// An op of the tensor language without a kernel of its own: it is lowered to linalg. `rebuilt` says that its result
/// holds no more than its operand.
class Mhc_LeafOp<string mnemonic, list<Trait> traits = [], bit rebuilt = 0>
    : Op<Mhc_Dialect, mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<DimsOpInterface>,
        DeclareOpInterfaceMethods<DifferentiableOpInterface, !if(rebuilt, ["isCheapToRebuild"], [])>], traits)> {
  let extraClassDefinition = !if(rebuilt, "bool $cppClass::isCheapToRebuild() { return true; }", "");
}

/// The sizes that a dimension may have; with `high` 0 any from `low` on.
class Mhc_DimBound<string dim, int low, int high = 0> {
  string name = dim;
  int least = low;
  int most = high;
}
def Mhc_StreamCount : Mhc_DimBound<"n", 1, 16>;
def Mhc_ChannelCount : Mhc_DimBound<"C", 1>;
def Mhc_SumLength : Mhc_DimBound<"K", 1>;
def Mhc_RowCount : Mhc_DimBound<"N", 1>;

/// A size that follows from others, such as K = n*C. `value` is a C++ expression over dimensions and attributes.
class Mhc_DimRule<string dim, string expr> {
  string name = dim;
  string value = expr;
}

/// Size of the dim of Mhc_Seed.
def Mhc_SeedSize : Mhc_DimRule<"S", "2">;

/// An op that one runtime kernel computes. From the record come the class and its Fields, the shape verifier, the C
/// prototype, the runtime call, the byte count, the reference page and the benchmark case.
class Mhc_KernelOp<string mnemonic, list<Trait> traits = []>
    : Op<Mhc_Dialect, mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelInfo"]>,
        DeclareOpInterfaceMethods<DimsOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>], traits)> {
  /// Multiply-adds count as two. A C++ expression over dimensions and attributes.
  string flops = "";
  list<Mhc_DimRule> dimRules = [];
  /// Set where results of 16 bits are made of values that were rounded to 16 bits on the way.
  bit roundsInside = 0;
  /// Bounds of the dimensions that may not have every size. The runtime checks dynamic sizes alike.
  list<Mhc_DimBound> dimBounds = [Mhc_StreamCount, Mhc_ChannelCount, Mhc_SumLength];
  /// Set where lib/IR/Ops/<Stem>.cpp has a verifier; that one calls verifyKernelDims first.
  bit verifyExtra = 0;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    const ::mhc::KernelInfo &$cppClass::getKernelInfo() { return kernelInfo(); }
    ::mhc::DimLabels $cppClass::getDimLabels() { return ::mhc::kernelDimLabels(*this); }
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::mhc::nameKernelResults(*this, setName);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) { return ::mhc::reifyShapes(builder, *this, shapes); }
  }] # !if(hasCustomAssemblyFormat, [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return ::mhc::parseKernelOp(parser, result, kernelInfo());
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::mhc::printKernelOp(printer, getOperation(), kernelInfo()); }
  }], "") # !if(verifyExtra, "", [{
    ::llvm::LogicalResult $cppClass::verify() { return ::mhc::verifyKernelDims(*this); }
  }]);
  let extraClassDeclaration = [{
    static const ::mhc::KernelInfo &kernelInfo();
    struct Fields;
  }];
}

#endif // MHC_IR_MHCBASE
