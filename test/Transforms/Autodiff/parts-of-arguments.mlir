// RUN: mhcc %s --grad=loss --compile-to=fuse | FileCheck %s
// RUN: mhcc %s --grad=loss --verify | FileCheck %s --check-prefix=VERIFY

// A convolution of four tokens: its backward function gets x itself, which is an argument, and not four parts of it.
// CHECK: func.func @loss_fwd
// CHECK-SAME: -> (tensor<?x8xf32> {{{[^,]*, "8"\], mhc.name = "result0"}}})
// CHECK: func.func @loss_bwd(%{{[a-z0-9]+}}: tensor<?x8xf32> {mhc.dims = ["M", "8"], mhc.name = "x"},
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x4xf32> {mhc.name = "w"}, %{{[a-z0-9]+}}: tensor<?x8xf32> {{{.*}}mhc.name = "d_result0"}
// CHECK: tensor.pad
// VERIFY: d_x: verified
// VERIFY: d_w: verified
func.func @loss(%x: tensor<?x8xf32> {mhc.name = "x"}, %w: tensor<8x4xf32> {mhc.name = "w"}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %padded = tensor.pad %x low[3, 0] high[0, 0] {
  ^bb0(%t: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  %empty = tensor.empty(%M) : tensor<?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(t, c, j) -> (t + j, c)>, affine_map<(t, c, j) -> (c, j)>,
                       affine_map<(t, c, j) -> (t, c)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%start : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
