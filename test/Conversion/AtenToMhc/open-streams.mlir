// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// A number of streams that nothing says is none that an op can have.
// CHECK: "calls": [],
func.func @graph(%2: tensor<1x4xf32> {mhc.name = "arg2_1"}, %4: i64 {mhc.name = "arg4_1"}, %5: i64 {mhc.name = "arg5_1"}, %6: tensor<?x?x32xf32> {mhc.name = "arg6_1", mhc.dims = ["s", "t", "32"]}) -> tensor<?x?x32xf32> {
  %99 = "aten._softmax.default"(%2) {self = 0 : index, dim = -1, half_to_float = false} : (tensor<1x4xf32>) -> (tensor<1x4xf32>) loc("_softmax")
  %101 = "floordiv"(%4) {"0" = 0 : index, "1" = 4} : (i64) -> (i64) loc("floordiv")
  %102 = "aten.view.default"(%6, %101, %5) {self = 0 : index, size = [1 : index, 4, 2 : index, 32], mhc.dims = [["(s//4)", "(s//((s//4)))", "t", "32"]]} : (tensor<?x?x32xf32>, i64, i64) -> (tensor<?x?x?x32xf32>) loc("view")
  %103 = "aten.permute.default"(%102) {self = 0 : index, dims = [0, 2, 1, 3], mhc.dims = [["(s//4)", "t", "(s//((s//4)))", "32"]]} : (tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32xf32>) loc("permute")
  %110 = "mul"(%101, %5) {"0" = 0 : index, "1" = 1 : index} : (i64, i64) -> (i64) loc("mul_25")
  %111 = "mul"(%110) {"0" = 0 : index, "1" = 32} : (i64) -> (i64) loc("mul_26")
  %121 = "aten.unsqueeze.default"(%99) {self = 0 : index, dim = 2} : (tensor<1x4xf32>) -> (tensor<1x4x1xf32>) loc("unsqueeze_26")
  %122 = "aten.unsqueeze.default"(%121) {self = 0 : index, dim = 3} : (tensor<1x4x1xf32>) -> (tensor<1x4x1x1xf32>) loc("unsqueeze_27")
  %123 = "aten.unsqueeze.default"(%122) {self = 0 : index, dim = 4} : (tensor<1x4x1x1xf32>) -> (tensor<1x4x1x1x1xf32>) loc("unsqueeze_28")
  %124 = "aten.permute.default"(%123) {self = 0 : index, dims = [2, 3, 0, 4, 1]} : (tensor<1x4x1x1x1xf32>) -> (tensor<1x1x1x1x4xf32>) loc("permute_6")
  %125 = "aten.unsqueeze.default"(%103) {self = 0 : index, dim = 4, mhc.dims = [["(s//4)", "t", "(s//((s//4)))", "32", "1"]]} : (tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32x1xf32>) loc("unsqueeze_29")
  %126 = "aten.permute.default"(%125) {self = 0 : index, dims = [0, 1, 4, 3, 2], mhc.dims = [["(s//4)", "t", "1", "32", "(s//((s//4)))"]]} : (tensor<?x?x?x32x1xf32>) -> (tensor<?x?x1x32x?xf32>) loc("permute_7")
  %127 = "aten.permute.default"(%124) {self = 0 : index, dims = [4, 0, 1, 2, 3]} : (tensor<1x1x1x1x4xf32>) -> (tensor<4x1x1x1x1xf32>) loc("permute_8")
  %128 = "aten.view.default"(%127) {self = 0 : index, size = [1, 1, 4]} : (tensor<4x1x1x1x1xf32>) -> (tensor<1x1x4xf32>) loc("view_4")
  %129 = "aten.permute.default"(%126) {self = 0 : index, dims = [4, 0, 1, 2, 3], mhc.dims = [["(s//((s//4)))", "(s//4)", "t", "1", "32"]]} : (tensor<?x?x1x32x?xf32>) -> (tensor<?x?x?x1x32xf32>) loc("permute_9")
  %130 = "aten.clone.default"(%129) {self = 0 : index, memory_format = "torch.contiguous_format", mhc.dims = [["(s//((s//4)))", "(s//4)", "t", "1", "32"]]} : (tensor<?x?x?x1x32xf32>) -> (tensor<?x?x?x1x32xf32>) loc("clone_1")
  %131 = "aten._unsafe_view.default"(%130, %111) {self = 0 : index, size = [1, 4, 1 : index], mhc.dims = [["1", "(s//((s//4)))", "32*t*((s//4))"]]} : (tensor<?x?x?x1x32xf32>, i64) -> (tensor<1x?x?xf32>) loc("_unsafe_view_1")
  %132 = "aten.bmm.default"(%128, %131) {self = 0 : index, mat2 = 1 : index, mhc.dims = [["1", "1", "32*t*((s//4))"]]} : (tensor<1x1x4xf32>, tensor<1x?x?xf32>) -> (tensor<1x1x?xf32>) loc("bmm_1")
  %133 = "aten.view.default"(%132, %101, %5) {self = 0 : index, size = [1, 1 : index, 2 : index, 1, 32], mhc.dims = [["1", "(s//4)", "t", "1", "32"]]} : (tensor<1x1x?xf32>, i64, i64) -> (tensor<1x?x?x1x32xf32>) loc("view_5")
  %134 = "aten.permute.default"(%133) {self = 0 : index, dims = [1, 2, 3, 4, 0], mhc.dims = [["(s//4)", "t", "1", "32", "1"]]} : (tensor<1x?x?x1x32xf32>) -> (tensor<?x?x1x32x1xf32>) loc("permute_10")
  %135 = "aten.view.default"(%134, %101, %5) {self = 0 : index, size = [1 : index, 2 : index, 1, 32], mhc.dims = [["(s//4)", "t", "1", "32"]]} : (tensor<?x?x1x32x1xf32>, i64, i64) -> (tensor<?x?x1x32xf32>) loc("view_6")
  %136 = "aten.select.int"(%135) {self = 0 : index, dim = 2, index = 0, mhc.dims = [["(s//4)", "t", "32"]]} : (tensor<?x?x1x32xf32>) -> (tensor<?x?x32xf32>) loc("select")
  return %136 : tensor<?x?x32xf32>
}
