// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten=all --split-input-file --verify-diagnostics | FileCheck %s

// Arguments and results stay, also those that nothing reads and those that are handed through. What makes no tensor goes.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %arg0: tensor<2x4xf32> {mhc.name = "x"}, %arg1: tensor<2xi64> {mhc.name = "seed"})
// CHECK-SAME: -> (tensor<2x4xf32> {mhc.name = "out"}, tensor<2x4xf32> {mhc.name = "x2"}) {
// CHECK-NEXT: [[EXP:%.+]] = math.exp %arg0
// CHECK-NEXT: return [[EXP]], %arg0
func.func @whole(%x: tensor<2x4xf32> {mhc.name = "x"}, %seed: tensor<2xi64> {mhc.name = "seed"})
    -> (tensor<2x4xf32> {mhc.name = "out"}, tensor<2x4xf32> {mhc.name = "x2"}) {
  %0 = "aten.exp.default"(%x) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("exp")
  %1 = "aten._assert_tensor_metadata.default"(%0) {a = 0 : index} : (tensor<2x4xf32>) -> none loc("assert")
  return %0, %x : tensor<2x4xf32>, tensor<2x4xf32>
}

// Streams of one token that start as one vector, and what is wider than that.
// CHECK-LABEL: func.func @token(
// CHECK-NEXT: [[X:%.+]] = tensor.collapse_shape %arg0 {{\[}}[0, 1, 2], [3]]
// CHECK-NEXT: [[STREAMS:%.+]] = mhc.expand(x = [[X]] : tensor<1x16xf32>) <layout = nC> -> (streams : tensor<1x4x16xf32>)
// CHECK-NEXT: [[OUT:%.+]] = tensor.expand_shape [[STREAMS]] {{\[}}[0, 1], [2], [3]]
// CHECK-NEXT: [[HEADS:%.+]] = mhc.broadcast %arg0
// CHECK-NEXT: return [[OUT]], [[HEADS]]
func.func @token(%x: tensor<1x1x1x16xf32> {mhc.name = "x"})
    -> (tensor<1x1x4x16xf32> {mhc.name = "out0"}, tensor<1x2x4x16xf32> {mhc.name = "out1"}) {
  %0 = "aten.expand.default"(%x) {self = 0 : index} : (tensor<1x1x1x16xf32>) -> (tensor<1x1x4x16xf32>) loc("expand")
  %1 = "aten.expand.default"(%x) {self = 0 : index} : (tensor<1x1x1x16xf32>) -> (tensor<1x2x4x16xf32>) loc("expand_1")
  return %0, %1 : tensor<1x1x4x16xf32>, tensor<1x2x4x16xf32>
}

// -----

func.func @unknown(%x: tensor<2x4xf32> {mhc.name = "x"}) -> tensor<2x4xf32> {
  // expected-error @unknown {{'aten.cos.default' has no form in leaf ops}}
  %0 = "aten.cos.default"(%x) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("cos")
  return %0 : tensor<2x4xf32>
}

// -----

func.func @number(%x: tensor<?x4xf32> {mhc.name = "x", mhc.dims = ["u0", "4"]}) -> i64 {
  // expected-error @unknown {{'aten.sym_size.int' has no form in leaf ops}}
  %0 = "aten.sym_size.int"(%x) {self = 0 : index, dim = 0 : i64} : (tensor<?x4xf32>) -> i64 loc("size")
  return %0 : i64
}
