func.func @ops_behind_tokens(%x: tensor<?x8x8xf32>, %w: tensor<8xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c0 : tensor<?x8x8xf32>
  %b = tensor.dim %x, %c1 : tensor<?x8x8xf32>
  %normal = mhc.rms_norm %x, %w eps = 1.0e-06 : tensor<?x8x8xf32>, tensor<8xf32>
  %part = tensor.extract_slice %normal[0, 0, 1] [%s, %b, 6] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x?x6xf32>
  %matrix = tensor.expand_shape %part [[0], [1], [2, 3]] output_shape [%s, %b, 2, 3]
    : tensor<?x?x6xf32> into tensor<?x?x2x3xf32>
  %turned = mhc.transpose %matrix perm = [0, 1, 3, 2] : tensor<?x?x2x3xf32> -> tensor<?x?x3x2xf32>
  %soft = mhc.softmax %turned dim = 2 : tensor<?x?x3x2xf32>
  %flat = tensor.collapse_shape %soft [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  return %flat : tensor<?x?x6xf32>
}
