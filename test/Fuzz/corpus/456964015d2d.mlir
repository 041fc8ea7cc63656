module {
  func.func @blank(%arg0: tensor<4611686018427387904xf32> {mhc.name = "a b"}) {
    return
  }
}