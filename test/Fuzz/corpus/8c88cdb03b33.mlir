module {
  func.func @started(%arg0: tensor<8xf64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%arg0 : tensor<8xf64>) outs(%arg1 : tensor<f64>) {
    ^bb0(%in: f64, %out: f64):
      %1 = arith.maximumf %in, %out : f64
      linalg.yield %1 : f64
    } -> tensor<f64>
    return %0 : tensor<f64>
  }
}