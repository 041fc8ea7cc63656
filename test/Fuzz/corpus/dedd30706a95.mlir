module {
  func.func @f(%arg0: tensor<16x8xbf16>, %arg1: tensor<?xi32>) -> tensor<?x16xbf16> {
    %out = mhc.take(table = %arg0 : tensor<16x8xbf16>, ids = %arg1 : tensor<?xi32>) -> (out : tensor<?x8xbf16>)
    %out_0 = mhc.matmul %out, %arg0 transpose_rhs : (tensor<?x8xbf16>, tensor<16x8xbf16>) -> tensor<?x16xbf16>
    return %out_0 : tensor<?x16xbf16>
  }
}