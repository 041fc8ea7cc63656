func.func @add(%a: tensor<?x8xf32>, %b: tensor<?x5xf32>) -> tensor<?x8xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x5xf32>) outs(%a : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}
