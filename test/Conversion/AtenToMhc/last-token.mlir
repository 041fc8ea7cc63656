// RUN: mhc-opt %s --split-input-file --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

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

// -----

// The same of sequences of any length, counted from their end, and a part up to the end.
// CHECK: "op":"mhc.post"
// CHECK: "op":"aten.slice.Tensor"
// CHECK: "op":"mhc.contract"
// CHECK: "op":"aten.slice.Tensor"
// CHECK: "op":"mhc.contract"
// CHECK: "op":"aten.slice.Tensor"
// CHECK: "op":"mhc.contract"
func.func @open(%h_res: tensor<?x4x4xf32> {mhc.name = "h_res", mhc.dims = ["s0*s1", "4", "4"]},
                %x: tensor<?x?x4x16xf32> {mhc.name = "x", mhc.dims = ["s0", "s1", "4", "16"]},
                %h_post: tensor<?x4x1xf32> {mhc.name = "h_post", mhc.dims = ["s0*s1", "4", "1"]},
                %f: tensor<?x1x16xf32> {mhc.name = "f", mhc.dims = ["s0*s1", "1", "16"]})
    -> (tensor<?x16xf32>, tensor<?x3x16xf32>, tensor<?x2x16xf32>) {
  %flat = "aten.view.default"(%x) {self = 0 : index, size = [-1, 4, 16], mhc.dims = [["s0*s1", "4", "16"]]} : (tensor<?x?x4x16xf32>) -> tensor<?x4x16xf32> loc("flat")
  %0 = "aten.bmm.default"(%h_res, %flat) {self = 0 : index, mat2 = 1 : index, mhc.dims = [["s0*s1", "4", "16"]]} : (tensor<?x4x4xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("bmm")
  %1 = "aten.mul.Tensor"(%h_post, %f) {self = 0 : index, other = 1 : index, mhc.dims = [["s0*s1", "4", "16"]]} : (tensor<?x4x1xf32>, tensor<?x1x16xf32>) -> tensor<?x4x16xf32> loc("mul")
  %2 = "aten.add.Tensor"(%0, %1) {self = 0 : index, other = 1 : index, alpha = 1, mhc.dims = [["s0*s1", "4", "16"]]} : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("add")
  %3 = "aten.view.default"(%2) {self = 0 : index, size = [-1, -1, 4, 16], mhc.dims = [["s0", "s1", "4", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x?x4x16xf32> loc("view")
  %4 = "aten.select.int"(%3) {self = 0 : index, dim = 1, index = -1, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x?x4x16xf32>) -> tensor<?x4x16xf32> loc("select")
  %5 = "aten.mean.dim"(%4) {self = 0 : index, dim = [-2], keepdim = false, mhc.dims = [["s0", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x16xf32> loc("mean")
  %6 = "aten.slice.Tensor"(%3) {self = 0 : index, dim = 1, start = -3, end = 9223372036854775807, step = 1, mhc.dims = [["s0", "3", "4", "16"]]} : (tensor<?x?x4x16xf32>) -> tensor<?x3x4x16xf32> loc("last")
  %7 = "aten.mean.dim"(%6) {self = 0 : index, dim = [-2], keepdim = false, mhc.dims = [["s0", "3", "16"]]} : (tensor<?x3x4x16xf32>) -> tensor<?x3x16xf32> loc("means")
  %8 = "aten.slice.Tensor"(%3) {self = 0 : index, dim = 1, start = -3, end = -1, step = 1, mhc.dims = [["s0", "2", "4", "16"]]} : (tensor<?x?x4x16xf32>) -> tensor<?x2x4x16xf32> loc("before")
  %9 = "aten.mean.dim"(%8) {self = 0 : index, dim = [-2], keepdim = false, mhc.dims = [["s0", "2", "16"]]} : (tensor<?x2x4x16xf32>) -> tensor<?x2x16xf32> loc("others")
  return %5, %7, %9 : tensor<?x16xf32>, tensor<?x3x16xf32>, tensor<?x2x16xf32>
}

// -----

// A slice that may be cut short, as its size says nothing of where it begins, stays as it is.
// CHECK: "op":"mhc.post"
// CHECK-NOT: "op":"mhc.contract"
func.func @short(%h_res: tensor<?x4x4xf32> {mhc.name = "h_res", mhc.dims = ["s0", "4", "4"]},
                 %x: tensor<?x4x16xf32> {mhc.name = "x", mhc.dims = ["s0", "4", "16"]},
                 %h_post: tensor<?x4x1xf32> {mhc.name = "h_post", mhc.dims = ["s0", "4", "1"]},
                 %f: tensor<?x1x16xf32> {mhc.name = "f", mhc.dims = ["s0", "1", "16"]}) -> tensor<?x16xf32> {
  %0 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x4xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("bmm")
  %1 = "aten.mul.Tensor"(%h_post, %f) {self = 0 : index, other = 1 : index, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x1xf32>, tensor<?x1x16xf32>) -> tensor<?x4x16xf32> loc("mul")
  %2 = "aten.add.Tensor"(%0, %1) {self = 0 : index, other = 1 : index, alpha = 1, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("add")
  %3 = "aten.slice.Tensor"(%2) {self = 0 : index, dim = 0, start = -3, end = -1, step = 1, mhc.dims = [["s0-1", "4", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("slice")
  %4 = "aten.mean.dim"(%3) {self = 0 : index, dim = [-2], keepdim = false, mhc.dims = [["s0-1", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x16xf32> loc("mean")
  return %4 : tensor<?x16xf32>
}

// -----

// A start that is a number of the program's is no 0.
// CHECK: "op":"mhc.post"
// CHECK-NOT: "op":"mhc.contract"
func.func @computed(%h_res: tensor<?x4x4xf32> {mhc.name = "h_res", mhc.dims = ["s0", "4", "4"]},
                    %x: tensor<?x4x16xf32> {mhc.name = "x", mhc.dims = ["s0", "4", "16"]},
                    %h_post: tensor<?x4x1xf32> {mhc.name = "h_post", mhc.dims = ["s0", "4", "1"]},
                    %f: tensor<?x1x16xf32> {mhc.name = "f", mhc.dims = ["s0", "1", "16"]},
                    %other: tensor<?x16xf32> {mhc.name = "other", mhc.dims = ["s1", "16"]},
                    %start: i64 {mhc.name = "start"}, %end: i64 {mhc.name = "end"}) -> tensor<?x16xf32> {
  %0 = "aten.bmm.default"(%h_res, %x) {self = 0 : index, mat2 = 1 : index, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x4xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("bmm")
  %1 = "aten.mul.Tensor"(%h_post, %f) {self = 0 : index, other = 1 : index, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x1xf32>, tensor<?x1x16xf32>) -> tensor<?x4x16xf32> loc("mul")
  %2 = "aten.add.Tensor"(%0, %1) {self = 0 : index, other = 1 : index, alpha = 1, mhc.dims = [["s0", "4", "16"]]} : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32> loc("add")
  %3 = "aten.slice.Tensor"(%2, %start, %end) {self = 0 : index, dim = 0, start = 1 : index, end = 2 : index, step = 1, mhc.dims = [["s1", "4", "16"]]} : (tensor<?x4x16xf32>, i64, i64) -> tensor<?x4x16xf32> loc("slice")
  %4 = "aten.mean.dim"(%3) {self = 0 : index, dim = [-2], keepdim = false, mhc.dims = [["s1", "16"]]} : (tensor<?x4x16xf32>) -> tensor<?x16xf32> loc("mean")
  %5 = "aten.add.Tensor"(%4, %other) {self = 0 : index, other = 1 : index, alpha = 1, mhc.dims = [["s1", "16"]]} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32> loc("sum")
  return %5 : tensor<?x16xf32>
}
