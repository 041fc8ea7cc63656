// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// A gate of the streams for each head of attention, of which there are as many as streams, weighs none of them: its nodes
// stay.
// CHECK-NOT: mhc.gates
// CHECK: "op":"mhc.post"
// CHECK-NOT: mhc.gates
// CHECK: "missed": [],
func.func @graph(%h_res: tensor<40x4x4xf32> {mhc.name = "h_res"}, %x: tensor<40x4x16xf32> {mhc.name = "x"},
                 %h_post: tensor<40x4x1xf32> {mhc.name = "h_post"}, %heads: tensor<40x4x4xf32> {mhc.name = "heads"},
                 %weight: tensor<64x4xf32> {mhc.name = "weight"}, %bias: tensor<4xf32> {mhc.name = "bias"}) -> tensor<40x4x16xf32> {
  %0 = "aten.view.default"(%x) {self = 0 : index, size = [40, 64]} : (tensor<40x4x16xf32>) -> tensor<40x64xf32> loc("view")
  %1 = "aten.addmm.default"(%bias, %0, %weight) {self = 0 : index, mat1 = 1 : index, mat2 = 2 : index, beta = 1, alpha = 1} : (tensor<4xf32>, tensor<40x64xf32>, tensor<64x4xf32>) -> tensor<40x4xf32> loc("addmm")
  %2 = "aten.sigmoid.default"(%1) {self = 0 : index} : (tensor<40x4xf32>) -> tensor<40x4xf32> loc("sigmoid")
  %3 = "aten.unsqueeze.default"(%2) {self = 0 : index, dim = -1} : (tensor<40x4xf32>) -> tensor<40x4x1xf32> loc("unsqueeze")
  %4 = "aten.mul.Tensor"(%heads, %3) {self = 0 : index, other = 1 : index} : (tensor<40x4x4xf32>, tensor<40x4x1xf32>) -> tensor<40x4x4xf32> loc("mul")
  %5 = "aten.view.default"(%4) {self = 0 : index, size = [40, 1, 16]} : (tensor<40x4x4xf32>) -> tensor<40x1x16xf32> loc("view_1")
  %6 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index} : (tensor<40x4x4xf32>, tensor<40x4x16xf32>) -> tensor<40x4x16xf32> loc("bmm")
  %7 = "aten.mul.Tensor"(%h_post, %5) {self = 0 : index, other = 1 : index} : (tensor<40x4x1xf32>, tensor<40x1x16xf32>) -> tensor<40x4x16xf32> loc("mul_1")
  %8 = "aten.add.Tensor"(%6, %7) {self = 0 : index, other = 1 : index, alpha = 1} : (tensor<40x4x16xf32>, tensor<40x4x16xf32>) -> tensor<40x4x16xf32> loc("add")
  return %8 : tensor<40x4x16xf32>
}
