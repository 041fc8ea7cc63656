// RUN: mhc-opt %s -split-input-file -mhc-pipeline-split=stages=3 | FileCheck %s

// The weight "a" is of stages 0 and 2, "b" of stage 1; stage 0 keeps "c", which nobody reads. A moment goes where the
// gradient goes that it is made of.
// CHECK-LABEL: func.func @loss_stage0(
// CHECK-LABEL: func.func @init_stage0(%{{.*}}: tensor<f32> {mhc.name = "scale"})
// CHECK-SAME: -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<2xf32> {mhc.name = "c"}) {
// CHECK-LABEL: func.func @init_stage1() -> (tensor<8x4xf32> {mhc.name = "b"}) {
// CHECK-NEXT: %[[B:.*]] = arith.constant dense<2.0
// CHECK-NEXT: return %[[B]] :
// CHECK-LABEL: func.func @init_stage2(
// CHECK-SAME: -> (tensor<8x4xf32> {mhc.name = "a"}) {
// CHECK-NOT: func.func @init(
// CHECK-LABEL: func.func @update_stage0(
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {mhc.name = "a"}, %{{.*}}: tensor<8x4xf32> {mhc.name = "d_a"},
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {mhc.name = "m_a"}, %{{.*}}: tensor<2xf32> {mhc.name = "c"}) ->
// CHECK-SAME: (tensor<8x4xf32> {mhc.in_place, mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "m_a"},
// CHECK-SAME: tensor<2xf32> {mhc.name = "c"})
// CHECK-LABEL: func.func @update_stage1(
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {mhc.name = "b"}, %{{.*}}: tensor<8x4xf32> {mhc.name = "d_b"}) ->
// CHECK-SAME: (tensor<8x4xf32> {mhc.name = "b"})
// CHECK-LABEL: func.func @update_stage2(
// CHECK-SAME: "m_a"}) ->
// What is made of no weight stays.
// CHECK-LABEL: func.func @other(
// CHECK-LABEL: func.func @unnamed(
func.func @loss(%x: tensor<8x4x16xf32> {mhc.name = "x"}, %f: tensor<8x16xf32> {mhc.name = "f"},
                %w: tensor<8x4x4xf32> {mhc.name = "w"}, %a: tensor<8x4xf32> {mhc.name = "a"},
                %b: tensor<8x4xf32> {mhc.name = "b"}) -> tensor<8x4x16xf32> {
  %0 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %a : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %1 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %b : tensor<8x4xf32>, x = %0 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %2 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %a : tensor<8x4xf32>, x = %1 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %2 : tensor<8x4x16xf32>
}

func.func @init(%scale: tensor<f32> {mhc.name = "scale"})
    -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}, tensor<2xf32> {mhc.name = "c"}) {
  %a = mhc.broadcast %scale dims = [] : tensor<f32> -> tensor<8x4xf32>
  %b = arith.constant dense<2.0> : tensor<8x4xf32>
  %c = arith.constant dense<3.0> : tensor<2xf32>
  return %a, %b, %c : tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xf32>
}

func.func @update(%a: tensor<8x4xf32> {mhc.name = "a"}, %d_a: tensor<8x4xf32> {mhc.name = "d_a"},
                  %m_a: tensor<8x4xf32> {mhc.name = "m_a"}, %b: tensor<8x4xf32> {mhc.name = "b"},
                  %d_b: tensor<8x4xf32> {mhc.name = "d_b"}, %c: tensor<2xf32> {mhc.name = "c"})
    -> (tensor<8x4xf32> {mhc.name = "a", mhc.in_place}, tensor<8x4xf32> {mhc.name = "m_a"},
        tensor<8x4xf32> {mhc.name = "b"}, tensor<2xf32> {mhc.name = "c"}) {
  %m = arith.addf %m_a, %d_a : tensor<8x4xf32>
  %new_a = arith.addf %a, %m : tensor<8x4xf32>
  %new_b = arith.addf %b, %d_b : tensor<8x4xf32>
  %new_c = arith.negf %c : tensor<2xf32>
  return %new_a, %m, %new_b, %new_c : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2xf32>
}

