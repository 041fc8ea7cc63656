// RUN: mhc-opt %s -mhc-raise -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-raise -mhc-fuse -split-input-file | FileCheck %s --check-prefix=FUSED

// Gates that are made of parameters alone, beside one that is projected from the streams.

// The rows of h_pre are zeros, and nothing reads the gate that mhc.gates makes of them.
// CHECK-LABEL: @static_pre
// FUSED-LABEL: @static_pre
func.func @static_pre(%x: tensor<8x4x16xf32>, %phi: tensor<64x20xf32>, %alpha: tensor<2xf32>, %beta: tensor<20xf32>,
                      %pre: tensor<4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32>
  // CHECK-DAG: %[[NO_BIAS:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK: %[[PHI:.*]] = tensor.concat dim(1) %[[ZEROS]], %arg1 : (tensor<64x4xf32>, tensor<64x20xf32>)
  // CHECK: mhc.projection(x = %arg0 : {{.*}}, phi = %[[PHI]] : tensor<64x24xf32>)
  // CHECK: %[[BETA:.*]] = tensor.concat dim(0) %[[NO_BIAS]], %{{.*}}, %{{.*}} :
  // CHECK: %{{.*}}, %[[POST:.*]], %[[Z:.*]] = mhc.gates({{.*}} beta = %[[BETA]] : tensor<24xf32>)
  // CHECK-SAME: pre_eps = 0.0, post_mult = 2.0>
  // CHECK: %[[PARAMETER:.*]] = mhc.sigmoid %arg4
  // CHECK: %[[H:.*]] = mhc.broadcast %[[PARAMETER]] dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  // CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x16xf32>, h_pre = %[[H]] : tensor<8x4xf32>)
  // FUSED: %[[H:.*]] = mhc.broadcast %{{.*}} dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  // FUSED: %[[U:.*]], %[[POST:.*]], %[[RES:.*]] = mhc.pre({{.*}} h_in = %[[H]] : tensor<8x4xf32>)
  // FUSED: return %[[U]], %[[POST]], %[[RES]]
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi : (tensor<8x64xf32>, tensor<64x20xf32>) -> tensor<8x20xf32>
  %p1 = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x20xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %p[0, 4] [8, 16] [1, 1] : tensor<8x20xf32> to tensor<8x16xf32>
  %a1 = tensor.extract_slice %alpha[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %a2 = tensor.extract_slice %alpha[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %n1 = tensor.collapse_shape %a1 [] : tensor<1xf32> into tensor<f32>
  %n2 = tensor.collapse_shape %a2 [] : tensor<1xf32> into tensor<f32>
  %s1 = mhc.broadcast %n1 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %s2 = mhc.broadcast %n2 dims = [] : tensor<f32> -> tensor<8x16xf32>
  %m1 = arith.mulf %p1, %s1 : tensor<8x4xf32>
  %m2 = arith.mulf %p2, %s2 : tensor<8x16xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<20xf32> -> tensor<8x20xf32>
  %b1 = tensor.extract_slice %b[0, 0] [8, 4] [1, 1] : tensor<8x20xf32> to tensor<8x4xf32>
  %b2 = tensor.extract_slice %b[0, 4] [8, 16] [1, 1] : tensor<8x20xf32> to tensor<8x16xf32>
  %z1 = arith.addf %m1, %b1 : tensor<8x4xf32>
  %z2 = arith.addf %m2, %b2 : tensor<8x16xf32>
  %gate = mhc.sigmoid %z1 : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %h_post = arith.mulf %gate, %two : tensor<8x4xf32>
  %logits = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %parameter = mhc.sigmoid %pre : tensor<4xf32>
  %repeated = mhc.broadcast %parameter dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %h_pre = tensor.expand_shape %repeated [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %mixed = mhc.batch_matmul %h_pre, %x : (tensor<8x1x4xf32>, tensor<8x4x16xf32>) -> tensor<8x1x16xf32>
  %u = tensor.collapse_shape %mixed [[0], [1, 2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
  return %u, %h_post, %h_res : tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Two weights that are read whole. The gate that multiplies the streams is h_pre: the rows of h_post are zeros.
// CHECK-LABEL: @static_post
// FUSED-LABEL: @static_post
func.func @static_post(%x: tensor<8x4x16xf32>, %w: tensor<64x4xf32>, %w_res: tensor<64x16xf32>, %b: tensor<4xf32>,
                       %post: tensor<4xf32>) -> (tensor<8x16xf32>, tensor<8x4x4xf32>, tensor<4xf32>) {
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32>
  // CHECK: %[[PHI:.*]] = tensor.concat dim(1) %arg1, %[[ZEROS]], %arg2 :
  // CHECK: %[[PRE:.*]], %{{.*}}, %{{.*}} = mhc.gates(
  // CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x16xf32>, h_pre = %[[PRE]] : tensor<8x4xf32>)
  // FUSED: mhc.pre(
  // FUSED-NOT: mhc.aggregate
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %w : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %flat, %w_res : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %bias = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %bias : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %h_pre = tensor.expand_shape %gate [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %mixed = mhc.batch_matmul %h_pre, %x : (tensor<8x1x4xf32>, tensor<8x4x16xf32>) -> tensor<8x1x16xf32>
  %u = tensor.collapse_shape %mixed [[0], [1, 2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
  %h_post = mhc.sigmoid %post : tensor<4xf32>
  return %u, %h_res, %h_post : tensor<8x16xf32>, tensor<8x4x4xf32>, tensor<4xf32>
}

// -----

// A gate of another function is the program's own as well.
// CHECK-LABEL: @another_function
// FUSED-LABEL: @another_function
func.func @another_function(%x: tensor<8x4x16xf32>, %w_pre: tensor<64x4xf32>, %w: tensor<64x4xf32>,
                            %w_res: tensor<64x16xf32>, %b: tensor<4xf32>)
    -> (tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32>
  // CHECK: tensor.concat dim(1) %[[ZEROS]], %arg2, %arg3 :
  // FUSED: %[[H:.*]] = math.tanh
  // FUSED: mhc.pre({{.*}} h_in = %[[H]] : tensor<8x4xf32>)
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p0 = mhc.matmul %flat, %w_pre : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p1 = mhc.matmul %flat, %w : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %flat, %w_res : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %bias = mhc.broadcast %b dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p1, %bias : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z : tensor<8x4xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %tanh = math.tanh %p0 : tensor<8x4xf32>
  %h_pre = tensor.expand_shape %tanh [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %mixed = mhc.batch_matmul %h_pre, %x : (tensor<8x1x4xf32>, tensor<8x4x16xf32>) -> tensor<8x1x16xf32>
  %u = tensor.collapse_shape %mixed [[0], [1, 2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
  return %u, %h_post, %h_res : tensor<8x16xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Rows of the weight that neither reads: they may be another gate's.
// CHECK-LABEL: @rows_left_over
// CHECK-NOT: mhc.gates
// FUSED-LABEL: @rows_left_over
// FUSED-NOT: mhc.pre
func.func @rows_left_over(%x: tensor<8x4x16xf32>, %phi: tensor<64x24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi : (tensor<8x64xf32>, tensor<64x24xf32>) -> tensor<8x24xf32>
  %p1 = tensor.extract_slice %p[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %p2 = tensor.extract_slice %p[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %gate = mhc.sigmoid %p1 : tensor<8x4xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  return %gate, %h_res : tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Logits of other streams than the gate's.
// CHECK-LABEL: @logits_of_other_streams
// CHECK-NOT: logits : tensor<8x16xf32>
// FUSED-LABEL: @logits_of_other_streams
// FUSED-NOT: mhc.pre
func.func @logits_of_other_streams(%x: tensor<8x4x16xf32>, %y: tensor<8x4x16xf32>, %w: tensor<64x4xf32>,
                                   %w_res: tensor<64x16xf32>) -> (tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %other = tensor.collapse_shape %y [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %w : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
  %p2 = mhc.matmul %other, %w_res : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  %gate = mhc.sigmoid %p : tensor<8x4xf32>
  %logits = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  return %gate, %h_res : tensor<8x4xf32>, tensor<8x4x4xf32>
}

// -----

// Weights of all tokens contract the last streams, which are known for streams once the op that makes them is found.
// CHECK-LABEL: @static_contraction
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK: %[[H:.*]] = mhc.broadcast %arg4 dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
// CHECK: %[[U:.*]] = mhc.aggregate(x = %[[OUT]] : tensor<8x4x16xf32>, h_pre = %[[H]] : tensor<8x4xf32>)
// CHECK: return %[[U]]
func.func @static_contraction(%x: tensor<8x4x16xf32>, %f: tensor<8x16xf32>, %post: tensor<8x4xf32>,
                              %logits: tensor<8x4x4xf32>, %w: tensor<4xf32>) -> tensor<8x16xf32> {
  %h_res = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %gates = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %added = arith.mulf %gates, %rows : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %added : tensor<8x4x16xf32>
  %weights = mhc.broadcast %w dims = [1] : tensor<4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %out, %weights : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}
