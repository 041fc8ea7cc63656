// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// Before: x (4096 bytes) and res (1024) become a product (4096); post (256) and f (1024) a product (4096), views are
// free; both become a sum (4096). After: f, post, x, res and the sum. A clone that the site does not need is left.
// CHECK: {"bytes": {"after":10496,"before":26880},
func.func @graph(%x: tensor<16x4x16xf32> {mhc.name = "x"}, %res: tensor<16x4x4xf32> {mhc.name = "res"}, %post: tensor<16x4xf32> {mhc.name = "post"}, %f: tensor<16x16xf32> {mhc.name = "f"}) -> (tensor<16x4x16xf32>, tensor<16x4x16xf32>) {
  %0 = "aten.bmm.default"(%res, %x) {self = 0 : index, mat2 = 1 : index} : (tensor<16x4x4xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32> loc("bmm")
  %1 = "aten.unsqueeze.default"(%post) {self = 0 : index, dim = -1 : i64} : (tensor<16x4xf32>) -> tensor<16x4x1xf32> loc("unsqueeze")
  %2 = "aten.unsqueeze.default"(%f) {self = 0 : index, dim = -2 : i64} : (tensor<16x16xf32>) -> tensor<16x1x16xf32> loc("unsqueeze_1")
  %3 = "aten.mul.Tensor"(%1, %2) {self = 0 : index, other = 1 : index} : (tensor<16x4x1xf32>, tensor<16x1x16xf32>) -> tensor<16x4x16xf32> loc("mul")
  %4 = "aten.add.Tensor"(%0, %3) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32> loc("add")
  %5 = "aten.clone.default"(%x) {self = 0 : index} : (tensor<16x4x16xf32>) -> tensor<16x4x16xf32> loc("clone")
  return %4, %5 : tensor<16x4x16xf32>, tensor<16x4x16xf32>
}

// Nothing goes.
// CHECK: {"bytes": {"after":0,"before":0},
func.func @none(%x: tensor<16xf32> {mhc.name = "x"}) -> tensor<16xf32> {
  %0 = "aten.exp.default"(%x) {self = 0 : index} : (tensor<16xf32>) -> tensor<16xf32> loc("exp")
  return %0 : tensor<16xf32>
}
