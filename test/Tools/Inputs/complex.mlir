func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = arith.constant dense<(1.0,2.0)> : tensor<4xcomplex<f32>>
  %e = tensor.empty() : tensor<4xf32>
  %e2 = tensor.empty() : tensor<4xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%k : tensor<4xcomplex<f32>>) outs(%e2 : tensor<4xcomplex<f32>>) {
  ^b(%c: complex<f32>, %o: complex<f32>):
    %q = complex.mul %c, %c : complex<f32>
    linalg.yield %q : complex<f32>
  } -> tensor<4xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%z, %x : tensor<4xcomplex<f32>>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^b(%c: complex<f32>, %i: f32, %o: f32):
    %re = complex.re %c : complex<f32>
    %t = arith.addf %re, %i : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
