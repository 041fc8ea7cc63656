// RUN: mhc-tblgen --gen-kernel-header -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=HEADER
// RUN: mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=INFO
// RUN: mhc-tblgen --gen-kernel-fields-decls -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=FIELDS
// RUN: mhc-tblgen --gen-kernel-fields-defs -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=CREATE
// RUN: mhc-tblgen --gen-kernel-args -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=ARGS
// RUN: mhc-tblgen --gen-op-reference -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=DOC
// RUN: mhc-tblgen --gen-attribute-reference -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=ATTRS
// RUN: mhc-tblgen --gen-op-docs -I %mhc_src_root/include -I %mlir_include_dir %s | FileCheck %s --check-prefix=OPDOCS

// One op with every kind of tensor and attribute that a record may have.

include "mhc/IR/MhcBase.td"

def Tiny_Ids : Mhc_Indices<"K", ["M"]> {
  let cutsOf = "M";
  let elementsRead = "M/2";
}

def Tiny_MixOp : Mhc_KernelOp<"mix"> {
  let summary = "Mix streams";
  let description = [{
    Says "how".
      - indented
  }];
  let arguments = (ins Mhc_MaybeEqualStreams<"flag">:$x, Optional<Mhc_LikeOrF32<"x", ["K"]>>:$weight,
    Optional<Mhc_WeightGradient<["R"], "sum">>:$sum_in, Variadic<Mhc_Like<"x", ["M", "C"]>>:$f, Tiny_Ids:$ids,
    Mhc_LayoutAttr:$layout,
    Mhc_IterCount:$iters, F64Attr:$eps, BoolAttr:$fold, UnitAttr:$flag, Mhc_OptionalPrecision:$precision, Mhc_OptionalRate:$rate,
    Mhc_OptionalFormat:$format);
  let results = (outs Mhc_Tensor<[F32], ["M", "R"]>:$out, Mhc_WeightGradient<["R"]>:$sum);
  let flops = "2*M*n*C*iters + (layout == 1 ? R : 0) + f_count";
  let dimRules = [Mhc_DimRule<"K", "n*C">];
}

// HEADER: #ifndef MHCRT_KERNELS_H
// HEADER: extern "C" {
// HEADER: /// memory order of one token's streams
// HEADER-NEXT: typedef enum mhcrt_layout {
// HEADER-NEXT: MHCRT_LAYOUT_NC = 0,
// HEADER-NEXT: MHCRT_LAYOUT_CN = 1
// HEADER-NEXT: } mhcrt_layout;
// HEADER: /// Mix streams.
// HEADER-NEXT: /// x[M,n,C] (or [M,C,n] by layout, [M,C] by flag), weight?[K], sum_in?[R], f*[M,C], ids[M] -> out[M,R], sum[R]
// HEADER-NEXT: typedef struct mhcrt_mix_args {
// HEADER-NEXT: int64_t size;
// HEADER-NEXT: const void *x;
// HEADER-NEXT: int32_t x_type;
// HEADER-NEXT: const void *weight;
// HEADER-NEXT: int32_t weight_type;
// HEADER-NEXT: const void *sum_in;
// HEADER-NEXT: int32_t sum_in_type;
// HEADER-NEXT: const void *const *f;
// HEADER-NEXT: int32_t f_type;
// HEADER-NEXT: int64_t f_count;
// HEADER-NEXT: const void *ids;
// HEADER-NEXT: int32_t ids_type;
// HEADER-NEXT: void *out;
// HEADER-NEXT: int32_t out_type;
// HEADER-NEXT: void *sum;
// HEADER-NEXT: int32_t sum_type;
// HEADER-NEXT: int64_t M;
// HEADER-NEXT: int64_t n;
// HEADER-NEXT: int64_t C;
// HEADER-NEXT: int64_t K;
// HEADER-NEXT: int64_t R;
// HEADER-NEXT: int32_t layout;
// HEADER-NEXT: int64_t iters;
// HEADER-NEXT: double eps;
// HEADER-NEXT: int32_t fold;
// HEADER-NEXT: int32_t flag;
// HEADER-NEXT: int32_t precision;
// HEADER-NEXT: double rate;
// HEADER-NEXT: int64_t format;
// HEADER-NEXT: } mhcrt_mix_args;
// HEADER-NEXT: mhcrt_status mhcrt_mix(mhcrt_context *ctx, const mhcrt_mix_args *args);

