// RUN: mhc-opt %s --mhc-raise | FileCheck %s
// RUN: mhc-opt %s --mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mhcc %s --verify

// REMARK-NOT: Missed
// A matrix that is computed for each token, with a row for what the sublayer reads in front of those of the residual
// streams.
// CHECK-LABEL: @rows_of_tokens(
// CHECK: %[[ALL:.*]] = math.tanh %arg1
// CHECK-DAG: %[[MAP:.*]] = tensor.extract_slice %[[ALL]][0, 1, 0] [%{{.*}}, 4, 4] [1, 1, 1]
// CHECK-DAG: %[[ROW:.*]] = tensor.extract_slice %[[ALL]][0, 0, 0] [%{{.*}}, 1, 4] [1, 1, 1]
// CHECK: mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>
// CHECK: mhc.post({{.*}} x = %arg0 : tensor<?x4x64xf32>, h_res = %[[MAP]] : tensor<?x4x4xf32>)
// CHECK-NOT: batch_matmul
// CHECK: return
func.func @rows_of_tokens(%x: tensor<?x4x64xf32>, %z: tensor<?x5x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %all = math.tanh %z : tensor<?x5x4xf32>
  %mixed = mhc.batch_matmul %all, %x : (tensor<?x5x4xf32>, tensor<?x4x64xf32>) -> tensor<?x5x64xf32>
  %u = tensor.extract_slice %mixed[0, 0, 0] [%M, 1, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x64xf32>
  %f = math.tanh %u : tensor<?x64xf32>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [%M, 4, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %bs = mhc.broadcast %b dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<?x4x64xf32>
  %y = arith.addf %rest, %branch : tensor<?x4x64xf32>
  return %y : tensor<?x4x64xf32>
}

// The product is rounded before it is taken apart.
// CHECK-LABEL: @rounded_product(
// CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x64xbf16>
// CHECK: mhc.post({{.*}} x = %arg0 : tensor<8x4x64xbf16>
// CHECK-NOT: batch_matmul
// CHECK: return
func.func @rounded_product(%x: tensor<8x4x64xbf16>, %z: tensor<8x5x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4x64xbf16> {
  %all = math.tanh %z : tensor<8x5x4xf32>
  %xs = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %wide = mhc.batch_matmul %all, %xs : (tensor<8x5x4xf32>, tensor<8x4x64xf32>) -> tensor<8x5x64xf32>
  %mixed = arith.truncf %wide : tensor<8x5x64xf32> to tensor<8x5x64xbf16>
  %u = tensor.extract_slice %mixed[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x5x64xbf16> to tensor<8x64xbf16>
  %uw = arith.extf %u : tensor<8x64xbf16> to tensor<8x64xf32>
  %fw = math.tanh %uw : tensor<8x64xf32>
  %f = arith.truncf %fw : tensor<8x64xf32> to tensor<8x64xbf16>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [8, 4, 64] [1, 1, 1] : tensor<8x5x64xbf16> to tensor<8x4x64xbf16>
  %rw = arith.extf %rest : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %fe = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %fs = mhc.broadcast %fe dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %bs = mhc.broadcast %b dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<8x4x64xf32>
  %sum = arith.addf %rw, %branch : tensor<8x4x64xf32>
  %y = arith.truncf %sum : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %y : tensor<8x4x64xbf16>
}

// Whoever reads all of the product needs all of it.
// REMARK: [Missed] mix-not-a-value | {{.*}} Function=read_whole | Found="1 * an expression of argument 1, [8, 5, 4] of f32"
// CHECK-LABEL: @read_whole(
// CHECK: %[[P:.*]] = mhc.batch_matmul %{{.*}}, %arg0
// CHECK: return %{{.*}}, %[[P]]
func.func @read_whole(%x: tensor<8x4x64xf32>, %z: tensor<8x5x4xf32>, %f: tensor<8x64xf32>, %b: tensor<8x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x5x64xf32>) {
  %all = math.absf %z : tensor<8x5x4xf32>
  %mixed = mhc.batch_matmul %all, %x : (tensor<8x5x4xf32>, tensor<8x4x64xf32>) -> tensor<8x5x64xf32>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [8, 4, 64] [1, 1, 1] : tensor<8x5x64xf32> to tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %bs = mhc.broadcast %b dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<8x4x64xf32>
  %y = arith.addf %rest, %branch : tensor<8x4x64xf32>
  return %y, %mixed : tensor<8x4x64xf32>, tensor<8x5x64xf32>
}

// Gates and a residual matrix that are rounded, joined, widened and multiplied as one: each is taken as it was joined.
// CHECK-LABEL: @joined_narrow(
// CHECK-NOT: tensor.concat
// CHECK: %[[ROW:.*]] = arith.extf %arg1
// CHECK: mhc.aggregate(x = %arg0 : tensor<8x4x64xbf16>, h_pre = %[[ROW]] : tensor<8x4xf32>)
// CHECK: %[[MAP:.*]] = arith.extf %arg2
// CHECK: mhc.post({{.*}} x = %arg0 : tensor<8x4x64xbf16>, h_res = %[[MAP]] : tensor<8x4x4xf32>) {{.*}}orient = io
// CHECK-NOT: batch_matmul
// CHECK: return
func.func @joined_narrow(%x: tensor<8x4x64xbf16>, %a: tensor<8x4xbf16>, %m: tensor<8x4x4xbf16>, %b: tensor<8x4xf32>)
    -> tensor<8x4x64xbf16> {
  %row = tensor.expand_shape %a [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xbf16> into tensor<8x4x1xbf16>
  %all = tensor.concat dim(2) %row, %m : (tensor<8x4x1xbf16>, tensor<8x4x4xbf16>) -> tensor<8x4x5xbf16>
  %wide = arith.extf %all : tensor<8x4x5xbf16> to tensor<8x4x5xf32>
  %weights = mhc.transpose %wide perm = [0, 2, 1] : tensor<8x4x5xf32> -> tensor<8x5x4xf32>
  %xs = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %product = mhc.batch_matmul %weights, %xs : (tensor<8x5x4xf32>, tensor<8x4x64xf32>) -> tensor<8x5x64xf32>
  %mixed = arith.truncf %product : tensor<8x5x64xf32> to tensor<8x5x64xbf16>
  %u = tensor.extract_slice %mixed[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x5x64xbf16> to tensor<8x64xbf16>
  %uw = arith.extf %u : tensor<8x64xbf16> to tensor<8x64xf32>
  %fw = math.tanh %uw : tensor<8x64xf32>
  %f = arith.truncf %fw : tensor<8x64xf32> to tensor<8x64xbf16>
  %rest = tensor.extract_slice %mixed[0, 1, 0] [8, 4, 64] [1, 1, 1] : tensor<8x5x64xbf16> to tensor<8x4x64xbf16>
  %rw = arith.extf %rest : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %fe = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %fs = mhc.broadcast %fe dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %bs = mhc.broadcast %b dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %bs, %fs : tensor<8x4x64xf32>
  %sum = arith.addf %rw, %branch : tensor<8x4x64xf32>
  %y = arith.truncf %sum : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %y : tensor<8x4x64xbf16>
}

// The residual streams are kept as they are: the sublayer's row is the only one that is read.
// CHECK-LABEL: @row_alone(
// CHECK: %[[ROW:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [%{{.*}}, 1, 4] [1, 1, 1]
// CHECK: mhc.aggregate(x = %arg0 : tensor<?x4x64xf32>
// CHECK-NOT: batch_matmul
// CHECK: return
func.func @row_alone(%x: tensor<?x4x64xf32>, %z: tensor<?x5x4xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %all = math.tanh %z : tensor<?x5x4xf32>
  %mixed = mhc.batch_matmul %all, %x : (tensor<?x5x4xf32>, tensor<?x4x64xf32>) -> tensor<?x5x64xf32>
  %u = tensor.extract_slice %mixed[0, 0, 0] [%M, 1, 64] [1, 1, 1] : tensor<?x5x64xf32> to tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// Two of five rows are no row.
// CHECK-LABEL: @rows_alone(
// CHECK: mhc.batch_matmul %{{.*}} : (tensor<8x5x4xf32>, tensor<8x4x64xf32>)
func.func @rows_alone(%x: tensor<8x4x64xf32>, %z: tensor<8x5x4xf32>) -> (tensor<8x2x64xf32>, tensor<8x64xf32>) {
  %h = arith.constant dense<0.5> : tensor<8x4xf32>
  %mixed = mhc.batch_matmul %z, %x : (tensor<8x5x4xf32>, tensor<8x4x64xf32>) -> tensor<8x5x64xf32>
  %u = tensor.extract_slice %mixed[0, 0, 0] [8, 2, 64] [1, 1, 1] : tensor<8x5x64xf32> to tensor<8x2x64xf32>
  %v = mhc.aggregate(x = %x : tensor<8x4x64xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x64xf32>)
  return %u, %v : tensor<8x2x64xf32>, tensor<8x64xf32>
}
