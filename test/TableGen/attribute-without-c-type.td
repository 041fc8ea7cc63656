// RUN: not mhc-tblgen --gen-kernel-header -I %mhc_src_root/include -I %mlir_include_dir %s 2>&1 | FileCheck %s

include "mhc/IR/MhcBase.td"

// CHECK: [[@LINE+1]]:5: error: attribute 'name' of a kernel op has a type without a C form: StrAttr
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins StrAttr:$name);
}
