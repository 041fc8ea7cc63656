// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %s 2>&1 | FileCheck %s

include "mhc/IR/MhcBase.td"

// CHECK: [[@LINE+1]]:5: error: tensor 'x' of a kernel op must be an Mhc_Tensor
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins AnyTensor:$x);
}
