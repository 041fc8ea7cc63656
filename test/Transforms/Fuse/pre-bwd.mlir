// RUN: mhc-opt %s -mhc-fuse -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-fuse -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// pre_bwd computes the share of post's gradient itself, in place of reading what post_bwd would write.

// REMARK: Remark="fused the streams' gradient of mhc.post into mhc.pre_bwd, saves 448 bytes per token"
// CHECK-LABEL: @fold
// CHECK: %[[D_F:.*]], %[[D_POST:.*]], %[[D_RES:.*]] = mhc.post_bwd(
// CHECK-SAME: -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>)
// CHECK: mhc.pre_bwd(
// CHECK-SAME: stat = %{{.*}} : tensor<?xf32>, d_out = %[[NEXT:.*]] : tensor<?x4x64xbf16>, h_res = %[[RES:.*]] : tensor<?x4x4xf32>)
// CHECK-SAME: orient = io>
func.func @fold(%d_next: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %proj: tensor<?x24xf32>, %stat: tensor<?xf32>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %d_f, %d_h_post, %d_h_res, %sum = mhc.post_bwd(d_out = %d_next : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = io>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>)
  %d_x = mhc.pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>)
  return %d_x, %x : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// -----

// The mix is not dropped: the streams' gradient leaves without the seed, which the rest keeps.
// REMARK: Remark="fused the streams' gradient of mhc.post into mhc.pre_bwd, saves 448 bytes per token"
// CHECK-LABEL: @fold_with_dropout
// CHECK: mhc.post_bwd({{.*}}seed = %arg10 : tensor<2xi64>) <layout = nC, orient = io, rate = 1.0e-01, stream = 3>
// CHECK-SAME: -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>)
// CHECK: mhc.pre_bwd({{.*}}d_out = %arg0
// CHECK-SAME: orient = io>
func.func @fold_with_dropout(%d_next: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %proj: tensor<?x24xf32>, %stat: tensor<?xf32>,
    %seed: tensor<2xi64>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %d_f, %d_h_post, %d_h_res, %sum = mhc.post_bwd(d_out = %d_next : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>,
      seed = %seed : tensor<2xi64>) <layout = nC, orient = io, rate = 0.1, stream = 3>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>)
  %d_x = mhc.pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>)
  return %d_x, %x : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// -----

// REMARK: [Missed] gradient-shared | {{.*}}Found="2 users", Needed="1 user"
// CHECK-LABEL: @read_elsewhere
// CHECK: mhc.pre_bwd({{.*}} d_x_in = 
func.func @read_elsewhere(%d_next: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %proj: tensor<?x24xf32>, %stat: tensor<?xf32>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %d_f, %d_h_post, %d_h_res, %sum = mhc.post_bwd(d_out = %d_next : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>)
    <layout = nC, orient = io>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>)
  %d_x = mhc.pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>)
  return %d_x, %sum : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// -----

