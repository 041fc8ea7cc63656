// RUN: mhc-opt %s -mhc-pipeline-split=stages=3 | FileCheck %s

// Four sublayers in three stages: one, one and two. What the first makes and the last reads goes through the second.
// CHECK-LABEL: func.func @four_stage0(
// CHECK-SAME: -> (tensor<8x4x16xf32> {mhc.name = "cut1.0"}, tensor<8x16xf32> {mhc.name = "cut1.1"}) {
// CHECK-COUNT-1: mhc.post
// CHECK-NOT: mhc.post
// CHECK-LABEL: func.func @four_stage1(
// CHECK-SAME: %{{.*}}: tensor<8x4x16xf32> {mhc.name = "cut1.0"}, %[[U:.*]]: tensor<8x16xf32> {mhc.name = "cut1.1"},
// CHECK-SAME: -> (tensor<8x4x16xf32> {mhc.name = "cut2.0"}, tensor<8x16xf32> {mhc.name = "cut2.1"}) {
// CHECK-COUNT-1: mhc.post
// CHECK-NOT: mhc.post
// CHECK: return %{{.*}}, %[[U]] :
// CHECK-LABEL: func.func @four_stage2(
// CHECK-SAME: %[[X:.*]]: tensor<8x4x16xf32> {mhc.name = "cut2.0"}, %[[U:.*]]: tensor<8x16xf32> {mhc.name = "cut2.1"},
// CHECK: mhc.post({{.*}} x = %[[X]] :
// CHECK: mhc.post(f = %[[U]] :
// CHECK-NOT: mhc.post
func.func @four(%x: tensor<8x4x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x4xf32>, %w: tensor<8x4x4xf32>)
    -> tensor<8x4x16xf32> {
  %u = mhc.aggregate(x = %x : tensor<8x4x16xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x16xf32>)
  %a = mhc.post(f = %u : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %b = mhc.post(f = %f : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %a : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %c = mhc.post(f = %f : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %b : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %e = mhc.post(f = %u : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %c : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %e : tensor<8x4x16xf32>
}
