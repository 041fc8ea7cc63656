// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhc-opt %s --mhc-raise --remarks-filter='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhcc %s --verify

// A product of matrices is the matrix: h_pre (h_res x) is (h_pre h_res) x, so that the streams are read once and nothing
// of their size is written between.
// REMARK-NOT: [Missed]
// CHECK-LABEL: @of_mixed_streams(
// CHECK-DAG: %[[RES:.*]] = mhc.sinkhorn(
// CHECK: %[[PRE:.*]] = mhc.batch_matmul %{{.*}} : (tensor<?x1x4xf32>, tensor<?x4x4xf32>) -> tensor<?x1x4xf32>
// CHECK: %[[H:.*]] = tensor.collapse_shape %[[PRE]] {{.*}} into tensor<?x4xf32>
// CHECK: mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>, h_pre = %[[H]] : tensor<?x4xf32>)
// CHECK: mhc.post({{.*}} x = %arg0 : tensor<?x4x64xf32>, h_res = %[[RES]] : tensor<?x4x4xf32>)
// CHECK: return
func.func @of_mixed_streams(%x: tensor<?x4x64xf32>, %logits: tensor<?x4x4xf32>, %pre: tensor<?x4xf32>,
                            %post: tensor<?x4xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %h = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<?x4x4xf32>)
  %mixed = mhc.batch_matmul %h, %x : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %row = tensor.expand_shape %pre [[0], [1, 2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %sum = mhc.batch_matmul %row, %mixed : (tensor<?x1x4xf32>, tensor<?x4x64xf32>) -> tensor<?x1x64xf32>
  %u = tensor.collapse_shape %sum [[0], [1, 2]] : tensor<?x1x64xf32> into tensor<?x64xf32>
  %f = math.tanh %u : tensor<?x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %ps = mhc.broadcast %post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %ps, %fs : tensor<?x4x64xf32>
  %y = arith.addf %mixed, %branch : tensor<?x4x64xf32>
  return %y : tensor<?x4x64xf32>
}

// A matrix that mixes streams behind the sublayer as well: b (a x + h f) is (b a) x + (b h) f.
// CHECK-LABEL: @mixed_behind(
// CHECK: %[[POST:.*]] = mhc.matmul %{{.*}}, %[[B:.*]] transpose_rhs : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[RES:.*]] = mhc.matmul %[[B]], %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: mhc.post(f = %arg1 : tensor<8x64xf32>, {{.*}} x = %arg0 : tensor<8x4x64xf32>, {{.*}})
// CHECK-NOT: mhc.batch_matmul
// CHECK: return
func.func @mixed_behind(%x: tensor<8x4x64xf32>, %f: tensor<8x64xf32>, %la: tensor<1x4x4xf32>, %lb: tensor<1x4x4xf32>, %post: tensor<4xf32>) -> tensor<8x4x64xf32> {
  %am = mhc.sinkhorn(logits = %la : tensor<1x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<1x4x4xf32>)
  %bm = mhc.sinkhorn(logits = %lb : tensor<1x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<1x4x4xf32>)
  %a = tensor.collapse_shape %am [[0, 1], [2]] : tensor<1x4x4xf32> into tensor<4x4xf32>
  %b = tensor.collapse_shape %bm [[0, 1], [2]] : tensor<1x4x4xf32> into tensor<4x4xf32>
  %as = mhc.broadcast %a dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %bs = mhc.broadcast %b dims = [1, 2] : tensor<4x4xf32> -> tensor<8x4x4xf32>
  %mixed = mhc.batch_matmul %as, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %ps = mhc.broadcast %post dims = [1] : tensor<4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ps, %fs : tensor<8x4x64xf32>
  %s = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %y = mhc.batch_matmul %bs, %s : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  return %y : tensor<8x4x64xf32>
}

// Streams that something else reads as well are there in any case.
// CHECK-LABEL: @read_twice(
// CHECK: %[[S:.*]] = mhc.post(
// CHECK: %[[Y:.*]] = mhc.batch_matmul %{{.*}}, %[[S]]
// CHECK: return %[[Y]], %[[S]]
// REMARK: [Missed] combine-form | {{.*}} Function=read_twice
func.func @read_twice(%x: tensor<8x4x64xf32>, %f: tensor<8x64xf32>, %la: tensor<8x4x4xf32>, %lb: tensor<8x4x4xf32>, %post: tensor<8x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x4x64xf32>) {
  %a = mhc.sinkhorn(logits = %la : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<8x4x4xf32>)
  %b = mhc.sinkhorn(logits = %lb : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %a, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %ps = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ps, %fs : tensor<8x4x64xf32>
  %s = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %y = mhc.batch_matmul %b, %s : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  return %y, %s : tensor<8x4x64xf32>, tensor<8x4x64xf32>
}

// A function between the matrices is none of the matrix.
// CHECK-LABEL: @function_between(
// CHECK: %[[U:.*]] = mhc.aggregate(x = %[[T:.*]] : tensor<8x4x64xf32>, h_pre = %arg2 : tensor<8x4xf32>)
// CHECK: return %[[U]]
// REMARK: [Missed] combine-form | {{.*}} Function=function_between
func.func @function_between(%x: tensor<8x4x64xf32>, %l: tensor<8x4x4xf32>, %pre: tensor<8x4xf32>) -> tensor<8x64xf32> {
  %h = mhc.sinkhorn(logits = %l : tensor<8x4x4xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 4> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %h, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %t = math.tanh %mixed : tensor<8x4x64xf32>
  %row = tensor.expand_shape %pre [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %sum = mhc.batch_matmul %row, %t : (tensor<8x1x4xf32>, tensor<8x4x64xf32>) -> tensor<8x1x64xf32>
  %u = tensor.collapse_shape %sum [[0], [1, 2]] : tensor<8x1x64xf32> into tensor<8x64xf32>
  return %u : tensor<8x64xf32>
}

// Streams whose terms all have a number, and weights that have one as well: the streams are those that are there.
// CHECK-LABEL: @scaled_parts(
// CHECK: %[[X:.*]] = mhc.post(
// CHECK-NOT: arith.addf
// CHECK: mhc.post(f = %arg5 : tensor<8x64xf32>, h_post = {{.*}}, x = %[[X]] : tensor<8x4x64xf32>, h_res = %{{.*}} : tensor<8x4x4xf32>)
func.func @scaled_parts(%x: tensor<8x4x64xf32>, %r0: tensor<8x4x4xf32>, %r1: tensor<8x4x4xf32>, %h: tensor<8x4xf32>,
                        %f0: tensor<8x64xf32>, %f1: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  %half = arith.constant dense<0.5> : tensor<8x4x4xf32>
  %half_gate = arith.constant dense<0.5> : tensor<8x4xf32>
  %h0 = arith.mulf %h, %half_gate : tensor<8x4xf32>
  %a0 = arith.mulf %r0, %half : tensor<8x4x4xf32>
  %a1 = arith.mulf %r1, %half : tensor<8x4x4xf32>
  %ho = mhc.broadcast %h0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo0 = mhc.broadcast %f0 dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch0 = arith.mulf %ho, %fo0 : tensor<8x4x64xf32>
  %mix0 = mhc.batch_matmul %a0, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %x1 = arith.addf %branch0, %mix0 : tensor<8x4x64xf32>
  %fo1 = mhc.broadcast %f1 dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch1 = arith.mulf %ho, %fo1 : tensor<8x4x64xf32>
  %mix1 = mhc.batch_matmul %a1, %x1 : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch1, %mix1 : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}
