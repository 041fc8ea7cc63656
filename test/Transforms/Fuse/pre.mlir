// RUN: mhc-opt %s -mhc-fuse | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// projection, gates, residual map and aggregate on the same streams become one pre.

// REMARK: Remark="fused 4 ops into mhc.pre, saves 1384 bytes per token"
// CHECK-LABEL: @sinkhorn
func.func @sinkhorn(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0
  // CHECK-SAME: res_map = sinkhorn, init = exp, order = col_row, denom = add, sk_eps = 1.0e-05, iters = 10, fold_pre = false>
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return %[[U]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// No residual map: the logits are the matrices.
// CHECK-LABEL: @logits_themselves
func.func @logits_themselves(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                             %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: res_map = identity
  // CHECK-SAME: fold_pre = false>
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return %[[U]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %matrices : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Code that is no residual map reads the logits in another type and shape, more than once.
// CHECK-LABEL: @logits_for_other_code
func.func @logits_for_other_code(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                 %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xbf16>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: res_map = identity
  // CHECK-SAME: h_res_format = bf16
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[RES]] {{\[\[}}0], [1, 2]] : tensor<?x4x4xf32> into tensor<?x16xf32>
  // CHECK: %[[Z:.*]] = arith.truncf %[[FLAT]] : tensor<?x16xf32> to tensor<?x16xbf16>
  // CHECK: mhc.reduce max %[[Z]]
  // CHECK: arith.subf %[[Z]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %narrow = arith.truncf %z : tensor<?x16xf32> to tensor<?x16xbf16>
  %max = mhc.reduce max %narrow dims = [0, 1] : tensor<?x16xbf16> -> tensor<bf16>
  %all = mhc.broadcast %max[%M] dims = [] : tensor<bf16> -> tensor<?x16xbf16>
  %shifted = arith.subf %narrow, %all : tensor<?x16xbf16>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %shifted : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x16xbf16>
}

// CHECK-LABEL: @permutation_mix
func.func @permutation_mix(%x: tensor<?x4x64xf32>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>,
                           %beta: tensor<32xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: res_map = permutation
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return %[[U]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<32x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x32xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x32xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<32xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x24xf32>)
  %mix = mhc.permutation_mix(logits = %z : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// The residual matrix minus h_post h_pre^T.
// CHECK-LABEL: @fold_of_the_input
func.func @fold_of_the_input(%x: tensor<?x4x64xf32>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>,
                             %beta: tensor<32xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: res_map = permutation
  // CHECK-SAME: fold_pre = true>
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return %[[U]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<32x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x32xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x32xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<32xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x24xf32>)
  %mix = mhc.permutation_mix(logits = %z : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %post_b = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %pre_b = mhc.broadcast %h_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %post_b, %pre_b : tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer : tensor<?x4x4xf32>
  return %u, %h_post, %folded : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// h_pre h_post^T is another matrix.
// CHECK-LABEL: @no_fold_of_the_transposed_product
func.func @no_fold_of_the_transposed_product(%x: tensor<?x4x64xf32>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>,
                                             %beta: tensor<32xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-SAME: fold_pre = false>
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: arith.subf %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<32x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x32xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x32xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<32xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x24xf32>)
  %mix = mhc.permutation_mix(logits = %z : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %post_b = mhc.broadcast %h_post dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %pre_b = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %post_b, %pre_b : tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer : tensor<?x4x4xf32>
  return %u, %h_post, %folded : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// It becomes a result of its own.
// CHECK-LABEL: @first_gate_with_another_user
func.func @first_gate_with_another_user(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                        %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 :
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return %[[U]], %[[PRE]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// CHECK-LABEL: @streams_last
func.func @streams_last(%x: tensor<?x64x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                        %beta: tensor<24xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: mhc.pre(x = %arg0 : tensor<?x64x4xf32>
  // CHECK-SAME: <layout = Cn,
  // CHECK-NOT: mhc.{{gates|projection|aggregate|sinkhorn|permutation_mix}}
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x64x4xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64x4xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x64x4xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = Cn>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Logits that nothing reads are still rows of phi: 24 of them weigh the permutations of 4 streams.
// CHECK-LABEL: @dead_weights_of_permutations
func.func @dead_weights_of_permutations(%x: tensor<?x4x64xf32>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>,
                                        %beta: tensor<32xf32>) -> (tensor<?x64xf32>, tensor<?x4xf32>) {
  // CHECK: mhc.pre(x = %arg0 : tensor<?x4x64xf32>, phi = %arg1 : tensor<32x256xf32>
  // CHECK-SAME: res_map = permutation
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<32x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x32xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x32xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<32xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x24xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post : tensor<?x64xf32>, tensor<?x4xf32>
}

// The same where batch and tokens are apart.
// CHECK-LABEL: @fold_of_the_input_by_batch
func.func @fold_of_the_input_by_batch(%x: tensor<6x4x64xf32>, %phi: tensor<32x256xf32>, %alpha: tensor<3xf32>,
                                      %beta: tensor<32xf32>)
    -> (tensor<6x64xf32>, tensor<6x4xf32>, tensor<2x3x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0
  // CHECK-SAME: fold_pre = true>
  // CHECK: %[[VIEW:.*]] = tensor.expand_shape %[[RES]] {{\[\[}}0, 1], [2], [3]]
  // CHECK: return %[[U]], %[[POST]], %[[VIEW]]
  %proj, %stat = mhc.projection(x = %x : tensor<6x4x64xf32>, phi = %phi : tensor<32x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<6x32xf32>, stat : tensor<6xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<6x32xf32>, stat = %stat : tensor<6xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<32xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 1.0>
    -> (h_pre : tensor<6x4xf32>, h_post : tensor<6x4xf32>, logits : tensor<6x24xf32>)
  %mix = mhc.permutation_mix(logits = %z : tensor<6x24xf32>) -> (mix : tensor<6x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<6x4x64xf32>, h_pre = %h_pre : tensor<6x4xf32>) <layout = nC>
    -> (u : tensor<6x64xf32>)
  %batches = tensor.expand_shape %mix [[0, 1], [2], [3]] output_shape [2, 3, 4, 4]
    : tensor<6x4x4xf32> into tensor<2x3x4x4xf32>
  %post = tensor.expand_shape %h_post [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %pre = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %columns = mhc.broadcast %post dims = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<2x3x4x4xf32>
  %rows = mhc.broadcast %pre dims = [0, 1, 3] : tensor<2x3x4xf32> -> tensor<2x3x4x4xf32>
  %outer = arith.mulf %columns, %rows : tensor<2x3x4x4xf32>
  %rest = arith.subf %batches, %outer : tensor<2x3x4x4xf32>
  return %u, %h_post, %rest : tensor<6x64xf32>, tensor<6x4xf32>, tensor<2x3x4x4xf32>
}

// Other readers of the logits, such as a loss, have them of the fused op, and so has the map.
// REMARK: Remark="fused 3 ops into mhc.pre, saves 1256 bytes per token"
// CHECK-LABEL: @logits_with_another_reader
func.func @logits_with_another_reader(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                 %beta: tensor<24xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x16xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[Z:.*]] = mhc.pre(x = %arg0 {{.*}}res_map = identity
  // CHECK-DAG: %[[FLAT:.*]] = tensor.collapse_shape %[[Z]]
  // CHECK-DAG: %[[RES:.*]] = mhc.sinkhorn(logits =
  // CHECK-NOT: mhc.{{projection|gates|aggregate}}
  // CHECK: return %[[U]], %[[POST]], %[[RES]], %[[FLAT]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_post, %mix, %z : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x16xf32>
}
