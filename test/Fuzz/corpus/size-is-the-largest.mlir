module {
  func.func @two_open_sizes(%arg0: tensor<?x?x4x16xf32>) -> tensor<?x?x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c64_i64 = arith.constant 9223372036854775807 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x4x16xf32>
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x4x16xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.index_cast %dim_0 : index to i64
    %2 = arith.cmpi slt, %0, %c0_i64 : i64
    %3 = arith.cmpi slt, %1, %c0_i64 : i64
    %4 = arith.select %2, %c1_i64, %0 : i64
    %5 = arith.muli %4, %1 : i64
    %6 = arith.select %3, %4, %5 : i64
    %7 = arith.muli %6, %c64_i64 : i64
    %8 = arith.muli %0, %1 : i64
    %9 = arith.muli %8, %c64_i64 : i64
    %10 = arith.divsi %9, %7 : i64
    %11 = arith.select %2, %10, %0 : i64
    %12 = arith.select %3, %10, %1 : i64
    %13 = arith.cmpi sge, %c1_i64, %c0_i64 : i64
    cf.assert %13, "unimplemented: dynamic negative broadcast sizes"
    %from_elements = tensor.from_elements %11, %12, %c64_i64 : tensor<3xi64>
    %reshape = tensor.reshape %arg0(%from_elements) : (tensor<?x?x4x16xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
    return %reshape : tensor<?x?x64xf32>
  }
}