// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s

// Functions that no model has, but that the passes must leave in order.

// CHECK-LABEL: func.func private @no_body
func.func private @no_body(%x: tensor<?x4x64xf32>) -> tensor<?x64xf32>

// CHECK-LABEL: @scalars
func.func @scalars(%a: f32, %b: f32) -> f32 {
  // CHECK: arith.mulf
  // CHECK: math.exp
  // CHECK: return
  %0 = arith.mulf %a, %b : f32
  %1 = math.exp %0 : f32
  %2 = arith.divf %1, %0 : f32
  return %2 : f32
}

// CHECK-LABEL: @several_blocks
func.func @several_blocks(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %c: i1) -> tensor<8x64xf32> {
  // CHECK: cf.cond_br
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = mhc.reduce sum %x dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  cf.br ^bb3(%0 : tensor<8x64xf32>)
^bb2:
  %1 = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %2 = arith.mulf %x, %1 : tensor<8x4x64xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  cf.br ^bb3(%3 : tensor<8x64xf32>)
^bb3(%out: tensor<8x64xf32>):
  return %out : tensor<8x64xf32>
}

// A dimension of size one has no variable, so that nothing tells the channel from the layout.
// CHECK-LABEL: @one_channel
func.func @one_channel(%x: tensor<8x4x1xf32>, %h: tensor<8x4xf32>) -> tensor<8x1xf32> {
  // CHECK: return
  %0 = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
  %1 = arith.mulf %x, %0 : tensor<8x4x1xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4x1xf32> -> tensor<8x1xf32>
  return %2 : tensor<8x1xf32>
}

// The slices overlap: an index that runs past a dimension is no index into it.
// CHECK-LABEL: @slice_across_a_joined_dimension
func.func @slice_across_a_joined_dimension(%x: tensor<8x4x4xf32>, %y: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  // CHECK: %[[J:.*]] = tensor.collapse_shape %arg0
  // CHECK: tensor.extract_slice %[[J]][0, 2] [8, 8] [1, 1]
  %0 = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x4xf32> into tensor<8x16xf32>
  %1 = tensor.extract_slice %0[0, 2] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %3 = arith.mulf %2, %y : tensor<8x2x4xf32>
  return %3 : tensor<8x2x4xf32>
}
