// RUN: mhc-opt %s -mhc-fuse | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse=level=model | FileCheck %s --check-prefix=MODEL
// RUN: mhc-opt %s -mhc-fuse --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Streams that are mixed by other weights than those that are projected from them.

// The h_pre of the sublayer before.
// REMARK: Remark="fused 4 ops into mhc.pre, saves 1352 bytes per token"
// CHECK-LABEL: @single_pass
func.func @single_pass(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : {{.*}}, beta = %arg3 : tensor<24xf32>, h_in = %arg4 : tensor<?x4xf32>)
  // CHECK-SAME: fold_pre = false>
  // CHECK-NEXT: return %[[U]], %[[PRE]], %[[POST]], %[[RES]]
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
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Streams that are mixed first: what the coefficients need moves in front.
// REMARK: Remark="fused 4 ops into mhc.pre
// CHECK-LABEL: @mixed_first
func.func @mixed_first(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>, %first: tensor<1xf32>, %rest: tensor<2xf32>)
    -> (tensor<?x4xf32>, tensor<?x4x64xf32>) {
  // CHECK: %[[ALPHA:.*]] = tensor.concat dim(0) %arg5, %arg6
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}}, alpha = %[[ALPHA]] : {{.*}}, h_in = %arg4 : tensor<?x4xf32>)
  // CHECK: %[[F:.*]] = math.tanh %[[U]]
  // CHECK: mhc.post(f = %[[F]]
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %f = math.tanh %u : tensor<?x64xf32>
  %scales = tensor.concat dim(0) %first, %rest : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %scales : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
      h_res = %mix : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  return %h_pre, %out : tensor<?x4xf32>, tensor<?x4x64xf32>
}

// Gates that mix the streams of the next site: there is nothing to mix yet.
// REMARK: Remark="fused 3 ops into mhc.pre, saves 328 bytes per token"
// CHECK-LABEL: @mix_of_other_streams
func.func @mix_of_other_streams(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %next: tensor<?x4x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}}beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  // CHECK-NEXT: %[[U:.*]] = mhc.aggregate(x = %arg4 : tensor<?x4x64xf32>, h_pre = %[[PRE]]
  // CHECK-NEXT: return %[[U]], %[[PRE]], %[[POST]], %[[RES]]
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
  %u = mhc.aggregate(x = %next : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Weights that are made of the gates come too late.
// REMARK: Remark="fused 3 ops into mhc.pre
// CHECK-LABEL: @weights_of_the_gates
func.func @weights_of_the_gates(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(
  // CHECK-NEXT: %[[WEIGHTS:.*]] = math.exp %[[PRE]]
  // CHECK-NEXT: mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>, h_pre = %[[WEIGHTS]]
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
  %weights = math.exp %h_pre : tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %weights : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Coefficients that need what was mixed come too late as well.
// REMARK: Remark="fused 3 ops into mhc.pre
// CHECK-LABEL: @coefficients_of_the_mix
func.func @coefficients_of_the_mix(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: %[[U:.*]] = mhc.aggregate(
  // CHECK: %[[SCALES:.*]] = arith.addf %arg2,
  // CHECK: mhc.pre({{.*}}, alpha = %[[SCALES]] : tensor<3xf32>, beta = %arg3 : tensor<24xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %zero = arith.constant 0 : index
  %one = tensor.extract %u[%zero, %zero] : tensor<?x64xf32>
  %all = tensor.splat %one : tensor<3xf32>
  %scales = arith.addf %alpha, %all : tensor<3xf32>
  %proj, %stat = mhc.projection(x = %x : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre, %h_post, %z = mhc.gates(proj = %proj : tensor<?x24xf32>, stat = %stat : tensor<?xf32>,
      alpha = %scales : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %matrices = tensor.expand_shape %z [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// The fold takes out what the gates themselves mix.
// REMARK: Remark="fused 3 ops into mhc.pre
// CHECK-LABEL: @fold
func.func @fold(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>)
    -> (tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  // CHECK: mhc.pre({{.*}}beta = %arg3 : tensor<24xf32>)
  // CHECK-SAME: fold_pre = true>
  // CHECK: mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>, h_pre = %arg4
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
  %whole = mhc.sinkhorn(logits = %matrices : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %posts = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %pres = mhc.broadcast %h_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
  %product = arith.mulf %posts, %pres : tensor<?x4x4xf32>
  %mix = arith.subf %whole, %product : tensor<?x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u, %h_pre, %h_post, %mix : tensor<?x64xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Two sites: each mixes by the weights of the one before, and the last weights contract the streams.
// REMARK: Remark="fused 4 ops into mhc.pre
// REMARK: Remark="fused 4 ops into mhc.pre
// CHECK-LABEL: @two_sites
// MODEL-LABEL: @two_sites
func.func @two_sites(%x: tensor<?x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %h: tensor<?x4xf32>)
    -> tensor<?x64xf32> {
  // CHECK: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : {{.*}} h_in = %arg4 :
  // CHECK-NEXT: %[[OUT:.*]] = mhc.post(f = %[[U]] : {{.*}}, x = %arg0 :
  // CHECK-NEXT: %[[U2:.*]], %[[PRE2:.*]], %[[POST2:.*]], %[[RES2:.*]] = mhc.pre(x = %[[OUT]] : {{.*}} h_in = %[[PRE]] :
  // CHECK-NEXT: %[[OUT2:.*]] = mhc.post(f = %[[U2]] : {{.*}}, x = %[[OUT]] :
  // CHECK-NEXT: %[[END:.*]] = mhc.aggregate(x = %[[OUT2]] : tensor<?x4x64xf32>, h_pre = %[[PRE2]]
  // CHECK-NEXT: return %[[END]]
  // MODEL: %[[U:.*]], %[[PRE:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre(x = %arg0 : {{.*}} h_in = %arg4 :
  // MODEL-NEXT: %[[Y:.*]], %[[U2:.*]], %[[PRE2:.*]], %[[POST2:.*]], %[[RES2:.*]] = mhc.post_pre(f = %[[U]] :
  // MODEL-SAME: h_post = %[[POST]] : {{.*}} x = %arg0 : {{.*}} h_res = %[[RES]] : {{.*}} h_in = %[[PRE]] :
  // MODEL-NEXT: %[[OUT:.*]] = mhc.post(f = %[[U2]] : {{.*}}, h_post = %[[POST2]] : {{.*}} x = %[[Y]] :
  // MODEL-NEXT: mhc.aggregate(x = %[[OUT]] : tensor<?x4x64xf32>, h_pre = %[[PRE2]]
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
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %out = mhc.post(f = %u : tensor<?x64xf32>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xf32>,
      h_res = %mix : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  %proj2, %stat2 = mhc.projection(x = %out : tensor<?x4x64xf32>, phi = %phi : tensor<24x256xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %h_pre2, %h_post2, %z2 = mhc.gates(proj = %proj2 : tensor<?x24xf32>, stat = %stat2 : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <stat_form = inv_rms, norm_eps = 1.0e-06, pre_eps = 1.0e-03, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x16xf32>)
  %matrices2 = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %mix2 = mhc.sinkhorn(logits = %matrices2 : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %u2 = mhc.aggregate(x = %out : tensor<?x4x64xf32>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  %out2 = mhc.post(f = %u2 : tensor<?x64xf32>, h_post = %h_post2 : tensor<?x4xf32>, x = %out : tensor<?x4x64xf32>,
      h_res = %mix2 : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  %end = mhc.aggregate(x = %out2 : tensor<?x4x64xf32>, h_pre = %h_pre2 : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %end : tensor<?x64xf32>
}
