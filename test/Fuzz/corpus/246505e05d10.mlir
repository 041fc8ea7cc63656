module {
  func.func @loss(%arg0: tensor<?x?xbf16> {mhc.name = "x"}, %arg1: tensor<1x1xbf16> {mhc.main_grad, mhc.name = "w"}) -> (tensor<?x?xbf16> {mhc.name = "y"}) {
    %out = mhc.matmul %arg0, %arg1 transpose_lhs : (tensor<?x?xbf16>, tensor<1x1xbf16>) -> tensor<?x?xbf16>
    return %out : tensor<?x?xbf16>
  }
}