module {
  func.func @f(%arg0: tensor<?x4xi64>, %arg1: tensor<1xf32>) -> tensor<?x7xf32> {
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[%c0] : tensor<1xf32>
    %padded = tensor.pad %arg0 low[1, 1] high[0, 2] {
    ^bb0(%arg2: index, %arg3: index):
      tensor.yield %extracted : f32
    } : tensor<?x4xi64> to tensor<?x7xf32>
    return %padded : tensor<?x7xf32>
  }
}