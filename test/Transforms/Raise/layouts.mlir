// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Streams keep the layout that the program gives them. A transpose of streams is one that the program has.

// CHECK-LABEL: @inner_streams
// CHECK-NOT: mhc.transpose
// CHECK: mhc.projection(x = %arg0 : tensor<?x64x4xf32>{{.*}}<layout = Cn
// CHECK: mhc.aggregate(x = %arg0 : tensor<?x64x4xf32>{{.*}}<layout = Cn>
// CHECK-NOT: mhc.transpose
// CHECK: return
func.func @inner_streams(%x: tensor<?x64x4xf32>, %phi: tensor<24x256xf32>, %h_pre: tensor<?x4xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>, tensor<?x64xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x64x4xf32>
  %products = arith.mulf %x, %weights : tensor<?x64x4xf32>
  %u = mhc.reduce sum %products dims = [2] : tensor<?x64x4xf32> -> tensor<?x64xf32>
  return %proj, %mean, %u : tensor<?x24xf32>, tensor<?xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: @transposed_behind_post
// CHECK: %[[OUT:.*]] = mhc.post({{.*}}<layout = nC, orient = oi>
// CHECK-NEXT: %[[TURNED:.*]] = mhc.transpose %[[OUT]] perm = [0, 2, 1]
// CHECK-NEXT: return %[[TURNED]]
func.func @transposed_behind_post(%x: tensor<8x4x64xf32>, %h_res: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                  %f: tensor<8x64xf32>) -> tensor<8x64x4xf32> {
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = mhc.transpose %sum perm = [0, 2, 1] : tensor<8x4x64xf32> -> tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}
