// RUN: mhc-tblgen --gen-reason-decls -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DECLS
// RUN: mhc-tblgen --gen-reason-defs -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DEFS
// RUN: mhc-tblgen --gen-reason-doc -I %mhc_src_root/include %s | FileCheck %s --check-prefix=DOC
// RUN: not mhc-tblgen --gen-reason-decls -DTWICE -I %mhc_src_root/include %s 2>&1 | FileCheck %s --check-prefix=TWICE

include "mhc/Transforms/Reasons.td"

// DECLS: enum class Reason {
// DECLS:   tooHot, ///< the pan smokes
// DECLS-NEXT: };
// DEFS: static constexpr ReasonInfo kReasons[] = {
// DEFS:   {"mhc-fuse", "too-hot", "the pan smokes", "turn it down", false},
// DEFS-NEXT: };
// DOC: ## mhc-fuse
// DOC: | `too-hot` | the pan smokes (the site is fused all the same) | turn it down |
def : FuseReason<"too-hot", "the pan smokes", "turn it down", /*unfused=*/0>;

// TWICE: error: two reasons have the code 'too-hot'
#ifdef TWICE
def : FuseReason<"too-hot", "the stove is on", "turn it off">;
#endif
