// RUN: mhc-opt %s --allow-unregistered-dialect --split-input-file --mhc-read-aten=in-place | FileCheck %s

// A call of a kernel is the op, by its record; a result that may be absent and is not read is not there. A call that is not
// read stays between the leaf ops, and what it reads of them is a result of the function.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: -> (tensor<8x16xf32> {mhc.name = "pre#0"}, tensor<8x4xf32> {mhc.name = "exp"})
// CHECK-NEXT: [[U:%.+]], [[POST:%.+]], %{{.+}} = mhc.pre(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<24x64xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
// CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0, res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 4, fold_pre = false>
// CHECK-SAME: -> (u : tensor<8x16xf32>, h_post : tensor<8x4xf32>, h_res : tensor<8x4x4xf32>)
// CHECK-NEXT: [[COS:%.+]] = "aten.cos.default"([[U]])
// CHECK-NEXT: [[EXP:%.+]] = math.exp [[POST]]
// CHECK-NEXT: return [[U]], [[EXP]]
func.func @kernel(%x: tensor<8x4x16xf32> {mhc.name = "x"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %0:6 = "torch.mhc.pre.default"(%x, %phi, %alpha, %beta) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, true, true], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x24xf32>, tensor<8xf32>) loc("pre")
  %1 = "aten.cos.default"(%0#0) {self = 0 : index, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("cos")
  %2 = "aten.exp.default"(%0#2) {self = 0 : index, mhc.pure} : (tensor<8x4xf32>) -> (tensor<8x4xf32>) loc("exp")
  return %1, %2 : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// Tokens of several dims are one dim of the op.
// CHECK-LABEL: func.func @tokens(
// CHECK-DAG: [[X:%.+]] = tensor.collapse_shape %arg0 {{.*}} : tensor<?x?x4x16xbf16> into tensor<?x4x16xbf16>
// CHECK-DAG: [[H:%.+]] = tensor.collapse_shape %arg1 {{.*}} : tensor<?x?x4xf32> into tensor<?x4xf32>
// CHECK: [[U:%.+]] = mhc.aggregate(x = [[X]] : tensor<?x4x16xbf16>, h_pre = [[H]] : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x16xbf16>)
// CHECK: tensor.expand_shape [[U]] {{.*}} : tensor<?x16xbf16> into tensor<?x?x16xbf16>
func.func @tokens(%x: tensor<?x?x4x16xbf16> {mhc.name = "x", mhc.dims = ["s", "t", "4", "16"]}, %h: tensor<?x?x4xf32> {mhc.name = "h", mhc.dims = ["s", "t", "4"]}) -> tensor<?x?x16xbf16> {
  %0 = "torch.mhc.aggregate.default"(%x, %h) {x = 0 : index, h_pre = 1 : index, layout = "nC", mhc.dims = [["s", "t", "16"]]} : (tensor<?x?x4x16xbf16>, tensor<?x?x4xf32>) -> tensor<?x?x16xbf16> loc("aggregate")
  return %0 : tensor<?x?x16xbf16>
}

// -----

// A word that the attribute does not have, an operand that is missing, and a node that is marked.
// CHECK-LABEL: func.func @left(
// CHECK-NEXT: "torch.mhc.aggregate.default"(%arg0, %arg1)
// CHECK-NEXT: "torch.mhc.aggregate.default"(%arg0)
// CHECK-NEXT: "torch.mhc.aggregate.default"(%arg0, %arg1)
// CHECK-NEXT: "torch.mhc.nothing.default"(%arg0)
// CHECK-NEXT: return
func.func @left(%x: tensor<2x4x8xf32> {mhc.name = "x"}, %h: tensor<2x4xf32> {mhc.name = "h"}) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = "torch.mhc.aggregate.default"(%x, %h) {x = 0 : index, h_pre = 1 : index, layout = "nn"} : (tensor<2x4x8xf32>, tensor<2x4xf32>) -> tensor<2x8xf32> loc("a")
  %1 = "torch.mhc.aggregate.default"(%x) {x = 0 : index, layout = "nC"} : (tensor<2x4x8xf32>) -> tensor<2x8xf32> loc("b")
  %2 = "torch.mhc.aggregate.default"(%x, %h) {x = 0 : index, h_pre = 1 : index, layout = "nC", mhc.outside} : (tensor<2x4x8xf32>, tensor<2x4xf32>) -> tensor<2x8xf32> loc("c")
  %3 = "torch.mhc.nothing.default"(%x) {x = 0 : index} : (tensor<2x4x8xf32>) -> tensor<2x8xf32> loc("d")
  return %0, %1, %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// Gates have h_post where their logits are read.
// CHECK-LABEL: func.func @logits_of_gates(
// CHECK: mhc.gates({{.*}} -> (h_pre : tensor<24x4xf32>, h_post : tensor<24x4xf32>, logits : tensor<24x16xf32>)
func.func @logits_of_gates(%p: tensor<24x24xf32> {mhc.name = "p"}, %a: tensor<3xf32> {mhc.name = "a"}, %b: tensor<24xf32> {mhc.name = "b"}, %s: tensor<24xf32> {mhc.name = "s"}) -> (tensor<24x4xf32>, tensor<24x16xf32>) {
  %0:3 = "torch.mhc.gates.default"(%p, %a, %b, %s) {"proj" = 0 : index, "alpha" = 1 : index, "beta" = 2 : index, "stat" = 3 : index, "n" = 4 : i64, "R" = 16 : i64, "stat_form" = "inv_rms", "norm_eps" = 0.0 : f64, "pre_eps" = 0.0 : f64, "post_mult" = 2.0 : f64, "output_mask" = [true, true, true], mhc.pure} : (tensor<24x24xf32>, tensor<3xf32>, tensor<24xf32>, tensor<24xf32>) -> (tensor<24x4xf32>, tensor<24x4xf32>, tensor<24x16xf32>) loc("gates")
  return %0#0, %0#2 : tensor<24x4xf32>, tensor<24x16xf32>
}
