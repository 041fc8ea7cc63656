module {
  func.func @f(%arg0: tensor<?xf32>, %arg1: tensor<?xf32> {mhc.no_grad}, %arg2: tensor<?xf32>) -> tensor<?xf32> {
    %0 = math.sqrt %arg0 : tensor<?xf32>
    %1 = arith.divf %0, %0 : tensor<?xf32>
    %2 = arith.mulf %1, %0 : tensor<?xf32>
    return %2 : tensor<?xf32>
  }
}