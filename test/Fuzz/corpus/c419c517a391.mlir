module {
  func.func @division(%arg0: i1, %arg1: i64, %arg2: i64) -> i64 {
    %0 = scf.if %arg0 -> (i64) {
      %1 = arith.divsi %arg1, %arg2 : i64
      scf.yield %1 : i64
    } else {
      scf.yield %arg1 : i64
    }
    return %0 : i64
  }
}