// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file | FileCheck %s --check-prefixes=CHECK,MODEL
// RUN: mhc-opt %s -mhc-fuse -split-input-file | FileCheck %s --check-prefixes=CHECK,LAYER
// RUN: mhc-opt %s -mhc-fuse=level=model -split-input-file --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Streams that the head alone reads are not written: x, f and out are left, 6 rows of 14. What the head reads besides may
// be made behind the post.

// REMARK: Remark="fused 'mhc.post' and 'mhc.head' into mhc.post_head, saves 1024 bytes per token"
// CHECK-LABEL: @alone
// MODEL: %[[BETA:.*]] = arith.mulf
// MODEL: %[[OUT:.*]] = mhc.post_head(f = %arg0 {{.*}}, h_post = %arg1 {{.*}}, x = %arg2 {{.*}}, h_res = %arg3 {{.*}}, phi = %arg4 {{.*}}, alpha = %arg5 {{.*}}, beta = %[[BETA]] : tensor<4xf32>) <layout = nC, orient = io, phi_layout = out_in,
// MODEL-SAME: -> (out : tensor<?x64xbf16>)
// MODEL-NEXT: return %[[OUT]]
// LAYER: mhc.post(
// LAYER: mhc.head(
func.func @alone(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<?x64xbf16> {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %beta2 = arith.mulf %beta, %beta : tensor<4xf32>
  %out, %h_pre, %proj, %stat = mhc.head(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta2 : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, h_pre : tensor<?x4xf32>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  return %out : tensor<?x64xbf16>
}

// -----

// Something else reads the streams, and what the head saves for its gradient is read.
// REMARK: Remark="fused 'mhc.post' and 'mhc.head' into mhc.post_head, saves 512 bytes per token"
// CHECK-LABEL: @read
// MODEL: %[[Y:.*]], %[[OUT:.*]], %[[PROJ:.*]], %[[STAT:.*]] = mhc.post_head(
// MODEL-SAME: -> (y : tensor<?x4x64xbf16>, out : tensor<?x64xbf16>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
// MODEL-NEXT: %[[SUM:.*]] = mhc.contract(x = %[[Y]]
// MODEL-NEXT: return %[[OUT]], %[[SUM]], %[[PROJ]], %[[STAT]]
// LAYER: mhc.post(
// LAYER: mhc.head(
func.func @read(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?xf32>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %sum = mhc.contract(x = %y : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<?x64xbf16>)
  %out, %proj, %stat = mhc.head(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>, proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  return %out, %sum, %proj, %stat : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?xf32>
}

// -----

// One of two heads joins the post.
// CHECK-LABEL: @heads
// MODEL: %[[Y:.*]], %{{.*}} = mhc.post_head(
// MODEL: mhc.head(x = %[[Y]]
// MODEL-NOT: mhc.post
// CHECK: return
func.func @heads(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %out = mhc.head(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  %beta2 = arith.mulf %beta, %beta : tensor<4xf32>
  %other = mhc.head(x = %y : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta2 : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out, %other : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// -----

// The streams of a function, and those of mhc.expand, are behind no sublayer.
// CHECK-LABEL: @no_sublayer
// CHECK: mhc.head(
// CHECK: mhc.head(
func.func @no_sublayer(%e: tensor<?x64xbf16>, %f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %out = mhc.head(x = %x : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  %s = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  %other = mhc.head(x = %s : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out, %other : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// -----

// Something else made the streams.
// REMARK: [Missed] boundary-streams | {{.*}}Found="'arith.addf', [?, 4, 64] of bf16", Needed="'mhc.post' in layout nC"
// CHECK-LABEL: @added
// CHECK: mhc.post(
// CHECK: mhc.head(
func.func @added(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<?x64xbf16> {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %sum = arith.addf %y, %x : tensor<?x4x64xbf16>
  %out = mhc.head(x = %sum : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// -----

// REMARK: [Missed] boundary-form | {{.*}}Found="'mhc.transpose', [?, 64, 4] of bf16", Needed="'mhc.post' in layout Cn"
// CHECK-LABEL: @transposed
// CHECK: mhc.post(
// CHECK: mhc.head(
func.func @transposed(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<?x64xbf16> {
  %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
  %t = mhc.transpose %y perm = [0, 2, 1] : tensor<?x4x64xbf16> -> tensor<?x64x4xbf16>
  %out = mhc.head(x = %t : tensor<?x64x4xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// -----

// beta is made of the streams.
// REMARK: [Missed] boundary-order | {{.*}}Found="operands of 'mhc.head' that are made behind 'mhc.post'"
// CHECK-LABEL: @beta_of_streams
// CHECK: mhc.post(
// CHECK: mhc.head(
func.func @beta_of_streams(%f: tensor<4x64xf32>, %h_post: tensor<4x4xf32>, %x: tensor<4x4x64xf32>,
    %h_res: tensor<4x4x4xf32>, %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>) -> tensor<4x64xf32> {
  %y = mhc.post(f = %f : tensor<4x64xf32>, h_post = %h_post : tensor<4x4xf32>, x = %x : tensor<4x4x64xf32>,
      h_res = %h_res : tensor<4x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<4x4x64xf32>)
  %beta = mhc.reduce sum %y dims = [1, 2] : tensor<4x4x64xf32> -> tensor<4xf32>
  %out = mhc.head(x = %y : tensor<4x4x64xf32>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<4x64xf32>)
  return %out : tensor<4x64xf32>
}

// -----

// REMARK: [Missed] boundary-control-flow | {{.*}}Found="'scf.if', [?, 4, 64] of bf16"
// CHECK-LABEL: @skipped
// CHECK: mhc.post(
// CHECK: mhc.head(
func.func @skipped(%f: tensor<?x64xbf16>, %h_post: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %h_res: tensor<?x4x4xf32>,
    %phi: tensor<4x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>, %taken: i1) -> tensor<?x64xbf16> {
  %s = scf.if %taken -> tensor<?x4x64xbf16> {
    %y = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
        h_res = %h_res : tensor<?x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<?x4x64xbf16>)
    scf.yield %y : tensor<?x4x64xbf16>
  } else {
    scf.yield %x : tensor<?x4x64xbf16>
  }
  %out = mhc.head(x = %s : tensor<?x4x64xbf16>, phi = %phi : tensor<4x256xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06>
    -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}
