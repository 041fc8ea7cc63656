// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'
// RUN: mhcc %s --verify

// As many channels as there may be streams: a product with a vector of them weighs no streams, whose number is known
// where they are combined.
// CHECK-LABEL: func.func @few_channels(
// CHECK: mhc.matmul %{{.*}}, %{{.*}} : (tensor<32x16xf32>, tensor<16x1xf32>)
// CHECK-NOT: mhc.aggregate
// CHECK: return
func.func @few_channels(%x: tensor<8x4x16xf32>, %f: tensor<8x16xf32>, %post: tensor<8x4xf32>, %res: tensor<8x4x4xf32>,
                        %w: tensor<16x1xf32>) -> (tensor<8x4x16xf32>, tensor<32x1xf32>) {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x4x16xf32> into tensor<32x16xf32>
  %z = mhc.matmul %rows, %w : (tensor<32x16xf32>, tensor<16x1xf32>) -> tensor<32x1xf32>
  %y = mhc.post(f = %f : tensor<8x16xf32>, h_post = %post : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
    h_res = %res : tensor<8x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<8x4x16xf32>)
  return %y, %z : tensor<8x4x16xf32>, tensor<32x1xf32>
}

// Nor where the number is not known: that the product is wider than what it is of is nothing to tell.
// CHECK-LABEL: func.func @few_narrow_channels(
// CHECK-NOT: mhc.aggregate
// CHECK: return
func.func @few_narrow_channels(%x: tensor<8x4x16xbf16>, %w: tensor<16x1xf32>) -> tensor<32x1xf32> {
  %wide = arith.extf %x : tensor<8x4x16xbf16> to tensor<8x4x16xf32>
  %rows = tensor.collapse_shape %wide [[0, 1], [2]] : tensor<8x4x16xf32> into tensor<32x16xf32>
  %z = mhc.matmul %rows, %w : (tensor<32x16xf32>, tensor<16x1xf32>) -> tensor<32x1xf32>
  return %z : tensor<32x1xf32>
}
