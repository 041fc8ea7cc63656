// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=layer --verify | FileCheck %s

// maxnumf leaves out the NaN that it starts from.
// CHECK: result0: verified
func.func @f(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty(%M) : tensor<?xf32>
  %i = linalg.fill ins(%nan : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x4xf32>) outs(%i : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maxnumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %m : tensor<?xf32>
}
