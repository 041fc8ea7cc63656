// RUN: mhcc %s --grad=f --verify --size=M=0 | FileCheck %s
// RUN: mhcc %mhc_src_root/examples/megatron_layer.mlir --grad=layer --fuse=model --verify --size=M=0 | FileCheck %s --check-prefix=LAYER

// A sum over no tokens is zero: the gradient of a weight is such a sum where a call has no tokens.
// CHECK-NOT: WRONG
// CHECK: entry f_grad
// CHECK: d_arg0: verified
// CHECK: d_arg1: verified
// LAYER-NOT: WRONG
// LAYER: d_w_sub0: verified
func.func @f(%x: tensor<2x?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<2x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x?x8xbf16> into tensor<?x8xbf16>
  %M = tensor.dim %x, %c1 : tensor<2x?x8xbf16>
  %y = mhc.matmul %flat, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, %M, 8] : tensor<?x8xbf16> into tensor<2x?x8xbf16>
  %sums = mhc.batch_matmul %x, %z transpose_lhs : (tensor<2x?x8xbf16>, tensor<2x?x8xbf16>) -> tensor<2x8x8xf32>
  return %sums : tensor<2x8x8xf32>
}
