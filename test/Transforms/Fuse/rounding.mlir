// RUN: mhc-opt %s -mhc-fuse | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Coefficients that are rounded between the ops that one pre replaces, or behind it.

// A sublayer that trains in bf16: pre and post, and no cast between them.
// CHECK-LABEL: @all_three
func.func @all_three(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4x64xbf16>) {
  // CHECK-NEXT: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(
  // CHECK-SAME: fold_pre = false, h_pre_format = bf16, h_post_format = bf16, h_res_format = bf16>
  // CHECK-NEXT: mhc.post(f = %[[U]] : tensor<?x64xbf16>, h_post = %[[POST]] : tensor<?x4xf32>, x = %arg0 : tensor<?x4x64xbf16>, h_res = %[[RES]] :
  // CHECK-NEXT: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %post_32 = arith.extf %post_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %res_16 = arith.truncf %mix : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  %res_32 = arith.extf %res_16 : tensor<?x4x4xbf16> to tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %out = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %post_32 : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %res_32 : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %out : tensor<?x4x64xbf16>
}

// Changes of shape on the way, as of programs with a batch, and repetitions; a gate that leaves in bf16.
// CHECK-LABEL: @between_reshapes
func.func @between_reshapes(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<1x?x4xbf16>, tensor<?x4x64xbf16>) {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %{{.*}}, %{{.*}} = mhc.pre({{.*}} fold_pre = false, h_pre_format = f16, h_post_format = bf16> ->
  // CHECK: %[[GATES:.*]] = tensor.expand_shape %[[PRE]]
  // CHECK: %[[HALF:.*]] = arith.truncf %[[GATES]] : tensor<1x?x4xf32> to tensor<1x?x4xf16>
  // CHECK: %[[WIDE:.*]] = arith.extf %[[HALF]]
  // CHECK: %[[LEAVES:.*]] = arith.truncf %[[WIDE]] : tensor<1x?x4xf32> to tensor<1x?x4xbf16>
  // CHECK: return %[[U]], %[[LEAVES]],
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %gates = tensor.expand_shape %h_pre [[0, 1], [2]] output_shape [1, %M, 4] : tensor<?x4xf32> into tensor<1x?x4xf32>
  %pre_16 = arith.truncf %gates : tensor<1x?x4xf32> to tensor<1x?x4xf16>
  %pre_32 = arith.extf %pre_16 : tensor<1x?x4xf16> to tensor<1x?x4xf32>
  %leaves = arith.truncf %pre_32 : tensor<1x?x4xf32> to tensor<1x?x4xbf16>
  %flat = tensor.collapse_shape %pre_32 [[0, 1], [2]] : tensor<1x?x4xf32> into tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %flat : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %wide = mhc.broadcast %post_16 dims = [0, 1] : tensor<?x4xbf16> -> tensor<?x4x64xbf16>
  return %u, %leaves, %wide : tensor<?x64xbf16>, tensor<1x?x4xbf16>, tensor<?x4x64xbf16>
}

// Readers that do not agree round for themselves.
// CHECK-LABEL: @post_as_it_is_too
func.func @post_as_it_is_too(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4x64xbf16>, tensor<?x4xf32>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}} fold_pre = false> ->
  // CHECK: %[[HALF:.*]] = arith.truncf %[[POST]]
  // CHECK: %[[WIDE:.*]] = arith.extf %[[HALF]]
  // CHECK: mhc.post({{.*}} h_post = %[[WIDE]] :
  // CHECK: return %{{.*}}, %[[POST]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %post_32 = arith.extf %post_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %out = mhc.post(f = %u : tensor<?x64xbf16>, h_post = %post_32 : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %mix : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return %out, %h_post : tensor<?x4x64xbf16>, tensor<?x4xf32>
}

// Only u is used.
// CHECK-LABEL: @head
func.func @head(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>) {
  // CHECK: mhc.head({{.*}} pre_eps = 1.0e-03, h_pre_format = bf16> -> (out : tensor<?x64xbf16>)
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u : tensor<?x64xbf16>
}