// INFO-LABEL: const KernelInfo &MixOp::kernelInfo() {
// INFO: static const unsigned dims0[] = {0, 1, 2};
// INFO: static const unsigned flipped0[] = {0, 2, 1};
// INFO: static const unsigned dims1[] = {3};
// INFO: static const unsigned dims2[] = {4};
// INFO: static const unsigned dims3[] = {0, 2};
// INFO: static const unsigned dims4[] = {0};
// INFO: static const unsigned dims5[] = {0, 4};
// Name, result, optional, list, dims, flipped dims, flipping attribute, tensor whose element type it has, or f32, result that
// starts from it, and that may take over its buffer, width of integers, dim that they count along, dim that they cut,
// how many elements are read.
// INFO: {"x", false, false, false, dims0, flipped0, "layout", equal0, "flag", -1, false, -1, -1, 0, -1, -1, nullptr},
// INFO: {"weight", false, true, false, dims1, {}, "", {}, "", 0, true, -1, -1, 0, -1, -1, nullptr},
// INFO: {"sum_in", false, true, false, dims2, {}, "", {}, "", -1, false, 6, 6, 0, -1, -1, nullptr},
// INFO: {"f", false, false, true, dims3, {}, "", {}, "", 0, false, -1, -1, 0, -1, -1, nullptr},
// INFO: {"ids", false, false, false, dims4, {}, "", {}, "", -1, false, -1, -1, 32, 3, 0, [](const KernelSizes &sizes) -> double {
// INFO: return M/2;
// INFO: {"out", true, false, false, dims5, {}, "", {}, "", -1, false, -1, -1, 0, -1, -1, nullptr},
// INFO: dims[] = {"M", "n", "C", "K", "R"};
// INFO: {"layout", KernelAttr::Enum, "int32_t",
// INFO: symbolizeLayout(text)
// INFO: {"iters", KernelAttr::Int, "int64_t",
// INFO: {"eps", KernelAttr::Float, "double",
// INFO: {"fold", KernelAttr::Bool, "int32_t",
// INFO: {"flag", KernelAttr::Unit, "int32_t", nullptr, nullptr, nullptr, nullptr, std::nullopt},
// INFO: {"precision", KernelAttr::Enum, "int32_t",
// INFO: llvm::cast<PrecisionAttr>(attr).getValue()); }, static_cast<int64_t>(Precision::bf16x3)},
// INFO: {"rate", KernelAttr::Float, "double", nullptr, nullptr, nullptr, nullptr, 0},
// INFO: {"format", KernelAttr::Enum, "int64_t",
// INFO: uses0 = {1, 2};
// INFO: {3, uses0, "n*C", [](const KernelSizes &sizes) -> double {
// INFO: const double C = sizes.dims[2];
// INFO: return n*C;
// INFO: info = {"mhc.mix", "mhcrt_mix", tensors, dims, attrs, rules,
// INFO: const double iters = sizes.attrs[1];
// INFO: const double f_count = sizes.counts[3];
// INFO: return 2*M*n*C*iters + (layout == 1 ? R : 0) + f_count;
// INFO: allKernelInfos() {
// INFO: &MixOp::kernelInfo(),
// INFO: dimBoundsOf(llvm::StringRef opName) {
// INFO-NEXT: if (opName == "mhc.mix") {
// INFO: {1, 1, 16},
// INFO-NEXT: {2, 1, 0},
// INFO-NEXT: {3, 1, 0},