// REMARK: [Missed] gradient-from-elsewhere | {{.*}}Found="argument 10, [?, 4, 64] of bf16", Needed="no gradient to add to"
// CHECK-LABEL: @longer_sum
// CHECK: mhc.pre_bwd({{.*}} d_x_in = 
func.func @longer_sum(%d_next: tensor<?x4x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>,
    %h_res: tensor<?x4x4xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<3xf32>, %beta: tensor<24xf32>,
    %proj: tensor<?x24xf32>, %stat: tensor<?xf32>, %other: tensor<?x4x64xbf16>) -> (tensor<?x4x64xbf16>, tensor<?x4x64xbf16>) {
  %d_f, %d_h_post, %d_h_res, %sum = mhc.post_bwd(d_out = %d_next : tensor<?x4x64xbf16>, f = %f : tensor<?x64xbf16>,
      h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>, h_res = %h_res : tensor<?x4x4xf32>, d_x_in = %other : tensor<?x4x64xbf16>)
    <layout = nC, orient = io>
    -> (d_f : tensor<?x64xbf16>, d_h_post : tensor<?x4xf32>, d_h_res : tensor<?x4x4xf32>, d_x : tensor<?x4x64xbf16>)
  %d_x = mhc.pre_bwd(d_u = %d_f : tensor<?x64xbf16>, d_h_post = %d_h_post : tensor<?x4xf32>,
      d_h_res = %d_h_res : tensor<?x4x4xf32>, x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<24x256xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>, proj = %proj : tensor<?x24xf32>,
      stat = %stat : tensor<?xf32>, d_x_in = %sum : tensor<?x4x64xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = exp, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false,
     orient = oi>
    -> (d_x : tensor<?x4x64xbf16>)
  return %d_x, %x : tensor<?x4x64xbf16>, tensor<?x4x64xbf16>
}

// -----

// A sum with another gradient of the streams, which is made behind the op and moves in front of it.
// REMARK: Remark="fused a sum of two gradients of the streams into mhc.post_bwd, saves 256 bytes per token"
// CHECK-LABEL: @start
// CHECK-NEXT: %[[OTHER:.*]] = arith.negf %arg0
// CHECK-NEXT: %[[D_X:.*]] = mhc.post_bwd({{.*}}d_x_in = %[[OTHER]] : tensor<?x4x16xbf16>)
// CHECK-NEXT: return %[[D_X]]
func.func @start(%d: tensor<?x4x16xbf16>, %f: tensor<?x16xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x16xbf16>,
    %h_res: tensor<?x4x4xf32>) -> tensor<?x4x16xbf16> {
  %d_x = mhc.post_bwd(d_out = %d : tensor<?x4x16xbf16>, f = %f : tensor<?x16xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x16xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (d_x : tensor<?x4x16xbf16>)
  %other = arith.negf %d : tensor<?x4x16xbf16>
  %sum = arith.addf %other, %d_x : tensor<?x4x16xbf16>
  return %sum : tensor<?x4x16xbf16>
}

// -----

// The sum of streams whose tokens are two dims, which the next op reads as one.
// CHECK-LABEL: @start_of_tokens
// CHECK-NEXT: %[[OTHER:.*]] = tensor.collapse_shape %arg5 {{.*}} : tensor<2x?x4x16xbf16> into tensor<?x4x16xbf16>
// CHECK-NEXT: %[[D_X:.*]] = mhc.post_bwd({{.*}}d_x_in = %[[OTHER]] : tensor<?x4x16xbf16>)
// CHECK-NEXT: return %[[D_X]]
func.func @start_of_tokens(%d: tensor<?x4x16xbf16>, %f: tensor<?x16xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x16xbf16>,
    %h_res: tensor<?x4x4xf32>, %other: tensor<2x?x4x16xbf16>, %M: index) -> tensor<?x4x16xbf16> {
  %d_x = mhc.post_bwd(d_out = %d : tensor<?x4x16xbf16>, f = %f : tensor<?x16xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x16xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (d_x : tensor<?x4x16xbf16>)
  %own = tensor.expand_shape %d_x [[0, 1], [2], [3]] output_shape [2, %M, 4, 16] : tensor<?x4x16xbf16> into tensor<2x?x4x16xbf16>
  %sum = arith.addf %own, %other : tensor<2x?x4x16xbf16>
  %joined = tensor.collapse_shape %sum [[0, 1], [2], [3]] : tensor<2x?x4x16xbf16> into tensor<?x4x16xbf16>
  return %joined : tensor<?x4x16xbf16>
}

// -----

// A gradient that something else reads as well, or that follows from the op itself, is added up behind it.
// CHECK-LABEL: @no_start
// CHECK-COUNT-2: arith.addf
func.func @no_start(%d: tensor<?x4x16xbf16>, %f: tensor<?x16xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x16xbf16>,
    %h_res: tensor<?x4x4xf32>) -> (tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, tensor<?x4x16xbf16>) {
  %a = mhc.post_bwd(d_out = %d : tensor<?x4x16xbf16>, f = %f : tensor<?x16xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x16xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (d_x : tensor<?x4x16xbf16>)
  %0 = arith.addf %a, %d : tensor<?x4x16xbf16>
  %d_f, %b = mhc.post_bwd(d_out = %d : tensor<?x4x16xbf16>, f = %f : tensor<?x16xbf16>, h_post = %h_post : tensor<?x4xf32>,
      x = %x : tensor<?x4x16xbf16>, h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (d_f : tensor<?x16xbf16>, d_x : tensor<?x4x16xbf16>)
  %wide = mhc.broadcast %d_f dims = [0, 2] : tensor<?x16xbf16> -> tensor<?x4x16xbf16>
  %1 = arith.addf %b, %wide : tensor<?x4x16xbf16>
  return %0, %a, %1 : tensor<?x4x16xbf16>, tensor<?x4x16xbf16>, tensor<?x4x16xbf16>
}
