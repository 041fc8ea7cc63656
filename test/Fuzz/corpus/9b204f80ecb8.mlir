func.func @f(%a: tensor<4xf16>, %k: tensor<?xi32>) -> tensor<4xf16> {
  %y = math.fpowi %a, %k : tensor<4xf16>, tensor<?xi32>
  return %y : tensor<4xf16>
}