// Members of the struct of arguments, aligned as in C.
// INFO: kernelArgumentsOf(llvm::StringRef opName) {
// INFO-NEXT: if (opName == "mhc.mix") {
// INFO-NEXT: static const KernelField fields[] = {
// INFO-NEXT: {KernelField::Data, 0, 8}, // x
// INFO-NEXT: {KernelField::Type, 0, 16}, // x_type
// INFO-NEXT: {KernelField::Data, 1, 24}, // weight
// INFO: {KernelField::Data, 3, 56}, // f
// INFO-NEXT: {KernelField::Type, 3, 64}, // f_type
// INFO-NEXT: {KernelField::Count, 3, 72}, // f_count
// INFO: {KernelField::Dim, 0, 128}, // M
// INFO: {KernelField::Attr, 0, 168}, // layout
// INFO-NEXT: {KernelField::Attr, 1, 176}, // iters
// INFO-NEXT: {KernelField::Attr, 2, 184}, // eps
// INFO-NEXT: {KernelField::Attr, 3, 192}, // fold
// INFO-NEXT: {KernelField::Attr, 4, 196}, // flag
// INFO-NEXT: {KernelField::Attr, 5, 200}, // precision
// INFO-NEXT: {KernelField::Attr, 6, 208}, // rate
// INFO-NEXT: {KernelField::Attr, 7, 216}, // format
// INFO-NEXT: };
// INFO-NEXT: return {fields, 224};

// FIELDS: struct mhc::MixOp::Fields {
// FIELDS: void take(mlir::Operation *op);
// FIELDS-NEXT: mhc::MixOp create(mlir::OpBuilder &builder, mlir::Location loc) const;
// FIELDS: mlir::Type out;
// FIELDS-NEXT: mlir::Type sum;
// FIELDS-NEXT: mlir::Value x;
// FIELDS-NEXT: mlir::Value weight;
// FIELDS-NEXT: mlir::Value sum_in;
// FIELDS-NEXT: llvm::SmallVector<mlir::Value> f;
// FIELDS-NEXT: mlir::Value ids;
// FIELDS-NEXT: std::optional<mhc::Layout> layout;
// FIELDS-NEXT: std::optional<int64_t> iters;
// FIELDS-NEXT: std::optional<double> eps;
// FIELDS-NEXT: std::optional<bool> fold;
// FIELDS-NEXT: bool flag = false;
// FIELDS-NEXT: std::optional<mhc::Precision> precision;
// FIELDS-NEXT: std::optional<double> rate;
// FIELDS-NEXT: std::optional<mhc::Format> format;
// FIELDS-NEXT: };

// Results and lists are not taken over.
// CREATE-LABEL: void MixOp::Fields::take(mlir::Operation *op) {
// CREATE-NEXT: if (mlir::Value found = kernelOperand(op, "x"))
// CREATE-NEXT: x = found;
// CREATE-NOT: "f"
// CREATE-NOT: "out"
// CREATE: if (auto found = op->getAttrOfType<LayoutAttr>("layout"))
// CREATE-NEXT: layout = found.getValue();
// CREATE: eps = found.getValueAsDouble();
// CREATE-LABEL: MixOp MixOp::Fields::create(mlir::OpBuilder &builder, mlir::Location loc) const {
// CREATE-NEXT: assert(out && "mhc.mix needs 'out'");
// CREATE-NEXT: assert(sum && "mhc.mix needs 'sum'");
// CREATE-NEXT: assert(x && "mhc.mix needs 'x'");
// CREATE-NEXT: assert(ids && "mhc.mix needs 'ids'");
// CREATE-NEXT: assert(layout && "mhc.mix needs 'layout'");
// CREATE-NEXT: assert(iters && "mhc.mix needs 'iters'");
// CREATE-NEXT: assert(eps && "mhc.mix needs 'eps'");
// CREATE-NEXT: assert(fold && "mhc.mix needs 'fold'");
// CREATE-NEXT: return MixOp::create(builder, loc, out, sum, x, weight, sum_in, f, ids,
// CREATE-NEXT: layout ? LayoutAttr::get(builder.getContext(), *layout) : LayoutAttr(),
// CREATE-NEXT: iters ? builder.getI64IntegerAttr(*iters) : mlir::IntegerAttr(),
// CREATE-NEXT: eps ? builder.getF64FloatAttr(*eps) : mlir::FloatAttr(),
// CREATE-NEXT: fold ? builder.getBoolAttr(*fold) : mlir::BoolAttr(),
// CREATE-NEXT: flag ? builder.getUnitAttr() : mlir::UnitAttr(),
// CREATE-NEXT: precision ? PrecisionAttr::get(builder.getContext(), *precision) : PrecisionAttr(),
// CREATE-NEXT: rate ? builder.getF64FloatAttr(*rate) : mlir::FloatAttr(),
// CREATE-NEXT: format ? FormatAttr::get(builder.getContext(), *format) : FormatAttr());

