func.func @loss(%x: tensor<?x1xbf16> {mhc.name = "x"}, %w: tensor<1x1xbf16> {mhc.name = "w", mhc.main_grad})
    -> (tensor<?x1xbf16> {mhc.name = "y"}) {
  %y = mhc.matmul %x, %w : (tensor<?x1xbf16>, tensor<1x1xbf16>) -> tensor<?x1xbf16>
  return %y : tensor<?x1xbf16>
}