func.func @other(%q: tensor<2xf32> {mhc.name = "q"}) -> (tensor<2xf32> {mhc.name = "r"}) {
  %r = arith.negf %q : tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @unnamed(%a: tensor<8x4xf32> {mhc.name = "a"}) -> tensor<8x4xf32> {
  %r = arith.negf %a : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// Where different stages share weights, "a" of 0 and 1 and "b" of 1 and 2, all stages have both.
// CHECK-LABEL: func.func @loss_stage0(
// CHECK-LABEL: func.func @init_stage0() -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}) {
// CHECK-LABEL: func.func @init_stage1() -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}) {
// CHECK-LABEL: func.func @init_stage2() -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}) {
func.func @loss(%x: tensor<8x4x16xf32> {mhc.name = "x"}, %f: tensor<8x16xf32> {mhc.name = "f"},
                %w: tensor<8x4x4xf32> {mhc.name = "w"}, %a: tensor<8x4xf32> {mhc.name = "a"},
                %b: tensor<8x4xf32> {mhc.name = "b"}) -> tensor<8x4x16xf32> {
  %ab = arith.addf %a, %b : tensor<8x4xf32>
  %0 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %a : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %1 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %ab : tensor<8x4xf32>, x = %0 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %2 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %b : tensor<8x4xf32>, x = %1 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %2 : tensor<8x4x16xf32>
}

func.func @init() -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}) {
  %a = arith.constant dense<1.0> : tensor<8x4xf32>
  %b = arith.constant dense<2.0> : tensor<8x4xf32>
  return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// An update that scales each weight by all gradients is one that each stage makes whole.
// CHECK-LABEL: func.func @loss_stage0(
// CHECK-LABEL: func.func @update_stage0(
// CHECK-SAME: -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}, tensor<8x4xf32> {mhc.name = "c"}) {
// CHECK-LABEL: func.func @update_stage2(
// CHECK-SAME: -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}, tensor<8x4xf32> {mhc.name = "c"}) {
func.func @loss(%x: tensor<8x4x16xf32> {mhc.name = "x"}, %f: tensor<8x16xf32> {mhc.name = "f"},
                %w: tensor<8x4x4xf32> {mhc.name = "w"}, %a: tensor<8x4xf32> {mhc.name = "a"},
                %b: tensor<8x4xf32> {mhc.name = "b"}, %c: tensor<8x4xf32> {mhc.name = "c"}) -> tensor<8x4x16xf32> {
  %0 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %a : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %1 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %b : tensor<8x4xf32>, x = %0 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  %2 = mhc.post(f = %f : tensor<8x16xf32>, h_post = %c : tensor<8x4xf32>, x = %1 : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %2 : tensor<8x4x16xf32>
}

func.func @update(%a: tensor<8x4xf32> {mhc.name = "a"}, %d_a: tensor<8x4xf32> {mhc.name = "d_a"},
                  %b: tensor<8x4xf32> {mhc.name = "b"}, %d_b: tensor<8x4xf32> {mhc.name = "d_b"},
                  %c: tensor<8x4xf32> {mhc.name = "c"}, %d_c: tensor<8x4xf32> {mhc.name = "d_c"})
    -> (tensor<8x4xf32> {mhc.name = "a"}, tensor<8x4xf32> {mhc.name = "b"}, tensor<8x4xf32> {mhc.name = "c"}) {
  %ab = arith.addf %d_a, %d_b : tensor<8x4xf32>
  %all = arith.addf %ab, %d_c : tensor<8x4xf32>
  %new_a = arith.subf %a, %all : tensor<8x4xf32>
  %new_b = arith.subf %b, %all : tensor<8x4xf32>
  %new_c = arith.subf %c, %all : tensor<8x4xf32>
  return %new_a, %new_b, %new_c : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