// DOC: # Ops
// DOC: A minimal tensor language
// DOC: ## kernels
// DOC: ### `mhc.mix`
// DOC: Mix streams.
// DOC: {{^}}Says "how".
// DOC: | operand | shape | element type |
// DOC: | `x` | `[M,n,C]`, or `[M,C,n]` by `layout`, or `[M,C]` by `flag` | 32-bit float or bfloat16 type or 16-bit float |
// DOC: | `weight`, optional | `[K]` | that of `x`, or f32 |
// DOC: | `f`, any number | `[M,C]` | that of `x` |
// DOC: | `ids` | `[M]` | 32-bit signless integer |
// DOC: | result | shape | element type |
// DOC: | `out` | `[M,R]` | 32-bit float |
// DOC: Sizes: `n` 1 to 16, `C` at least 1, `K` at least 1.
// DOC: | attribute | values | meaning |
// DOC: | `layout` | `nC`, `Cn` | memory order of one token's streams
// DOC: | `iters` | 64-bit signless integer attribute that is 0 to 1000 | |
// DOC: | `precision`, optional | `ieee`, `tf32x3`, `bf16x3`, `tf32` | least accuracy
// DOC: Flops: `2*M*n*C*iters + (layout == 1 ? R : 0) + f_count`.

// ATTRS: ## `layout`
// ATTRS-EMPTY:
// ATTRS-NEXT: memory order of one token's streams
// ATTRS: - cases: `nC`, `Cn`
// ATTRS-NEXT: - of `mhc.mix`
// ATTRS-NOT: `norm`

// ARGS: struct MixArgs {
// ARGS-NEXT: const void *x;
// ARGS-NEXT: int32_t x_type;
// ARGS: const void *const *f;
// ARGS-NEXT: int32_t f_type;
// ARGS-NEXT: int64_t f_count;
// ARGS: double eps;
// ARGS: };
// ARGS-NEXT: static_assert(offsetof(mhcrt_mix_args, format) == 216 && offsetof(MixArgs, format) == 208 &&
// ARGS-NEXT: sizeof(mhcrt_mix_args) == 224 && sizeof(MixArgs) == 216);
// ARGS-NEXT: mhcrt_status runMix(mhcrt_context &context, const MixArgs &args);
// ARGS: #define MHCRT_ENTRIES \
// ARGS-NEXT: MHCRT_ENTRY(mix, Mix)

// OPDOCS: {"mhc.mix", R"doc(Mix streams
// OPDOCS-EMPTY:
// OPDOCS-NEXT: {{^}}Says "how".
// OPDOCS-NEXT: {{^}}  - indented
// OPDOCS-EMPTY:
// OPDOCS-NEXT: | attribute | values | meaning |
// OPDOCS: | `layout` | `nC`, `Cn` | memory order of one token's streams: nC is [n][C], Cn is [C][n] |
// OPDOCS-NEXT: | `iters` | 64-bit signless integer attribute that is 0 to 1000 |  |
// OPDOCS: {{^}})doc"},
