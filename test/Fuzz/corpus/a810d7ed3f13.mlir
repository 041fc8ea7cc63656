module {
  func.func @elementwise(%arg0: tensor<8x?xf32>, %arg1: tensor<8x?xf32>, %arg2: tensor<?x1xf32>, %arg3: f32) -> tensor<8x?xf32> {
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c1 : tensor<8x?xf32>
    %0 = tensor.empty(%c1) : tensor<8x?xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0, %arg1, %arg2 : tensor<8x?xf32>, tensor<8x?xf32>, tensor<?x1xf32>) outs(%arg0 : tensor<8x?xf32>) {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
      %2 = arith.minimumf %arg3, %in_0 : f32
      %3 = arith.mulf %arg3, %arg3 : f32
      %4 = arith.minimumf %2, %arg3 : f32
      linalg.yield %4 : f32
    } -> tensor<8x?xf32>
    return %1 : tensor<8x?xf32>
  }
}