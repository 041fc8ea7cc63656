// RUN: mhc-opt %s --allow-unregistered-dialect --split-input-file --mhc-join-aten -o /dev/null | FileCheck %s
// RUN: mhc-opt %s --allow-unregistered-dialect --split-input-file --mhc-join-aten=level=layer -o /dev/null | FileCheck %s --check-prefix=LAYER

// A post and the pre of its streams, with views to and fro in between. What the pre reads beside the streams moves to the
// front. A view that something else reads is written again, behind the new call.
// CHECK: {"calls": [
// CHECK-NEXT: {"kwargs":{"alpha":{"node":"alpha"},"beta":{"node":"atan"},{{.*}}"phi":{"node":"phi"},{{.*}}"x":{"node":"x"}},"nodes":["post","pre"],"op":"mhc.post_pre","results":{"next_h_post":2,"next_h_res":3,"u":1,"y":0}},
// CHECK-NEXT: {"args":[{"value":0},[2,4,4,16]],"op":"aten.reshape.default","result":4}],
// CHECK-NEXT: "nodes": {"pre#0":{"value":1},"pre#2":{"value":2},"view":{"value":4}}}
// LAYER: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @boundary(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<2x4x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x16xf32>) loc("post")
  %1 = "aten.view.default"(%0) {self = 0 : index, size = [2 : i64, 4 : i64, 4 : i64, 16 : i64], mhc.pure} : (tensor<8x4x16xf32>) -> (tensor<2x4x4x16xf32>) loc("view")
  %2 = "aten.cos.default"(%1) {self = 0 : index, mhc.pure} : (tensor<2x4x4x16xf32>) -> (tensor<2x4x4x16xf32>) loc("cos")
  %3 = "aten.view.default"(%1) {self = 0 : index, size = [8 : i64, 4 : i64, 16 : i64], mhc.pure} : (tensor<2x4x4x16xf32>) -> (tensor<8x4x16xf32>) loc("view_1")
  %4 = "aten.atan.default"(%beta) {self = 0 : index, mhc.pure} : (tensor<24xf32>) -> (tensor<24xf32>) loc("atan")
  %5:6 = "torch.mhc.pre.default"(%3, %phi, %alpha, %4) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  %6 = "aten.sin.default"(%5#0) {self = 0 : index, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("sin")
  return %2, %6, %5#2 : tensor<2x4x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// Weights that follow from the streams.
// CHECK-NEXT: {"calls": [],
// CHECK-NEXT: "nodes": {}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @late(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<8x16xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x16xf32>) loc("post")
  %1 = "aten.cumsum.default"(%0) {self = 0 : index, mhc.pure} : (tensor<8x4x16xf32>) -> (tensor<24xf32>) loc("cumsum")
  %2:6 = "torch.mhc.pre.default"(%0, %phi, %alpha, %1) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  return %2#0 : tensor<8x16xf32>
}

// -----

// A call that draws random numbers keeps its place.
// CHECK-NEXT: {"calls": [],
// CHECK-NEXT: "nodes": {}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @drawn(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<8x16xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x16xf32>) loc("post")
  %1 = "aten.bernoulli.default"(%beta) {self = 0 : index} : (tensor<24xf32>) -> (tensor<24xf32>) loc("bernoulli")
  %2:6 = "torch.mhc.pre.default"(%0, %phi, %alpha, %1) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  return %2#0 : tensor<8x16xf32>
}

// -----

// Another layout on each side.
// CHECK-NEXT: {"calls": [],
// CHECK-NEXT: "nodes": {}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @other_layout(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x16x4xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<8x16xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "Cn", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x16x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x16x4xf32>) loc("post")
  %1 = "aten.permute.default"(%0) {self = 0 : index, dims = [0 : i64, 2 : i64, 1 : i64], mhc.pure} : (tensor<8x16x4xf32>) -> (tensor<8x4x16xf32>) loc("permute")
  %2:6 = "torch.mhc.pre.default"(%1, %phi, %alpha, %beta) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  return %2#0 : tensor<8x16xf32>
}

// -----

