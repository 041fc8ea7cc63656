module {
  func.func @host(%arg0: tensor<?xf64>) -> index {
    %c32 = arith.constant 32 : index
    %dim = tensor.dim %arg0, %c32 : tensor<?xf64>
    %0 = arith.addi %c32, %c32 : index
    return %0 : index
  }
}