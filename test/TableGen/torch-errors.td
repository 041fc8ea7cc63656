// RUN: split-file %s %t
// RUN: not mhc-tblgen --gen-torch-boxed-ops -I %mhc_src_root/include -I %mhc_src_root/python -I %mlir_include_dir %t/list.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST
// RUN: not mhc-tblgen --gen-torch-python -I %mhc_src_root/include -I %mhc_src_root/python -I %mlir_include_dir %t/size.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIZE
// RUN: not mhc-tblgen --gen-torch-python -I %mhc_src_root/include -I %mhc_src_root/python -I %mlir_include_dir %t/attribute.td 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ATTRIBUTE

// Records that no op of PyTorch follows from.

//--- list.td
include "TorchClasses.td"
// LIST: list.td:3:5: error: an op of PyTorch takes no list, and 'x' is one
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Variadic<Mhc_Tensor<[F32], ["M"]>>:$x);
  let results = (outs Mhc_Tensor<[F32], ["M"]>:$out);
}
def : Torch_Ops<[Tiny_BadOp]>;

//--- size.td
include "TorchClasses.td"
// SIZE: size.td:3:5: error: no operand has dim 'C' for sure
def Tiny_BadOp : Mhc_KernelOp<"bad"> {
  let arguments = (ins Mhc_Tensor<[F32], ["M"]>:$x, Optional<Mhc_Tensor<[F32], ["C"]>>:$y);
  let results = (outs Mhc_Tensor<[F32], ["M", "C"]>:$out);
}
def : Torch_Ops<[Tiny_BadOp]>;

//--- attribute.td
include "TorchClasses.td"
def Tiny_MixOp : Mhc_KernelOp<"mix"> {
  let arguments = (ins Mhc_Tensor<[F32], ["M"]>:$x);
  let results = (outs Mhc_Tensor<[F32], ["M"]>:$out);
}
// ATTRIBUTE: attribute.td:7:5: error: attribute 'eps' is not known to mix
def Tiny_MixBwdOp : Mhc_KernelOp<"mix_bwd"> {
  let arguments = (ins Mhc_Tensor<[F32], ["M"]>:$d_out, Mhc_Tensor<[F32], ["M"]>:$x, F64Attr:$eps);
  let results = (outs Mhc_Tensor<[F32], ["M"]>:$d_x);
}
def : Torch_Ops<[Tiny_MixOp, Tiny_MixBwdOp]>;
