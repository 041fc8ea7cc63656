// RUN: split-file %s %t
// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %t/rule.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RULE
// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %t/elements.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ELEMENTS
// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %t/flip.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FLIP

// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %t/index.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INDEX
// RUN: not mhc-tblgen --gen-kernel-info -I %mhc_src_root/include -I %mlir_include_dir %t/cuts.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CUTS

// Names in a record must be declared in it.

//--- rule.td
include "mhc/IR/MhcBase.td"
// RULE: rule.td:3:5: error: a rule gives dim 'K', which no tensor of the op has
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n"]>:$x);
  let dimRules = [Mhc_DimRule<"K", "2*n">];
}

//--- elements.td
include "mhc/IR/MhcBase.td"
// ELEMENTS: elements.td:3:5: error: tensor 'y' has the elements of 'z', which is no tensor of the op
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n"]>:$x, Mhc_Like<"z", ["M"]>:$y);
}

//--- flip.td
include "mhc/IR/MhcBase.td"
// FLIP: flip.td:3:5: error: the dims of tensor 'x' depend on 'layout', which is no attribute of the op
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Streams<>:$x);
}

//--- index.td
include "mhc/IR/MhcBase.td"
// INDEX: index.td:3:5: error: tensor 'ids' counts along dim 'V', which no tensor of the op has
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Indices<"V", ["M"]>:$ids);
}

//--- cuts.td
include "mhc/IR/MhcBase.td"
// CUTS: cuts.td:3:5: error: tensor 'ends' counts along dim 'V', which no tensor of the op has
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Cuts<"V", ["M"]>:$ends);
}
