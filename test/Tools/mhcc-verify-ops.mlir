// The reference knows what arithmetic compiles.
// RUN: mhcc %s --verify | FileCheck %s --implicit-check-not=WRONG --implicit-check-not="not judged"
// CHECK: entry curves
// CHECK-COUNT-17: verified
// CHECK: entry whole
// CHECK-COUNT-5: verified
// CHECK: entry integers
// CHECK-COUNT-13: verified

func.func @curves(%x: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = math.expm1 %x : tensor<?x4xf32>
  %1 = math.exp2 %x : tensor<?x4xf32>
  %2 = math.sin %x : tensor<?x4xf32>
  %3 = math.cos %x : tensor<?x4xf32>
  %4 = math.tan %x : tensor<?x4xf32>
  %5 = math.atan %x : tensor<?x4xf32>
  %6 = math.asin %x : tensor<?x4xf32>
  %7 = math.sinh %x : tensor<?x4xf32>
  %8 = math.cosh %x : tensor<?x4xf32>
  %9 = math.asinh %x : tensor<?x4xf32>
  %10 = math.cbrt %x : tensor<?x4xf32>
  %11 = math.erfc %x : tensor<?x4xf32>
  %square = arith.mulf %x, %x : tensor<?x4xf32>
  %positive = math.exp %square : tensor<?x4xf32>
  %12 = math.log2 %positive : tensor<?x4xf32>
  %13 = math.log10 %positive : tensor<?x4xf32>
  %14 = math.atan2 %x, %positive : tensor<?x4xf32>
  %15 = math.copysign %x, %positive : tensor<?x4xf32>
  %16 = arith.remf %x, %positive : tensor<?x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        tensor<?x4xf32>, tensor<?x4xf32>
}

func.func @whole(%x: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %three = arith.constant 3.0 : f32
  %threes = tensor.splat %three[%M] : tensor<?x4xf32>
  %wide = arith.mulf %x, %threes : tensor<?x4xf32>
  %0 = math.floor %wide : tensor<?x4xf32>
  %1 = math.ceil %wide : tensor<?x4xf32>
  %2 = math.round %wide : tensor<?x4xf32>
  %3 = math.roundeven %wide : tensor<?x4xf32>
  %4 = math.trunc %wide : tensor<?x4xf32>
  return %0, %1, %2, %3, %4
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

func.func @integers(%bits: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<4xi32>) {
  %numbers = arith.constant dense<[-9, 9, 100, -2]> : tensor<4xi32>
  %positive = arith.constant dense<[3, 5, 7, 1]> : tensor<4xi32>
  %x = arith.addi %bits, %numbers : tensor<4xi32>
  %0 = arith.divui %x, %positive : tensor<4xi32>
  %1 = arith.remui %x, %positive : tensor<4xi32>
  %2 = arith.ceildivui %x, %positive : tensor<4xi32>
  %3 = arith.shli %x, %positive : tensor<4xi32>
  %4 = arith.shrsi %x, %positive : tensor<4xi32>
  %5 = arith.shrui %x, %positive : tensor<4xi32>
  %6 = arith.minui %x, %positive : tensor<4xi32>
  %7 = math.absi %x : tensor<4xi32>
  %8 = math.ctlz %x : tensor<4xi32>
  %9 = math.cttz %x : tensor<4xi32>
  %10 = math.ctpop %x : tensor<4xi32>
  %byte = arith.trunci %x : tensor<4xi32> to tensor<4xi8>
  %11 = arith.extsi %byte : tensor<4xi8> to tensor<4xi32>
  %float = arith.uitofp %positive : tensor<4xi32> to tensor<4xf32>
  %12 = arith.fptoui %float : tensor<4xf32> to tensor<4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12
      : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<4xi32>
}
