// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// Streams that are added up by themselves look like tokens that are: only where a graph has to do with streams alone is it
// an op.
// CHECK: "calls": [
// CHECK: "op":"mhc.contract"
func.func @streams(%x: tensor<16x64xf32> {mhc.name = "x"}) -> tensor<16x16xf32> attributes {mhc.streams} {
  %0 = "aten.view.default"(%x) {self = 0 : index, size = [16, 4, 16]} : (tensor<16x64xf32>) -> tensor<16x4x16xf32> loc("view")
  %1 = "aten.mean.dim"(%0) {self = 0 : index, dim = [-2], keepdim = false} : (tensor<16x4x16xf32>) -> tensor<16x16xf32> loc("mean")
  return %1 : tensor<16x16xf32>
}

// CHECK: "calls": [],
func.func @tokens(%x: tensor<16x64xf32> {mhc.name = "x"}) -> tensor<16x16xf32> {
  %0 = "aten.view.default"(%x) {self = 0 : index, size = [16, 4, 16]} : (tensor<16x64xf32>) -> tensor<16x4x16xf32> loc("view")
  %1 = "aten.mean.dim"(%0) {self = 0 : index, dim = [-2], keepdim = false} : (tensor<16x4x16xf32>) -> tensor<16x16xf32> loc("mean")
  return %1 : tensor<16x16xf32>
}
