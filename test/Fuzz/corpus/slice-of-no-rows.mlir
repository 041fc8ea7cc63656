module {
  func.func @expand(%arg0: tensor<0x64xbf16>) -> tensor<?x4x64xbf16> {
    %streams = mhc.expand(x = %arg0 : tensor<0x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
    return %streams : tensor<?x4x64xbf16>
  }
  func.func @expand_streams_last(%arg0: tensor<2x?xf32>) -> tensor<2x?x16xf32> {
    %streams = mhc.expand(x = %arg0 : tensor<2x?xf32>) <layout = Cn> -> (streams : tensor<2x?x16xf32>)
    return %streams : tensor<2x?x16xf32>
  }
  func.func @contract(%arg0: tensor<?x4x64xbf16>) -> (tensor<0x64xbf16>, tensor<?x4xbf16>) {
    %out = mhc.contract(x = %arg0 : tensor<?x4x64xbf16>) <layout = nC, mode = mean> -> (out : tensor<0x64xbf16>)
    %streams = mhc.expand(x = %out : tensor<0x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
    %extracted_slice = tensor.extract_slice %streams[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<2x4x4xbf16>
    %out_0 = mhc.contract(x = %extracted_slice : tensor<2x4x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x4xbf16>)
    return %out, %out_0 : tensor<0x64xbf16>, tensor<?x4xbf16>
  }
}