// A list of streams that begins as one tensor and zeros: products with zeros are of the rows of the stack.
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s

// CHECK: [Missed] aggregate-form | {{.*}}Function=another_tensor | {{.*}}Needed="a sum over the streams of h_pre x"
// CHECK-NOT: [Missed]

// CHECK-LABEL: @first_layer
// CHECK: %[[FLAT:.*]] = tensor.concat dim(1) %arg0, %{{.*}}
// CHECK: %[[X:.*]] = tensor.expand_shape %[[FLAT]]
// CHECK: mhc.projection(x = %[[X]] : tensor<8x2x16xf32>
// CHECK: mhc.aggregate(x = %[[X]] : tensor<8x2x16xf32>
func.func @first_layer(%x: tensor<8x16xf32>, %phi: tensor<8x32xf32>, %beta: tensor<8xf32>)
    -> (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %flat = tensor.concat dim(1) %x, %zeros : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %square = arith.mulf %flat, %flat : tensor<8x32xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  %h0 = tensor.extract_slice %pre[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %h1 = tensor.extract_slice %pre[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %h0_all = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %h1_all = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %u0 = arith.mulf %h0_all, %x : tensor<8x16xf32>
  %u1 = arith.mulf %h1_all, %zeros : tensor<8x16xf32>
  %u = arith.addf %u0, %u1 : tensor<8x16xf32>
  return %u, %post, %logits : tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}

// The near miss: what is weighed are other zeros and another tensor.
// CHECK-LABEL: @another_tensor
// CHECK: mhc.gates(
// CHECK-NOT: mhc.aggregate
// CHECK: return
func.func @another_tensor(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %phi: tensor<8x32xf32>,
                          %beta: tensor<8xf32>)
    -> (tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x4xf32>) {
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %flat = tensor.concat dim(1) %x, %zeros : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %square = arith.mulf %flat, %flat : tensor<8x32xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %mean_eps = arith.addf %mean, %eps : tensor<8xf32>
  %s = math.rsqrt %mean_eps : tensor<8xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %t = arith.mulf %p, %s_all : tensor<8x8xf32>
  %biases = mhc.broadcast %beta dims = [1] : tensor<8xf32> -> tensor<8x8xf32>
  %z = arith.addf %t, %biases : tensor<8x8xf32>
  %z_pre = tensor.extract_slice %z[0, 0] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %z_post = tensor.extract_slice %z[0, 2] [8, 2] [1, 1] : tensor<8x8xf32> to tensor<8x2xf32>
  %logits = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %pre = mhc.sigmoid %z_pre : tensor<8x2xf32>
  %post = mhc.sigmoid %z_post : tensor<8x2xf32>
  %h0 = tensor.extract_slice %pre[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %h1 = tensor.extract_slice %pre[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %h0_all = mhc.broadcast %h0 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %h1_all = mhc.broadcast %h1 dims = [0] : tensor<8xf32> -> tensor<8x16xf32>
  %u0 = arith.mulf %h0_all, %y : tensor<8x16xf32>
  %u1 = arith.mulf %h1_all, %zeros : tensor<8x16xf32>
  %u = arith.addf %u0, %u1 : tensor<8x16xf32>
  return %u, %post, %logits : tensor<8x16xf32>, tensor<8x2xf32>, tensor<8x4xf32>
}
