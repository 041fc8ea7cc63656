// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// A part that is only read transposed, as heads of attention are, is saved so.
// CHECK-LABEL: func.func @f_fwd
// CHECK: %[[T:.*]] = mhc.transpose
// CHECK: return %{{.*}}, %[[T]] : tensor<2x6x2xf32>, tensor<2x6x2xf32>
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[SAVED:[a-z0-9]+]]: tensor<2x6x2xf32> {mhc.name = "saved0"}
// CHECK-NOT: mhc.transpose
// CHECK: arith.mulf %{{.*}}, %[[SAVED]]
// CHECK: mhc.transpose
// CHECK-NOT: mhc.transpose
// CHECK: return
func.func @f(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x6x2xf32> {
  %y = mhc.matmul %x, %w : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %part = tensor.extract_slice %y[0, 0] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %heads = tensor.expand_shape %part [[0], [1, 2]] output_shape [6, 2, 2] : tensor<6x4xf32> into tensor<6x2x2xf32>
  %t = mhc.transpose %heads perm = [1, 0, 2] : tensor<6x2x2xf32> -> tensor<2x6x2xf32>
  %square = arith.mulf %t, %t : tensor<2x6x2xf32>
  return %square : tensor<2x6x2xf32>
}

// -----

// One that is read in another way as well is saved once.
// CHECK-LABEL: func.func @f_fwd
// CHECK: %[[PART:.*]] = tensor.extract_slice
// CHECK: return %{{.*}}, %{{.*}}, %[[PART]] : tensor<2x6xf32>, tensor<6x2xf32>, tensor<6x2xf32>
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[SAVED:[a-z0-9]+]]: tensor<6x2xf32> {mhc.name = "saved0"}
// CHECK: mhc.transpose %[[SAVED]]
func.func @f(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x6xf32>, tensor<6x2xf32>) {
  %y = mhc.matmul %x, %w : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %part = tensor.extract_slice %y[0, 0] [6, 2] [1, 1] : tensor<6x8xf32> to tensor<6x2xf32>
  %t = mhc.transpose %part perm = [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
  %square = arith.mulf %t, %t : tensor<2x6xf32>
  %other = arith.mulf %part, %part : tensor<6x2xf32>
  return %square, %other : tensor<2x6xf32>, tensor<6x2xf32>
}
