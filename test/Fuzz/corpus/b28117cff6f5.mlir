func.func @f(%x: tensor<4xf64>, %y: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %sum = arith.addf %x, %y : tensor<4xf64>
  %difference = arith.subf %x, %y : tensor<4xf64>
  %negative = arith.negf %x : tensor<4xf64>
  return %sum, %difference, %negative : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}
