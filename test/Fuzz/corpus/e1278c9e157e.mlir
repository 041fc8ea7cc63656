func.func @names(%x: tensor<1xf32> {mhc.namE = "x"}, %y: tensor<1xf32> {mhc.name = "x"}) {
  return
}
