func.func @f(%x: tensor<4611686018427387904xf32>) -> tensor<4611686018427387904xf32> {
  %0 = arith.divf %x, %x : tensor<4611686018427387904xf32>
  return %0 : tensor<4611686018427387904xf32>
}
