func.func @int(%class: tensor<?x4xf32> {mhc.name = "class"}, %w: tensor<?x4xf32> {mhc.name = "layers.0.weight"},
               %1: tensor<?x4xf32> {mhc.name = "1st"}) -> (tensor<?x4xf32> {mhc.name = "class"}) {
  %2 = arith.mulf %class, %w : tensor<?x4xf32>
  %3 = arith.addf %2, %1 : tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
func.func @class(%int: tensor<4xf32> {mhc.name = "int"}) -> (tensor<4xf32> {mhc.name = "int"}) {
  return %int : tensor<4xf32>
}
func.func @_Nothing() {
  return
}