// A size that is read of a gate does not keep the gates alive.
// CHECK-LABEL: @size_of_a_gate
func.func @size_of_a_gate(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, index) {
  // CHECK-NOT: mhc.gates(
  // CHECK: mhc.head({{.*}} pre_eps = 1.0e-03, h_pre_format = bf16> -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>)
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %h_pre, %c0 : tensor<?x4xf32>
  return %u, %M : tensor<?x64xbf16>, index
}

// A Sinkhorn that runs in bf16 rounds its logits itself, and what it returns.
// CHECK-LABEL: @iteration
func.func @iteration(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %{{.*}}, %[[RES:.*]] = mhc.pre({{.*}} fold_pre = false, sk_format = bf16> ->
  // CHECK-NEXT: return %[[U]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %z_16 = arith.truncf %z : tensor<?x16xf32> to tensor<?x16xbf16>
  %matrices = tensor.expand_shape %z_16 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xbf16> into tensor<?x4x4xbf16>
  %logits = arith.extf %matrices : tensor<?x4x4xbf16> to tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10, format = bf16> -> (mix : tensor<?x4x4xf32>)
  %res_16 = arith.truncf %mix : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  %res_32 = arith.extf %res_16 : tensor<?x4x4xbf16> to tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u, %res_32 : tensor<?x64xbf16>, tensor<?x4x4xf32>
}

// A reader that rounds once more, and not as the others, goes on doing so.
// CHECK-LABEL: @iteration_rounded_again
func.func @iteration_rounded_again(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
                                   %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x4x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %{{.*}}, %[[RES:.*]] = mhc.pre({{.*}} fold_pre = false, sk_format = bf16> ->
  // CHECK-NEXT: %[[HALF:.*]] = arith.truncf %[[RES]] : tensor<?x4x4xf32> to tensor<?x4x4xf16>
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[HALF]]
  // CHECK-NEXT: return %[[U]], %[[RES]], %[[WIDE]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %z_16 = arith.truncf %z : tensor<?x16xf32> to tensor<?x16xbf16>
  %matrices = tensor.expand_shape %z_16 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xbf16> into tensor<?x4x4xbf16>
  %logits = arith.extf %matrices : tensor<?x4x4xbf16> to tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10, format = bf16> -> (mix : tensor<?x4x4xf32>)
  %again = arith.truncf %mix : tensor<?x4x4xf32> to tensor<?x4x4xf16>
  %wide = arith.extf %again : tensor<?x4x4xf16> to tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u, %mix, %wide : tensor<?x64xbf16>, tensor<?x4x4xf32>, tensor<?x4x4xf32>
}

// The fold subtracts the product of rounded gates, and its result is rounded.
// CHECK-LABEL: @fold
func.func @fold(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xbf16>) {
  // CHECK: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}} fold_pre = true, h_pre_format = bf16, h_post_format = bf16, h_res_format = bf16> ->
  // CHECK-NEXT: %[[HALF:.*]] = arith.truncf %[[RES]]
  // CHECK-NEXT: return %[[U]], %[[POST]], %[[HALF]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %post_32 = arith.extf %post_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %rows = mhc.broadcast %post_32 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %columns = mhc.broadcast %pre_32 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %rows, %columns : tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer : tensor<?x4x4xf32>
  %folded_16 = arith.truncf %folded : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  return %u, %post_32, %folded_16 : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xbf16>
}

// No kernel rounds the product.
// REMARK: remark: [Missed] fold-rounds | {{.*}}Function=fold_of_a_rounded_product | {{.*}}Found="'mhc.sinkhorn', [?, 4, 4] of f32 - 'arith.extf', [?, 4, 4] of f32", Needed="a difference of f32, rounded behind"
// CHECK-LABEL: @fold_of_a_rounded_product
func.func @fold_of_a_rounded_product(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xbf16>) {
  // CHECK: mhc.pre({{.*}} fold_pre = false, h_pre_format = bf16, h_post_format = bf16> ->
  // CHECK: arith.subf
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %post_32 = arith.extf %post_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %rows = mhc.broadcast %post_32 dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %columns = mhc.broadcast %pre_32 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %rows, %columns : tensor<?x4x4xf32>
  %outer_16 = arith.truncf %outer : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  %outer_32 = arith.extf %outer_16 : tensor<?x4x4xbf16> to tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer_32 : tensor<?x4x4xf32>
  %folded_16 = arith.truncf %folded : tensor<?x4x4xf32> to tensor<?x4x4xbf16>
  return %u, %post_32, %folded_16 : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xbf16>
}

// The fold has h_post as it is, and another reader has it rounded: no one format is right.
// CHECK-LABEL: @fold_of_another_gate
func.func @fold_of_another_gate(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: mhc.pre({{.*}} fold_pre = false, h_pre_format = bf16> ->
  // CHECK: arith.subf
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %post_16 = arith.truncf %h_post : tensor<?x4xf32> to tensor<?x4xbf16>
  %post_32 = arith.extf %post_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %rows = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %columns = mhc.broadcast %pre_32 dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %rows, %columns : tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer : tensor<?x4x4xf32>
  return %u, %post_32, %folded : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// One kernel cannot return h_pre as it was and mix the streams by the rounded one.
// REMARK: [Missed] roundings-differ | {{.*}}Found="h_pre in f32", Needed="bf16, as 'mhc.aggregate' reads it"
// CHECK-LABEL: @gate_as_it_is_too
func.func @gate_as_it_is_too(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4xf32>) {
  // CHECK: mhc.gates(
  // CHECK-NOT: mhc.pre(
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u, %h_pre : tensor<?x64xbf16>, tensor<?x4xf32>
}

// The rest of the site is fused all the same, with h_pre as it was: the aggregate rounds its own.
// REMARK: [Missed] roundings-differ | {{.*}}Function=gate_as_it_is_beside_a_map | Found="h_pre in f32"
// CHECK-LABEL: @gate_as_it_is_beside_a_map
func.func @gate_as_it_is_beside_a_map(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}} fold_pre = false> -> (h_pre :
  // CHECK: %[[NARROW:.*]] = arith.truncf %[[PRE]]
  // CHECK: %[[ROUNDED:.*]] = arith.extf %[[NARROW]]
  // CHECK: %[[U:.*]] = mhc.aggregate({{.*}} h_pre = %[[ROUNDED]] :
  // CHECK: return %[[U]], %[[PRE]], %[[POST]], %[[RES]]
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// A fold of the gate as it is joins the kernel; a fold of the one that the aggregate rounds would be another number.
// REMARK: [Missed] roundings-differ | {{.*}}Function=fold_of_the_gate_as_it_is | Found="h_pre in f32"
// CHECK-LABEL: @fold_of_the_gate_as_it_is
func.func @fold_of_the_gate_as_it_is(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>,
    %beta: tensor<24xf32>) -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: mhc.pre({{.*}} fold_pre = true> ->
  // CHECK-NOT: arith.subf
  // CHECK: mhc.aggregate(
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %pre_16 = arith.truncf %h_pre : tensor<?x4xf32> to tensor<?x4xbf16>
  %pre_32 = arith.extf %pre_16 : tensor<?x4xbf16> to tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %pre_32 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  %rows = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %columns = mhc.broadcast %h_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %outer = arith.mulf %rows, %columns : tensor<?x4x4xf32>
  %folded = arith.subf %mix, %outer : tensor<?x4x4xf32>
  return %u, %h_post, %folded : tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Logits that are rounded otherwise than the iteration would are another program.
// REMARK: [Missed] logits-shared | {{.*}}Found="read by 'arith.truncf'", Needed="read by one residual map"
// CHECK-LABEL: @logits_in_another_format
func.func @logits_in_another_format(%x: tensor<?x4x64xbf16>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x64xbf16>, tensor<?x4x4xf32>) {
  // CHECK: mhc.sinkhorn(
  // CHECK-NOT: mhc.pre(
  // CHECK: return
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xbf16>
  %z_16 = arith.truncf %z : tensor<?x16xf32> to tensor<?x16xf16>
  %matrices = tensor.expand_shape %z_16 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf16> into tensor<?x4x4xf16>
  %logits = arith.extf %matrices : tensor<?x4x4xf16> to tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10, format = bf16> -> (mix : tensor<?x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u, %mix : tensor<?x64xbf16>, tensor<?x4x4xf32>
}
