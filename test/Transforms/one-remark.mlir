// RUN: mhc-opt %s '--pass-pipeline=builtin.module(func.func(mhc-raise,mhc-fuse))' --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --implicit-check-not='[Missed]'

// One remark per site: what plain code does with gates and logits by raising, what mHC ops do with them by fusing.

// CHECK: [Missed] result-wider | Category:mhc-raise:aggregate | Function=aggregate_in_f32 |
func.func @aggregate_in_f32(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xbf16>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %wide = arith.extf %x : tensor<?x4x64xbf16> to tensor<?x4x64xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %wide, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u, %h_post : tensor<?x64xf32>, tensor<?x4xf32>
}

// CHECK: [Missed] permutation-order | Category:mhc-raise:permutation_mix | Function=permutations_in_another_order |
func.func @permutations_in_another_order(%x: tensor<?x3x64xf32>, %phi: tensor<12x192xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<12xf32>) -> (tensor<?x64xf32>, tensor<?x3xf32>, tensor<?x9xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x3x64xf32>, phi = %phi : tensor<12x192xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x12xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x12xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<12xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x3xf32>, h_post : tensor<?x3xf32>, logits : tensor<?x6xf32>)
  %table = arith.constant dense<[
      [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
      [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
      [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
      [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
      [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
      [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]> : tensor<6x9xf32>
  %p = mhc.softmax %z dim = 1 : tensor<?x6xf32>
  %mix = mhc.matmul %p, %table : (tensor<?x6xf32>, tensor<6x9xf32>) -> tensor<?x9xf32>
  %u = mhc.aggregate(x = %x : tensor<?x3x64xf32>, h_pre = %h_pre : tensor<?x3xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x3xf32>, tensor<?x9xf32>
}

// A mix that raising does not recognise has a remark of its own.
// CHECK: one-remark.mlir:[[#@LINE+11]]:{{[0-9]+}}: remark: [Missed] aggregate-form | Category:mhc-raise:aggregate | Function=gate_of_something_else |
// CHECK-SAME: Found="'math.exp', [?, 4] of f32", Needed="a sum over the streams of h_pre x"
func.func @gate_of_something_else(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %other = math.exp %h_pre : tensor<?x4xf32>
  return %other, %h_post : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK: [Missed] residual-form | Category:mhc-raise:pre | Function=logits_of_no_map |
// CHECK-SAME: Found="'math.tanh', [?, 16] of f32", Needed="one residual map of the logits"
func.func @logits_of_no_map(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %map = math.tanh %z : tensor<?x16xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %map : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xf32>
}

// CHECK: [Missed] no-aggregate | Category:mhc-fuse:pre | Function=gate_that_is_returned |
func.func @gate_that_is_returned(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> tensor<?x4xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  return %h_pre : tensor<?x4xf32>
}

// A normalisation in the middle divides by something else: those in front of it are a part of the same iteration, whose
// logits have no other map.
// CHECK: [Missed] sinkhorn-divisor | Category:mhc-raise:sinkhorn | Function=other_divisor_in_the_middle |
func.func @other_divisor_in_the_middle(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %logits = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %largest = mhc.reduce max %logits dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %shift = mhc.broadcast %largest dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %shifted = arith.subf %logits, %shift : tensor<?x4x4xf32>
  %e = math.exp %shifted : tensor<?x4x4xf32>
  %m0_s = mhc.reduce sum %e dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m0_a = mhc.broadcast %m0_s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m0 = arith.divf %e, %m0_a : tensor<?x4x4xf32>
  %m1_s = mhc.reduce sum %m0 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m1_a = mhc.broadcast %m1_s dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m1 = arith.divf %m0, %m1_a : tensor<?x4x4xf32>
  %m2_s = mhc.reduce sum %m1 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m2_a = mhc.broadcast %m2_s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m2 = arith.divf %m1, %m2_a : tensor<?x4x4xf32>
  %m3_s = mhc.reduce max %m2 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m3_a = mhc.broadcast %m3_s dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m3 = arith.divf %m2, %m3_a : tensor<?x4x4xf32>
  %m4_s = mhc.reduce sum %m3 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m4_a = mhc.broadcast %m4_s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m4 = arith.divf %m3, %m4_a : tensor<?x4x4xf32>
  %m5_s = mhc.reduce sum %m4 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m5_a = mhc.broadcast %m5_s dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m5 = arith.divf %m4, %m5_a : tensor<?x4x4xf32>
  %m6_s = mhc.reduce sum %m5 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m6_a = mhc.broadcast %m6_s dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m6 = arith.divf %m5, %m6_a : tensor<?x4x4xf32>
  %m7_s = mhc.reduce sum %m6 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %m7_a = mhc.broadcast %m7_s dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %m7 = arith.divf %m6, %m7_a : tensor<?x4x4xf32>
  return %u, %h_post, %m7 : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// A product reads two maps.
// CHECK: [Missed] combine-form | Category:mhc-raise:post | Function=two_maps |
func.func @two_maps(%a: tensor<8x4x4xf32>, %b: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                               %f: tensor<8x4xf32>) -> tensor<8x4x4xf32> {
  %first = mhc.sinkhorn(logits = %a : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %second = mhc.sinkhorn(logits = %b : tensor<8x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %first, %second : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x4xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}

// Without gates h_post is a sigmoid in plain code: the branch is reported once they are there.
// CHECK: [Missed] logits-missing | Category:mhc-raise:gates | Function=one_gate |
func.func @one_gate(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>,
                    %map: tensor<?x4x4xf32>, %f: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x4x64xf32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x24xf32>
  %scaled = arith.mulf %h, %alpha_all : tensor<?x24xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %z_post = tensor.extract_slice %scaled[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %part = arith.mulf %gate, %rows : tensor<?x4x64xf32>
  %twos = tensor.splat %two[%M] : tensor<?x4x64xf32>
  %branch = arith.mulf %part, %twos : tensor<?x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  return %u, %out : tensor<?x64xf32>, tensor<?x4x64xf32>
}

// The gates of other streams explain nothing.
// CHECK: [Missed] logits-missing | Category:mhc-raise:gates | Function=two_sites |
// CHECK: [Missed] combine-form | Category:mhc-raise:post | Function=two_sites |
func.func @two_sites(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>,
                     %map: tensor<?x4x4xf32>, %f: tensor<?x64xf32>, %x2: tensor<?x4x64xf32>, %z2: tensor<?x4x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4x64xf32>, tensor<?x4x64xf32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %alpha_all = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x24xf32>
  %scaled = arith.mulf %h, %alpha_all : tensor<?x24xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x24xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %z_post = tensor.extract_slice %scaled[0, 4] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %part = arith.mulf %gate, %rows : tensor<?x4x64xf32>
  %twos = tensor.splat %two[%M] : tensor<?x4x64xf32>
  %branch = arith.mulf %part, %twos : tensor<?x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  %map2 = mhc.sinkhorn(logits = %z2 : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %mixed2 = mhc.batch_matmul %map2, %x2 : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %bent2 = math.tanh %mixed2 : tensor<?x4x64xf32>
  return %u, %out, %bent2 : tensor<?x64xf32>, tensor<?x4x64xf32>, tensor<?x4x64xf32>
}

// A miss in the iteration is not reported again for the mix that uses its matrix: no value holds all of its factors.
// CHECK: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | Function=mix_of_no_map |
func.func @mix_of_no_map(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>)
    -> (tensor<8x4x64xf32>, tensor<8x4x4xf32>) {
  %eps = arith.constant dense<1.0e-05> : tensor<8x4xf32>
  %other = arith.constant dense<1.0e-02> : tensor<8x4xf32>
  %e = math.exp %z : tensor<8x4x4xf32>
  %s0 = mhc.reduce sum %e dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %a0 = arith.addf %s0, %eps : tensor<8x4xf32>
  %b0 = mhc.broadcast %a0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %m0 = arith.divf %e, %b0 : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %m0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %a1 = arith.addf %s1, %other : tensor<8x4xf32>
  %b1 = mhc.broadcast %a1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %m1 = arith.divf %m0, %b1 : tensor<8x4x4xf32>
  %largest = arith.maximumf %s1, %other : tensor<8x4xf32>
  %scale = mhc.broadcast %largest dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %product = mhc.batch_matmul %m0, %x transpose_lhs : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %mixed = arith.divf %product, %scale : tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  return %out, %m1 : tensor<8x4x64xf32>, tensor<8x4x4xf32>
}

// A norm in f32 of what an aggregate made is none of its own, and logits by batch are those of all tokens.
// CHECK: [Missed] residual-form | {{.*}}Function=norm_of_an_aggregate |
func.func @norm_of_an_aggregate(%x: tensor<6x4x64xbf16>, %phi: tensor<24x256xbf16>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<6x64xf32>, tensor<6x4xf32>, tensor<2x3x16xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<6x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<6x24xf32>, stat : tensor<6xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<6x24xf32>, stat = %stat : tensor<6xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<6x4xf32>, h_post : tensor<6x4xf32>, logits : tensor<6x16xf32>)
  %long = arith.extf %x : tensor<6x4x64xbf16> to tensor<6x4x64xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<6x4xf32> -> tensor<6x4x64xf32>
  %products = arith.mulf %long, %weights : tensor<6x4x64xf32>
  %sums = mhc.reduce sum %products dims = [1] : tensor<6x4x64xf32> -> tensor<6x64xf32>
  %u = arith.truncf %sums : tensor<6x64xf32> to tensor<6x64xbf16>
  %wide = arith.extf %u : tensor<6x64xbf16> to tensor<6x64xf32>
  %squares = arith.mulf %wide, %wide : tensor<6x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<6x64xf32> -> tensor<6xf32>
  %scale = math.rsqrt %sum : tensor<6xf32>
  %scales = mhc.broadcast %scale dims = [0] : tensor<6xf32> -> tensor<6x64xf32>
  %normed = arith.mulf %wide, %scales : tensor<6x64xf32>
  %batches = tensor.expand_shape %z [[0, 1], [2]] output_shape [2, 3, 16] : tensor<6x16xf32> into tensor<2x3x16xf32>
  %map = math.tanh %batches : tensor<2x3x16xf32>
  return %normed, %h_post, %map : tensor<6x64xf32>, tensor<6x4xf32>, tensor<2x3x16xf32>
}

// CHECK: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | Function=iteration_is_told_first |
func.func @iteration_is_told_first(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %root = math.sqrt %h_pre : tensor<?x4xf32>
  %small = arith.constant 1.0e-06 : f32
  %large = arith.constant 1.0e-03 : f32
  %eps1 = tensor.splat %small[%M] : tensor<?x4xf32>
  %eps2 = tensor.splat %large[%M] : tensor<?x4xf32>
  %logits = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %a0 = math.exp %logits : tensor<?x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %p1 = arith.addf %s1, %eps1 : tensor<?x4xf32>
  %b1 = mhc.broadcast %p1 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<?x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
  %p2 = arith.addf %s2, %eps2 : tensor<?x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<?x4x4xf32>
  return %root, %h_post, %a2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Gates that two ops read in two types are told where the iteration beside them is found.
// CHECK: [Missed] sinkhorn-eps | Category:mhc-raise:sinkhorn | Function=iteration_before_roundings |
func.func @iteration_before_roundings(%x: tensor<8x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<8x64xbf16>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x24xf32>, stat : tensor<8xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<8x24xf32>, stat = %stat : tensor<8xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<8x4xf32>, h_post : tensor<8x4xf32>, logits : tensor<8x16xf32>)
  %narrow = arith.truncf %h_pre : tensor<8x4xf32> to tensor<8x4xbf16>
  %rounded = arith.extf %narrow : tensor<8x4xbf16> to tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x64xbf16>, h_pre = %rounded : tensor<8x4xf32>) <layout = nC>
    -> (u : tensor<8x64xbf16>)
  %eps = arith.constant dense<1.0e-03> : tensor<8x4xf32>
  %logits = tensor.expand_shape %z [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %a0 = math.exp %logits : tensor<8x4x4xf32>
  %s1 = mhc.reduce sum %a0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %s1 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a1 = arith.divf %a0, %b1 : tensor<8x4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %p2 = arith.addf %s2, %eps : tensor<8x4xf32>
  %b2 = mhc.broadcast %p2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %a2 = arith.divf %a1, %b2 : tensor<8x4x4xf32>
  return %u, %h_pre, %h_post, %a2 : tensor<8x64xbf16>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}
