// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten=differentiate=true | FileCheck %s

// A norm and a product with which a sublayer ends are not of the site, though they look like a projection.
// CHECK-NOT: mhc.projection
// CHECK: "op":"mhc.post"
// CHECK-NOT: mhc.projection
func.func @sublayer(%x: tensor<8x4x32xf32> {mhc.name = "x"}, %u: tensor<8x32xf32> {mhc.name = "u"},
                    %w: tensor<32x32xf32> {mhc.name = "w"}, %h_post: tensor<8x4x1xf32> {mhc.name = "h_post"},
                    %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}) -> tensor<8x4x32xf32> {
  %0 = "aten.pow.Tensor_Scalar"(%u) {self = 0 : index, exponent = 2 : i64} : (tensor<8x32xf32>) -> tensor<8x32xf32> loc("pow")
  %1 = "aten.mean.dim"(%0) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x32xf32>) -> tensor<8x1xf32> loc("mean")
  %2 = "aten.add.Tensor"(%1) {self = 0 : index, other = 1.0e-06 : f64, alpha = 1 : i64} : (tensor<8x1xf32>) -> tensor<8x1xf32> loc("add")
  %3 = "aten.rsqrt.default"(%2) {self = 0 : index} : (tensor<8x1xf32>) -> tensor<8x1xf32> loc("rsqrt")
  %4 = "aten.mul.Tensor"(%u, %3) {self = 0 : index, other = 1 : index} : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x32xf32> loc("mul")
  %5 = "aten.mm.default"(%4, %w) {self = 0 : index, mat2 = 1 : index} : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("mm")
  %6 = "aten.view.default"(%5) {self = 0 : index, size = [8, 1, 32]} : (tensor<8x32xf32>) -> tensor<8x1x32xf32> loc("view")
  %7 = "aten.mul.Tensor"(%h_post, %6) {self = 0 : index, other = 1 : index} : (tensor<8x4x1xf32>, tensor<8x1x32xf32>) -> tensor<8x4x32xf32> loc("mul_1")
  %8 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("bmm")
  %9 = "aten.add.Tensor"(%8, %7) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x32xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("add_1")
  return %9 : tensor<8x4x32xf32>
}
