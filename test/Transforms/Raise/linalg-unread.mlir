// RUN: mhc-opt %s --mhc-raise --mhc-fuse | FileCheck %s
// RUN: mhcc %s --verify

// The sublayer's summand depends on the position, which no leaf op knows. It stays linalg and is compiled as that; what
// stands around it is found.
// CHECK-LABEL: @main
// CHECK: %[[U:.*]] = mhc.aggregate(x = %arg0
// CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%[[U]] :
// CHECK: linalg.index 1
// CHECK: mhc.post(f = %[[F]] :
// CHECK-NOT: linalg
func.func @main(%x: tensor<8x4x16xf32>, %pre: tensor<8x4xf32>, %post: tensor<8x4xf32>, %map: tensor<8x4x4xf32>)
    -> tensor<8x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<8x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %u = linalg.generic {
      indexing_maps = [affine_map<(t, n, c) -> (t, n)>, affine_map<(t, n, c) -> (t, n, c)>,
                       affine_map<(t, n, c) -> (t, c)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%pre, %x : tensor<8x4xf32>, tensor<8x4x16xf32>) outs(%f2 : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %o, %product : f32
    linalg.yield %next : f32
  } -> tensor<8x16xf32>
  %f = linalg.generic {
      indexing_maps = [affine_map<(t, c) -> (t, c)>, affine_map<(t, c) -> (t, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%u : tensor<8x16xf32>) outs(%e2 : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = linalg.index 1 : index
    %n = arith.index_cast %c : index to i64
    %place = arith.sitofp %n : i64 to f32
    %sum = arith.addf %a, %place : f32
    linalg.yield %sum : f32
  } -> tensor<8x16xf32>
  %e3 = tensor.empty() : tensor<8x4x16xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %mix = linalg.batch_matmul ins(%map, %x : tensor<8x4x4xf32>, tensor<8x4x16xf32>) outs(%f3 : tensor<8x4x16xf32>)
      -> tensor<8x4x16xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(t, n, c) -> (t, n, c)>, affine_map<(t, n, c) -> (t, n)>,
                       affine_map<(t, n, c) -> (t, c)>, affine_map<(t, n, c) -> (t, n, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%mix, %post, %f : tensor<8x4x16xf32>, tensor<8x4xf32>, tensor<8x16xf32>) outs(%e3 : tensor<8x4x16xf32>) {
  ^bb0(%m: f32, %h: f32, %a: f32, %o: f32):
    %branch = arith.mulf %h, %a : f32
    %sum = arith.addf %m, %branch : f32
    linalg.yield %sum : f32
  } -> tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}
