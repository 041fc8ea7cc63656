// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --fuse=layer --verify | FileCheck %s

// Weights as exporters keep them: as resources of the file.
// CHECK: result0: verified
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %weight = arith.constant dense_resource<weight> : tensor<4xf32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %weight : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %w: f32, %out: f32):
    %product = arith.mulf %a, %w : f32
    linalg.yield %product : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
