// RUN: mhc-opt %s -mhc-raise -split-input-file | FileCheck %s

// Gates and residual logits with weights, biases and scales of their own.

// The paper's shapes: phi_res holds a matrix for each input, b_res is one.
// CHECK-LABEL: @weights_of_logits_as_matrices
func.func @weights_of_logits_as_matrices(%x: tensor<8x4x16xf32>, %pre: tensor<64x4xf32>, %post: tensor<64x4xf32>,
                                         %res: tensor<64x4x4xf32>, %b_pre: tensor<4xf32>, %b_post: tensor<4xf32>,
                                         %b_res: tensor<4x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg3 {{\[\[}}0], [1, 2]]
  // CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg1, %arg2, %[[ROWS]]
  // CHECK: %[[P:.*]], %{{.*}} = mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<64x24xf32>)
  // CHECK: %[[BIAS:.*]] = tensor.collapse_shape %arg6 {{\[\[}}0, 1]]
  // CHECK: %[[BETA:.*]] = tensor.concat dim(0) %arg4, %arg5, %[[BIAS]]
  // CHECK: mhc.gates(proj = %[[P]] : tensor<8x24xf32>, {{.*}} beta = %[[BETA]] : tensor<24xf32>)
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %rows = tensor.collapse_shape %res [[0], [1, 2]] : tensor<64x4x4xf32> into tensor<64x16xf32>
  %p0 = mhc.matmul %flat, %pre : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p1 = mhc.matmul %flat, %post : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %flat, %rows : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %matrices = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %b0 = mhc.broadcast %b_pre dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %b1 = mhc.broadcast %b_post dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %b2 = mhc.broadcast %b_res dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %z0 = arith.addf %p0, %b0 : tensor<8x4xf32>
  %z1 = arith.addf %p1, %b1 : tensor<8x4xf32>
  %z2 = arith.addf %matrices, %b2 : tensor<8x4x4xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// The numbers that the root leaves are alpha: 0.25 x / sqrt(sum(x^2) + eps) = 0.25 / 8 x / sqrt(mean(x^2) + eps / 64).
// CHECK-LABEL: @alphas_as_numbers
func.func @alphas_as_numbers(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[ALPHA:.*]] = arith.constant dense<[3.125000e-02, 6.250000e-02, 1.250000e-01]> : tensor<3xf32>
  // CHECK: mhc.projection({{.*}} norm = inside, norm_eps = 1.0e-06,
  // CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<3xf32>,
  %eps = arith.constant dense<64.0e-06> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %sum = mhc.reduce sum %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %lifted = arith.addf %sum, %eps : tensor<8xf32>
  %s = math.rsqrt %lifted : tensor<8xf32>
  %scale = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %normed = arith.mulf %flat, %scale : tensor<8x64xf32>
  %p = mhc.matmul %normed, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %p0 = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p1 = tensor.extract_slice %p[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %p[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %a0 = arith.constant dense<0.25> : tensor<8x4xf32>
  %a1 = arith.constant dense<0.5> : tensor<8x4xf32>
  %s0 = arith.mulf %p0, %a0 : tensor<8x4xf32>
  %s1 = arith.mulf %p1, %a1 : tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %b0 = tensor.extract_slice %b[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b1 = tensor.extract_slice %b[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b2 = tensor.extract_slice %b[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %z0 = arith.addf %s0, %b0 : tensor<8x4xf32>
  %z1 = arith.addf %s1, %b1 : tensor<8x4xf32>
  %z2 = arith.addf %p2, %b2 : tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

// A stored alpha beside a number.
// CHECK-LABEL: @alpha_times_a_number
func.func @alpha_times_a_number(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<1xf32>
  // CHECK: %[[ALPHA:.*]] = arith.mulf %arg2, %[[HALF]]
  // CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<1xf32>,
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %half = arith.constant dense<0.5> : tensor<8x4xf32>
  %halved = arith.mulf %p, %half : tensor<8x4xf32>
  %scale = tensor.collapse_shape %alpha [] : tensor<1xf32> into tensor<f32>
  %scales = mhc.broadcast %scale dims = [] : tensor<f32> -> tensor<8x4xf32>
  %scaled = arith.mulf %halved, %scales : tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %bias : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// -----

// The weights of all layers in one tensor: a layer's is a slice of it.
// CHECK-LABEL: @weights_of_layers_in_a_stack
func.func @weights_of_layers_in_a_stack(%x: tensor<8x4x16xf32>, %phis: tensor<3x4x64xf32>, %alphas: tensor<3x2xf32>,
                                        %betas: tensor<3x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[PHI:.*]] = tensor.extract_slice %arg1[1, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<3x4x64xf32> to tensor<4x64xf32>
  // CHECK: %[[NUMBER:.*]] = tensor.extract_slice %arg2[1, 1] [1, 1] [1, 1] : tensor<3x2xf32> to tensor<f32>
  // CHECK: %[[BETA:.*]] = tensor.extract_slice %arg3[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<4x64xf32>)
  // CHECK: %[[ALPHA:.*]] = tensor.expand_shape %[[NUMBER]]
  // CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<1xf32>, beta = %[[BETA]] : tensor<4xf32>)
  %phi1 = tensor.extract_slice %phis[1, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<3x4x64xf32> to tensor<4x64xf32>
  %alpha1 = tensor.extract_slice %alphas[1, 1] [1, 1] [1, 1] : tensor<3x2xf32> to tensor<f32>
  %beta1 = tensor.extract_slice %betas[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi1 transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %scales = mhc.broadcast %alpha1 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %scaled = arith.mulf %p, %scales : tensor<8x4xf32>
  %bias = mhc.broadcast %beta1 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %bias : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// -----

// Rows in another order than that of the gates: the logits first.
// CHECK-LABEL: @logits_in_front_of_the_gates
func.func @logits_in_front_of_the_gates(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: %[[GATES:.*]] = tensor.extract_slice %arg1[16, 0] [8, 64] [1, 1]
  // CHECK: %[[RES:.*]] = tensor.extract_slice %arg1[0, 0] [16, 64] [1, 1]
  // CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[GATES]], %[[RES]]
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>)
  // CHECK: %[[H_PRE:.*]], %[[H_POST:.*]], %[[LOGITS:.*]] = mhc.gates(
  // CHECK: return %[[H_PRE]], %[[H_POST]], %[[LOGITS]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %p, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 16] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 20] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 0] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  return %h_pre, %h_post, %z2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

// The gate of the sublayer's output stands first, and nothing else tells it than that.
// CHECK-LABEL: @second_gate_first
func.func @second_gate_first(%x: tensor<8x4x16xf32>, %post: tensor<64x4xf32>, %pre: tensor<64x4xf32>,
                             %res: tensor<64x16xf32>, %beta: tensor<24xf32>) -> (tensor<8x4x16xf32>, tensor<8x16xf32>) {
  // CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg2, %arg1, %arg3
  // CHECK: %[[P:.*]], %{{.*}} = mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<64x24xf32>)
  // CHECK: %[[H_PRE:.*]], %[[H_POST:.*]], %{{.*}} = mhc.gates(
  // CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x16xf32>, h_pre = %[[H_PRE]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p1 = mhc.matmul %flat, %post : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p0 = mhc.matmul %flat, %pre : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %flat, %res : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %b0 = tensor.extract_slice %b[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b1 = tensor.extract_slice %b[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b2 = tensor.extract_slice %b[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %z1 = arith.addf %p1, %b1 : tensor<8x4xf32>
  %z0 = arith.addf %p0, %b0 : tensor<8x4xf32>
  %z2 = arith.addf %p2, %b2 : tensor<8x16xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighted = arith.mulf %weights, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighted dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %y = math.tanh %u : tensor<8x16xf32>
  %outputs = mhc.broadcast %y dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %gates = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %gates, %outputs : tensor<8x4x16xf32>
  return %branch, %z2 : tensor<8x4x16xf32>, tensor<8x16xf32>
}

// h_post of a weight of its own, and the others of one: its rows are h_pre and the logits.
// CHECK-LABEL: @second_gate_apart(
// CHECK: %[[PRE:.*]] = tensor.extract_slice %arg1[0, 0] [4, 256]
// CHECK: %[[LOGITS:.*]] = tensor.extract_slice %arg1[4, 0] [16, 256]
// CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[PRE]], %arg2, %[[LOGITS]]
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x64xf32>, phi = %[[PHI]] : tensor<24x256xf32>)
// CHECK: mhc.gates(
func.func @second_gate_apart(%x: tensor<8x4x64xf32>, %phi: tensor<20x256xf32>, %psi: tensor<4x256xf32>,
                             %a: tensor<20xf32>, %b: tensor<4xf32>) -> (tensor<8x64xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %r = math.rsqrt %mean_eps : tensor<8xf32>
  %rs = mhc.broadcast %r dims = [0] : tensor<8xf32> -> tensor<8x256xf32>
  %n = arith.mulf %flat, %rs : tensor<8x256xf32>
  %p0 = mhc.matmul %n, %phi transpose_rhs : (tensor<8x256xf32>, tensor<20x256xf32>) -> tensor<8x20xf32>
  %as = mhc.broadcast %a dims = [1] : tensor<20xf32> -> tensor<8x20xf32>
  %z0 = arith.addf %p0, %as : tensor<8x20xf32>
  %p1 = mhc.matmul %n, %psi transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %bs = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z1 = arith.addf %p1, %bs : tensor<8x4xf32>
  %z_pre = tensor.extract_slice %z0[0, 0] [8, 4] [1, 1] : tensor<8x20xf32> to tensor<8x4xf32>
  %z_res = tensor.extract_slice %z0[0, 4] [8, 16] [1, 1] : tensor<8x20xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<8x4xf32>
  %g = mhc.sigmoid %z1 : tensor<8x4xf32>
  %h_post = arith.mulf %g, %two : tensor<8x4xf32>
  %h_res = tensor.expand_shape %z_res [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %hs = mhc.broadcast %h_pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %hx = arith.mulf %hs, %x : tensor<8x4x64xf32>
  %u = mhc.reduce sum %hx dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %u, %h_post, %h_res : tensor<8x64xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Three norms of the same streams, each with a weight of its own, which is a part of its rows of phi.
// CHECK-LABEL: @three_norms
func.func @three_norms(%x: tensor<8x4x16xf32>, %pre: tensor<4x64xf32>, %post: tensor<4x64xf32>, %res: tensor<16x64xf32>,
                       %g_pre: tensor<64xf32>, %g_post: tensor<64xf32>, %g_res: tensor<64xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK-DAG: %[[G_PRE:.*]] = mhc.broadcast %arg4 dims = [1] : tensor<64xf32> -> tensor<4x64xf32>
  // CHECK-DAG: %[[PRE:.*]] = arith.mulf %arg1, %[[G_PRE]]
  // CHECK-DAG: %[[G_POST:.*]] = mhc.broadcast %arg5 dims = [1] : tensor<64xf32> -> tensor<4x64xf32>
  // CHECK-DAG: %[[POST:.*]] = arith.mulf %arg2, %[[G_POST]]
  // CHECK-DAG: %[[G_RES:.*]] = mhc.broadcast %arg6 dims = [1] : tensor<64xf32> -> tensor<16x64xf32>
  // CHECK-DAG: %[[RES:.*]] = arith.mulf %arg3, %[[G_RES]]
  // CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[PRE]], %[[POST]], %[[RES]]
  // CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %[[PHI]] : tensor<24x64xf32>) <{{.*}}norm = inside, norm_eps = 1.0e-06
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %n0 = mhc.rms_norm %flat, %g_pre eps = 1.0e-06 : tensor<8x64xf32>, tensor<64xf32>
  %n1 = mhc.rms_norm %flat, %g_post eps = 1.0e-06 : tensor<8x64xf32>, tensor<64xf32>
  %n2 = mhc.rms_norm %flat, %g_res eps = 1.0e-06 : tensor<8x64xf32>, tensor<64xf32>
  %p0 = mhc.matmul %n0, %pre transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %p1 = mhc.matmul %n1, %post transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %n2, %res transpose_rhs : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  %h_pre = mhc.sigmoid %p0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %p1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 4> -> (mix : tensor<8x4x4xf32>)
  return %h_pre, %h_post, %map : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}
