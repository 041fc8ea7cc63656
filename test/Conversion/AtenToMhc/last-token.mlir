// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// The streams of the last token are contracted behind a site: what takes them is read with it.
// CHECK: "op":"mhc.post"
// CHECK: "op":"aten.slice.Tensor"
// CHECK: "op":"mhc.contract"
func.func @graph(%h_res: tensor<40x4x4xf32> {mhc.name = "h_res"}, %x: tensor<40x4x16xf32> {mhc.name = "x"},
                 %h_post: tensor<40x4x1xf32> {mhc.name = "h_post"}, %f: tensor<40x1x16xf32> {mhc.name = "f"}) -> tensor<2x16xf32> {
  %0 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index} : (tensor<40x4x4xf32>, tensor<40x4x16xf32>) -> tensor<40x4x16xf32> loc("bmm")
  %1 = "aten.mul.Tensor"(%h_post, %f) {self = 0 : index, other = 1 : index} : (tensor<40x4x1xf32>, tensor<40x1x16xf32>) -> tensor<40x4x16xf32> loc("mul")
  %2 = "aten.add.Tensor"(%0, %1) {self = 0 : index, other = 1 : index, alpha = 1} : (tensor<40x4x16xf32>, tensor<40x4x16xf32>) -> tensor<40x4x16xf32> loc("add")
  %3 = "aten.view.default"(%2) {self = 0 : index, size = [2, 20, 4, 16]} : (tensor<40x4x16xf32>) -> tensor<2x20x4x16xf32> loc("view")
  %4 = "aten.select.int"(%3) {self = 0 : index, dim = 1, index = -1} : (tensor<2x20x4x16xf32>) -> tensor<2x4x16xf32> loc("select")
  %5 = "aten.mean.dim"(%4) {self = 0 : index, dim = [-2], keepdim = false} : (tensor<2x4x16xf32>) -> tensor<2x16xf32> loc("mean")
  return %5 : tensor<2x16xf32>
}
