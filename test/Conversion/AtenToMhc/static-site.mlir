// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// Weights that are the same for all tokens may be those of any layer: streams that a site mixes are aggregated beside it.
// CHECK: "op":"mhc.aggregate"
// CHECK: "op":"mhc.sinkhorn"
// CHECK: "op":"mhc.post"
// CHECK: "missed": [],
// A function that is declared only is no graph.
// CHECK-NOT: "calls"
func.func @graph(%x: tensor<2x6x4x32xf32> {mhc.name = "arg0_1"}, %1: tensor<4xf32> {mhc.name = "arg1_1"}, %10: tensor<4x4xf32> {mhc.name = "arg10_1"}, %11: tensor<4xf32> {mhc.name = "arg11_1"}, %55: tensor<2x6x32xbf16> {mhc.name = "y"}) -> (tensor<2x6x32xf32>, tensor<2x6x4x32xf32>) {
  %25 = "aten._softmax.default"(%1) {self = 0 : index, dim = 0, half_to_float = false} : (tensor<4xf32>) -> (tensor<4xf32>) loc("_softmax")
  %26 = "aten.view.default"(%25) {self = 0 : index, size = [1, 1, -1, 1]} : (tensor<4xf32>) -> (tensor<1x1x4x1xf32>) loc("view")
  %27 = "aten.mul.Tensor"(%x, %26) {self = 0 : index, other = 1 : index} : (tensor<2x6x4x32xf32>, tensor<1x1x4x1xf32>) -> (tensor<2x6x4x32xf32>) loc("mul")
  %28 = "aten.sum.dim_IntList"(%27) {self = 0 : index, dim = [2], keepdim = false} : (tensor<2x6x4x32xf32>) -> (tensor<2x6x32xf32>) loc("sum_1")
  %56 = "aten.max.default"(%10) {self = 0 : index} : (tensor<4x4xf32>) -> (tensor<f32>) loc("max_1")
  %57 = "aten.sub.Tensor"(%10, %56) {self = 0 : index, other = 1 : index, alpha = 1} : (tensor<4x4xf32>, tensor<f32>) -> (tensor<4x4xf32>) loc("sub")
  %58 = "aten.exp.default"(%57) {self = 0 : index} : (tensor<4x4xf32>) -> (tensor<4x4xf32>) loc("exp")
  %59 = "aten.sum.dim_IntList"(%58) {self = 0 : index, dim = [1], keepdim = true} : (tensor<4x4xf32>) -> (tensor<4x1xf32>) loc("sum_2")
  %60 = "aten.add.Tensor"(%59) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<4x1xf32>) -> (tensor<4x1xf32>) loc("add")
  %61 = "aten.div.Tensor"(%58, %60) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<4x1xf32>) -> (tensor<4x4xf32>) loc("div")
  %62 = "aten.sum.dim_IntList"(%61) {self = 0 : index, dim = [0], keepdim = true} : (tensor<4x4xf32>) -> (tensor<1x4xf32>) loc("sum_3")
  %63 = "aten.add.Tensor"(%62) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<1x4xf32>) -> (tensor<1x4xf32>) loc("add_1")
  %64 = "aten.div.Tensor"(%61, %63) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<4x4xf32>) loc("div_1")
  %65 = "aten.sum.dim_IntList"(%64) {self = 0 : index, dim = [1], keepdim = true} : (tensor<4x4xf32>) -> (tensor<4x1xf32>) loc("sum_4")
  %66 = "aten.add.Tensor"(%65) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<4x1xf32>) -> (tensor<4x1xf32>) loc("add_2")
  %67 = "aten.div.Tensor"(%64, %66) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<4x1xf32>) -> (tensor<4x4xf32>) loc("div_2")
  %68 = "aten.sum.dim_IntList"(%67) {self = 0 : index, dim = [0], keepdim = true} : (tensor<4x4xf32>) -> (tensor<1x4xf32>) loc("sum_5")
  %69 = "aten.add.Tensor"(%68) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<1x4xf32>) -> (tensor<1x4xf32>) loc("add_3")
  %70 = "aten.div.Tensor"(%67, %69) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<4x4xf32>) loc("div_3")
  %71 = "aten.sum.dim_IntList"(%70) {self = 0 : index, dim = [1], keepdim = true} : (tensor<4x4xf32>) -> (tensor<4x1xf32>) loc("sum_6")
  %72 = "aten.add.Tensor"(%71) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<4x1xf32>) -> (tensor<4x1xf32>) loc("add_4")
  %73 = "aten.div.Tensor"(%70, %72) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<4x1xf32>) -> (tensor<4x4xf32>) loc("div_4")
  %74 = "aten.sum.dim_IntList"(%73) {self = 0 : index, dim = [0], keepdim = true} : (tensor<4x4xf32>) -> (tensor<1x4xf32>) loc("sum_7")
  %75 = "aten.add.Tensor"(%74) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<1x4xf32>) -> (tensor<1x4xf32>) loc("add_5")
  %76 = "aten.div.Tensor"(%73, %75) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<4x4xf32>) loc("div_5")
  %77 = "aten.sum.dim_IntList"(%76) {self = 0 : index, dim = [1], keepdim = true} : (tensor<4x4xf32>) -> (tensor<4x1xf32>) loc("sum_8")
  %78 = "aten.add.Tensor"(%77) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<4x1xf32>) -> (tensor<4x1xf32>) loc("add_6")
  %79 = "aten.div.Tensor"(%76, %78) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<4x1xf32>) -> (tensor<4x4xf32>) loc("div_6")
  %80 = "aten.sum.dim_IntList"(%79) {self = 0 : index, dim = [0], keepdim = true} : (tensor<4x4xf32>) -> (tensor<1x4xf32>) loc("sum_9")
  %81 = "aten.add.Tensor"(%80) {self = 0 : index, other = 1.0e-08 : f64, alpha = 1} : (tensor<1x4xf32>) -> (tensor<1x4xf32>) loc("add_7")
  %82 = "aten.div.Tensor"(%79, %81) {self = 0 : index, other = 1 : index} : (tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<4x4xf32>) loc("div_7")
  %83 = "aten.unsqueeze.default"(%82) {self = 0 : index, dim = 2} : (tensor<4x4xf32>) -> (tensor<4x4x1xf32>) loc("unsqueeze_1")
  %84 = "aten.unsqueeze.default"(%83) {self = 0 : index, dim = 3} : (tensor<4x4x1xf32>) -> (tensor<4x4x1x1xf32>) loc("unsqueeze_2")
  %85 = "aten.unsqueeze.default"(%84) {self = 0 : index, dim = 4} : (tensor<4x4x1x1xf32>) -> (tensor<4x4x1x1x1xf32>) loc("unsqueeze_3")
  %86 = "aten.permute.default"(%85) {self = 0 : index, dims = [2, 3, 0, 4, 1]} : (tensor<4x4x1x1x1xf32>) -> (tensor<1x1x4x1x4xf32>) loc("permute")
  %87 = "aten.unsqueeze.default"(%x) {self = 0 : index, dim = 4} : (tensor<2x6x4x32xf32>) -> (tensor<2x6x4x32x1xf32>) loc("unsqueeze_4")
  %88 = "aten.permute.default"(%87) {self = 0 : index, dims = [0, 1, 4, 3, 2]} : (tensor<2x6x4x32x1xf32>) -> (tensor<2x6x1x32x4xf32>) loc("permute_1")
  %89 = "aten.permute.default"(%86) {self = 0 : index, dims = [2, 4, 0, 1, 3]} : (tensor<1x1x4x1x4xf32>) -> (tensor<4x4x1x1x1xf32>) loc("permute_2")
  %90 = "aten.view.default"(%89) {self = 0 : index, size = [1, 4, 4]} : (tensor<4x4x1x1x1xf32>) -> (tensor<1x4x4xf32>) loc("view_7")
  %91 = "aten.permute.default"(%88) {self = 0 : index, dims = [4, 0, 1, 3, 2]} : (tensor<2x6x1x32x4xf32>) -> (tensor<4x2x6x32x1xf32>) loc("permute_3")
  %92 = "aten.view.default"(%91) {self = 0 : index, size = [1, 4, 384]} : (tensor<4x2x6x32x1xf32>) -> (tensor<1x4x384xf32>) loc("view_8")
  %93 = "aten._to_copy.default"(%92) {self = 0 : index, dtype = "torch.bfloat16", non_blocking = false} : (tensor<1x4x384xf32>) -> (tensor<1x4x384xbf16>) loc("_to_copy_8")
  %94 = "aten._to_copy.default"(%90) {self = 0 : index, dtype = "torch.bfloat16", non_blocking = false} : (tensor<1x4x4xf32>) -> (tensor<1x4x4xbf16>) loc("_to_copy_9")
  %95 = "aten.bmm.default"(%94, %93) {self = 0 : index, mat2 = 1 : index} : (tensor<1x4x4xbf16>, tensor<1x4x384xbf16>) -> (tensor<1x4x384xbf16>) loc("bmm")
  %96 = "aten.view.default"(%95) {self = 0 : index, size = [4, 1, 2, 6, 32]} : (tensor<1x4x384xbf16>) -> (tensor<4x1x2x6x32xbf16>) loc("view_9")
  %97 = "aten.permute.default"(%96) {self = 0 : index, dims = [2, 3, 0, 4, 1]} : (tensor<4x1x2x6x32xbf16>) -> (tensor<2x6x4x32x1xbf16>) loc("permute_4")
  %98 = "aten.view.default"(%97) {self = 0 : index, size = [2, 6, 4, 32]} : (tensor<2x6x4x32x1xbf16>) -> (tensor<2x6x4x32xbf16>) loc("view_10")
  %99 = "aten.view.default"(%11) {self = 0 : index, size = [1, 1, -1, 1]} : (tensor<4xf32>) -> (tensor<1x1x4x1xf32>) loc("view_11")
  %100 = "aten.unsqueeze.default"(%55) {self = 0 : index, dim = 2} : (tensor<2x6x32xbf16>) -> (tensor<2x6x1x32xbf16>) loc("unsqueeze_5")
  %101 = "aten.mul.Tensor"(%99, %100) {self = 0 : index, other = 1 : index} : (tensor<1x1x4x1xf32>, tensor<2x6x1x32xbf16>) -> (tensor<2x6x4x32xf32>) loc("mul_2")
  %102 = "aten.add.Tensor"(%98, %101) {self = 0 : index, other = 1 : index, alpha = 1} : (tensor<2x6x4x32xbf16>, tensor<2x6x4x32xf32>) -> (tensor<2x6x4x32xf32>) loc("add_8")
  return %28, %102 : tensor<2x6x32xf32>, tensor<2x6x4x32xf32>
}

func.func private @declared(tensor<2xf32>) -> tensor<2xf32>
