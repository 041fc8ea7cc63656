// RUN: mhc-tblgen --gen-aten-decls -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DECLS
// RUN: mhc-tblgen --gen-aten-defs -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DEFS
// RUN: mhc-tblgen --gen-aten-doc -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DOC
// RUN: not mhc-tblgen --gen-aten-decls -DTWICE -I %mhc_src_root/include %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mhc-tblgen --gen-aten-decls -DSAME -I %mhc_src_root/include %s 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not mhc-tblgen --gen-aten-decls -DNOTHING -I %mhc_src_root/include %s 2>&1 | FileCheck %s --check-prefix=NOTHING

include "mhc/Conversion/AtenOps.td"

// DECLS: inline constexpr llvm::StringLiteral kGrillTensor = "aten._grill.Tensor";
// DECLS-NOT: read
// DECLS: inline constexpr llvm::StringLiteral kPeel = "aten.peel.default";
// DECLS: Values readPeeled(AtenCall &call);
// DEFS: .Cases({"aten._grill.Tensor", "aten._grill.Scalar"}, {[](AtenCall &call) { return readElementwise(call, "mhc.grill"); }, false})
// DEFS: .Cases({"aten.peel.default"}, {readPeeled, true})
// DEFS-NOT: "aten.burn.default"
// DEFS: StringRef mhc::sameCall(StringRef leaf) {
// DEFS: .Case("mhc.grill", aten::kGrillTensor)
// DEFS: .Case("mhc.burn", aten::kBurn)
// DOC: ## Element by element
// DOC: | `aten._grill.Tensor`, `aten._grill.Scalar` | `mhc.grill` |
// DOC: ## Views
// DOC: | `aten.peel.default` | an apple |
def : Elementwise<["aten._grill.Tensor", "aten._grill.Scalar"], "mhc.grill">;
def Peeled : View<["aten.peel.default"], "an apple">;
def : Unread<["aten.burn.default"], "written", "mhc.burn">;

// TWICE: error: two records have 'aten.exp.default'
#ifdef TWICE
def Twice : View<["aten.exp.default"], "an exponential">;
#endif

// SAME: error: two records have 'math.exp'
#ifdef SAME
def : Elementwise<["aten.exponential.default"], "math.exp">;
#endif

// NOTHING: error: 'aten.nothing.default' has neither a reader nor an op of ours
#ifdef NOTHING
def : View<["aten.nothing.default"], "nothing">;
#endif
