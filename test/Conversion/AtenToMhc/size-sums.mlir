// RUN: mhc-opt %s --split-input-file --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

// The tokens behind the half of a sequence: their number is a size of a tensor.
// CHECK-LABEL: @behind_the_half
// CHECK: %[[PART:.*]] = tensor.dim %arg0, %c1
// CHECK: tensor.splat %{{.*}}[%[[PART]]]
// CHECK: arith.addf %arg0
func.func @behind_the_half(%y: tensor<2x?xf32> {mhc.name = "y", mhc.dims = ["2", "s27-((s27//2))"]}) -> tensor<2x?xf32> {
  %0 = "aten.add.Tensor"(%y) {self = 0 : index, other = 1.0 : f64, alpha = 1, mhc.dims = [["2", "s27-((s27//2))"]]} : (tensor<2x?xf32>) -> tensor<2x?xf32> loc("add")
  return %0 : tensor<2x?xf32>
}

// -----

// The half has no tensor: it is what the part has less than the whole.
// CHECK-LABEL: @of_two_sequences
// CHECK-DAG: %[[ALL:.*]] = tensor.dim %arg0, %c1
// CHECK-DAG: %[[PART:.*]] = tensor.dim %arg1, %c1
// CHECK: %[[HALF:.*]] = arith.subi %[[ALL]], %[[PART]]
// CHECK: arith.muli %{{.*}}, %[[HALF]]
// CHECK: arith.addf
func.func @of_two_sequences(%x: tensor<2x?xf32> {mhc.name = "x", mhc.dims = ["2", "s27"]}, %y: tensor<2x?xf32> {mhc.name = "y", mhc.dims = ["2", "s27-((s27//2))"]}) -> (tensor<2x?xf32>, tensor<?xf32>) {
  %0 = "aten.neg.default"(%x) {self = 0 : index, mhc.dims = [["2", "s27"]]} : (tensor<2x?xf32>) -> tensor<2x?xf32> loc("neg")
  %1 = "aten.view.default"(%y) {self = 0 : index, size = [-1], mhc.dims = [["2*s27-2*((s27//2))"]]} : (tensor<2x?xf32>) -> tensor<?xf32> loc("view")
  %2 = "aten.add.Tensor"(%1) {self = 0 : index, other = 1.0 : f64, alpha = 1, mhc.dims = [["2*s27-2*((s27//2))"]]} : (tensor<?xf32>) -> tensor<?xf32> loc("add")
  return %0, %2 : tensor<2x?xf32>, tensor<?xf32>
}

// -----

// A size that is a factor in the sum, or two times in it, is not solved for.
// CHECK-LABEL: @products
// CHECK-NOT: arith.addf
// CHECK: return
func.func @products(%x: tensor<2x?xf32> {mhc.name = "x", mhc.dims = ["2", "s27"]}, %y: tensor<?x?xf32> {mhc.name = "y", mhc.dims = ["s27*s3+1", "s27+2*s3"]}) -> tensor<?xf32> {
  %0 = "aten.neg.default"(%x) {self = 0 : index, mhc.dims = [["2", "s27"]]} : (tensor<2x?xf32>) -> tensor<2x?xf32> loc("neg")
  %1 = "aten.view.default"(%y) {self = 0 : index, size = [-1], mhc.dims = [["(s27*s3+1)*(s27+2*s3)"]]} : (tensor<?x?xf32>) -> tensor<?xf32> loc("view")
  %2 = "aten.add.Tensor"(%1) {self = 0 : index, other = 1.0 : f64, alpha = 1, mhc.dims = [["(s27*s3+1)*(s27+2*s3)"]]} : (tensor<?xf32>) -> tensor<?xf32> loc("add")
  return %2 : tensor<?xf32>
}
