// RUN: mhc-opt %s -split-input-file -mhc-pipeline-split=stages=2 | FileCheck %s
// RUN: mhc-opt %s -split-input-file -mhc-pipeline-split=stages=1 | FileCheck %s --check-prefix=ONE
// RUN: mhc-opt %s -split-input-file -mhc-pipeline-split=stages=2 -mhc-inline -symbol-dce -cse | FileCheck %s --check-prefix=AGAIN
// RUN: mhc-opt %s -split-input-file -mhc-pipeline-split=stages=2 --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK

// A stage has the arguments that it reads, with their attributes, and those of the function. A mask of no streams is
// made where it is read.
// CHECK-LABEL: func.func @two_stage0(
// CHECK-SAME: %[[X:.*]]: tensor<8x4x16xf32> {mhc.name = "x"}, %[[F:.*]]: tensor<8x16xf32>, %[[H:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<8x4x4xf32>)
// CHECK-SAME: -> (tensor<8x4x16xf32> {mhc.name = "cut1.0"}) attributes {mhc.recompute_mode = "all"} {
// CHECK-NEXT: %[[OUT:.*]] = mhc.post(f = %[[F]] : {{.*}}, h_post = %[[H]] : {{.*}}, x = %[[X]] :
// CHECK-NEXT: return %[[OUT]]
// CHECK-LABEL: func.func @two_stage1(
// CHECK-SAME: %[[X:.*]]: tensor<8x4x16xf32> {mhc.name = "cut1.0"}, %[[F:.*]]: tensor<8x16xf32>, %[[H:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<8x4x4xf32>)
// CHECK-SAME: -> (tensor<8x4x16xf32> {mhc.name = "out"}) attributes {mhc.recompute_mode = "all"} {
// CHECK-NEXT: %[[TWO:.*]] = arith.constant
// CHECK-NEXT: %[[G:.*]] = arith.mulf %[[F]], %[[TWO]]
// CHECK-NEXT: %[[OUT:.*]] = mhc.post(f = %[[G]] : {{.*}} x = %[[X]] :
// CHECK-NEXT: return %[[OUT]]
// CHECK-LABEL: func.func @two(
// CHECK-NEXT: %[[CUT:.*]] = call @two_stage0(%arg0, %arg1, %arg3, %arg4)
// CHECK-NEXT: %[[OUT:.*]] = call @two_stage1(%[[CUT]], %arg2, %arg3, %arg4)
// CHECK-NEXT: return %[[OUT]]
// ONE-LABEL: func.func @two(
// ONE-NOT: call
// AGAIN-LABEL: func.func @two(
// AGAIN: %[[Y:.*]] = mhc.post(f = %arg1 : {{.*}} x = %arg0 :
// AGAIN: %[[G:.*]] = arith.mulf %arg2,
// AGAIN: mhc.post(f = %[[G]] : {{.*}} x = %[[Y]] :
// REMARK: [Analysis] cut | Category:mhc-pipeline-split | Function=two | Remark="stage 0 ends; it hands over tensor<8x4x16xf32>"
func.func @two(%x: tensor<8x4x16xf32> {mhc.name = "x"}, %f0: tensor<8x16xf32>, %f1: tensor<8x16xf32>,
               %h: tensor<8x4xf32>, %w: tensor<8x4x4xf32>) -> (tensor<8x4x16xf32> {mhc.name = "out"})
    attributes {mhc.recompute_mode = "all"} {
  %two = arith.constant dense<2.0> : tensor<8x16xf32>
  %g = arith.mulf %f1, %two : tensor<8x16xf32>
  %y = mhc.post(f = %f0 : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %z = mhc.post(f = %g : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %y : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %z : tensor<8x4x16xf32>
}

// -----

// The single-pass form hands its h_pre over, and the ends have C channels. The number of tokens is that of the streams.
// CHECK-LABEL: func.func @single_pass_stage0(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>, %{{.*}}: tensor<24x256xf32>, %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<24xf32>, %{{.*}}: tensor<?x4xf32>)
// CHECK-SAME: -> (tensor<?x4x64xbf16> {mhc.name = "cut1.0"}, tensor<?x4xf32> {mhc.name = "cut1.1"}) {
// CHECK: mhc.expand
// CHECK-LABEL: func.func @single_pass_stage1(
// CHECK-SAME: %[[X:.*]]: tensor<?x4x64xbf16> {mhc.name = "cut1.0"}, %[[H:.*]]: tensor<?x4xf32> {mhc.name = "cut1.1"}, %{{.*}}: tensor<24x256xf32>, %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<24xf32>)
// CHECK-SAME: -> tensor<?x64xbf16> {
// CHECK: mhc.pre(x = %[[X]] : {{.*}} h_in = %[[H]] :
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %
// CHECK: tensor.empty(%[[M]])
// CHECK: mhc.contract
// REMARK: it hands over tensor<?x4x64xbf16>, tensor<?x4xf32>
func.func @single_pass(%e: tensor<?x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
                       %h: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %u, %h_pre, %h_post, %h_res = mhc.pre(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
                h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %u1, %h_pre1, %h_post1, %h_res1 = mhc.pre(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, h_in = %h_pre : tensor<?x4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %M = tensor.dim %e, %c0 : tensor<?x64xbf16>
  %empty = tensor.empty(%M) : tensor<?x64xbf16>
  %f = arith.addf %u1, %empty : tensor<?x64xbf16>
  %z = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post1 : tensor<?x4xf32>, x = %y : tensor<?x4x64xbf16>,
                h_res = %h_res1 : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %out = mhc.contract(x = %z : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}
