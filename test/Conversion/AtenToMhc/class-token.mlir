// RUN: mhc-opt %s --split-input-file --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// Streams of one token more than a sequence has: how many tokens there are is a product with a sum.
// CHECK: "op":"mhc.post"
// CHECK: "missed": []
func.func @mixed(%token: tensor<?x1x4x16xf32> {mhc.name = "token", mhc.dims = ["s0", "1", "4", "16"]},
                 %sequence: tensor<?x?x4x16xf32> {mhc.name = "sequence", mhc.dims = ["s0", "s1", "4", "16"]},
                 %h_res: tensor<?x?x4x4xf32> {mhc.name = "h_res", mhc.dims = ["s0", "s1+1", "4", "4"]},
                 %h_post: tensor<?x?x4x1xf32> {mhc.name = "h_post", mhc.dims = ["s0", "s1+1", "4", "1"]},
                 %f: tensor<?x?x1x16xf32> {mhc.name = "f", mhc.dims = ["s0", "s1+1", "1", "16"]}) -> tensor<?x?x4x16xf32> {
  %x = "aten.cat.default"(%token, %sequence) {tensors = [0 : index, 1 : index], dim = 1, mhc.dims = [["s0", "s1+1", "4", "16"]]} : (tensor<?x1x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> loc("cat")
  %0 = "aten.view.default"(%h_res) {self = 0 : index, size = [-1, 4, 4], mhc.dims = [["s0*(s1+1)", "4", "4"]]} : (tensor<?x?x4x4xf32>) -> tensor<?x4x4xf32> loc("matrices")
  %1 = "aten.view.default"(%x) {self = 0 : index, size = [-1, 4, 16], mhc.dims = [["s0*(s1+1)", "4", "16"]]} : (tensor<?x?x4x16xf32>) -> tensor<?x4x16xf32> loc("streams")
  %2 = "aten.bmm.default"(%0, %1) {self = 0 : index, mat2 = 1 : index, mhc.dims = [["s0*(s1+1)", "4", "16"]]} : (tensor<?x4x4xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("bmm")
  %3 = "aten.view.default"(%2) {self = 0 : index, size = [-1, -1, 4, 16], mhc.dims = [["s0", "s1+1", "4", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x?x4x16xf32> loc("view")
  %4 = "aten.mul.Tensor"(%h_post, %f) {self = 0 : index, other = 1 : index, mhc.dims = [["s0", "s1+1", "4", "16"]]} : (tensor<?x?x4x1xf32>, tensor<?x?x1x16xf32>) -> tensor<?x?x4x16xf32> loc("mul")
  %5 = "aten.add.Tensor"(%3, %4) {self = 0 : index, other = 1 : index, alpha = 1, mhc.dims = [["s0", "s1+1", "4", "16"]]} : (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>) -> tensor<?x?x4x16xf32> loc("add")
  return %5 : tensor<?x?x4x16xf32>
}

// -----

// No argument has as many tokens in a sequence as the matrices that are normalised.
// CHECK: "op":"mhc.sinkhorn"
// CHECK: "missed": []
func.func @normalised(%token: tensor<?x1x4x4xf32> {mhc.name = "token", mhc.dims = ["s0", "1", "4", "4"]},
                      %sequence: tensor<?x?x4x4xf32> {mhc.name = "sequence", mhc.dims = ["s0", "s1", "4", "4"]}) -> tensor<?x?x4x4xf32> {
  %x = "aten.cat.default"(%token, %sequence) {tensors = [0 : index, 1 : index], dim = 1, mhc.dims = [["s0", "s1+1", "4", "4"]]} : (tensor<?x1x4x4xf32>, tensor<?x?x4x4xf32>) -> tensor<?x?x4x4xf32> loc("cat")
  %e = "aten.exp.default"(%x) {self = 0 : index, mhc.dims = [["s0", "s1+1", "4", "4"]]} : (tensor<?x?x4x4xf32>) -> tensor<?x?x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [-1], keepdim = true, mhc.dims = [["s0", "s1+1", "4", "1"]]} : (tensor<?x?x4x4xf32>) -> tensor<?x?x4x1xf32> loc("rows")
  %0 = "aten.div.Tensor"(%e, %r) {self = 0 : index, other = 1 : index, mhc.dims = [["s0", "s1+1", "4", "4"]]} : (tensor<?x?x4x4xf32>, tensor<?x?x4x1xf32>) -> tensor<?x?x4x4xf32> loc("div_r")
  %c = "aten.sum.dim_IntList"(%0) {self = 0 : index, dim = [-2], keepdim = true, mhc.dims = [["s0", "s1+1", "1", "4"]]} : (tensor<?x?x4x4xf32>) -> tensor<?x?x1x4xf32> loc("columns")
  %1 = "aten.div.Tensor"(%0, %c) {self = 0 : index, other = 1 : index, mhc.dims = [["s0", "s1+1", "4", "4"]]} : (tensor<?x?x4x4xf32>, tensor<?x?x1x4xf32>) -> tensor<?x?x4x4xf32> loc("div_c")
  return %1 : tensor<?x?x4x4xf32>
}