// Backward: post_bwd leaves the gradient of the streams to the op in front, which adds it up, and takes the post_bwd of
// the sublayer before. That one's operand moves to the front. At level layer pre_bwd does the first.
// CHECK-NEXT: {"calls": [
// CHECK-NEXT: {"kwargs":{"d_out":{"node":"d"},{{.*}}"nodes":["post_bwd"],"op":"mhc.post_bwd","results":{"d_f":0,"d_h_post":1,"d_h_res":2}},
// CHECK-NEXT: {"kwargs":{{.*}}"d_next_h_post":{"value":1},"d_next_h_res":{"value":2},"d_out":{"node":"d"},{{.*}}"f":{"node":"sin"},{{.*}}"y":{"node":"y"}},"nodes":["pre_bwd","add","post_bwd_1","post_bwd"],"op":"mhc.post_pre_bwd","results":{"d_f":3,"d_phi":5,"d_x":4}}],
// CHECK-NEXT: "nodes": {"post_bwd#0":{"value":0},"post_bwd_1#0":{"value":3},"post_bwd_1#3":{"value":4},"pre_bwd#1":{"value":5}}}
// LAYER-NEXT: {"calls": [
// LAYER-NEXT: "op":"mhc.post_bwd","results":{"d_f":0,"d_h_post":1,"d_h_res":2}},
// LAYER-NEXT: "d_out":{"node":"d"},{{.*}}"nodes":["pre_bwd","add","post_bwd"],"op":"mhc.pre_bwd","results":{"d_phi":4,"d_x":3}}],
// LAYER-NEXT: "nodes": {"add":{"value":3},"post_bwd#0":{"value":0},"pre_bwd#1":{"value":4}}}
func.func @gradients(%d_h_post: tensor<8x4xf32> {mhc.name = "d_h_post"}, %d_h_res: tensor<8x4x4xf32> {mhc.name = "d_h_res"}, %y: tensor<8x4x16xf32> {mhc.name = "y"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}, %proj: tensor<8x24xf32> {mhc.name = "proj"}, %stat: tensor<8xf32> {mhc.name = "stat"}, %f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %d: tensor<8x4x16xf32> {mhc.name = "d"}) -> (tensor<8x16xf32>, tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<8x16xf32>) {
  %0:5 = "torch.mhc.post_bwd.default"(%d, %f, %h_post, %x, %h_res) {d_out = 0 : index, f = 1 : index, h_post = 2 : index, x = 3 : index, h_res = 4 : index, layout = "nC", orient = "oi", output_mask = [true, true, true, true, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, none) loc("post_bwd")
  %1:5 = "torch.mhc.pre_bwd.default"(%0#1, %0#2, %y, %phi, %alpha, %beta, %proj, %stat) {d_h_post = 0 : index, d_h_res = 1 : index, x = 2 : index, phi = 3 : index, alpha = 4 : index, beta = 5 : index, proj = 6 : index, stat = 7 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, orient = "oi", output_mask = [true, true, false, true, true], mhc.pure} : (tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8xf32>) -> (tensor<8x4x16xf32>, tensor<24x64xf32>, none, tensor<3xf32>, tensor<24xf32>) loc("pre_bwd")
  %2 = "aten.add.Tensor"(%0#3, %1#0) {self = 0 : index, other = 1 : index, alpha = 1 : i64, mhc.pure} : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("add")
  %3 = "aten.sin.default"(%f) {self = 0 : index, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("sin")
  %4:5 = "torch.mhc.post_bwd.default"(%2, %3, %h_post, %x, %h_res) {d_out = 0 : index, f = 1 : index, h_post = 2 : index, x = 3 : index, h_res = 4 : index, layout = "nC", orient = "oi", output_mask = [true, true, true, true, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, none) loc("post_bwd_1")
  %5 = "aten.cos.default"(%1#1) {self = 0 : index, mhc.pure} : (tensor<24x64xf32>) -> (tensor<24x64xf32>) loc("cos")
  return %4#0, %4#3, %5, %0#0 : tensor<8x16xf32>, tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<8x16xf32>
}

// -----

// Three gradients: post_bwd starts from the one of another reader, and pre_bwd from what it makes.
// CHECK-NEXT: {"calls": [
// CHECK-NEXT: "d_x_in":{"node":"cos"},{{.*}}"op":"mhc.post_bwd","results":{"d_f":0,"d_h_post":1,"d_h_res":2,"d_x":3}},
// CHECK-NEXT: "d_x_in":{"value":3},{{.*}}"op":"mhc.pre_bwd","results":{"d_x":4}}],
// CHECK-NEXT: "nodes": {"add_1":{"value":4},"post_bwd#0":{"value":0}}}
// LAYER-NEXT: {"calls": [
// LAYER-NEXT: "d_x_in":{"node":"cos"}
// LAYER-NEXT: "d_x_in":{"value":3}
// LAYER-NEXT: "nodes": {"add_1":{"value":4},"post_bwd#0":{"value":0}}}
func.func @third(%d_h_post: tensor<8x4xf32> {mhc.name = "d_h_post"}, %d_h_res: tensor<8x4x4xf32> {mhc.name = "d_h_res"}, %y: tensor<8x4x16xf32> {mhc.name = "y"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}, %proj: tensor<8x24xf32> {mhc.name = "proj"}, %stat: tensor<8xf32> {mhc.name = "stat"}, %f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %d: tensor<8x4x16xf32> {mhc.name = "d"}) -> (tensor<8x4x16xf32>, tensor<8x16xf32>) {
  %0:5 = "torch.mhc.post_bwd.default"(%d, %f, %h_post, %x, %h_res) {d_out = 0 : index, f = 1 : index, h_post = 2 : index, x = 3 : index, h_res = 4 : index, layout = "nC", orient = "oi", output_mask = [true, true, true, true, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, none) loc("post_bwd")
  %1:5 = "torch.mhc.pre_bwd.default"(%0#1, %0#2, %y, %phi, %alpha, %beta, %proj, %stat) {d_h_post = 0 : index, d_h_res = 1 : index, x = 2 : index, phi = 3 : index, alpha = 4 : index, beta = 5 : index, proj = 6 : index, stat = 7 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, orient = "oi", output_mask = [true, true, false, true, true], mhc.pure} : (tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8xf32>) -> (tensor<8x4x16xf32>, tensor<24x64xf32>, none, tensor<3xf32>, tensor<24xf32>) loc("pre_bwd")
  %2 = "aten.cos.default"(%y) {self = 0 : index, mhc.pure} : (tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("cos")
  %3 = "aten.add.Tensor"(%0#3, %2) {self = 0 : index, other = 1 : index, alpha = 1 : i64, mhc.pure} : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("add")
  %4 = "aten.add.Tensor"(%3, %1#0) {self = 0 : index, other = 1 : index, alpha = 1 : i64, mhc.pure} : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("add_1")
  return %4, %0#0 : tensor<8x4x16xf32>, tensor<8x16xf32>
}

// -----

// The gradient of the streams is read twice: the sum stays.
// CHECK-NEXT: {"calls": [],
// CHECK-NEXT: "nodes": {}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @read_twice(%d_h_post: tensor<8x4xf32> {mhc.name = "d_h_post"}, %d_h_res: tensor<8x4x4xf32> {mhc.name = "d_h_res"}, %y: tensor<8x4x16xf32> {mhc.name = "y"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}, %proj: tensor<8x24xf32> {mhc.name = "proj"}, %stat: tensor<8xf32> {mhc.name = "stat"}, %f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %d: tensor<8x4x16xf32> {mhc.name = "d"}) -> (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x16xf32>) {
  %0:5 = "torch.mhc.post_bwd.default"(%d, %f, %h_post, %x, %h_res) {d_out = 0 : index, f = 1 : index, h_post = 2 : index, x = 3 : index, h_res = 4 : index, layout = "nC", orient = "oi", output_mask = [true, true, true, true, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, none) loc("post_bwd")
  %1:5 = "torch.mhc.pre_bwd.default"(%0#1, %0#2, %y, %phi, %alpha, %beta, %proj, %stat) {d_h_post = 0 : index, d_h_res = 1 : index, x = 2 : index, phi = 3 : index, alpha = 4 : index, beta = 5 : index, proj = 6 : index, stat = 7 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, orient = "oi", output_mask = [true, true, false, true, true], mhc.pure} : (tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>, tensor<8x24xf32>, tensor<8xf32>) -> (tensor<8x4x16xf32>, tensor<24x64xf32>, none, tensor<3xf32>, tensor<24xf32>) loc("pre_bwd")
  %2 = "aten.add.Tensor"(%0#3, %1#0) {self = 0 : index, other = 1 : index, alpha = 1 : i64, mhc.pure} : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("add")
  %3 = "aten.cos.default"(%1#0) {self = 0 : index, mhc.pure} : (tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>) loc("cos")
  return %2, %3, %0#0 : tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x16xf32>
}

// -----

// The norm that a sublayer begins with.
// CHECK-NEXT: {"calls": [
// CHECK-NEXT: "u_norm_eps":1.0000000000000001e-05,"u_norm_weight":{"node":"weight"},"x":{"node":"x"}},"nodes":["post","pre","pow","mul","mean","mul_1","add","rsqrt"],"op":"mhc.post_pre","results":{"next_h_post":2,"next_h_res":3,"u":1,"y":0}}],
// CHECK-NEXT: "nodes": {"mul_1":{"value":1},"pre#2":{"value":2}}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @norm(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}, %weight: tensor<16xf32> {mhc.name = "weight"}) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x16xf32>) loc("post")
  %1:6 = "torch.mhc.pre.default"(%0, %phi, %alpha, %beta) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  %2 = "aten.pow.Tensor_Scalar"(%1#0) {self = 0 : index, exponent = 2 : i64, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("pow")
  %3 = "aten.mean.dim"(%2) {self = 0 : index, dim = [1 : i64], keepdim = true, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x1xf32>) loc("mean")
  %4 = "aten.add.Scalar"(%3) {self = 0 : index, other = 1.0e-05 : f64, alpha = 1 : i64, mhc.pure} : (tensor<8x1xf32>) -> (tensor<8x1xf32>) loc("add")
  %5 = "aten.rsqrt.default"(%4) {self = 0 : index, mhc.pure} : (tensor<8x1xf32>) -> (tensor<8x1xf32>) loc("rsqrt")
  %6 = "aten.mul.Tensor"(%1#0, %5) {self = 0 : index, other = 1 : index, mhc.pure} : (tensor<8x16xf32>, tensor<8x1xf32>) -> (tensor<8x16xf32>) loc("mul")
  %7 = "aten.mul.Tensor"(%6, %weight) {self = 0 : index, other = 1 : index, mhc.pure} : (tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>) loc("mul_1")
  %8 = "aten.sin.default"(%7) {self = 0 : index, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("sin")
  return %8, %1#2 : tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// Where u itself is read, the norm stays.
// CHECK-NEXT: {"calls": [
// CHECK-NEXT: "sk_eps":9.9999999999999995e-07,"x":{"node":"x"}},"nodes":["post","pre"],"op":"mhc.post_pre","results":{"next_h_post":2,"next_h_res":3,"u":1,"y":0}}],
// CHECK-NEXT: "nodes": {"pre#0":{"value":1},"pre#2":{"value":2}}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @norm_beside_u(%f: tensor<8x16xf32> {mhc.name = "f"}, %h_post: tensor<8x4xf32> {mhc.name = "h_post"}, %x: tensor<8x4x16xf32> {mhc.name = "x"}, %h_res: tensor<8x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}, %weight: tensor<16xf32> {mhc.name = "weight"}) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>) {
  %0 = "torch.mhc.post.default"(%f, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure} : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x16xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x16xf32>) loc("post")
  %1:6 = "torch.mhc.pre.default"(%0, %phi, %alpha, %beta) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure} : (tensor<8x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<8x16xf32>, none, tensor<8x4xf32>, tensor<8x4x4xf32>, none, none) loc("pre")
  %2 = "aten.pow.Tensor_Scalar"(%1#0) {self = 0 : index, exponent = 2 : i64, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("pow")
  %3 = "aten.mean.dim"(%2) {self = 0 : index, dim = [1 : i64], keepdim = true, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x1xf32>) loc("mean")
  %4 = "aten.add.Scalar"(%3) {self = 0 : index, other = 1.0e-05 : f64, alpha = 1 : i64, mhc.pure} : (tensor<8x1xf32>) -> (tensor<8x1xf32>) loc("add")
  %5 = "aten.rsqrt.default"(%4) {self = 0 : index, mhc.pure} : (tensor<8x1xf32>) -> (tensor<8x1xf32>) loc("rsqrt")
  %6 = "aten.mul.Tensor"(%1#0, %5) {self = 0 : index, other = 1 : index, mhc.pure} : (tensor<8x16xf32>, tensor<8x1xf32>) -> (tensor<8x16xf32>) loc("mul")
  %7 = "aten.mul.Tensor"(%6, %weight) {self = 0 : index, other = 1 : index, mhc.pure} : (tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>) loc("mul_1")
  %8 = "aten.cumsum.default"(%1#0) {self = 0 : index, mhc.pure} : (tensor<8x16xf32>) -> (tensor<8x16xf32>) loc("cumsum")
  return %7, %8, %1#2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x4xf32>
}

// -----

// A norm of tokens whose number is a size of an op that stays, as patches of a convolution are: no argument has it.
// CHECK-NEXT: {"calls": [
// CHECK-NEXT: "op":"mhc.post_pre"
// CHECK-NEXT: "nodes": {"post":{"value":0},"pre#0":{"value":1},"pre#2":{"value":2}}}
// LAYER-NEXT: {"calls": [],
// LAYER-NEXT: "nodes": {}}
func.func @tokens_of_patches(%image: tensor<3x8x8xf32> {mhc.name = "image"}, %w: tensor<16xf32> {mhc.name = "w"}, %h_post: tensor<?x4xf32> {mhc.name = "h_post"}, %x: tensor<?x4x16xf32> {mhc.name = "x"}, %h_res: tensor<?x4x4xf32> {mhc.name = "h_res"}, %phi: tensor<24x64xf32> {mhc.name = "phi"}, %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<24xf32> {mhc.name = "beta"}) -> (tensor<?x4x16xf32>, tensor<?x16xf32>, tensor<?x4xf32>) {
  %0 = "aten.patches.default"(%image) {self = 0 : index, mhc.pure, mhc.dims = [["(s0//2)", "(s0//2)", "16"]]} : (tensor<3x8x8xf32>) -> tensor<?x?x16xf32> loc("patches")
  %1:2 = "aten._fused_rms_norm.default"(%0, %w) {input = 0 : index, normalized_shape = [16 : i64], weight = 1 : index, mhc.pure, mhc.dims = [["(s0//2)", "(s0//2)", "16"], ["(s0//2)", "(s0//2)", "1"]]} : (tensor<?x?x16xf32>, tensor<16xf32>) -> (tensor<?x?x16xf32>, tensor<?x?x1xf32>) loc("norm")
  %2 = "aten.patched.default"(%1#0) {self = 0 : index, mhc.pure, mhc.dims = [["((s0//2))**2", "16"]]} : (tensor<?x?x16xf32>) -> tensor<?x16xf32> loc("patched")
  %3 = "torch.mhc.post.default"(%2, %h_post, %x, %h_res) {f = 0 : index, h_post = 1 : index, x = 2 : index, h_res = 3 : index, layout = "nC", orient = "oi", mhc.pure, mhc.dims = [["((s0//2))**2", "4", "16"]]} : (tensor<?x16xf32>, tensor<?x4xf32>, tensor<?x4x16xf32>, tensor<?x4x4xf32>) -> tensor<?x4x16xf32> loc("post")
  %4:6 = "torch.mhc.pre.default"(%3, %phi, %alpha, %beta) {x = 0 : index, phi = 1 : index, alpha = 2 : index, beta = 3 : index, layout = "nC", phi_layout = "out_in", norm = "inside", norm_eps = 1.0e-06 : f64, pre_eps = 0.0 : f64, post_mult = 2.0 : f64, res_map = "sinkhorn", init = "exp", order = "row_col", denom = "add", sk_eps = 1.0e-06 : f64, iters = 4 : i64, fold_pre = false, output_mask = [true, false, true, true, false, false], mhc.pure, mhc.dims = [["((s0//2))**2", "16"], [], ["((s0//2))**2", "4"], ["((s0//2))**2", "4", "4"], [], []]} : (tensor<?x4x16xf32>, tensor<24x64xf32>, tensor<3xf32>, tensor<24xf32>) -> (tensor<?x16xf32>, none, tensor<?x4xf32>, tensor<?x4x4xf32>, none, none) loc("pre")
  return %3, %4#0, %4#2 : tensor<?x4x16xf32>, tensor<?x16xf32>, tensor<?x4xf32>
}

// -----

// A function that is declared only is no graph.
// CHECK-NOT: "calls"
// LAYER-NOT: "calls"
func.func private @declared(tensor<2xf32>) -> tensor<2xf32>
