// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=layer --verify | FileCheck %s

// A part of an argument that the body of a loop reads by index: the loop is a function of its own, which gets the part.
// CHECK: result0: verified
// CHECK: result1: verified
func.func @f(%x: tensor<?x4xf32> {mhc.name = "x"}, %a: tensor<3xf32> {mhc.name = "a"}) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %s0 = tensor.extract_slice %a[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %t0 = tensor.collapse_shape %s0 [] : tensor<1xf32> into tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = tensor.extract %t0[] : tensor<f32>
    %r = arith.mulf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  %s1 = tensor.extract_slice %a[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %t1 = tensor.collapse_shape %s1 [] : tensor<1xf32> into tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = tensor.extract %t1[] : tensor<f32>
    %r = arith.mulf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
