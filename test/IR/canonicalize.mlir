// RUN: mhc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @broadcast_to_the_same_type
func.func @broadcast_to_the_same_type(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: return %arg0
  %out = mhc.broadcast %x dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// The new size may be any.
// CHECK-LABEL: @broadcast_with_a_size_is_kept
func.func @broadcast_with_a_size_is_kept(%x: tensor<4xf32>, %M: index) -> tensor<?x4xf32> {
  // CHECK: mhc.broadcast
  %out = mhc.broadcast %x[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// CHECK-LABEL: @broadcast_of_a_constant
func.func @broadcast_of_a_constant() -> tensor<2x4xbf16> {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.500000e+00> : tensor<2x4xbf16>
  // CHECK-NEXT: return %[[C]]
  %x = arith.constant dense<1.5> : tensor<1xbf16>
  %out = mhc.broadcast %x dims = [1] : tensor<1xbf16> -> tensor<2x4xbf16>
  return %out : tensor<2x4xbf16>
}

// CHECK-LABEL: @broadcast_of_unequal_constants_is_kept
func.func @broadcast_of_unequal_constants_is_kept() -> tensor<2x2xf32> {
  // CHECK: mhc.broadcast
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %out = mhc.broadcast %x dims = [1] : tensor<2xf32> -> tensor<2x2xf32>
  return %out : tensor<2x2xf32>
}

// CHECK-LABEL: @transpose_by_the_identity
func.func @transpose_by_the_identity(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: return %arg0
  %out = mhc.transpose %x perm = [0, 1] : tensor<?x4xf32> -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}

// The permutation is no involution, so that a wrong order of composition shows.
// CHECK-LABEL: @transpose_of_transpose
func.func @transpose_of_transpose(%x: tensor<2x3x4x5xf32>) -> tensor<3x4x2x5xf32> {
  // CHECK-NEXT: %[[T:.*]] = mhc.transpose %arg0 perm = [1, 2, 0, 3] : tensor<2x3x4x5xf32> -> tensor<3x4x2x5xf32>
  // CHECK-NEXT: return %[[T]]
  %a = mhc.transpose %x perm = [2, 0, 1, 3] : tensor<2x3x4x5xf32> -> tensor<4x2x3x5xf32>
  %b = mhc.transpose %a perm = [2, 0, 1, 3] : tensor<4x2x3x5xf32> -> tensor<3x4x2x5xf32>
  return %b : tensor<3x4x2x5xf32>
}

// CHECK-LABEL: @transpose_and_back
func.func @transpose_and_back(%x: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  // CHECK-NEXT: return %arg0
  %a = mhc.transpose %x perm = [2, 0, 1] : tensor<?x3x4xf32> -> tensor<4x?x3xf32>
  %b = mhc.transpose %a perm = [1, 2, 0] : tensor<4x?x3xf32> -> tensor<?x3x4xf32>
  return %b : tensor<?x3x4xf32>
}

// Kernel ops are pure.
// CHECK-LABEL: @unused_kernel_op
func.func @unused_kernel_op(%x: tensor<?x4x64xbf16>) {
  // CHECK-NEXT: return
  %out = mhc.contract(x = %x : tensor<?x4x64xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x64xbf16>)
  return
}

// A dropout that keeps everything goes, with its seed.
// CHECK-LABEL: @dropout_rate_of_zero
// CHECK-NOT: seed
// CHECK-NOT: rate
// CHECK: return
func.func @dropout_rate_of_zero(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>,
                                %s: tensor<2xi64>) -> (tensor<?x4x8xf32>, tensor<?x8xf32>, tensor<?x4x8xf32>) {
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.0, stream = 1>
    -> (out : tensor<?x4x8xf32>)
  %d_f = mhc.post_bwd(d_out = %out : tensor<?x4x8xf32>, f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>,
      x = %x : tensor<?x4x8xf32>, h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>)
    <layout = nC, orient = oi, rate = 0.0, stream = 1> -> (d_f : tensor<?x8xf32>)
  %again = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f] : tensor<?x8xf32>, h_post = [%p] : tensor<?x4xf32>,
      h_res = [%r] : tensor<?x4x4xf32>, seed = [%s] : tensor<2xi64>)
    <layout = nC, orient = oi, rate = 0.0, stream = 1, stream_step = 0> -> (out : 1 of tensor<?x4x8xf32>)
  return %out, %d_f, %again : tensor<?x4x8xf32>, tensor<?x8xf32>, tensor<?x4x8xf32>
}

// CHECK-LABEL: @dropout_is_kept
func.func @dropout_is_kept(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>,
                           %s: tensor<2xi64>) -> tensor<?x4x8xf32> {
  // CHECK: mhc.post({{.*}}seed = {{.*}}rate = 1.0e-01, stream = 1>
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.1, stream = 1>
    -> (out : tensor<?x4x8xf32>)
  return %out : tensor<?x4x8xf32>
}

// A product takes transposes of matrices as flags, and no others.
// CHECK-LABEL: @product_of_transposes
// CHECK-NEXT: %[[ONE:.*]] = mhc.matmul %arg0, %arg1 transpose_lhs : (tensor<8x?xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT: %[[T:.*]] = mhc.transpose %arg2 perm = [1, 0, 2]
// CHECK-NEXT: %[[MANY:.*]] = mhc.batch_matmul %[[T]], %arg2 transpose_rhs
// CHECK-NEXT: return %[[ONE]], %[[MANY]]
func.func @product_of_transposes(%a: tensor<8x?xf32>, %b: tensor<8x3xf32>, %c: tensor<4x4x5xf32>)
    -> (tensor<?x3xf32>, tensor<4x4x4xf32>) {
  %0 = mhc.transpose %a perm = [1, 0] : tensor<8x?xf32> -> tensor<?x8xf32>
  %1 = mhc.transpose %b perm = [1, 0] : tensor<8x3xf32> -> tensor<3x8xf32>
  %2 = mhc.matmul %0, %1 transpose_rhs : (tensor<?x8xf32>, tensor<3x8xf32>) -> tensor<?x3xf32>
  %3 = mhc.transpose %c perm = [1, 0, 2] : tensor<4x4x5xf32> -> tensor<4x4x5xf32>
  %4 = mhc.transpose %c perm = [0, 2, 1] : tensor<4x4x5xf32> -> tensor<4x5x4xf32>
  %5 = mhc.batch_matmul %3, %4 : (tensor<4x4x5xf32>, tensor<4x5x4xf32>) -> tensor<4x4x4xf32>
  return %2, %5 : tensor<?x3xf32>, tensor<4x4x4xf32>
}

// A batch of products with one matrix, which may be widened, is one product. One with a row of each is not.
// CHECK-LABEL: @products_with_one_matrix
// CHECK-DAG: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
// CHECK-DAG: %[[W:.*]] = arith.extf %arg1
// CHECK: %[[OUT:.*]] = mhc.matmul %[[ROWS]], %[[W]] transpose_rhs : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
// CHECK: tensor.expand_shape %[[OUT]] {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, %{{.*}}, 32]
// CHECK: mhc.batch_matmul %arg0
func.func @products_with_one_matrix(%x: tensor<?x?x64xf32>, %w: tensor<32x64xbf16>, %row: tensor<1x64xf32>)
    -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>) {
  %c0 = arith.constant 0 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %ws = mhc.broadcast %w[%B] dims = [1, 2] : tensor<32x64xbf16> -> tensor<?x32x64xbf16>
  %wide = arith.extf %ws : tensor<?x32x64xbf16> to tensor<?x32x64xf32>
  %0 = mhc.batch_matmul %x, %wide transpose_rhs : (tensor<?x?x64xf32>, tensor<?x32x64xf32>) -> tensor<?x?x32xf32>
  %rows = mhc.broadcast %row[%B] dims = [1, 2] : tensor<1x64xf32> -> tensor<?x32x64xf32>
  %1 = mhc.batch_matmul %x, %rows transpose_rhs : (tensor<?x?x64xf32>, tensor<?x32x64xf32>) -> tensor<?x?x32xf32>
  return %0, %1 : tensor<?x?x32xf32>, tensor<?x?x32xf32>
}

