func.func @elementwise(%x: tensor<?x?x8xf32> {mhc.name = "x"}, %y: tensor<?x?x8xf32> {mhc.name = "y"})
    -> (tensor<?x?x8xf32> {mhc.name = "z"}) {
  %z = arith.mulf %x, %y : tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

func.func @product(%x: tensor<?x?x8xf32> {mhc.name = "x"}, %y: tensor<?x8xf32> {mhc.name = "y"})
    -> (tensor<?x8xf32> {mhc.name = "z"}) {
  %joined = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %z = arith.mulf %joined, %y : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

func.func @products(%x: tensor<?x?xf32> {mhc.name = "x"}, %y: tensor<?x?xf32> {mhc.name = "y"})
    -> (tensor<f32> {mhc.name = "z"}) {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %p = arith.mulf %a, %b : tensor<?xf32>
  %z = mhc.reduce sum %p dims = [0] : tensor<?xf32> -> tensor<f32>
  return %z : tensor<f32>
}

func.func @behind(%x: tensor<?xf32> {mhc.name = "x"}, %y: tensor<?xf32> {mhc.name = "y"},
                  %w: tensor<?xf32> {mhc.name = "w"}) -> (tensor<?xf32> {mhc.name = "z"}) {
  %both = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %z = arith.mulf %both, %w : tensor<?xf32>
  return %z : tensor<?xf32>
}
