// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten=differentiate=true | FileCheck %s

// One query weighs 8 values, as where a token is decoded: a sublayer that ends so is not of the site, though it looks
// like a sum of streams. Neither is one row for all tokens of another sublayer, which looks like streams.
// CHECK-NOT: mhc.aggregate
// CHECK-NOT: mhc.expand
// CHECK: "op":"mhc.post"
// CHECK: "op":"mhc.post"
// CHECK-NOT: mhc.aggregate
// CHECK-NOT: mhc.expand
func.func @sublayers(%x: tensor<8x4x32xf32> {mhc.name = "x"}, %shares: tensor<8x1x8xf32> {mhc.name = "shares"},
                     %values: tensor<8x8x32xf32> {mhc.name = "values"}, %row: tensor<2x1x32xf32> {mhc.name = "row"},
                     %h_post: tensor<8x4x1xf32> {mhc.name = "h_post"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"})
    -> tensor<8x4x32xf32> {
  %0 = "aten.bmm.default"(%shares, %values) {self = 0 : index, mat2 = 1 : index} : (tensor<8x1x8xf32>, tensor<8x8x32xf32>) -> tensor<8x1x32xf32> loc("attention")
  %1 = "aten.mul.Tensor"(%h_post, %0) {self = 0 : index, other = 1 : index} : (tensor<8x4x1xf32>, tensor<8x1x32xf32>) -> tensor<8x4x32xf32> loc("mul")
  %2 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("bmm")
  %3 = "aten.add.Tensor"(%2, %1) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x32xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("add")
  %4 = "aten.expand.default"(%row) {self = 0 : index, size = [2, 4, 32]} : (tensor<2x1x32xf32>) -> tensor<2x4x32xf32> loc("expand")
  %5 = "aten.reshape.default"(%4) {self = 0 : index, shape = [8, 1, 32]} : (tensor<2x4x32xf32>) -> tensor<8x1x32xf32> loc("reshape")
  %6 = "aten.mul.Tensor"(%h_post, %5) {self = 0 : index, other = 1 : index} : (tensor<8x4x1xf32>, tensor<8x1x32xf32>) -> tensor<8x4x32xf32> loc("mul_1")
  %7 = "aten.bmm.default"(%h_res, %3) {self = 0 : index, mat2 = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("bmm_1")
  %8 = "aten.add.Tensor"(%7, %6) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x32xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32> loc("add_1")
  return %8 : tensor<8x4x32xf32>
}
