module {
  func.func @names(%arg0: tensor<1048576xf32> {mhc.name = "x"}, %arg1: tensor<1xf32> {mhc.name = "x"}) {
    return
  }
}