func.func @f(%table: tensor<16x8xbf16>, %ids: tensor<0xi32>) -> tensor<?x16xbf16> {
  %out = mhc.take(table = %table : tensor<16x8xbf16>, ids = %ids : tensor<0xi32>) -> (out : tensor<?x8xbf16>)
  %logits = mhc.matmul %out, %table transpose_rhs : (tensor<?x8xbf16>, tensor<16x8xbf16>) -> tensor<?x16xbf16>
  return %logits : tensor<?x16xbf16>
}