// The dimension that is dropped is the last one, also where the first becomes one of size 1.
// CHECK-LABEL: @slice_of_one_token
func.func @slice_of_one_token(%x: tensor<1x5x7xf32>) -> tensor<1x5xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %arg0[0, 0, 1] [1, 5, 1] [1, 1, 1] : tensor<1x5x7xf32> to tensor<1x5xf32>
  // CHECK-NEXT: return %[[S]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<1x5x7xf32>
  %s = tensor.extract_slice %x[0, 0, 1] [%M, 5, 1] [1, 1, 1] : tensor<1x5x7xf32> to tensor<?x5xf32>
  %out = tensor.cast %s : tensor<?x5xf32> to tensor<1x5xf32>
  return %out : tensor<1x5xf32>
}

// CHECK-LABEL: @slice_of_one_token_put_back
func.func @slice_of_one_token_put_back(%x: tensor<1x5x7xf32>, %y: tensor<1x5xf32>) -> tensor<1x5x7xf32> {
  // CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %arg1 into %arg0[0, 0, 1] [1, 5, 1] [1, 1, 1] : tensor<1x5xf32> into
  // CHECK-NEXT: return %[[R]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<1x5x7xf32>
  %s = tensor.cast %y : tensor<1x5xf32> to tensor<?x5xf32>
  %out = tensor.insert_slice %s into %x[0, 0, 1] [%M, 5, 1] [1, 1, 1] : tensor<?x5xf32> into tensor<1x5x7xf32>
  return %out : tensor<1x5x7xf32>
}
