module {
  func.func @host(%arg0: tensor<?xi1>) -> index {
    %c16 = arith.constant 16 : index
    %dim = tensor.dim %arg0, %c16 : tensor<?xi1>
    %0 = arith.addi %c16, %dim : index
    return %0 : index
  }
}