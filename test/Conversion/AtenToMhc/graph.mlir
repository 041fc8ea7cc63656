// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten --split-input-file --verify-diagnostics | FileCheck %s

// Nodes that are read are leaf ops; all else is left to PyTorch: its results are arguments, under the names of their nodes, and
// what it reads of leaf ops are results. An argument that only other nodes read goes.
// CHECK-LABEL: func.func @outside(
// CHECK-SAME: %arg0: tensor<2x4xf32> {mhc.name = "x"}, %arg1: tensor<2x?xf32> {mhc.dims = ["2", "u0"], mhc.made_of = array<i64: 0>, mhc.name = "sort#0"})
// CHECK-SAME: -> (tensor<2x4xf32> {mhc.name = "exp"}, tensor<2x?xf32> {mhc.name = "log"})
// CHECK-NEXT: [[EXP:%.+]] = math.exp %arg0
// CHECK-NEXT: [[LOG:%.+]] = math.log %arg1
// CHECK-NEXT: return [[EXP]], [[LOG]]
func.func @outside(%x: tensor<2x4xf32> {mhc.name = "x"}, %k: i64 {mhc.name = "k"}, %seed: tensor<2xi64> {mhc.name = "seed"}) -> (tensor<2x?xf32>, tensor<2x?xi64>) {
  %0 = "aten.exp.default"(%x) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("exp")
  %1:2 = "aten.sort.default"(%0, %seed) {self = 0 : index, mhc.dims = [["2", "u0"], ["2", "u0"]]} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x?xf32>, tensor<2x?xi64>) loc("sort")
  %2 = "aten.log.default"(%1#0) {self = 0 : index, mhc.dims = [["2", "u0"]]} : (tensor<2x?xf32>) -> (tensor<2x?xf32>) loc("log")
  return %2, %1#1 : tensor<2x?xf32>, tensor<2x?xi64>
}

// Marked nodes are left, too, but for views.
// CHECK-LABEL: func.func @marked(
// CHECK-SAME: %arg0: tensor<2x4xf32> {mhc.made_of = array<i64>, mhc.name = "exp"}) -> (tensor<8xf32> {mhc.name = "view"}) {
// CHECK-NEXT: tensor.collapse_shape %arg0
// CHECK-NEXT: return
func.func @marked(%x: tensor<2x4xf32> {mhc.name = "x"}) -> (tensor<8xf32>) {
  %0 = "aten.exp.default"(%x) {self = 0 : index, mhc.outside} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("exp")
  %1 = "aten.view.default"(%0) {self = 0 : index, mhc.outside} : (tensor<2x4xf32>) -> (tensor<8xf32>) loc("view")
  return %1 : tensor<8xf32>
}

// A gradient ends at a detached tensor.
// CHECK-LABEL: func.func @detached(
// CHECK-SAME: %arg0: tensor<2x4xf32> {mhc.made_of = array<i64>, mhc.name = "detach"})
// CHECK-NEXT: math.exp %arg0
// CHECK-NEXT: return
func.func @detached(%x: tensor<2x4xf32> {mhc.name = "x"}) -> (tensor<2x4xf32>) {
  %0 = "aten.detach.default"(%x) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("detach")
  %1 = "aten.exp.default"(%0) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("exp")
  return %1 : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{a graph of ATen ops needs 'mhc.name' of each argument}}
func.func @unnamed(%x: tensor<2x4xf32>) {
  return
}

// -----

func.func @nowhere(%x: tensor<2x4xf32> {mhc.name = "x"}) {
  // expected-error @+1 {{a graph of ATen ops needs the name of a node as the location of each op}}
  %0 = "aten.exp.default"(%x) {self = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>)
  return
}

// -----

func.func @dims(%x: tensor<2x4xf32> {mhc.name = "x"}) {
  // expected-error @unknown {{a graph of ATen ops needs 'mhc.dims' of each result}}
  %0 = "aten.exp.default"(%x) {self = 0 : index, mhc.dims = []} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("exp")
  return
}

// -----

func.func @region(%x: tensor<2x4xf32> {mhc.name = "x"}) {
  // expected-error @unknown {{a graph of ATen ops needs ops without regions}}
  "aten.cond"(%x) ({}) {self = 0 : index} : (tensor<2x4xf32>) -> () loc("cond")
  return
}
